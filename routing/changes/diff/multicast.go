// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/mcast"
)

// Multicast summarizes the changes in multicast tables.
type Multicast struct {
	// Changed counts changed entries. An entry is the set of ports of a switch for one multicast LID.
	Changed  int
	Switches int
	LIDs     int
	// PortsGone and PortsCome count the ports that these entries lose and gain.
	PortsGone int
	PortsCome int
	// Unread counts the switches of both subnets whose multicast table was not read in the old or the new state.
	Unread int
	// Examples lists the first entries.
	Examples []MulticastEntry
}

// MulticastEntry is an entry of a multicast table that changes.
type MulticastEntry struct {
	Switch string
	GUID   GUID
	MLID   uint16
	Gone   []int
	Come   []int
}

// multicast compares the multicast tables of two states. It returns nil if one of the states has no multicast tables.
func multicast(before, after *fabric.Tables, examples int) *Multicast {
	if before.MFT == nil || after.MFT == nil {
		return nil
	}
	m := &Multicast{Examples: []MulticastEntry{}}
	switches, lids := map[fabric.SwitchIndex]bool{}, map[uint16]bool{}
	for c := range mcast.Changes(before, after) {
		switches[c.Switch], lids[c.MLID] = true, true
		m.Changed++
		m.PortsGone += len(c.Gone)
		m.PortsCome += len(c.Come)
		if len(m.Examples) < examples {
			n := after.Fabric.SwitchNode(c.Switch)
			m.Examples = append(m.Examples, MulticastEntry{after.Fabric.NodeName(after.Fabric.Switches[c.Switch]),
				GUID(n.GUID), c.MLID, numbers(c.Gone), numbers(c.Come)})
		}
	}
	m.Switches, m.LIDs = len(switches), len(lids)
	for sw, n := range after.Fabric.Switches {
		old := before.Fabric.SwitchByGUID(after.Fabric.Nodes[n].GUID)
		both := old != fabric.None && after.Fabric.Nodes[n].InSubnet && before.Fabric.SwitchNode(old).InSubnet
		if both && !(before.MulticastKnown(old) && after.MulticastKnown(fabric.SwitchIndex(sw))) {
			m.Unread++
		}
	}
	return m
}

// numbers returns ports as whole numbers.
func numbers(ports []uint8) []int {
	out := make([]int, len(ports))
	for i, p := range ports {
		out[i] = int(p)
	}
	return out
}
