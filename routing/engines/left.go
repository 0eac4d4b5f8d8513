// SPDX-License-Identifier: Apache-2.0

package engines

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/routing/engines/updn"
)

// leave is the result of an engine that routed after another had counted hops and refused. OpenSM has one
// matrix for all of a chain (osm_ucast_mgr.c): torus-2QoS touches nothing of it, updn and dnup clear it but
// for connected roots, and the others count over what is there.
func leave(res *routing.Result, left routing.LIDHops) {
	switch res.Tables.Origin {
	case torus.Engine{}.Name():
		res.Hops = left
	case updn.Engine{}.Name(), updn.DnUp{}.Name():
		// Of roots only their switches' own LIDs are routed by, and these are counted anew.
	default:
		res.Hops = over(res.Tables.Fabric, res.Hops, left)
	}
}

// over are an engine's counts over what those before it left, nil for nothing.
func over(f *fabric.Fabric, hops routing.Hops, left routing.LIDHops) routing.LIDHops {
	own, all := hops.(routing.LIDHops)
	switch {
	case all && left == nil:
		return own
	case all:
		return overHops{f, own, left}
	}
	return leftHops{hops, f, left}
}

// overHops are counts by one port to each LID. The others' stay beside them, and the least of all is the least.
type overHops struct {
	f         *fabric.Fabric
	own, left routing.LIDHops
}

// LeastTo implements [routing.LIDHops].
func (h overHops) LeastTo(sw fabric.SwitchIndex, lid uint16) uint8 {
	return min(h.own.LeastTo(sw, lid), h.left.LeastTo(sw, lid))
}

// ThroughTo implements [routing.LIDHops]. Port 0 stands for the best port.
func (h overHops) ThroughTo(sw fabric.SwitchIndex, port uint8, lid uint16) uint8 {
	if port == 0 {
		return h.LeastTo(sw, lid)
	}
	if n := h.own.ThroughTo(sw, port, lid); n != routing.NoHops {
		return n
	}
	return h.left.ThroughTo(sw, port, lid)
}

// Least implements [routing.Hops].
func (h overHops) Least(sw, dst fabric.SwitchIndex) uint8 { return h.LeastTo(sw, h.f.SwitchLID(dst)) }

// Through implements [routing.Hops].
func (h overHops) Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8 {
	return h.ThroughTo(sw, port, h.f.SwitchLID(dst))
}

// leftHops are an engine's counts to switches, and what engines before it counted to all other LIDs, nil for nothing.
type leftHops struct {
	routing.Hops
	f    *fabric.Fabric
	left routing.LIDHops
}

// LeastTo implements [routing.LIDHops].
func (h leftHops) LeastTo(sw fabric.SwitchIndex, lid uint16) uint8 {
	switch dst := h.switchOf(lid); {
	case dst != fabric.None:
		return h.Least(sw, dst)
	case h.left == nil:
		return routing.NoHops
	}
	return h.left.LeastTo(sw, lid)
}

// ThroughTo implements [routing.LIDHops].
func (h leftHops) ThroughTo(sw fabric.SwitchIndex, port uint8, lid uint16) uint8 {
	switch dst := h.switchOf(lid); {
	case dst != fabric.None:
		return h.Through(sw, port, dst)
	case h.left == nil:
		return routing.NoHops
	}
	return h.left.ThroughTo(sw, port, lid)
}

// switchOf is the switch that has this LID as its first.
func (h leftHops) switchOf(lid uint16) fabric.SwitchIndex {
	e := h.f.PortByLID(lid)
	if e == fabric.None || h.f.Ports[e].LID != lid {
		return fabric.None
	}
	return h.f.Nodes[h.f.Ports[e].Node].Switch
}
