// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/internal/base/prose"
)

// ChangeKind is the kind of a [Change].
type ChangeKind uint8

// The kinds of changes, in the order in which [Changes] lists them.
const (
	NodeGone    ChangeKind = iota
	NodeNew                // also if the node existed and has another type or number of ports now
	NodeRenamed            // From and To are descriptions, escaped
	LinkDown
	LinkUp       // a moved cable is a LinkDown and a LinkUp
	LIDChanged   // of an end port: "5", "8-11", "none"
	StateChanged // of a port whose link still exists, as for the next two: "Active"
	WidthChanged // "4x"
	SpeedChanged // "HDR"
	// Changes does not return the following kinds. A caller that sends requests to the missing nodes may replace
	// NodeGone by one of them.
	NodeSilent // is cabled and does not respond
	NodeHidden // is behind nodes that do not respond
)

var changeNames = [...]string{
	"node gone", "node new", "node renamed", "link down", "link up", "LID", "state", "width", "speed",
	"does not respond", "hidden behind nodes that do not respond",
}

func (k ChangeKind) String() string {
	if int(k) < len(changeNames) {
		return changeNames[k]
	}
	return fmt.Sprintf("change %d", uint8(k))
}

// End identifies a node or, if Port is not negative, one port of the node.
type End struct {
	GUID uint64 // of the node
	Port int
	Name string // escaped; for a port like [Fabric.PortName]
}

// Change is one difference between two states of a subnet.
type Change struct {
	Kind     ChangeKind
	At       End    // the node or port that changed, with its later name if it still exists
	Peer     End    // the other end of a link that appeared or disappeared
	From, To string // the old and the new value, see [ChangeKind]
}

// String describes the change in one line, for example "leaf-01/3 to spine-02/1: link down" or "node-0003 HCA-1/1: LID
// 5, was 7".
func (c Change) String() string {
	switch c.Kind {
	case NodeGone, NodeNew, NodeSilent, NodeHidden:
		return fmt.Sprintf("%s: %v", c.At.Name, c.Kind)
	case LinkDown, LinkUp:
		return fmt.Sprintf("%s to %s: %v", c.At.Name, c.Peer.Name, c.Kind)
	case NodeRenamed:
		return fmt.Sprintf("%s: %v, was %s", c.To, c.Kind, c.From)
	}
	return fmt.Sprintf("%s: %v %s, was %s", c.At.Name, c.Kind, c.To, c.From)
}

// In reports whether a fabric has the state after the change of a node or link: a node or link that disappeared is
// missing, one that appeared is there.
func (c *Change) In(f *Fabric) bool {
	node := f.NodeByGUID(c.At.GUID)
	isIn := node != None && f.Nodes[node].InSubnet
	switch c.Kind {
	case NodeGone:
		return !isIn
	case NodeNew:
		return isIn
	}
	isUp := false
	if isIn {
		port := f.PortAt(node, c.At.Port)
		if port != None && f.Ports[port].Peer != None {
			peer := &f.Ports[f.Ports[port].Peer]
			isUp = f.Nodes[peer.Node].GUID == c.Peer.GUID && int(peer.Num) == c.Peer.Port
		}
	}
	return isUp == (c.Kind == LinkUp)
}

// Summary returns a text with the number of changes of each kind of links and nodes, and the names of the first: "2
// links down, 1 node gone (leaf-01/3 -- spine-02/1, leaf-01/4 -- spine-03/1, node-0003)".
func Summary(changes []Change, most int) string {
	var counts, names []string
	for _, x := range []struct {
		kind     ChangeKind
		noun, is string
	}{{LinkDown, "link", "down"}, {LinkUp, "link", "up"}, {NodeGone, "node", "gone"}, {NodeNew, "node", "new"}} {
		n := 0
		for i := range changes {
			if c := &changes[i]; c.Kind == x.kind {
				n++
				names = append(names, c.At.Name+prose.When(c.Peer.Name == "", "", " -- "+c.Peer.Name))
			}
		}
		if n > 0 {
			counts = append(counts, prose.Count(n, x.noun)+" "+x.is)
		}
	}
	return fmt.Sprintf("%s (%s)", strings.Join(counts, ", "), prose.List(names, most))
}

// Changes lists the differences between two states of a subnet. It matches nodes by node GUID, and links and ports by
// node GUID and port number, whatever their indexes are. Nodes that are not InSubnet are ignored.
//
// Changes are sorted by kind, then by the order of nodes and ports in the later state. Nodes and ports that disappeared
// are sorted by their order in the earlier state. O(ports); O(nodes) if the later state was made from the earlier state
// by [Fabric.Without].
func Changes(earlier, later *Fabric) []Change {
	if links, ok := Removed(earlier, later); ok {
		return losses(earlier, later, links)
	}
	return changes(earlier, later)
}

// losses returns the changes between two states. The later state has only lost some links of the earlier state. The
// argument links lists these links.
func losses(earlier, later *Fabric, links []Link) []Change {
	c := comparison{old: earlier}
	links = slices.Clone(links)
	if len(earlier.Nodes) > 0 && &earlier.Nodes[0] != &later.Nodes[0] {
		for i := range earlier.NumNodes() {
			n := &earlier.Nodes[i]
			if !n.InSubnet || later.Nodes[i].InSubnet {
				continue
			}
			c.add(Change{Kind: NodeGone, At: nodeEnd(earlier, i)})
			for p := range n.Slots() {
				if l, ok := earlier.LinkOf(p); ok {
					links = append(links, l)
				}
			}
		}
	}
	slices.SortStableFunc(links, func(x, y Link) int { return cmp.Compare(x.A, y.A) })
	for _, l := range slices.Compact(links) {
		a, b := &earlier.Ports[l.A], &earlier.Ports[l.B]
		if earlier.Nodes[a.Node].InSubnet && earlier.Nodes[b.Node].InSubnet && a.Peer == l.B {
			c.add(Change{Kind: LinkDown, At: NamedEnd(earlier, l.A), Peer: NamedEnd(earlier, l.B)})
		}
	}
	return c.found
}

// NamedEnd returns a port with its name.
func NamedEnd(f *Fabric, port PortIndex) End {
	p := &f.Ports[port]
	return End{GUID: f.Nodes[p.Node].GUID, Port: int(p.Num), Name: f.PortName(port)}
}

// changes returns all changes of nodes, links and ports.
func changes(earlier, later *Fabric) []Change {
	c := comparison{old: earlier, now: later, to: counterparts(earlier, later), from: counterparts(later, earlier)}
	for i := range earlier.NumNodes() {
		if earlier.Nodes[i].InSubnet && c.to[i] == None {
			c.add(Change{Kind: NodeGone, At: nodeEnd(earlier, i)})
		}
	}
	for i := range later.NumNodes() {
		if later.Nodes[i].InSubnet && c.from[i] == None {
			c.add(Change{Kind: NodeNew, At: nodeEnd(later, i)})
		}
	}
	for i, was := range c.from {
		if was != None && earlier.Nodes[was].Desc != later.Nodes[i].Desc {
			c.add(Change{Kind: NodeRenamed, At: nodeEnd(later, NodeIndex(i)), From: earlier.NodeName(was),
				To: later.NodeName(NodeIndex(i))})
		}
	}
	c.links(LinkDown, earlier, later, c.to)
	c.links(LinkUp, later, earlier, c.from)
	c.ports()
	return c.found
}

type comparison struct {
	old, now *Fabric
	to, from []NodeIndex // by node: its index in the other state
	found    []Change
}

func (c *comparison) add(x Change) { c.found = append(c.found, x) }

// counterparts returns, for each node of f, the index in g of the node with the same GUID, type and number of ports.
// The index is None unless the node is in both subnets.
func counterparts(f, g *Fabric) []NodeIndex {
	out := make([]NodeIndex, len(f.Nodes))
	for i := range f.Nodes {
		n := &f.Nodes[i]
		j := g.NodeByGUID(n.GUID)
		if !n.InSubnet || j == None || !g.Nodes[j].InSubnet || g.Nodes[j].Type != n.Type ||
			g.Nodes[j].NumPorts != n.NumPorts {
			j = None
		}
		out[i] = j
	}
	return out
}

// links records a change of this kind for each link of f that g does not have.
func (c *comparison) links(kind ChangeKind, f, g *Fabric, to []NodeIndex) {
	for _, l := range f.Links() {
		a, b := &f.Ports[l.A], &f.Ports[l.B]
		if !f.Nodes[a.Node].InSubnet || !f.Nodes[b.Node].InSubnet {
			continue
		}
		x, y := to[a.Node], to[b.Node]
		if x == None || y == None || g.Ports[g.Port(x, a.Num)].Peer != g.Port(y, b.Num) {
			c.add(Change{Kind: kind, At: c.portEnd(f, l.A), Peer: c.portEnd(f, l.B)})
		}
	}
}

// ports records the changed properties of ports that exist in both states.
func (c *comparison) ports() {
	c.each(LIDChanged, lids, func(was, is *Port) bool { return was.LID != is.LID || was.LMC != is.LMC })
	c.each(StateChanged, func(p *Port) string { return p.State.String() }, func(was, is *Port) bool {
		return was.State != is.State && (is.Num == 0 || c.sameLink(was, is))
	})
	c.each(WidthChanged, func(p *Port) string { return p.Width.String() }, func(was, is *Port) bool {
		return was.Width != is.Width && c.sameLink(was, is)
	})
	c.each(SpeedChanged, func(p *Port) string { return p.Speed.String() }, func(was, is *Port) bool {
		return was.Speed != is.Speed && c.sameLink(was, is)
	})
}

func (c *comparison) each(kind ChangeKind, word func(*Port) string, differs func(was, is *Port) bool) {
	for i, was := range c.from {
		if was == None {
			continue
		}
		n := &c.now.Nodes[i]
		for p := range n.Slots() {
			from, to := &c.old.Ports[c.old.Port(was, c.now.Ports[p].Num)], &c.now.Ports[p]
			if differs(from, to) {
				c.add(Change{Kind: kind, At: c.portEnd(c.now, p), From: word(from), To: word(to)})
			}
		}
	}
}

// sameLink reports whether the link of a port leads to the same port in both states.
func (c *comparison) sameLink(was, is *Port) bool {
	if was.Peer == None || is.Peer == None {
		return false
	}
	p, q := &c.old.Ports[was.Peer], &c.now.Ports[is.Peer]
	return p.Num == q.Num && c.to[p.Node] == q.Node
}

func lids(p *Port) string {
	switch {
	case p.LID == 0:
		return "none"
	case p.LMC == 0:
		return fmt.Sprint(p.LID)
	}
	return fmt.Sprintf("%d-%d", p.LID, int(p.LID)+1<<p.LMC-1)
}

func nodeEnd(f *Fabric, node NodeIndex) End {
	return End{GUID: f.Nodes[node].GUID, Port: -1, Name: f.NodeName(node)}
}

// portEnd identifies a port of f. It uses the port's name in the later state if the port exists there.
func (c *comparison) portEnd(f *Fabric, port PortIndex) End {
	p := &f.Ports[port]
	name := f.NodeName(p.Node)
	if f == c.old && c.to[p.Node] != None {
		name = c.now.NodeName(c.to[p.Node])
	}
	return End{GUID: f.Nodes[p.Node].GUID, Port: int(p.Num), Name: fmt.Sprintf("%s/%d", name, p.Num)}
}
