// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// TestChoices compares the dependencies over all choices with a simple walk of each packet from link to link. If no
// switch has a choice, they are those of the linear tables.
func TestChoices(t *testing.T) {
	r := testenv.Rand(t)
	loops := 0
	for i := range testenv.Count(t, 60, 500) {
		tables := *treestest.Minhop(t, treestest.Random(t, r))
		if r.IntN(3) == 0 {
			tables = *treestest.Broken(r, &tables, r.IntN(4))
		}
		static, err := Check(t.Context(), &tables, Options{})
		if err != nil {
			t.Fatal(err)
		}
		tables.Adaptive = &fabric.Adaptive{Switches: make([]fabric.AdaptiveSwitch, len(tables.Fabric.Switches))}
		same, err := Check(t.Context(), &tables, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if same.Verdict != static.Verdict || same.Channels != static.Channels ||
			same.Dependencies != static.Dependencies || same.Cyclic != static.Cyclic {
			t.Errorf("case %d: %+v without a choice, %+v by the linear tables", i, same, static)
		}
		tables.Adaptive = treestest.RandomAdaptive(r, &tables)
		got, err := Check(t.Context(), &tables, Options{})
		if err != nil {
			t.Fatal(err)
		}
		channels, dependencies := waits(&tables)
		if got.Channels != len(channels) || got.Dependencies != len(dependencies) {
			t.Errorf("case %d: %d channels and %d dependencies, walked %d and %d", i, got.Channels, got.Dependencies,
				len(channels), len(dependencies))
		}
		for _, d := range got.Ring {
			if !dependencies[[2]fabric.PortIndex{d.From.Port, d.To.Port}] {
				t.Errorf("case %d: no such dependency: %+v", i, d)
			}
			if d.Src == fabric.None || d.LID == 0 {
				t.Errorf("case %d: no packets for %+v", i, d)
			}
		}
		if got.Verdict == Loop {
			loops++
		}
	}
	if loops == 0 {
		t.Error("no loop occurred")
	}
}

// waits returns the ports by which packets between CAs leave switches for other switches, and the packets that go from
// one to the next.
func waits(t *fabric.Tables) (channels map[fabric.PortIndex]bool, dependencies map[[2]fabric.PortIndex]bool) {
	f := t.Fabric
	channels, dependencies = map[fabric.PortIndex]bool{}, map[[2]fabric.PortIndex]bool{}
	for _, dst := range f.EndPorts {
		if f.Nodes[f.Ports[dst].Node].IsSwitch() {
			continue
		}
		for lid := f.Ports[dst].LID; lid < f.Ports[dst].LID+1<<f.Ports[dst].LMC; lid++ {
			seen := map[fabric.PortIndex]bool{}
			var come func(at, by fabric.PortIndex)
			come = func(at, by fabric.PortIndex) {
				sw := f.Nodes[f.Ports[at].Node].Switch
				if sw == fabric.None || !t.Known[sw] {
					return
				}
				_, exits := treestest.Exits(t, at, lid, 0)
				for _, p := range exits {
					port := f.SwitchNode(sw).FirstPort + fabric.PortIndex(p)
					if p == 0 || !treestest.Up(f, sw, p) || f.PeerSwitch(port) == fabric.None {
						continue
					}
					channels[port] = true
					if by != fabric.None {
						dependencies[[2]fabric.PortIndex{by, port}] = true
					}
					if !seen[port] {
						seen[port] = true
						come(f.Ports[port].Peer, port)
					}
				}
			}
			for _, src := range f.EndPorts {
				if src != dst && !f.Nodes[f.Ports[src].Node].IsSwitch() && f.Ports[src].Peer != fabric.None {
					come(f.Ports[src].Peer, fabric.None)
				}
			}
		}
	}
	return channels, dependencies
}
