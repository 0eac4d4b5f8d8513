// SPDX-License-Identifier: Apache-2.0

package nue

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// hops holds the hop counts to each LID by the one port that leads to it, as OpenSM's engine leaves them. If a path
// uses a detour or an escape path, or leads to a switch, its counts come from an earlier search.
type hops struct {
	f      *fabric.Fabric
	lft    *fabric.LFT
	number []int32
	n      int
	count  []uint8 // by LID, then by switch
}

func newHops(n *network, lft *fabric.LFT) *hops {
	k := len(n.switches)
	return &hops{n.f, lft, n.number, k, slices.Repeat([]uint8{routing.NoHops}, k*(int(n.f.MaxLID)+1))}
}

// of returns the counts to a LID.
func (h *hops) of(lid uint16) []uint8 { return h.count[int(lid)*h.n:][:h.n] }

// LeastTo implements [routing.LIDHops].
func (h *hops) LeastTo(sw fabric.SwitchIndex, lid uint16) uint8 {
	if h.number[sw] == fabric.None || int(lid) > int(h.f.MaxLID) {
		return routing.NoHops
	}
	return h.count[int(lid)*h.n+int(h.number[sw])]
}

// ThroughTo returns the value of LeastTo for the port in the table, and NoHops for other ports. Port 0 stands for the
// best port.
func (h *hops) ThroughTo(sw fabric.SwitchIndex, port uint8, lid uint16) uint8 {
	if n := h.LeastTo(sw, lid); n == routing.NoHops || port == 0 || port == h.lft.Row(sw)[lid] {
		return n
	}
	return routing.NoHops
}

// Least implements [routing.Hops].
func (h *hops) Least(sw, dst fabric.SwitchIndex) uint8 { return h.LeastTo(sw, h.f.SwitchLID(dst)) }

// Through implements [routing.Hops].
func (h *hops) Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8 {
	return h.ThroughTo(sw, port, h.f.SwitchLID(dst))
}
