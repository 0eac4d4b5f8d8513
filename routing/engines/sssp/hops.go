// SPDX-License-Identifier: Apache-2.0

package sssp

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// hops counts hops along the paths of tables. For these engines OpenSM stores the number of hops to each LID by the one
// port that leads to the LID.
type hops struct{ t *fabric.Tables }

func newHops(t *fabric.Tables) *hops { return &hops{t: t} }

// LeastTo returns the number of switches after sw on the path to a LID, plus one if the LID belongs to an adapter. It
// returns NoHops if there is no path. O(hops).
func (h *hops) LeastTo(sw fabric.SwitchIndex, lid uint16) uint8 {
	f := h.t.Fabric
	count := 0
	for range f.Switches {
		switch port := h.t.Port(sw, lid); port {
		case fabric.NoPath:
			return routing.NoHops
		case 0:
			return uint8(count) // OpenSM counts in 8 bits
		default:
			count++
			if sw = f.PeerSwitch(f.Port(f.Switches[sw], port)); sw == fabric.None {
				return uint8(count)
			}
		}
	}
	return routing.NoHops
}

// ThroughTo returns the value of LeastTo for the port in the table, and NoHops for other ports. Port 0 stands for the
// best port.
func (h *hops) ThroughTo(sw fabric.SwitchIndex, port uint8, lid uint16) uint8 {
	if port != 0 && port != h.t.Port(sw, lid) {
		return routing.NoHops
	}
	return h.LeastTo(sw, lid)
}

// Least implements [routing.Hops].
func (h *hops) Least(sw, dst fabric.SwitchIndex) uint8 {
	return h.LeastTo(sw, h.t.Fabric.SwitchLID(dst))
}

// Through implements [routing.Hops].
func (h *hops) Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8 {
	return h.ThroughTo(sw, port, h.t.Fabric.SwitchLID(dst))
}
