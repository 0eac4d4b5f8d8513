// SPDX-License-Identifier: Apache-2.0

package ucastcache

import "fmt"

// Kind is what makes cached routes invalid.
type Kind uint8

// The kinds.
const (
	NoRoutes        Kind = iota // there are no routes yet
	NoSwitch                    // no switch is left
	ViewMoved                   // the subnet manager's port is another one
	SwitchGone                  // a switch that is no leaf went
	LinkGone                    // a link between two switches that are there went
	LeafLinkGone                // a leaf went that another leaf was linked to
	AdapterLinkGone             // a link without a switch went
	NodeNew                     // a node is there that was not
	LinkNew                     // a link is there that was not, or leads elsewhere
	LinkLate                    // a switch came back that a sweep finds late from one side
	LIDChanged                  // an end port has another LID or LMC
)

// Reason says what makes cached routes invalid.
type Reason struct {
	Kind Kind
	// Text says it in a sentence without an end, with names that are escaped.
	Text string
}

// Verdict reports whether cached routes hold.
type Verdict struct {
	// Reasons say why they do not, all there are; none where they hold.
	Reasons []Reason
	// Nodes and Links count what is missing since the routes were made. Links of
	// nodes that are missing count.
	Nodes, Links int
}

// Holds reports whether the cached routes stay.
func (v Verdict) Holds() bool { return len(v.Reasons) == 0 }

// String is one sentence without an end.
func (v Verdict) String() string {
	switch n := len(v.Reasons); {
	case n == 1:
		return "the unicast cache is invalid: " + v.Reasons[0].Text
	case n > 1:
		return fmt.Sprintf("the unicast cache is invalid: %s, and %d more such", v.Reasons[0].Text, n-1)
	case v.Nodes+v.Links > 0:
		return fmt.Sprintf("the unicast cache holds: what is missing (nodes: %d, links: %d) needs no computation", v.Nodes, v.Links)
	}
	return "the unicast cache holds: nothing is missing"
}
