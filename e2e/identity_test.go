// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// netFiles returns the fabrics on which our dumps must equal OpenSM's: generated ones, and the shared ones that ibsim
// reads.
func netFiles(t *testing.T) []string {
	dir := t.TempDir()
	var files []string
	specs := []string{"fattree:3,6", "torus:5x4", "torus:4x4x4", "hypercube:5", "random:50,8,200", "dragonfly:4,2,2"}
	if testenv.Full() {
		specs = []string{"fattree:3,8", "torus:6x5", "torus:8x8x8", "hypercube:6", "random:100,8,400",
			"dragonfly:4,2,2"}
	}
	for _, spec := range specs {
		f, err := gen.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := gen.WriteNet(&b, f); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, strings.NewReplacer(":", "-", ",", "-").Replace(spec)+".net")
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	return append(files, sharedFiles(t)...)
}

// sharedFiles returns the shared fabrics that ibsim reads, without those in ibdiagnet's form.
func sharedFiles(t *testing.T) []string {
	root := os.Getenv("IBCONSOLE_SHARED")
	if root == "" {
		t.Log("IBCONSOLE_SHARED is not set: the shared fabrics are left out")
		return nil
	}
	var files []string
	for _, pattern := range []string{"*.net", "*.topo"} {
		found, err := filepath.Glob(filepath.Join(root, "fabrics", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			if text, err := os.ReadFile(name); err == nil && !bytes.Contains(text, []byte("[1](1)")) {
				files = append(files, name)
			}
		}
	}
	if len(files) == 0 {
		t.Fatalf("no fabrics in %s", root)
	}
	return files
}

// damage is what is unplugged before the subnet is routed, as commands of ours and as ports to unlink in ibsim.
type damage struct {
	name     string
	commands string
	ports    []fabric.PortIndex
}

func damages(f *fabric.Fabric, r *rand.Rand) []damage {
	out := []damage{{name: "whole"}}
	for _, n := range []int{1, 3, 10} {
		out = append(out, cutLinks(f, r, n))
	}
	return append(out, cutSwitch(f, r))
}

// cutLinks unplugs links between switches.
func cutLinks(f *fabric.Fabric, r *rand.Rand, n int) damage {
	var between []fabric.Link
	for _, l := range f.Links() {
		if f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None {
			between = append(between, l)
		}
	}
	r.Shuffle(len(between), func(i, j int) { between[i], between[j] = between[j], between[i] })
	d := damage{name: fmt.Sprintf("%d links", n)}
	for _, l := range between[:min(n, len(between))] {
		d.ports = append(d.ports, l.A)
		d.commands += fmt.Sprintf("fail link guid:0x%x %d; ", f.Nodes[f.Ports[l.A].Node].GUID, f.Ports[l.A].Num)
	}
	return d
}

// cutSwitch unplugs all links of a switch, not of the one that the SM is attached to.
func cutSwitch(f *fabric.Fabric, r *rand.Rand) damage {
	sm, _ := f.AttachedSwitch(f.EndPortOf(f.SMPort))
	s := fabric.SwitchIndex(r.IntN(len(f.Switches)))
	for s == sm || !f.SwitchNode(s).InSubnet {
		s = fabric.SwitchIndex(r.IntN(len(f.Switches)))
	}
	n := f.SwitchNode(s)
	d := damage{name: "switch", commands: fmt.Sprintf("fail switch guid:0x%x; ", n.GUID)}
	for p := range n.Ports() {
		if f.Ports[p].Linked() {
			d.ports = append(d.ports, p)
		}
	}
	return d
}

// ibsimID returns the name of a node in the file: its GUID with a letter in front, as ibnetdiscover writes it, or the
// text that its description is taken from.
func ibsimID(f *fabric.Fabric, node fabric.NodeIndex, file []byte) string {
	n := &f.Nodes[node]
	id := fmt.Sprintf("S-%016x", n.GUID)
	if !n.IsSwitch() {
		id = fmt.Sprintf("H-%016x", n.GUID)
	}
	if bytes.Contains(file, []byte(`"`+id+`"`)) {
		return id
	}
	return n.Desc
}

func TestDumpsEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	t.Parallel()
	r := testenv.Rand(t)
	for _, file := range netFiles(t) {
		subnet, err := formats.ReadWith(context.Background(), file, formats.Options{AsIbsim: true})
		if err != nil {
			t.Fatal(err)
		}
		f := subnet.Fabric
		if len(f.Switches) > 1000 && !testenv.Full() {
			t.Logf("%s: %d switches, only with IBCONSOLE_FULL=1", filepath.Base(file), len(f.Switches))
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := damages(f, r)
		if !testenv.Full() {
			all = []damage{all[r.IntN(len(all))]}
		}
		for _, d := range all {
			t.Run(filepath.Base(file)+"/"+d.name, func(t *testing.T) { equalDumps(t, f, file, text, d) })
		}
	}
}

// dumpFiles are OpenSM's names of our dumps.
var dumpFiles = map[string]string{"lfts": "opensm-lfts.dump", "fdbs": "opensm.fdbs", "subnet": "opensm-subnet.lst"}

// equalDumps compares the routes of the file by ibsim's rules with those over ibsim.
func equalDumps(t *testing.T, f *fabric.Fabric, file string, text []byte, d damage) {
	sim := ibsimtest.Start(t, file)
	for _, p := range d.ports {
		sim.Console(fmt.Sprintf("Unlink %q[%d]", ibsimID(f, f.Ports[p].Node, text), f.Ports[p].Num))
	}
	dir := ibsimtest.OpenSM(t, sim, "-R", "minhop")
	out := t.TempDir()
	script := d.commands + "route"
	for kind := range dumpFiles {
		script += "; dump " + kind + " " + filepath.Join(out, kind)
	}
	ibconsole(t, "-s", "net:"+file, "-c", script)
	for kind, theirs := range dumpFiles {
		sameFile(t, filepath.Join(dir, theirs), filepath.Join(out, kind))
	}
}

// sameFile compares two files byte for byte and shows the first line that differs.
func sameFile(t *testing.T, want, got string) {
	t.Helper()
	w, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	g, err := os.ReadFile(got)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(w, g) {
		return
	}
	wl, gl := bytes.Split(w, []byte("\n")), bytes.Split(g, []byte("\n"))
	for i := range min(len(wl), len(gl)) {
		if !bytes.Equal(wl[i], gl[i]) {
			t.Fatalf("%s differs from OpenSM's on line %d of %d:\n  OpenSM: %s\n  we:     %s", filepath.Base(got), i+1,
				len(wl), wl[i], gl[i])
		}
	}
	t.Fatalf("%s has %d lines, OpenSM's %d", filepath.Base(got), len(gl), len(wl))
}
