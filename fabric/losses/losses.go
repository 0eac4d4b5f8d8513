// SPDX-License-Identifier: Apache-2.0

// Package losses maintains a list of the links and nodes that a subnet has lost. The list is updated after each sweep.
package losses

import (
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
)

// Loss is a lost node or link.
type Loss struct {
	At    fabric.End `json:"at"`             // the node or one end of the link
	Peer  fabric.End `json:"peer,omitzero"`  // the other end, zero for a node
	Since time.Time  `json:"since,omitzero"` // when it was last seen
	// Unseen means that the loss is not certain: nodes that did not respond hide this node or link.
	Unseen bool `json:"unseen,omitempty"`
}

// Link reports whether it is a link.
func (l *Loss) Link() bool { return l.Peer.GUID != 0 }

// List is all losses. It is immutable.
type List []Loss

// After returns the list after a new sweep. It adds links and nodes that the previous sweep found and that are now
// missing. It removes links and nodes that have come back. The arguments are the fabric and the time of the previous
// sweep, and the fabric of the new sweep. O(ports + losses).
func (l List) After(was *fabric.Fabric, at time.Time, is *fabric.Fabric, unanswered []sweep.Unanswered) List {
	var out List
	type key struct{ a, b [2]uint64 }
	keyOf := func(x *Loss) key {
		a, b := [2]uint64{x.At.GUID, uint64(x.At.Port)}, [2]uint64{x.Peer.GUID, uint64(x.Peer.Port)}
		if x.Link() && slices.Compare(a[:], b[:]) > 0 {
			a, b = b, a
		}
		return key{a, b}
	}
	known := map[key]bool{}
	add := func(x Loss) {
		if k := keyOf(&x); !known[k] {
			known[k] = true
			out = append(out, x)
		}
	}
	for _, x := range l {
		if !x.back(is) {
			add(x)
		}
	}
	for _, c := range fabric.Changes(was, is) {
		switch c.Kind {
		case fabric.NodeGone:
			add(Loss{At: c.At, Since: at})
		case fabric.LinkDown:
			add(Loss{At: c.At, Peer: c.Peer, Since: at})
		}
	}
	out.markUnseen(unanswered)
	return out
}

// back reports whether it is in a fabric.
func (l *Loss) back(f *fabric.Fabric) bool {
	node := f.NodeByGUID(l.At.GUID)
	if node == fabric.None || !f.Nodes[node].InSubnet {
		return false
	}
	if !l.Link() {
		return true
	}
	p := f.PortAt(node, l.At.Port)
	if p == fabric.None || !f.Ports[p].Linked() {
		return false
	}
	q := &f.Ports[f.Ports[p].Peer]
	return f.Nodes[q.Node].GUID == l.Peer.GUID && int(q.Num) == l.Peer.Port
}

// markUnseen sets Unseen for losses at unanswered ports, and for nodes and links that are reached only through such
// ports.
func (l List) markUnseen(unanswered []sweep.Unanswered) {
	silent := sweep.SilentPorts(unanswered)
	gone := map[uint64]*Loss{}
	for i := range l {
		x := &l[i]
		if x.Unseen = false; !x.Link() {
			gone[x.At.GUID] = x
		}
	}
	unseen := func(e fabric.End) bool {
		x := gone[e.GUID]
		return silent(e.GUID, e.Port) || x != nil && x.Unseen
	}
	for again := len(gone) > 0; again; {
		again = false
		for i := range l {
			if x := &l[i]; x.Link() {
				for _, e := range [2][2]fabric.End{{x.At, x.Peer}, {x.Peer, x.At}} {
					if node := gone[e[0].GUID]; node != nil && !node.Unseen && unseen(e[1]) {
						node.Unseen, again = true, true
					}
				}
			}
		}
	}
	for i := range l {
		if x := &l[i]; x.Link() {
			x.Unseen = unseen(x.At) && unseen(x.Peer)
		}
	}
}

// Links returns the number of links that are certainly lost.
func (l List) Links() (n int) {
	for i := range l {
		if l[i].Link() && !l[i].Unseen {
			n++
		}
	}
	return n
}

// Without returns the list without the losses that are older than t and are also missing in f, a fabric read before t.
func (l List) Without(f *fabric.Fabric, t time.Time) List {
	return slices.DeleteFunc(slices.Clone(l), func(x Loss) bool { return x.Since.Before(t) && !x.back(f) })
}
