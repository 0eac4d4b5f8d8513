// SPDX-License-Identifier: Apache-2.0

package mad

import "fmt"

// PortState is PortInfo's PortState (IBA 1.2.1, 14.2.5.6).
type PortState uint8

// The port states; 0 means that a Set leaves the state as it is.
const (
	PortStateNoChange PortState = 0
	PortStateDown     PortState = 1
	PortStateInit     PortState = 2
	PortStateArmed    PortState = 3
	PortStateActive   PortState = 4
)

// String gives the state in the words of the InfiniBand diagnostics.
func (s PortState) String() string {
	switch s {
	case PortStateNoChange:
		return "NoChange"
	case PortStateDown:
		return "Down"
	case PortStateInit:
		return "Initialize"
	case PortStateArmed:
		return "Armed"
	case PortStateActive:
		return "Active"
	}
	return fmt.Sprintf("port state %d", uint8(s))
}
