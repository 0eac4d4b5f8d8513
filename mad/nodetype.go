// SPDX-License-Identifier: Apache-2.0

package mad

import "fmt"

// NodeType is NodeInfo's NodeType (IBA 1.2.1, 14.2.5.3).
type NodeType uint8

// The node types.
const (
	NodeTypeCA     NodeType = 1
	NodeTypeSwitch NodeType = 2
	NodeTypeRouter NodeType = 3
)

// String gives the type in OpenSM's words.
func (t NodeType) String() string {
	switch t {
	case NodeTypeCA:
		return "Channel Adapter"
	case NodeTypeSwitch:
		return "Switch"
	case NodeTypeRouter:
		return "Router"
	}
	return fmt.Sprintf("node type %d", uint8(t))
}
