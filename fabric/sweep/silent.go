// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// MarkUnanswered corrects the changes since an earlier fabric with the list of unanswered requests. A cabled node that
// does not respond becomes [fabric.NodeSilent] instead of [fabric.NodeGone]. Nodes that were reached only through such
// nodes become [fabric.NodeHidden]. Links whose state cannot be read for this reason are omitted, except for links with
// a port that reports to be down.
func MarkUnanswered(earlier *fabric.Fabric, changes []fabric.Change, unanswered []Unanswered) []fabric.Change {
	h := marker{f: earlier, gone: map[uint64]fabric.ChangeKind{}, silent: silentEnds(unanswered)}
	if len(h.silent) == 0 {
		return changes
	}
	for _, c := range changes {
		if c.Kind == fabric.NodeGone {
			h.gone[c.At.GUID] = c.Kind
		}
	}
	h.mark()
	changes = slices.Clone(changes)
	for i := range changes {
		if kind, ok := h.gone[changes[i].At.GUID]; ok && changes[i].Kind == fabric.NodeGone {
			changes[i].Kind = kind
		}
	}
	return slices.DeleteFunc(changes, func(c fabric.Change) bool { return c.Kind == fabric.LinkDown && h.invisible(c) })
}

type end struct {
	guid uint64
	port int
}

func silentEnds(unanswered []Unanswered) map[end]bool {
	silent := map[end]bool{}
	for _, u := range unanswered {
		if u.Attr == mad.AttrNodeInfo {
			silent[end{u.GUID, u.Port}] = true
		}
	}
	return silent
}

// SilentPorts returns a function that reports whether the node behind a port did not respond. The port is given by node
// GUID and port number.
func SilentPorts(unanswered []Unanswered) func(guid uint64, port int) bool {
	silent := silentEnds(unanswered)
	return func(guid uint64, port int) bool { return silent[end{guid, port}] }
}

// marker distinguishes removed nodes from nodes that do not respond.
type marker struct {
	f      *fabric.Fabric
	gone   map[uint64]fabric.ChangeKind
	silent map[end]bool // ports whose peers do not respond
}

// mark marks the nodes that do not respond as silent. Then it marks the missing nodes that were reached only through
// them as hidden.
func (h *marker) mark() {
	var queue []fabric.NodeIndex
	for guid := range h.gone {
		if n := h.f.NodeByGUID(guid); h.anyPeer(n, func(peer fabric.PortIndex) bool { return h.silent[h.end(peer)] }) {
			h.gone[guid] = fabric.NodeSilent
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		h.anyPeer(n, func(peer fabric.PortIndex) bool {
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

// anyPeer calls the function match with the peer of each port of the node, and reports whether a call returned true.
func (h *marker) anyPeer(node fabric.NodeIndex, match func(peer fabric.PortIndex) bool) bool {
	n := &h.f.Nodes[node]
	for p := range n.Slots() {
		if peer := h.f.Ports[p].Peer; peer != fabric.None && match(peer) {
			return true
		}
	}
	return false
}

func (h *marker) end(port fabric.PortIndex) end {
	p := &h.f.Ports[port]
	return end{h.f.Nodes[p.Node].GUID, int(p.Num)}
}

// invisible reports whether the state of a link is unknown, because each end is silent, hidden, or leads to a silent
// node.
func (h *marker) invisible(c fabric.Change) bool {
	for _, e := range []fabric.End{c.At, c.Peer} {
		if kind, gone := h.gone[e.GUID]; !h.silent[end{e.GUID, e.Port}] && (!gone || kind == fabric.NodeGone) {
			return false
		}
	}
	return true
}
