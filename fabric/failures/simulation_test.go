// SPDX-License-Identifier: Apache-2.0

package failures_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// TestRandomSimulations applies random failures, additions, moves and undos, and compares the cables after each with
// those of a simple replay by names, whatever the indexes are.
func TestRandomSimulations(t *testing.T) {
	base, err := gen.ParseSpec("fattree:2,6")
	if err != nil {
		t.Fatal(err)
	}
	r := testenv.Rand(t)
	for range testenv.Count(t, 60, 2000) {
		var all []failures.Failure
		simulated, _ := failures.Apply(base, nil)
		var did []string
		for step := range 12 {
			what, next := change(r, simulated, all, step+1)
			p, err := failures.Apply(base, next)
			if err != nil {
				did = append(did, what+": "+err.Error())
				continue
			}
			did = append(did, what)
			all, simulated = next, p
			if got, want := cables(simulated.Now), replay(base, all, simulated.Whole); !slices.Equal(got, want) {
				t.Fatalf("after %q:\n%q\nwant\n%q", did, got, want)
			}
		}
		for len(all) > 0 { // no other change depends on the last
			all = all[:len(all)-1]
			if _, err := failures.Apply(base, all); err != nil {
				t.Fatal(did, err)
			}
		}
	}
}

// change adds a random change or removes one.
func change(r *rand.Rand, simulated *failures.Simulation, all []failures.Failure, number int) (what string,
	next []failures.Failure) {
	f := simulated.Now
	var free []fabric.PortIndex
	for _, n := range f.Switches {
		for p := range f.Nodes[n].Ports() {
			if !f.Ports[p].Linked() {
				free = append(free, p)
			}
		}
	}
	r.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	aNode := fabric.NodeIndex(1 + r.IntN(len(f.Nodes)-1)) // except for the subnet manager's
	links := f.Links()
	var find failures.Finder
	switch k := r.IntN(7); {
	case k == 0 && len(all) > 0:
		i := r.IntN(len(all))
		return fmt.Sprint("undo ", all[i].Name), slices.Delete(slices.Clone(all), i, i+1)
	case k <= 2:
		find = failures.Link(links[r.IntN(len(links))].B)
	case k == 3:
		find = failures.Nodes("node", f.NodeName(aNode), aNode)
	case k == 4 && len(free) > 1:
		find = failures.AddLink(f.PortName(free[0]), f.PortName(free[1]))
	case k == 5 && len(free) > 2:
		find = failures.Add(failures.NewNode{
			Type: mad.NodeSwitch, Name: fmt.Sprint("new-", number),
			At: []string{f.PortName(free[0]), f.PortName(free[1])},
		})
	case len(free) > 0:
		find = failures.Move(fmt.Sprintf("node-%04d HCA-1", 2+r.IntN(16)), f.PortName(free[0]))
	default:
		find = failures.Link(links[0].B)
	}
	more, err := find(simulated.Now, simulated.Whole)
	if err != nil {
		return err.Error(), all
	}
	for i := range more {
		more[i].Number = number
	}
	return more[0].What + " " + more[0].Name, append(slices.Clone(all), more...)
}

func cables(f *fabric.Fabric) (names []string) {
	for _, l := range f.Links() {
		names = append(names, pair(f, l.A, l.B))
	}
	slices.Sort(names)
	return names
}

func pair(f *fabric.Fabric, a, b fabric.PortIndex) string {
	x, y := f.PortName(a), f.PortName(b)
	return min(x, y) + " -- " + max(x, y)
}

// replay returns the cables that work, from the exported fields of each change.
func replay(base *fabric.Fabric, all []failures.Failure, whole *fabric.Fabric) []string {
	up := map[string]string{} // by cable: "" or its failure
	for _, c := range cables(base) {
		up[c] = ""
	}
	ends := func(c string, port string) bool {
		return len(c) > len(port) && (c[:len(port)+1] == port+" " || c[len(c)-len(port)-1:] == " "+port)
	}
	for i := range all {
		f := &all[i]
		for n := range whole.NumNodes() {
			for p := range whole.Nodes[n].Ports() {
				for c := range up {
					if f.InvolvesNode(n) && ends(c, whole.PortName(p)) {
						up[c] = "failed"
					}
				}
			}
		}
		for _, l := range f.Links {
			name := pair(whole, l.A, l.B)
			if !f.Added {
				if _, ok := up[name]; ok {
					up[name] = "failed"
				}
				continue
			}
			for c := range up { // the previous cables of the port
				if ends(c, whole.PortName(l.A)) || ends(c, whole.PortName(l.B)) {
					delete(up, c)
				}
			}
			up[name] = ""
		}
	}
	var names []string
	for c, state := range up {
		if state == "" {
			names = append(names, c)
		}
	}
	slices.Sort(names)
	return names
}
