// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Heard are the changes since an earlier picture, told by what did not answer: a node that is cabled and silent
// is not gone but [fabric.NodeSilent], and what was reached only through such is [fabric.NodeHidden]. Links that
// cannot be seen because of that are left out; one whose port says that it is down is told.
func Heard(earlier *fabric.Fabric, changes []fabric.Change, holes []Unanswered) []fabric.Change {
	h := hearing{f: earlier, gone: map[uint64]fabric.ChangeKind{}, silent: silentEnds(holes)}
	if len(h.silent) == 0 {
		return changes
	}
	for _, c := range changes {
		if c.Kind == fabric.NodeGone {
			h.gone[c.At.GUID] = c.Kind
		}
	}
	h.listen()
	changes = slices.Clone(changes)
	for i := range changes {
		if kind, ok := h.gone[changes[i].At.GUID]; ok && changes[i].Kind == fabric.NodeGone {
			changes[i].Kind = kind
		}
	}
	return slices.DeleteFunc(changes, func(c fabric.Change) bool { return c.Kind == fabric.LinkDown && h.unseen(c) })
}

type end struct {
	guid uint64
	port int
}

func silentEnds(holes []Unanswered) map[end]bool {
	silent := map[end]bool{}
	for _, hole := range holes {
		if hole.Attr == mad.AttrNodeInfo {
			silent[end{hole.GUID, hole.Port}] = true
		}
	}
	return silent
}

// SilentPorts returns a function that reports whether a port of a node, by its GUID, leads to a node that did not
// answer.
func SilentPorts(holes []Unanswered) func(guid uint64, port int) bool {
	silent := silentEnds(holes)
	return func(guid uint64, port int) bool { return silent[end{guid, port}] }
}

// hearing tells nodes that went from those that say nothing.
type hearing struct {
	f      *fabric.Fabric
	gone   map[uint64]fabric.ChangeKind
	silent map[end]bool // ports that lead to silence
}

// listen finds the silent nodes, and from those the hidden ones.
func (h *hearing) listen() {
	var queue []fabric.NodeIndex
	for guid := range h.gone {
		if n := h.f.NodeByGUID(guid); h.touches(n, func(peer fabric.PortIndex) bool { return h.silent[h.end(peer)] }) {
			h.gone[guid] = fabric.NodeSilent
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		h.touches(n, func(peer fabric.PortIndex) bool {
			node := h.f.Ports[peer].Node
			guid := h.f.Nodes[node].GUID
			if kind, gone := h.gone[guid]; gone && kind == fabric.NodeGone {
				h.gone[guid] = fabric.NodeHidden
				queue = append(queue, node)
			}
			return false
		})
	}
}

// touches reports whether one of the ports at the other ends of a node's links is as asked for.
func (h *hearing) touches(node fabric.NodeIndex, is func(peer fabric.PortIndex) bool) bool {
	n := &h.f.Nodes[node]
	for p := range n.Slots() {
		if peer := h.f.Ports[p].Peer; peer != fabric.None && is(peer) {
			return true
		}
	}
	return false
}

func (h *hearing) end(port fabric.PortIndex) end {
	p := &h.f.Ports[port]
	return end{h.f.Nodes[p.Node].GUID, int(p.Num)}
}

// unseen says that a link is not known to be down: its ends are silent or hidden, or lead to silence.
func (h *hearing) unseen(c fabric.Change) bool {
	for _, e := range []fabric.End{c.At, c.Peer} {
		if kind, gone := h.gone[e.GUID]; !h.silent[end{e.GUID, e.Port}] && (!gone || kind == fabric.NodeGone) {
			return false
		}
	}
	return true
}
