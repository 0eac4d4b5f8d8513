// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// edit rebuilds a fabric with all indexes reversed. The function node may change a node, port a port. A node or link is
// left out if node or link returns false.
func edit(t *testing.T, f *fabric.Fabric, node func(*fabric.Node) bool, port func(*fabric.Node, *fabric.Port),
	link func(a, b string) bool) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	order := make([]fabric.NodeIndex, 0, len(f.Nodes))
	for i := range f.Nodes {
		order = append(order, fabric.NodeIndex(len(f.Nodes)-1-i))
	}
	at := map[fabric.NodeIndex]fabric.NodeIndex{}
	for _, i := range order {
		n := f.Nodes[i]
		if !node(&n) {
			continue
		}
		j, err := b.AddNode(n)
		if err != nil {
			t.Fatal(err)
		}
		at[i] = j
		for num := range int(n.NumPorts) + 1 {
			if p := b.Port(j, num); p != nil {
				*p = f.Ports[f.Port(i, uint8(num))]
				p.Node, p.Peer = j, fabric.None
				port(&n, p)
			}
		}
	}
	for _, l := range f.Links() {
		p, q := f.Ports[l.A], f.Ports[l.B]
		a, okA := at[p.Node]
		c, okC := at[q.Node]
		if okA && okC && link(f.PortName(l.A), f.PortName(l.B)) {
			if err := b.Connect(a, int(p.Num), c, int(q.Num)); err != nil {
				t.Fatal(err)
			}
		}
	}
	sm := f.Ports[f.SMPort]
	if err := b.SetSMPort(at[sm.Node], int(sm.Num)); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestChanges compares two states of a small fat-tree, with reversed indexes in the later one, to differences worked
// out by hand.
func TestChanges(t *testing.T) {
	f, err := fabric.AssignLIDs(generate(t, "fattree:2,4"))
	if err != nil {
		t.Fatal(err)
	}
	f = f.Activated()
	all := func(*fabric.Node) bool { return true }
	same := func(*fabric.Node, *fabric.Port) {}
	links := func(string, string) bool { return true }
	isHost := func(n *fabric.Node, i int) bool { return n.Desc == fmt.Sprintf("node-%04d HCA-1", i) }
	lid := func(i int) uint16 {
		n := f.NodesByDescription(fmt.Sprintf("node-%04d HCA-1", i))[0]
		return f.Ports[f.Port(n, 1)].LID
	}
	for _, c := range []struct {
		name string
		node func(*fabric.Node) bool
		port func(*fabric.Node, *fabric.Port)
		link func(a, b string) bool
		want []string
	}{
		{"nothing", all, same, links, nil},
		{"a name", func(n *fabric.Node) bool {
			if isHost(n, 3) {
				n.Desc = "new\n"
			}
			return true
		}, same, links, []string{`new\x0a: node renamed, was node-0003 HCA-1`}},
		{"a host", func(n *fabric.Node) bool { return !isHost(n, 3) }, same, links,
			[]string{"node-0003 HCA-1: node gone", "node-0003 HCA-1/1 to leaf-02/1: link down"}},
		{"a link", all, same, func(a, b string) bool { return a+b != "leaf-01/3spine-01/1" },
			[]string{"leaf-01/3 to spine-01/1: link down"}},
		{"properties of a link", all, func(n *fabric.Node, p *fabric.Port) {
			if n.Desc == "leaf-01" && p.Num == 3 {
				p.Width, p.Speed, p.State = 1, fabric.HDR, mad.PortInit
			}
		}, links, []string{
			"leaf-01/3: state Initialize, was Active", "leaf-01/3: width 1x, was 4x", "leaf-01/3: speed HDR, was SDR",
		}},
		{"a LID", all, func(n *fabric.Node, p *fabric.Port) {
			if isHost(n, 3) && p.Num == 1 {
				p.LID, p.LMC = 100, 2
			}
		}, links, []string{fmt.Sprintf("node-0003 HCA-1/1: LID 100-103, was %d", lid(3))}},
		{"another type of node with the GUID", func(n *fabric.Node) bool {
			if isHost(n, 3) {
				n.Type = mad.NodeRouter
			}
			return true
		}, same, links, []string{
			"node-0003 HCA-1: node gone", "node-0003 HCA-1: node new",
			"node-0003 HCA-1/1 to leaf-02/1: link down", "leaf-02/1 to node-0003 HCA-1/1: link up"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := edit(t, f, c.node, c.port, c.link)
			check := func(what string, was, is *fabric.Fabric, want []string) {
				t.Helper()
				var got []string
				for _, x := range fabric.Changes(was, is) {
					got = append(got, x.String())
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			check("changes", f, g, c.want)
			if back := fabric.Changes(g, f); len(back) != len(c.want) {
				t.Errorf("%d changes, %d back: %v", len(c.want), len(back), back)
			}
			check("none", g, g, nil)
		})
	}
}
