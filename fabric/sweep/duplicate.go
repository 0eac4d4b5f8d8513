// SPDX-License-Identifier: Apache-2.0

package sweep

import "fmt"

// DuplicateKind is what two ports or nodes have alike that only one may have.
type DuplicateKind string

// The kinds.
const (
	DuplicateNodeGUID DuplicateKind = "node GUID"
	DuplicatePortGUID DuplicateKind = "port GUID"
	DuplicateLID      DuplicateKind = "LID"
)

// Duplicate is a GUID or LID that a second node or port claims. Of a node GUID, Node, GUID
// and Port name the port behind which the second one answered, else the second one.
type Duplicate struct {
	Kind  DuplicateKind
	Value uint64
	Node  string // the escaped name
	GUID  uint64
	Port  int
	Text  string // the warning

	node    int32
	warning int
}

// duplicate notes what the next warning is about.
func (s *sweeper) duplicate(kind DuplicateKind, value uint64, node int32, port int) {
	s.duplicates = append(s.duplicates, Duplicate{Kind: kind, Value: value, GUID: s.nodes[node].info.NodeGUID,
		Port: port, node: node, warning: len(s.warnings)})
}

// namedDuplicates are the duplicates with names and texts, which are known at the end.
func (s *sweeper) namedDuplicates() []Duplicate {
	for i := range s.duplicates {
		d := &s.duplicates[i]
		d.Node, d.Text = fmt.Sprint(s.name(d.node)), s.warnings[d.warning]()
	}
	return s.duplicates
}
