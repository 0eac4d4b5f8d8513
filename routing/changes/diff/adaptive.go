// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
)

// Adaptive is the difference between the adaptive routing of two states of a subnet.
type Adaptive struct {
	// LIDs counts pairs of a switch and a LID for which a table of the switch allows other choices: the state of the
	// entry or the ports of its group differ. Different group numbers alone do not count.
	LIDs     int
	Switches []AdaptiveSwitch
}

// AdaptiveSwitch is a switch that has other choices for some LIDs, or other settings of adaptive routing.
type AdaptiveSwitch struct {
	Name string
	GUID GUID
	LIDs int
	// Settings lists the differences: "adaptive routing on", "fast reroute off", "other SLs", "other private tables".
	Settings []string
}

// Same reports whether there is no difference.
func (a *Adaptive) Same() bool { return a == nil || len(a.Switches) == 0 }

// AdaptiveBetween compares the adaptive routing of two states. It returns nil if neither state has adaptive routing.
// O(switches x LIDs x tables).
func AdaptiveBetween(before, after *fabric.Tables) *Adaptive {
	if before.Adaptive == nil && after.Adaptive == nil {
		return nil
	}
	a := &Adaptive{Switches: []AdaptiveSwitch{}}
	for old := range before.Fabric.NumSwitches() {
		node := before.Fabric.SwitchNode(old)
		now := after.Fabric.NodeByGUID(node.GUID)
		if now == fabric.None || after.Fabric.Nodes[now].Switch == fabric.None {
			continue
		}
		was, is := adaptiveOf(before, old), adaptiveOf(after, after.Fabric.Nodes[now].Switch)
		s := AdaptiveSwitch{Name: before.Fabric.NodeName(before.Fabric.Switches[old]), GUID: GUID(node.GUID),
			LIDs: was.otherLIDs(&is), Settings: otherSettings(was.AdaptiveSwitch, is.AdaptiveSwitch)}
		if s.LIDs > 0 || len(s.Settings) > 0 {
			a.LIDs += s.LIDs
			a.Switches = append(a.Switches, s)
		}
	}
	return a
}

// chooser is a switch in one state, with its settings of adaptive routing and its linear table.
type chooser struct {
	*fabric.AdaptiveSwitch
	t  *fabric.Tables
	sw fabric.SwitchIndex
}

func adaptiveOf(t *fabric.Tables, sw fabric.SwitchIndex) chooser {
	if t.Adaptive == nil {
		return chooser{&fabric.AdaptiveSwitch{}, t, sw}
	}
	return chooser{&t.Adaptive.Switches[sw], t, sw}
}

func otherSettings(was, is *fabric.AdaptiveSwitch) (all []string) {
	onOff := func(what string, was, is bool) {
		if was != is {
			all = append(all, what+map[bool]string{true: " on", false: " off"}[is])
		}
	}
	onOff("adaptive routing", was.Enabled, is.Enabled)
	onOff("fast reroute", was.FastReroute, is.FastReroute)
	if was.Enabled && is.Enabled && (was.SLs != is.SLs || was.HashSLs != is.HashSLs) {
		all = append(all, "other SLs")
	}
	if len(was.Tables) != len(is.Tables) && max(len(was.Tables), len(is.Tables)) > 1 ||
		!slices.Equal(was.Private, is.Private) {
		all = append(all, "other private tables")
	}
	return all
}

// otherLIDs counts the LIDs for which a table that exists in both states allows other choices.
func (c *chooser) otherLIDs(is *chooser) int {
	same := map[[2]int]bool{} // groups
	equal := func(a, b int) bool {
		v, known := same[[2]int{a, b}]
		if !known {
			v = slices.EqualFunc(c.group(a), is.group(b), func(x, y []uint8) bool { return slices.Equal(x, y) })
			same[[2]int{a, b}] = v
		}
		return v
	}
	tables := max(1, min(len(c.Tables), len(is.Tables)))
	n := 0
	for lid := uint16(1); lid <= max(c.top(), is.top()); lid++ {
		for table := range uint8(tables) {
			portWas, was := c.Entry(table, lid, c.t.Port(c.sw, lid))
			portIs, now := is.Entry(table, lid, is.t.Port(is.sw, lid))
			other := was.State() != now.State() || was.State() != fabric.StateStatic && !equal(was.Group(), now.Group())
			if other || table > 0 && portWas != portIs {
				n++
				break
			}
		}
	}
	return n
}

// group returns group i of the switch with the ports of each sub-group sorted, because their order has no effect.
func (c *chooser) group(i int) fabric.PortGroup {
	if i >= len(c.Groups) {
		return nil
	}
	var g fabric.PortGroup
	for _, sub := range c.Groups[i] {
		g = append(g, slices.SortedFunc(slices.Values(sub), cmp.Compare[uint8]))
	}
	return g
}

// top returns the highest LID with an entry in an adaptive table of the switch.
func (c *chooser) top() uint16 {
	top := uint16(0)
	for i := range c.Tables {
		if n := len(c.Tables[i].Entries); n > 0 {
			top = max(top, uint16(n-1))
		}
		if p := c.Tables[i].Private; len(p) > 0 {
			top = max(top, p[len(p)-1].LID)
		}
	}
	return min(top, fabric.MaxUnicastLID)
}
