// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/lash"
	"example.org/ibconsole/routing/engines/nue"
	"example.org/ibconsole/routing/engines/sssp"
)

// vlFamily are the engines that assign VLs to paths, and sssp.
var vlFamily = []routing.Engine{lash.Engine{}, sssp.Engine{}, sssp.DeadlockFree{}, nue.Engine{}}

func TestVLEnginesStop(t *testing.T) {
	f := gentest.WithLIDs(t, "mesh:12x8")
	for _, e := range vlFamily {
		for _, share := range []int{0, 1, 2, 3} { // quarters of the progress
			ctx, cancel := context.WithCancel(context.Background())
			if share == 0 {
				cancel()
			}
			opt := routing.Options{Progress: func(done, total int) {
				if 4*done > share*total {
					cancel()
				}
			}}
			if res, err := routing.Route(ctx, e, f, opt); !errors.Is(err, context.Canceled) || res != nil ||
				!strings.Contains(err.Error(), e.Name()) {
				t.Errorf("%s, cancelled after %d/4: %v, want that it was cancelled", e.Name(), share, err)
			}
			cancel()
		}
	}
}

func TestVLEnginesReachTheEnd(t *testing.T) {
	for _, spec := range []string{"mesh:12x8", "torus:5x4", "fattree:2,4"} {
		f := gentest.WithLIDs(t, spec)
		for _, e := range vlFamily {
			var mu sync.Mutex
			most, all := 0, 0
			route(t, e, f, routing.Options{MeshAnalysis: true, Progress: func(done, total int) {
				mu.Lock()
				defer mu.Unlock()
				if most = max(most, done); all != 0 && total != all {
					t.Errorf("%s: %d steps, before it were %d", e.Name(), total, all)
				}
				all = total
			}})
			if most != all || all == 0 {
				t.Errorf("%s of %s: the last of %d steps was %d", e.Name(), spec, all, most)
			}
		}
	}
}

func TestVLEnginesOnBadInput(t *testing.T) {
	whole := gentest.WithLIDs(t, "fattree:2,4")
	for _, e := range vlFamily {
		for _, c := range []struct {
			f    *fabric.Fabric
			opt  routing.Options
			want string
		}{
			{gentest.Fabric(t, "fattree:2,4"), routing.Options{}, "has no LID"},
			{whole, routing.Options{LMC: 8}, "LMC 8, expected 0 to 7"},
			{whole, routing.Options{Existing: fabric.NewLFT(3, 9)}, "existing tables of 3 switches, expected 6"},
		} {
			_, err := routing.Route(context.Background(), e, c.f, c.opt)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), e.Name()) {
				t.Errorf("%s: %v, want %q", e.Name(), err, c.want)
			}
		}
	}
}

func TestVLEnginesRefuse(t *testing.T) {
	f := gentest.WithLIDs(t, "fattree:2,4")
	for _, c := range []struct {
		e    routing.Engine
		f    *fabric.Fabric
		opt  routing.Options
		want string
	}{
		{lash.Engine{}, f, routing.Options{LASHStartVL: 8}, "the subnet has 8 VLs, none from lash_start_vl 8 on"},
		{
			lash.Engine{}, f, routing.Options{LASHStartVL: 2, MaxOpVLs: 2},
			"the subnet has 2 VLs, none from lash_start_vl 2 on",
		},
		{
			sssp.Engine{}, f, routing.Options{BrokenNodeFile: "cn_guid_file"},
			"cn_guid_file has a line that OpenSM cannot read",
		},
		// 21,600 LIDs: their square is 467 million a hop, and 2^31 is enough for 4 hops, which reach
		// 1 + 4 + 8 + 12 + 16 switches of a torus.
		{
			sssp.Engine{}, gentest.WithLIDs(t, "torus:10x20,hosts=107"), routing.Options{},
			"only 41 of 200 switches are within a distance of 2147483647",
		},
		{nue.Engine{}, gentest.WithLIDs(t, "torus:10x20,hosts=107"), routing.Options{}, ""},
	} {
		_, err := routing.Route(context.Background(), c.e, c.f, c.opt)
		refused, ok := errors.AsType[*routing.RefusedError](err)
		if !ok || refused.Engine != c.e.Name() || !strings.HasPrefix(refused.Reason, c.want) {
			t.Errorf("%s: %v, want that it refuses: %s", c.e.Name(), err, c.want)
		}
	}
}

func TestVLEnginesWithoutSwitches(t *testing.T) {
	f := twoAdapters(t)
	for _, e := range vlFamily {
		if res := route(t, e, f, routing.Options{MeshAnalysis: true}); res.Tables.LFT.Switches() != 0 {
			t.Errorf("%s: tables of %d switches, want none", e.Name(), res.Tables.LFT.Switches())
		}
	}
}

// Every pair of LIDs has an SL below the number of VLs, unknown LIDs have 0.
func TestServiceLevelsOfUnknownLIDs(t *testing.T) {
	f := gentest.WithLIDs(t, "torus:4x4")
	for _, e := range []routing.Engine{lash.Engine{}, sssp.DeadlockFree{}, nue.Engine{}} {
		sls := route(t, e, f, routing.Options{NueMaxVLs: routing.AllVLs}).Tables.SLs
		for src := range 0x10000 {
			if sl := sls.SL(uint16(src), uint16(src*31)); sl > 7 {
				t.Fatalf("%s: level %d from LID %d to %d", e.Name(), sl, src, uint16(src*31))
			}
			if sl := sls.SL(uint16(src), 0xffff); sl != 0 {
				t.Fatalf("%s: level %d from LID %d to an unassigned LID", e.Name(), sl, src)
			}
		}
	}
}
