// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/mcast"
)

// Multicast sums up what changes in multicast tables.
type Multicast struct {
	// Changed counts entries, each the ports of a switch for a multicast LID.
	Changed  int `json:"changed"`
	Switches int `json:"switches"`
	LIDs     int `json:"lids"`
	// PortsGone and PortsCome count the ports in them.
	PortsGone int `json:"ports_gone"`
	PortsCome int `json:"ports_come"`
	// Unread counts the switches of both subnets whose table was not read in one of the two.
	Unread int `json:"unread,omitempty"`
	// Examples are the first entries.
	Examples []MulticastEntry `json:"examples"`
}

// MulticastEntry is an entry of a multicast table that changes.
type MulticastEntry struct {
	Switch string `json:"switch"`
	GUID   GUID   `json:"guid"`
	MLID   uint16 `json:"mlid"`
	Gone   []int  `json:"ports_gone"`
	Come   []int  `json:"ports_come"`
}

// multicast compares multicast tables; nil where one of the two has none.
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
			m.Examples = append(m.Examples, MulticastEntry{after.Fabric.NodeName(after.Fabric.Switches[c.Switch]), GUID(n.GUID), c.MLID, numbers(c.Gone), numbers(c.Come)})
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

// numbers are ports that JSON does not take for bytes.
func numbers(ports []uint8) []int {
	out := make([]int, len(ports))
	for i, p := range ports {
		out[i] = int(p)
	}
	return out
}

func (t *text) multicast(m *Multicast) {
	if m == nil {
		return
	}
	if m.Unread > 0 {
		t.line("multicast tables", "%s not compared, as a table was not read", prose.Count(m.Unread, "switch"))
	}
	if m.Changed == 0 {
		return
	}
	t.line("multicast entries", "%s on %s switches, of %s LIDs", grouped(int64(m.Changed)), grouped(int64(m.Switches)), grouped(int64(m.LIDs)))
	for _, e := range m.Examples {
		fmt.Fprintf(t, "  0x%04x at %s:%s%s\n", e.MLID, e.Switch, portsText(" without", e.Gone), portsText(" with", e.Come))
	}
	t.more(int64(len(m.Examples)), int64(m.Changed))
}

func portsText(word string, ports []int) string {
	if len(ports) == 0 {
		return ""
	}
	return word + " port " + strings.Trim(strings.ReplaceAll(fmt.Sprint(ports), " ", ", "), "[]")
}
