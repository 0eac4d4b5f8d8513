// SPDX-License-Identifier: Apache-2.0

package torus_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/torus"
)

// TestRecogniseNames compares the coordinates of generated grids with those in the names of the switches.
func TestRecogniseNames(t *testing.T) {
	for spec, want := range map[string]string{
		"torus:6x5": "torus 6 x 5 x 1", "torus:3x4x5": "torus 3 x 4 x 5", "torus:4x4x4": "torus 4 x 4 x 4",
		"torus:2x3x7":        "torus 2 x 3 x 7",
		"torus:5x5,hosts=18": "torus 5 x 5 x 1", "mesh:5x4": "mesh 5 x 4 x 1", "mesh:3x3x4,links=2": "mesh 3 x 3 x 4",
		"torus:8x8x8": "torus 8 x 8 x 8",
	} {
		f := gentest.Fabric(t, spec)
		res := route(t, assign(t, f), nil)
		grid, _ := torus.Of(res.Tables)
		if want == "mesh 5 x 4 x 1" {
			grid.Mesh[2] = true // nothing is along z
		}
		if got := grid.String(); got != want {
			t.Errorf("%s is recognised as %s, want %s", spec, got, want)
		}
		for s := range f.NumSwitches() {
			var at torus.Coordinates
			n := f.SwitchNode(s)
			if k, _ := fmt.Sscanf(n.Desc, "sw-%d-%d-%d", &at[0], &at[1], &at[2]); k < 2 {
				t.Fatalf("%s: a switch is called %s", spec, n.Desc)
			}
			if got, ok := grid.Coordinates(s); !ok || got != at {
				t.Errorf("%s: %s is at %v, want %v", spec, n.Desc, got, at)
			}
		}
	}
}

// TestRecogniseRandom checks with any order of GUIDs and ports that every switch gets a place next to its neighbours,
// and that every written seed gives the same places. A square can also be a ring of four.
func TestRecogniseRandom(t *testing.T) {
	r := testenv.Rand(t)
	for range testenv.Count(t, 100, 2000) {
		s := randomShape(r)
		c := cable(t, r, s)
		f := assign(t, c.build())
		conf, err := torus.Recognise(t.Context(), f)
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		radix := slices.Clone(conf.Radix[:])
		slices.Sort(radix)
		want := []uint32{uint32(s.radix[0]), uint32(s.radix[1]), uint32(s.radix[2])}
		slices.Sort(want)
		squares := slices.Equal(want[:2], []uint32{2, 2}) || slices.Equal(want[1:], []uint32{2, 2})
		if !squares && !slices.Equal(radix, want) {
			t.Fatalf("%+v: recognised as %v", s, conf.Radix)
		}
		var first *torus.Torus
		for i := range conf.Seeds {
			one := *conf
			one.Seeds = conf.Seeds[i : i+1]
			grid, _ := torus.Of(route(t, f, &one).Tables)
			if first == nil {
				first = grid
			}
			for sw := range fabric.SwitchIndex(len(f.Switches)) {
				a, _ := first.Coordinates(sw)
				if b, ok := grid.Coordinates(sw); !ok || a != b {
					t.Fatalf("%+v: by seed %d switch %d is at %v, by the first at %v", s, i+1, sw, b, a)
				}
			}
		}
	}
}

// TestRecogniseDamaged checks that failures do not change the shape.
func TestRecogniseDamaged(t *testing.T) {
	for _, lost := range [][2]torus.Coordinates{
		{{2, 2}, {3, 2}}, {{3, 2}, {3, 2}}, {{0, 0}, {1, 0}}, {{5, 0}, {0, 0}}, {{1, 1}, {1, 1}}, {{1, 4}, {1, 0}},
	} {
		c, f, _ := document(t)
		f = c.without(f, lost[0], lost[1])
		conf, err := torus.Recognise(t.Context(), f)
		if err != nil {
			t.Errorf("without %v: %v", lost, err)
			continue
		}
		if conf.Radix != [3]uint32{6, 5, 1} || conf.Mesh[0] || conf.Mesh[1] {
			t.Errorf("without %v: recognised as %v, mesh %v", lost, conf.Radix, conf.Mesh)
		}
	}
}

func TestRecogniseNothing(t *testing.T) {
	for _, spec := range []string{"fattree:2,8", "fattree:3,4", "random:20,5,30", "dragonfly:4,2,2", "hypercube:7",
		"torus:9", "torus:3x3x3x3"} {
		f := gentest.Fabric(t, spec)
		conf, err := torus.Recognise(t.Context(), f)
		if _, refused := errors.AsType[*routing.RefusedError](err); !refused {
			t.Errorf("%s: %v, %v, expected a refusal", spec, conf, err)
		}
	}
	var none fabric.Fabric
	none.SMPort = fabric.None
	if _, err := torus.Recognise(t.Context(), &none); err == nil {
		t.Error("an empty fabric is a torus")
	}
}

func TestConfigComesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		c := cable(t, r, randomShape(r))
		conf := c.randomConfig(r)
		var b bytes.Buffer
		if err := osm.WriteTorusConf(&b, conf); err != nil {
			t.Fatal(err)
		}
		back, err := osm.ReadTorusConf(bytes.NewReader(b.Bytes()), "f")
		if err != nil {
			t.Fatal(err)
		}
		for d, n := range conf.Radix {
			conf.Mesh[d] = conf.Mesh[d] || n == 2
		}
		back.Name, back.Bad = "", nil
		if !reflect.DeepEqual(back, conf) {
			t.Errorf("%s\ncomes back as\n%+v, was\n%+v", &b, back, conf)
		}
	}
}
