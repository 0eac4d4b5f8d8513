// SPDX-License-Identifier: Apache-2.0

package sweep

import "fmt"

// DoubleKind is what two ports or nodes have alike that only one may have.
type DoubleKind string

// The kinds.
const (
	DoubleNodeGUID DoubleKind = "node GUID"
	DoublePortGUID DoubleKind = "port GUID"
	DoubleLID      DoubleKind = "LID"
)

// Double is a GUID or LID that a second node or port claims. Of a node GUID, Node, GUID
// and Port name the port behind which the second one answered, else the second one.
type Double struct {
	Kind  DoubleKind
	Value uint64
	// Node is the escaped name.
	Node string
	GUID uint64
	Port int
	// Text is the warning.
	Text string

	node    int32
	warning int
}

// double notes what the next warning is about.
func (s *sweeper) double(kind DoubleKind, value uint64, node int32, port int) {
	s.doubles = append(s.doubles, Double{Kind: kind, Value: value, GUID: s.nodes[node].info.NodeGUID, Port: port, node: node, warning: len(s.warnings)})
}

// namedDoubles are the doubles with names and texts, which are known at the end.
func (s *sweeper) namedDoubles() []Double {
	for i := range s.doubles {
		d := &s.doubles[i]
		d.Node, d.Text = fmt.Sprint(s.name(d.node)), s.warnings[d.warning]()
	}
	return s.doubles
}
