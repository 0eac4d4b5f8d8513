// SPDX-License-Identifier: Apache-2.0

package ftree

import (
	"fmt"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
)

// net is a small fabric with names. Nodes whose names begin with c are compute nodes, with s service nodes; the others
// are switches. Node GUIDs ascend in the order of names.
type net struct {
	t    *testing.T
	b    fabric.Builder
	node map[string]fabric.NodeIndex
	used map[string]int
	f    *fabric.Fabric
}

// drawn builds a fabric of links, "A-B A-C". Every node uses its lowest free port for its next link. Nodes are added in
// the order of names.
func drawn(t *testing.T, names, links string) *net {
	t.Helper()
	n := &net{t: t, node: map[string]fabric.NodeIndex{}, used: map[string]int{}}
	for i, name := range strings.Fields(names) {
		kind, ports := mad.NodeSwitch, uint8(12)
		if name[0] == 'c' || name[0] == 's' {
			kind, ports = mad.NodeCA, 1
		}
		// The most significant byte of the order is the last one of the GUID.
		k, err := n.b.AddNode(fabric.Node{GUID: uint64(i+1)*2 | 0x100, Type: kind, NumPorts: ports, Desc: name})
		if err != nil {
			t.Fatal(err)
		}
		if kind == mad.NodeCA {
			n.b.Port(k, 1).GUID = uint64(i+1)*2 | 0x101
		}
		n.node[name] = k
	}
	for link := range strings.FieldsSeq(links) {
		a, b, _ := strings.Cut(link, "-")
		n.used[a]++
		n.used[b]++
		if err := n.b.Connect(n.node[a], n.used[a], n.node[b], n.used[b]); err != nil {
			t.Fatal(err)
		}
	}
	f, err := n.b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if n.f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *net) sw(name string) fabric.SwitchIndex {
	n.t.Helper()
	k, ok := n.node[name]
	if !ok || !n.f.Nodes[k].IsSwitch() {
		n.t.Fatalf("no switch %s", name)
	}
	return n.f.Nodes[k].Switch
}

// guids returns node GUIDs of switches and port GUIDs of hosts.
func (n *net) guids(names string) []uint64 {
	var out []uint64
	for name := range strings.FieldsSeq(names) {
		node := &n.f.Nodes[n.node[name]]
		if !node.IsSwitch() {
			out = append(out, n.f.Ports[node.FirstPort+1].GUID)
		} else {
			out = append(out, node.GUID)
		}
	}
	return out
}

// next returns the name of the next node on the path from a switch to a host, "" for none.
func (n *net) next(t *fabric.Tables, at, to string) string {
	host := &n.f.Nodes[n.node[to]]
	port := t.Port(n.sw(at), n.f.Ports[host.FirstPort+1].LID)
	if port == fabric.NoPath {
		return ""
	}
	return n.f.Nodes[n.f.PeerNode(n.f.Port(n.node[at], port))].Desc
}

// check compares next hops: "AT>TO:NEXT".
func (n *net) check(title string, t *fabric.Tables, want string) {
	n.t.Helper()
	for w := range strings.FieldsSeq(want) {
		pair, next, _ := strings.Cut(w, ":")
		at, to, _ := strings.Cut(pair, ">")
		if got := n.next(t, at, to); got != next {
			n.t.Errorf("%s: from %s to %s by %q, want %q", title, at, to, got, next)
		}
	}
}

func routed(t *testing.T, f *fabric.Fabric, opt routing.Options) *routing.Result {
	t.Helper()
	res, err := Engine{}.Route(t.Context(), f, opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// named returns the switches with these names, separated by spaces.
func named(t *testing.T, f *fabric.Fabric, names string) []fabric.SwitchIndex {
	t.Helper()
	var out []fabric.SwitchIndex
	for name := range strings.FieldsSeq(names) {
		nodes := f.NodesByDescription(name)
		if len(nodes) != 1 {
			t.Fatalf("%d nodes are called %s", len(nodes), name)
		}
		out = append(out, f.Nodes[nodes[0]].Switch)
	}
	return out
}

// without removes the link between two nodes.
func without(t *testing.T, f *fabric.Fabric, from, to string) *fabric.Fabric {
	t.Helper()
	for _, l := range f.Links() {
		ends := fmt.Sprint(f.Nodes[f.Ports[l.A].Node].Desc, " ", f.Nodes[f.Ports[l.B].Node].Desc)
		if ends == from+" "+to || ends == to+" "+from {
			return f.Without([]fabric.Link{l})
		}
	}
	t.Fatalf("no link joins %s and %s", from, to)
	return nil
}
