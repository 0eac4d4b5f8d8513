// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/file"
	"example.org/ibconsole/routing/engines/minhop"
	"example.org/ibconsole/routing/engines/updn"
)

// TestLIDMatrixFilesEqualOpenSM compares the engine file with a lid matrix, with and without forwarding tables: those
// that another engine made of the same fabric or of one with a link more.
func TestLIDMatrixFilesEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for n := range testenv.Count(t, 4, 200) {
		f := irregular(t, r)
		if r.IntN(2) == 0 {
			specs := []string{"random:20,4,60", "torus:6x5,2", "fattree:3,4", "dragonfly:3,2,1"}
			f = gentest.Fabric(t, specs[r.IntN(len(specs))])
		}
		c := &trial{chain: []string{file.Name}, opt: randomOptions(r, f)}
		c.opt.LMC, c.lmcESP0 = 0, false
		now := savedMatrix(t, r, f, c)
		if err := differs(t, start(t, now), now, c); err != nil {
			t.Errorf("case %d, %+v: %v", n, c.opt, err)
		}
	}
}

// savedMatrix makes a trial one of the engine file with a lid matrix of f, and returns f, or f without a link.
func savedMatrix(t *testing.T, r *rand.Rand, f *fabric.Fabric, c *trial) *fabric.Fabric {
	t.Helper()
	g, err := fabric.AssignLIDs(f)
	if err != nil {
		t.Fatal(err)
	}
	root := g.SwitchNode(fabric.SwitchIndex(r.IntN(len(g.Switches))))
	saved := []routing.Engine{minhop.Engine{}, minhop.DOR{}, updn.Engine{}}[r.IntN(3)]
	if !root.InSubnet {
		saved = minhop.Engine{}
	}
	res := route(t, saved, g, routing.Options{RootGUIDs: []uint64{root.GUID}})
	var matrix, lfts bytes.Buffer
	if err := osm.WriteLIDMatrix(&matrix, g, res.Hops); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lid-matrix")
	write(t, path, matrix.String())
	engine := file.Engine{Matrix: matrix.Bytes(), MatrixName: path}
	c.conf = fmt.Sprintf("lid_matrix_dump_file %s\n", path)
	if r.IntN(2) == 0 {
		if err := osm.WriteLFTs(&lfts, res.Tables); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "lfts")
		write(t, name, lfts.String())
		if engine.Routes, err = osm.ReadLFTs(&lfts, name); err != nil {
			t.Fatal(err)
		}
		c.conf += fmt.Sprintf("lfts_file %s\n", name)
	}
	c.own = []routing.Engine{engine}
	links := f.Links()
	if r.IntN(2) == 0 || len(links) == 0 {
		return f
	}
	l := links[r.IntN(len(links))]
	if f.PeerSwitch(l.A) == fabric.None || f.PeerSwitch(l.B) == fabric.None {
		return f
	}
	return f.Without([]fabric.Link{l})
}
