// SPDX-License-Identifier: Apache-2.0

package fabric

// NodeIndex is a node of a fabric: an index into [Fabric.Nodes], or None.
type NodeIndex int32

// PortIndex is a port slot of a fabric: an index into [Fabric.Ports], or None.
type PortIndex int32

// SwitchIndex is a switch of a fabric: an index into [Fabric.Switches] and the row in tables; or None.
type SwitchIndex int32

// None is the index of nothing: no peer, no switch, no port.
const None = -1
