// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// square is four switches in a ring, each with one host:
//
//	n1 -[1] sw1 [2]--[3] sw2 [1]- n2
//	        [3]          [2]
//	         |            |
//	        [2]          [3]
//	n4 -[1] sw4 [3]--[2] sw3 [1]- n3
//
// Switch i has LID i, host i has LID 10+i. Switches have four ports; port 4 is free. The SM is on n1.
func square(t testing.TB) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	add := func(n fabric.Node, lid uint16, port int) fabric.NodeIndex {
		i, err := b.AddNode(n)
		if err != nil {
			t.Fatal(err)
		}
		p := b.Port(i, port)
		p.LID = lid
		p.GUID = n.GUID + uint64(port)
		return i
	}
	names := []string{"1", "2", "3", "4"}
	var hosts, switches []fabric.NodeIndex
	for i, name := range names {
		hosts = append(hosts,
			add(fabric.Node{GUID: uint64(0x1000 + 16*i), Desc: "n" + name, Type: mad.NodeCA, NumPorts: 1},
				uint16(11+i), 1))
	}
	for i, name := range names {
		// LE order: the lowest byte differs, so these ascend.
		switches = append(switches,
			add(fabric.Node{GUID: uint64(0x2001 + i), Desc: "sw" + name, Type: mad.NodeSwitch, NumPorts: 4},
				uint16(1+i), 0))
	}
	for i := range names {
		connect(t, &b, hosts[i], 1, switches[i], 1)
		connect(t, &b, switches[i], 2, switches[(i+1)%4], 3)
	}
	return build(t, &b)
}

func connect(t testing.TB, b *fabric.Builder, nodeA fabric.NodeIndex, portA int, nodeB fabric.NodeIndex, portB int) {
	t.Helper()
	if err := b.Connect(nodeA, portA, nodeB, portB); err != nil {
		t.Fatal(err)
	}
}

func build(t testing.TB, b *fabric.Builder) *fabric.Fabric {
	t.Helper()
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// clockwise routes the square: every packet leaves by port 2 until it arrives.
func clockwise(f *fabric.Fabric) *fabric.Tables {
	lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
	for s := range f.NumSwitches() {
		for _, e := range f.EndPorts {
			port := uint8(2)
			if sw, p := f.AttachedSwitch(e); sw == s {
				port = p
			}
			lft.Row(s)[f.Ports[e].LID] = port
		}
	}
	return fabric.NewTables(f, lft, "clockwise")
}

// changed returns the tables with one entry changed.
func changed(t *fabric.Tables, sw fabric.SwitchIndex, lid uint16, entry uint8) *fabric.Tables {
	c := *t
	c.LFT = t.LFT.Clone()
	c.LFT.Row(sw)[lid] = entry
	return &c
}
