// SPDX-License-Identifier: Apache-2.0

package places

import (
	"fmt"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/mad"
)

// TestPortByGUID resolves ports by node GUID and number, also with equal node names.
func TestPortByGUID(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Nodes {
		for p := range f.Nodes[i].Ports() {
			text := fmt.Sprintf("guid:0x%x/%d", f.Nodes[i].GUID, f.Ports[p].Num)
			if got, err := Resolve(f, text); err != nil || got.Port != p || got.Node != fabric.NodeIndex(i) ||
				!got.PortNamed {
				t.Errorf("%s: %+v, %v, want port %d", text, got, err, p)
			}
		}
	}
	for _, text := range []string{"guid:0x1/1", "guid:0x200000/99", "guid:0x200000/x", "guid:/1"} {
		if p, err := Resolve(f, text); err == nil {
			t.Errorf("%s: %+v", text, p)
		}
	}
}

// TestUnreachable resolves an end port that a failure separates from the subnet by GUID and by LID.
func TestUnreachable(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	for _, e := range f.EndPorts {
		l, ok := f.LinkOf(e)
		if !ok || e == f.SMPort {
			continue
		}
		left, port := f.Without([]fabric.Link{l}), f.Ports[e]
		for _, text := range []string{fmt.Sprintf("guid:0x%x", port.GUID), fmt.Sprintf("lid:%d", port.LID)} {
			if got, err := Resolve(left, text); err != nil || got.Port != e {
				t.Errorf("%s without its link: %+v, %v, want port %d", text, got, err, e)
			}
		}
	}
	if _, err := Resolve(f, fmt.Sprintf("lid:%d", f.MaxLID+1)); err == nil {
		t.Error("a LID that no port has is found")
	}
}

// TestMentioned checks that a sentence is resolved to the first node or port in it, by whole words only.
func TestMentioned(t *testing.T) {
	var b fabric.Builder
	for _, n := range []fabric.Node{
		{GUID: 0x10, Type: mad.NodeSwitch, NumPorts: 4, Desc: "leaf-1"}, {GUID: 0x20, Type: mad.NodeSwitch, NumPorts: 4,
			Desc: "leaf-1 board"},
		{GUID: 0x30, Type: mad.NodeCA, NumPorts: 1, Desc: "n1 HCA-1"},
	} {
		if _, err := b.AddNode(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Connect(b.NodeByGUID(0x10), 2, b.NodeByGUID(0x30), 1); err != nil {
		t.Fatal(err)
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"647 paths over leaf-1/2 -> n1 HCA-1/1":    "leaf-1/2",
		"unreachable: n1 HCA-1/1, leaf-1/2":        "n1 HCA-1/1",
		"leaf-1 board and leaf-1":                  "leaf-1 board/0",
		"leaf-1/9 is no port":                      "leaf-1/0",
		"leaf-12 and xleaf-1 are others, leaf-1 i": "leaf-1/0",
		"it ends with leaf-1.":                     "leaf-1/0",
		"":                                         "",
		"nothing":                                  "",
	} {
		got := Mentioned(f, text)
		if name := nameOf(f, got); name != want {
			t.Errorf("%q leads to %q, want %q", text, name, want)
		}
	}
}

func nameOf(f *fabric.Fabric, p Place) string {
	if p.Node == fabric.None {
		return ""
	}
	return f.PortName(p.Port)
}

// TestFinder compares a finder with [Resolve] for all prefixes of names that are prefixes of each other, are equal,
// need escaping or are empty.
func TestFinder(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "ab", "ab c", "ab", "abc/1", "b\x1b[31m", "b\\x1b", "", "0x1", "7", "\xff\xfe", "lid:2", "z"}
	var words []string
	for i := range f.Nodes {
		f.Nodes[i].Desc = names[i%len(names)]
	}
	if f, err = fabric.AssignLIDs(f.WithDescriptions(nil)); err != nil {
		t.Fatal(err)
	}
	for i := range f.Nodes {
		for _, name := range []string{f.Nodes[i].Desc, f.NodeName(fabric.NodeIndex(i))} {
			for n := range len(name) + 1 {
				words = append(words, name[:n], name[:n]+"/1", name[:n]+"y")
			}
		}
	}
	finder, ambiguous := NewFinder(f), 0
	for _, word := range words {
		want, wantErr := Resolve(f, word)
		got, err := finder.Resolve(word)
		if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%q: %+v, %v, want %+v, %v", word, got, err, want, wantErr)
		}
		if wantErr != nil {
			ambiguous++
		}
	}
	if ambiguous == 0 || ambiguous == len(words) {
		t.Errorf("%d of %d words are errors", ambiguous, len(words))
	}
}

// TestSwitchByItsNumbers checks that the GUID and the LID of a switch name the switch, as its name does, and those of a
// host its port.
func TestSwitchByItsNumbers(t *testing.T) {
	whole, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	f, err := fabric.AssignLIDs(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range f.EndPorts {
		p := &f.Ports[e]
		for _, text := range []string{fmt.Sprintf("guid:0x%x", p.GUID), fmt.Sprintf("lid:%d", p.LID)} {
			got, err := Resolve(f, text)
			if err != nil || got.Port != e || got.PortNamed == f.Nodes[p.Node].IsSwitch() {
				t.Errorf("%s: %+v, %v", text, got, err)
			}
		}
	}
}

// TestSharedNames: the name of each node and port resolves to it, also where several nodes have the description.
func TestSharedNames(t *testing.T) {
	var b fabric.Builder
	for i, desc := range []string{"storage", "storage", "node-1", "a/b", "a/b"} {
		n := fabric.Node{GUID: uint64(i+1) << 4, Desc: desc, Type: mad.NodeSwitch, NumPorts: 3}
		if _, err := b.AddNode(n); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	finder := NewFinder(f)
	names := map[string]bool{}
	for node := range f.NumNodes() {
		for _, resolve := range []func(string) (Place, error){
			func(text string) (Place, error) { return Resolve(f, text) }, finder.Resolve,
		} {
			if got, err := resolve(f.NodeName(node)); err != nil || got.Node != node {
				t.Errorf("%q: %+v, %v, want node %d", f.NodeName(node), got, err, node)
			}
			port := f.PortAt(node, 2)
			if got, err := resolve(f.PortName(port)); err != nil || got.Port != port {
				t.Errorf("%q: %+v, %v, want port %d", f.PortName(port), got, err, port)
			}
		}
		if names[f.NodeName(node)] {
			t.Errorf("two nodes are %q", f.NodeName(node))
		}
		names[f.NodeName(node)] = true
	}
}
