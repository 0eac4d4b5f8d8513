// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// census holds the compared parts of the answer of trace all all.
type census struct {
	Pairs, Paths, Arrive int
	Links                []int
	SwitchPairs          int `json:"switch_pairs"`
	Sequences            int
	Alike                []alike
	Troubles             []struct {
		Paths int
		Why   string
	}
	Places int
	// Part counts the live paths that differ from those in live.
	Part int
}

// node is a node in JSON.
type node struct{ Name string }

// alike summarizes the paths of a switch pair.
type alike struct {
	From, To         node
	Paths, Sequences int
}

func byName(a, b alike) int {
	return strings.Compare(a.From.Name+" "+a.To.Name, b.From.Name+" "+b.To.Name)
}

func taken(t *testing.T, text string) (c census) {
	t.Helper()
	if err := json.Unmarshal([]byte(lastLine(text)), &c); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	slices.SortFunc(c.Alike, byName)
	return c
}

// tracerouted returns the census by the real ibtracert of all pairs, and the number of paths over the cable between two
// switches.
func tracerouted(t *testing.T, sim *ibsimtest.Sim, f *fabric.Fabric, one, other string) (c census, over int) {
	t.Helper()
	hop := regexp.MustCompile(`(?m)^\[\d+\] -> (\S+ port) .* "(.*)"$`)
	from := regexp.MustCompile(`^From (\S+) .*"(.*)"`)
	pairs := map[[2]string]map[string]int{}
	for _, src := range f.EndPorts {
		for _, dst := range f.EndPorts {
			if src == dst {
				continue
			}
			out := sim.Output("ibtracert", fmt.Sprint(f.Ports[src].LID), fmt.Sprint(f.Ports[dst].LID))
			if !strings.Contains(out, "\nTo ") {
				t.Fatalf("no path: %s", out)
			}
			c.Pairs, c.Paths, c.Arrive = c.Pairs+1, c.Paths+1, c.Arrive+1
			var switches []string
			if m := from.FindStringSubmatch(out); m[1] == "switch" {
				switches = append(switches, m[2])
			}
			hops := hop.FindAllStringSubmatch(out, -1)
			for _, h := range hops {
				if h[1] == "switch port" {
					switches = append(switches, h[2])
				}
			}
			for len(c.Links) <= len(hops) {
				c.Links = append(c.Links, 0)
			}
			c.Links[len(hops)]++
			for i := range switches[1:] {
				if a, b := switches[i], switches[i+1]; a == one && b == other || a == other && b == one {
					over++
				}
			}
			ends := [2]string{switches[0], switches[len(switches)-1]}
			if pairs[ends] == nil {
				pairs[ends] = map[string]int{}
			}
			pairs[ends][fmt.Sprint(switches)]++
		}
	}
	c.SwitchPairs = len(pairs)
	for ends, sequences := range pairs {
		n := 0
		for _, m := range sequences {
			n += m
		}
		c.Sequences += len(sequences)
		c.Alike = append(c.Alike, alike{node{ends[0]}, node{ends[1]}, n, len(sequences)})
	}
	slices.SortFunc(c.Alike, byName)
	return c, over
}

// TestTraceAll compares the summary of all pairs with the real ibtracert for each pair: the number of paths that
// arrive, their links, the switch pairs, and the number of sequences of switches. The live tables are the same until a
// cable is removed: then the live packets over it are lost.
func TestTraceAll(t *testing.T) {
	testenv.Tool(t, "ibtracert")
	stateHome(t)
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,4", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	ibsimtest.OpenSM(t, sim)
	trace := tracer(t, "ibsim:"+sim.Name)
	want, over := tracerouted(t, sim, trace.fabric, "leaf-01", "spine-01")
	for _, of := range []string{"trace all all switches limit=100", "trace live all all switches limit=100"} {
		if got := taken(t, ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", of)); fmt.Sprint(got) !=
			fmt.Sprint(want) {
			t.Errorf("%s:\n%+v, ibtracert has\n%+v", of, got, want)
		}
	}
	sim.Console(`Unlink "S-0000000000200000"[3]`)
	all := taken(t, trace.live("all all switches"))
	lost := 0
	for _, x := range all.Troubles {
		lost += x.Paths
	}
	if all.Pairs != want.Pairs || lost != over || all.Arrive != all.Pairs-over || over == 0 || all.Places != 2 ||
		all.Part != over {
		t.Errorf("without a cable: %+v, by ibtracert %d paths went over it", all, over)
	}
}
