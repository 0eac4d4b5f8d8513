// SPDX-License-Identifier: Apache-2.0

package mad

// NodeType says what a node is (IBA 14.2.5.3).
type NodeType uint8

// Node types.
const (
	NodeCA     NodeType = 1
	NodeSwitch NodeType = 2
	NodeRouter NodeType = 3
)

// String returns the diagnostic tools' words.
func (t NodeType) String() string { return named(nodeTypes, t, "?(%d)?") }

var nodeTypes = map[NodeType]string{
	NodeCA:     "Channel Adapter",
	NodeSwitch: "Switch",
	NodeRouter: "Router",
}
