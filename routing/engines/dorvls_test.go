// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/engines/minhop"
)

var vlsNeeded = regexp.MustCompile(`need (\d+) VLs`)

// Dimension order routing cannot deadlock on hypercubes and meshes (Dally and Seitz, 1987), but it can on tori.
func TestDORWithoutVLs(t *testing.T) {
	for spec, loops := range map[string]bool{"hypercube:5": false, "mesh:6x5": false, "mesh:4x3x3": false,
		"torus:6x5": true, "torus:5x5x5": true} {
		f := gentest.WithLIDs(t, spec)
		plain := route(t, minhop.DOR{}, f, routing.Options{})
		if r, err := credits.Check(t.Context(), plain.Tables, credits.Options{}); err != nil ||
			(r.Ring != nil) != loops {
			t.Errorf("%s: a credit loop: %v, %v; want %v", spec, r.Ring != nil, err, loops)
		}
		safe := route(t, minhop.DOR{}, f, routing.Options{DORVLs: true})
		if (safe.Tables.SLs != nil) != loops {
			t.Errorf("%s has service levels: %v, want %v", spec, !loops, loops)
		}
	}
}

// TestDORVLs checks that VLs do not change the tables, and that no fabric has a credit loop, by following every packet
// here and by package credits. With too few VLs the engine reports the number that it needs.
func TestDORVLs(t *testing.T) {
	r := testenv.Rand(t)
	usesVLs := 0
	for i := range testenv.Count(t, 40, 400) {
		what, f := randomFabric(t, r)
		if i%2 == 0 {
			what = vlSpecs[r.IntN(len(vlSpecs))]
			f = gentest.Fabric(t, what)
			if r.IntN(2) == 0 {
				what, f = what+" damaged", damaged(r, f)
			}
		}
		lids, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{LMC: uint8(i % 3)})
		if err != nil {
			t.Fatal(err)
		}
		f = lids.Fabric
		opt := routing.Options{LMC: uint8(i % 3)}
		plain := route(t, minhop.DOR{}, f, opt)
		opt.DORVLs = true
		res, err := minhop.DOR{}.Route(context.Background(), f, opt)
		if _, ok := errors.AsType[*routing.RefusedError](err); ok {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for s := range fabric.SwitchIndex(len(f.Switches)) {
			if !slices.Equal(plain.Tables.LFT.Row(s), res.Tables.LFT.Row(s)) {
				t.Fatalf("%s: VLs change the table of switch %d", what, s)
			}
		}
		if cyclic(dependencies(res.Tables)) {
			t.Errorf("%s: a VL has a cycle", what)
		}
		if found, err := credits.Check(t.Context(), res.Tables, credits.Options{}); err != nil || found.Ring != nil {
			t.Errorf("%s: %v, %v", what, found, err)
		}
		if res.Tables.SLs == nil {
			continue
		}
		usesVLs++
		opt.MaxOpVLs = 1
		_, err = minhop.DOR{}.Route(context.Background(), f, opt)
		match := vlsNeeded.FindStringSubmatch(fmt.Sprint(err))
		if match == nil {
			t.Errorf("%s on one VL: %v, want the number needed", what, err)
		} else if n, err := strconv.Atoi(match[1]); err != nil || n < 2 {
			t.Errorf("%s on one VL: %q", what, match)
		}
	}
	if usesVLs < 5 {
		t.Errorf("only %d fabrics needed VLs", usesVLs)
	}
}
