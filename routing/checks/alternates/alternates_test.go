// SPDX-License-Identifier: Apache-2.0

package alternates

import (
	"fmt"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/checks/trees/treestest"
)

// rails returns two hosts with two ports each, on two switches that are linked by two cables: port 1 of both hosts is
// on switch s1, port 2 on s2.
func rails(t *testing.T) *fabric.Tables {
	t.Helper()
	var b fabric.Builder
	add := func(guid uint64, name string, kind mad.NodeType, ports uint8) fabric.NodeIndex {
		n, err := b.AddNode(fabric.Node{GUID: guid, Desc: name, Type: kind, NumPorts: ports})
		if err != nil {
			t.Fatal(err)
		}
		for p := range int(ports) + 1 {
			if q := b.Port(n, p); q != nil {
				q.GUID = guid
				if kind == mad.NodeCA {
					q.GUID += uint64(p)
				}
			}
		}
		return n
	}
	one, other := add(0x10, "A", mad.NodeCA, 2), add(0x20, "B", mad.NodeCA, 2)
	s1, s2 := add(0x100, "s1", mad.NodeSwitch, 4), add(0x200, "s2", mad.NodeSwitch, 4)
	for _, c := range []struct {
		a    fabric.NodeIndex
		p    int
		b    fabric.NodeIndex
		port int
	}{{one, 1, s1, 1}, {one, 2, s2, 1}, {other, 1, s1, 2}, {other, 2, s2, 2}, {s1, 3, s2, 3}, {s1, 4, s2, 4}} {
		if err := b.Connect(c.a, c.p, c.b, c.port); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	return treestest.Minhop(t, f)
}

func told(f *fabric.Fabric, s *Shared) string {
	var words []string
	for _, p := range s.Links {
		words = append(words, f.PortName(p))
	}
	for _, n := range s.Switches {
		words = append(words, f.NodeName(n))
	}
	return strings.Join(words, " ")
}

// TestTwoPorts has expectations by hand. The primary path from A/1 to B/1 uses s1. A path from A/2 to B/2 shares
// nothing. A path with one of its ports shares the cable of that port and s1.
func TestTwoPorts(t *testing.T) {
	tables := rails(t)
	f := tables.Fabric
	port := func(guid uint64) uint16 { return f.Ports[f.PortByGUID(guid)].LID }
	r := Of(tables, port(0x11), port(0x21))
	if !r.Primary.Arrives() || r.Lost != 0 {
		t.Fatalf("%+v", r)
	}
	var got []string
	for i := range r.List {
		a := &r.List[i]
		got = append(got, fmt.Sprintf("%s to %s: ends %s; between %s", f.PortName(a.Src), f.PortName(a.Dst),
			told(f, &a.Ends), told(f, &a.Between)))
	}
	want := []string{
		"A/2 to B/2: ends ; between ",
		"A/2 to B/1: ends B/1 s1; between ",
		"A/1 to B/2: ends A/1 s1; between ",
	}
	if port(0x21) > port(0x22) {
		want[1], want[2] = want[2], want[1]
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestOneLID checks that a port with one LID has no alternate path.
func TestOneLID(t *testing.T) {
	tables := treestest.Minhop(t, treestest.Made(t, "fattree:2,4"))
	f := tables.Fabric
	r := Of(tables, f.Ports[f.EndPorts[0]].LID, f.Ports[f.EndPorts[len(f.EndPorts)-1]].LID)
	if len(r.List) != 0 || r.Lost != 0 || !r.Primary.Arrives() {
		t.Errorf("%+v", r)
	}
}
