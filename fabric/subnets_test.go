// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"fmt"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// TestSubnets compares the subnets of random fabrics with what a subnet manager at the seat of each finds. Every linked
// port belongs to exactly one subnet.
func TestSubnets(t *testing.T) {
	r := testenv.Rand(t)
	several, pairs := 0, 0
	for range testenv.Count(t, 200, 5000) {
		var b fabric.Builder
		nodes, ports := 2+r.IntN(12), map[int]int{}
		for i := range nodes {
			n := fabric.Node{GUID: uint64(i+1) << 8, Type: mad.NodeSwitch, NumPorts: 6, Desc: fmt.Sprint("n", i)}
			if r.IntN(2) == 0 {
				n.Type, n.NumPorts = mad.NodeCA, uint8(1+r.IntN(3))
			}
			at, err := b.AddNode(n)
			if err != nil {
				t.Fatal(err)
			}
			for p := range int(n.NumPorts) + 1 {
				if n.Type == mad.NodeSwitch || p > 0 {
					b.Port(at, p).GUID = n.GUID + uint64(p)
				}
			}
			ports[i] = int(n.NumPorts)
		}
		for range r.IntN(2 * nodes) {
			x, y := r.IntN(nodes), r.IntN(nodes)
			// A port that already has a link is refused, which is fine here.
			_ = b.Connect(fabric.NodeIndex(x), 1+r.IntN(ports[x]), fabric.NodeIndex(y), 1+r.IntN(ports[y]))
		}
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		all, links, seen := fabric.Subnets(f), 0, map[fabric.PortIndex]bool{}
		for i, s := range all {
			g, err := f.WithSMPort(s.Seat)
			if err != nil {
				t.Fatal(err)
			}
			in := g.Inventory().InSubnet
			if in.Links != s.Links || in.Switches != s.Switches || in.Nodes != s.Nodes {
				t.Fatalf("subnet %d: %+v, a subnet manager at %s finds %+v", i, s, f.PortName(s.Seat), in)
			}
			for _, e := range g.EndPorts {
				if seen[e] {
					t.Fatalf("subnet %d: %s is in two subnets", i, f.PortName(e))
				}
				seen[e] = true
			}
			links += s.Links
			if s.Switches == 0 {
				pairs++
			}
		}
		if links != len(f.Links()) {
			t.Fatalf("%d links in all subnets, want %d", links, len(f.Links()))
		}
		if len(all) > 1 {
			several++
		}
	}
	if several == 0 || pairs == 0 {
		t.Errorf("%d fabrics with several subnets, %d subnets without a switch: too few to compare", several, pairs)
	}
}
