// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/mad"
)

// Unanswered describes one or several requests of the same kind to a node that got no valid answer.
type Unanswered struct {
	// Node is the escaped name of the node that did not answer, and GUID is its node GUID. If no node responded behind
	// a port, they identify the node of this port.
	Node string
	GUID uint64
	// Port is the port behind which no node responded, or whose attribute is missing. It is -1 if the attribute belongs
	// to the whole node.
	Port  int
	Attr  mad.AttrID // requested attribute; NodeInfo is that of the node beyond the port
	Count int        // number of requests of this kind; Port and Err are those of the first
	Err   error
}

// String describes the missing data, for example "sw1 port 7: no answer after 3 tries of 200ms" or "sw1: 208 blocks of
// LinearForwardingTable: no answer ...".
func (h Unanswered) String() string {
	why := h.Err
	if re := (*mad.RequestError)(nil); errors.As(h.Err, &re) {
		why = re.Err
	}
	switch {
	case h.Attr == mad.AttrNodeInfo:
		return fmt.Sprintf("%s port %d: %v", h.Node, h.Port, why)
	case h.Attr == mad.AttrPortInfo && h.Count > 1:
		return fmt.Sprintf("%s: PortInfo of %d ports from port %d on: %v", h.Node, h.Count, h.Port, why)
	case h.Attr == mad.AttrPortInfo:
		return fmt.Sprintf("%s: PortInfo of port %d: %v", h.Node, h.Port, why)
	case h.Count > 1 && h.Port >= 0:
		return fmt.Sprintf("%s: %d blocks of %v from port %d on: %v", h.Node, h.Count, h.Attr, h.Port, why)
	case h.Port >= 0:
		return fmt.Sprintf("%s: %v of port %d: %v", h.Node, h.Attr, h.Port, why)
	case h.Count > 1:
		return fmt.Sprintf("%s: %d blocks of %v: %v", h.Node, h.Count, h.Attr, why)
	}
	return fmt.Sprintf("%s: %v: %v", h.Node, h.Attr, why)
}

// unanswered summarizes the requests without a valid answer, sorted by node GUID. The result has one element for each
// link behind which no node responded, and one for each kind of request to a node.
func (s *sweeper) unanswered() []Unanswered {
	type key struct {
		node int32
		kind kind
	}
	slices.SortStableFunc(s.misses, func(a, b miss) int {
		return cmp.Or(cmp.Compare(s.nodes[a.task.node].info.NodeGUID, s.nodes[b.task.node].info.NodeGUID),
			cmp.Compare(a.task.kind, b.task.kind), cmp.Compare(a.task.port, b.task.port),
			cmp.Compare(a.task.mod, b.task.mod))
	})
	var unanswered []Unanswered
	at := map[key]int{}
	for _, m := range s.misses {
		k := key{m.task.node, m.task.kind}
		switch k.kind {
		case askAgain:
			k.kind = askPort
		case askHost:
			k.kind = askNode
		}
		if k.kind == askNode && s.settled(m.task) {
			continue
		}
		if i, ok := at[k]; ok && k.kind != askNode {
			unanswered[i].Count++
			continue
		}
		h := Unanswered{
			Node: s.nameNow(k.node), GUID: s.nodes[k.node].info.NodeGUID,
			Port: -1, Attr: attrs[k.kind], Count: 1, Err: m.err,
		}
		switch k.kind {
		case askNode, askPort, askVLArb, askPKeys, askGUIDs, askSL2VL:
			h.Port = int(m.task.port)
		}
		at[k] = len(unanswered)
		unanswered = append(unanswered, h)
	}
	return unanswered
}

// settled reports whether the state of a port's link is known although a request failed. The link was found from the
// other end, or the port is down.
func (s *sweeper) settled(t task) bool {
	p := &s.nodes[t.node].ports[t.port]
	return p.linked() || p.down()
}

// lastError returns the error of the last failed request to a node.
func (s *sweeper) lastError(node int32) error {
	for i := len(s.misses) - 1; i >= 0; i-- {
		if m := s.misses[i]; m.task.node == node && m.task.kind != askNode {
			return m.err
		}
	}
	return mad.ErrTimeout
}
