// SPDX-License-Identifier: Apache-2.0

package osm

import "example.org/ibconsole/fabric"

// PathHops holds the lengths of the paths of forwarding tables, as the engines sssp and dfsssp count hops: to each LID
// by the port in the table, including the last hop to an adapter.
type PathHops struct {
	t    *fabric.Tables
	lids int
	hops []uint8 // by LID, then switch
}

// NewPathHops follows all paths. The hop count is NoHops if a path loops or ends early. O(switches x LIDs), and as many
// bytes.
func NewPathHops(t *fabric.Tables) *PathHops {
	h := &PathHops{t: t, lids: int(t.LFT.MaxLID) + 1}
	h.hops = make([]uint8, h.lids*len(t.Fabric.Switches))
	for i := range h.hops {
		h.hops[i] = NoHops
	}
	for lid := 1; lid < h.lids; lid++ {
		h.follow(uint16(lid))
	}
	return h
}

func (h *PathHops) follow(lid uint16) {
	f := h.t.Fabric
	end := f.PortByLID(lid)
	if end == fabric.None {
		return
	}
	n := len(f.Switches)
	row := h.hops[int(lid)*n : (int(lid)+1)*n]
	last, local := f.AttachedSwitch(end)
	if last == fabric.None {
		return
	}
	if h.t.Port(last, lid) != local {
		return
	}
	row[last] = 0
	if local != 0 {
		row[last] = 1
	}
	path := make([]fabric.SwitchIndex, 0, 16)
	for s := range row {
		path = path[:0]
		at := fabric.SwitchIndex(s)
		for row[at] == NoHops && len(path) < NoHops {
			path = append(path, at)
			port := h.t.Port(at, lid)
			if port == 0 || port > f.SwitchNode(at).NumPorts {
				break
			}
			next := f.PeerSwitch(f.Port(f.Switches[at], port))
			if next == fabric.None {
				break
			}
			at = next
		}
		hops := row[at]
		for i := len(path) - 1; i >= 0 && hops < NoHops-1; i-- {
			hops++
			row[path[i]] = hops
		}
	}
}

// LeastTo implements [LIDHops].
func (h *PathHops) LeastTo(sw fabric.SwitchIndex, lid uint16) uint8 {
	if int(lid) >= h.lids {
		return NoHops
	}
	return h.hops[int(lid)*len(h.t.Fabric.Switches)+int(sw)]
}

// ThroughTo implements [LIDHops].
func (h *PathHops) ThroughTo(sw fabric.SwitchIndex, port uint8, lid uint16) uint8 {
	if port != h.t.Port(sw, lid) {
		return NoHops
	}
	return h.LeastTo(sw, lid)
}

// Least implements [Hops].
func (h *PathHops) Least(sw, dst fabric.SwitchIndex) uint8 {
	return h.LeastTo(sw, h.t.Fabric.SwitchLID(dst))
}

// Through implements [Hops].
func (h *PathHops) Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8 {
	return h.ThroughTo(sw, port, h.t.Fabric.SwitchLID(dst))
}
