// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/engines/lash"
	"example.org/ibconsole/routing/engines/sssp"
)

// channel is one direction of a link, by the sending port, and a VL.
type channel struct {
	port fabric.PortIndex
	vl   uint8
}

// dependencies follows the packets between all hosts, link by link.
func dependencies(tables *fabric.Tables) map[channel]map[channel]bool {
	f := tables.Fabric
	next := map[channel]map[channel]bool{}
	for _, from := range f.EndPorts {
		for _, to := range f.EndPorts {
			sw, in := f.AttachedSwitch(from)
			if sw == fabric.None || in == 0 || !isCA(f, from) || !isCA(f, to) {
				continue
			}
			for n := range uint16(1) << f.Ports[to].LMC {
				follow(tables, next, sw, in, f.Ports[from].LID, f.Ports[to].LID+n)
			}
		}
	}
	return next
}

func isCA(f *fabric.Fabric, port fabric.PortIndex) bool {
	return f.Nodes[f.Ports[port].Node].Type == mad.NodeCA
}

func follow(tables *fabric.Tables, next map[channel]map[channel]bool, sw fabric.SwitchIndex, in uint8,
	src, dst uint16) {
	f := tables.Fabric
	var sl uint8
	if tables.SLs != nil {
		sl = tables.SLs.SL(src, dst)
	}
	var last channel
	for hop := 0; ; hop++ {
		out := tables.Port(sw, dst)
		port := f.Port(f.Switches[sw], out)
		if out == fabric.NoPath || out == 0 || f.PeerSwitch(port) == fabric.None {
			return
		}
		here := channel{port: port}
		if tables.SL2VL != nil {
			here.vl = tables.SL2VL.VL(f.Switches[sw], in, out, sl)
		}
		if hop > 0 {
			if next[last] == nil {
				next[last] = map[channel]bool{}
			}
			next[last][here] = true
		}
		last = here
		sw, in = f.PeerSwitch(port), f.Ports[f.Ports[port].Peer].Num
	}
}

// cyclic reports whether dependencies have a cycle: whether any remain after channels on which nothing depends are
// removed repeatedly.
func cyclic(next map[channel]map[channel]bool) bool {
	waiting := map[channel]int{}
	for c, all := range next {
		waiting[c] += 0
		for d := range all {
			waiting[d]++
		}
	}
	var free []channel
	for c, n := range waiting {
		if n == 0 {
			free = append(free, c)
		}
	}
	done := 0
	for ; len(free) > 0; done++ {
		c := free[len(free)-1]
		free = free[:len(free)-1]
		for d := range next[c] {
			if waiting[d]--; waiting[d] == 0 {
				free = append(free, d)
			}
		}
	}
	return done < len(waiting)
}

// TestVLsHaveNoCycles checks the dependencies of VLs for cycles, by following every packet here and by package credits.
func TestVLsHaveNoCycles(t *testing.T) {
	r := testenv.Rand(t)
	routed := 0
	for i := range 60 {
		what, f := randomFabric(t, r)
		if i%2 == 0 {
			what = vlSpecs[r.IntN(len(vlSpecs))]
			f = gentest.Fabric(t, what)
		}
		lmc := uint8(i % 3)
		lids, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{LMC: lmc})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []routing.Engine{sssp.DeadlockFree{}, lash.Engine{}} {
			opt := routing.Options{LMC: lmc, MeshAnalysis: r.IntN(2) == 0, LASHStartVL: uint8(r.IntN(2))}
			res, err := routing.Route(context.Background(), e, lids.Fabric, opt)
			if _, ok := errors.AsType[*routing.RefusedError](err); ok {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			routed++
			if cyclic(dependencies(res.Tables)) {
				t.Errorf("%s: %s, options %+v: a VL has a cycle", what, e.Name(), opt)
			}
			if hasRouters(f) {
				continue // dfsssp ignores their packets, and warns of it
			}
			found, err := credits.Check(context.Background(), res.Tables, credits.Options{})
			if err != nil || found.Ring != nil {
				t.Errorf("%s: %s, options %+v: %v, %v", what, e.Name(), opt, found, err)
			}
		}
	}
	if routed < 20 {
		t.Errorf("only %d fabrics were routed", routed)
	}
}

func hasRouters(f *fabric.Fabric) bool {
	return slices.ContainsFunc(f.Nodes, func(n fabric.Node) bool { return n.Type == mad.NodeRouter })
}

// TestRingsNeedVLs routes a ring. With one VL, the engines report the number of VLs that they need.
func TestRingsNeedVLs(t *testing.T) {
	f := gentest.WithLIDs(t, "torus:6")
	if !cyclic(dependencies(route(t, sssp.Engine{}, f, routing.Options{}).Tables)) {
		t.Error("sssp on a ring of 6 has no cycle")
	}
	for _, c := range []struct {
		e    routing.Engine
		need int
	}{{sssp.DeadlockFree{}, 2}, {lash.Engine{}, 3}} {
		_, err := routing.Route(context.Background(), c.e, f, routing.Options{MaxOpVLs: 1})
		refused, ok := errors.AsType[*routing.RefusedError](err)
		if want := fmt.Sprintf("paths without deadlock need %d VLs; the subnet has 1", c.need); !ok ||
			!strings.HasPrefix(refused.Reason, want) {
			t.Errorf("%s: %v, want %s", c.e.Name(), err, want)
		}
		route(t, c.e, f, routing.Options{MaxOpVLs: 3})
	}
}

// If the subnet itself has too few VLs, dfsssp counts further only on request.
func TestRefusalCountsVLsOnRequest(t *testing.T) {
	f := gentest.WithLIDs(t, "torus:6")
	for i := range f.Ports {
		f.Ports[i].OperVLs = 1
	}
	for count, want := range map[bool]string{
		false: "need more than 1 VLs; the subnet has 1", true: "need 2 VLs; the subnet has 1",
	} {
		_, err := routing.Route(t.Context(), sssp.DeadlockFree{}, f, routing.Options{CountVLs: count})
		if refused, ok := errors.AsType[*routing.RefusedError](err); !ok || !strings.HasSuffix(refused.Reason, want) ||
			refused.TooFewVLs != count {
			t.Errorf("counting %v: %+v, want %s", count, refused, want)
		}
	}
}
