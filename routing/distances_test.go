// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/mad"
)

func TestTranspose(t *testing.T) {
	var m, was [64]uint64
	for i := range m {
		m[i] = rand.Uint64()
	}
	was = m
	transpose(&m)
	for i := range 64 {
		for j := range 64 {
			if m[i]>>j&1 != was[j]>>i&1 {
				t.Fatalf("bit %d of word %d is not bit %d of word %d", j, i, i, j)
			}
		}
	}
}

func TestTransposeBytes(t *testing.T) {
	var m, was [8]uint64
	for i := range m {
		m[i] = rand.Uint64()
	}
	was = m
	TransposeBytes(&m)
	for i := range 8 {
		for j := range 8 {
			if uint8(m[i]>>(8*j)) != uint8(was[j]>>(8*i)) {
				t.Fatalf("byte %d of word %d is not byte %d of word %d", j, i, i, j)
			}
		}
	}
}

// ring returns a ring of switches. The last one has unused ports, too.
func ring(t *testing.T, n int) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	for i := range n {
		ports := uint8(2)
		if i == n-1 {
			ports = 200
		}
		if _, err := b.AddNode(fabric.Node{GUID: uint64(n - i), Type: mad.NodeSwitch, NumPorts: ports,
			Desc: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		in := 2
		if (i+1)%n == n-1 {
			in = 199
		}
		if err := b.Connect(fabric.NodeIndex(i), 1, fabric.NodeIndex((i+1)%n), in); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// slowDistances searches breadth-first from one switch over the ports of the fabric.
func slowDistances(f *fabric.Fabric, from fabric.SwitchIndex) []int {
	dist := make([]int, len(f.Switches))
	for s := range dist {
		dist[s] = -1
	}
	dist[from] = 0
	for queue := []fabric.SwitchIndex{from}; len(queue) > 0; queue = queue[1:] {
		n := f.SwitchNode(queue[0])
		for p := 1; p <= int(n.NumPorts); p++ {
			if peer := f.PeerSwitch(n.FirstPort + fabric.PortIndex(p)); peer != fabric.None && dist[peer] < 0 {
				dist[peer] = dist[queue[0]] + 1
				queue = append(queue, peer)
			}
		}
	}
	return dist
}

// TestDistances includes a ring of 600 switches, whose distances exceed the byte of OpenSM.
func TestDistances(t *testing.T) {
	fabrics := map[string]*fabric.Fabric{"ring of 600": ring(t, 600), "ring of 64": ring(t, 64)}
	for _, spec := range []string{"fattree:3,8", "torus:5x5x5", "random:130,5,200", "hypercube:7"} {
		f := gentest.Fabric(t, spec)
		fabrics[spec] = f
		fabrics[spec+" damaged"] = f.Without(f.Links()[len(f.Links())/2:])
	}
	for name, f := range fabrics {
		d := NewDistances(f)
		sets := NewPortSets(len(f.Switches), 254)
		for s := range fabric.SwitchIndex(len(f.Switches)) {
			if !f.SwitchNode(s).InSubnet {
				continue
			}
			want := slowDistances(f, s)
			sets = d.LeastHopPorts(s, sets)
			for to, h := range want {
				if h < 0 || h >= NoHops {
					h = NoHops
				}
				if got := d.Least(s, fabric.SwitchIndex(to)); int(got) != h {
					t.Fatalf("%s: %d hops from %d to %d, want %d", name, got, s, to, h)
				}
				for p := 1; p <= int(f.SwitchNode(s).NumPorts); p++ {
					least := h != NoHops && d.Through(s, uint8(p), fabric.SwitchIndex(to)) == uint8(h)
					if sets.Has(fabric.SwitchIndex(to), uint8(p)) != least {
						t.Fatalf("%s: port %d of %d towards %d is least: %v, want %v", name, p, s, to, !least, least)
					}
				}
			}
		}
	}
}
