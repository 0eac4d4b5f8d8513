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
// for connected roots, and the others count over the LIDs of switches, so that those of adapters stay.
func leave(res *routing.Result, left routing.LIDHops) {
	switch res.Tables.Origin {
	case torus.Engine{}.Name():
		res.Hops = left
	case updn.Engine{}.Name(), updn.DnUp{}.Name():
		// Of roots only their switches' own LIDs are routed by, and these are counted anew.
	default:
		if _, own := res.Hops.(routing.LIDHops); !own {
			res.Hops = leftHops{res.Hops, res.Tables.Fabric, left}
		}
	}
}

// leftHops are an engine's counts to switches, and what an engine before it counted to all other LIDs.
type leftHops struct {
	routing.Hops
	f    *fabric.Fabric
	left routing.LIDHops
}

// LeastTo implements [routing.LIDHops].
func (h leftHops) LeastTo(sw fabric.SwitchIndex, lid uint16) uint8 {
	if dst := h.switchOf(lid); dst != fabric.None {
		return h.Least(sw, dst)
	}
	return h.left.LeastTo(sw, lid)
}

// ThroughTo implements [routing.LIDHops].
func (h leftHops) ThroughTo(sw fabric.SwitchIndex, port uint8, lid uint16) uint8 {
	if dst := h.switchOf(lid); dst != fabric.None {
		return h.Through(sw, port, dst)
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
