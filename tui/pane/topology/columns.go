// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

func (t *topology) treeColumns() []draw.Column {
	node := func(row int) *fabric.Node {
		if t.rows[row].kind == rowTier {
			return nil
		}
		return &t.Scene.Top.Fabric.Nodes[t.rows[row].node]
	}
	return []draw.Column{
		{Name: "name", Help: "node description, or the name from a node-name map",
			Text: t.rowName},
		{Name: "port", Help: "port number, counted from 1",
			Unsorted: true, Text: func(row int) string {
				if r := &t.rows[row]; r.kind == rowPort || r.kind == rowIdle {
					return t.Scene.Top.Fabric.PortNumber(r.port)
				}
				return ""
			}},
		{Name: "LID", Help: "local identifier, assigned by the subnet manager",
			Right: true, Text: func(row int) string {
				switch r := &t.rows[row]; r.kind {
				case rowSwitch:
					return pane.LidText(t.Scene.LID(node(row).FirstPort))
				case rowPort:
					return pane.LidText(t.Scene.LID(t.Scene.Top.Fabric.Ports[r.port].Peer))
				}
				return ""
			}},
		{Name: "links", Help: "ports with a link, of all ports",
			Right: true, Text: func(row int) string {
				if t.rows[row].kind == rowSwitch {
					return fmt.Sprint(t.Scene.Now.LinkedPorts(node(row)))
				}
				return ""
			}},
		{Name: "load", Help: "most paths over a link of the node, compared with the busiest link, by the tables of " +
			"the state shown",
			Right: true, Text: func(row int) string {
				if t.rows[row].kind == rowSwitch && t.Loads() != nil {
					return fmt.Sprint(t.worstPaths(node(row)))
				}
				return ""
			}},
		{Name: "GUID", Help: "GUID of the node",
			Text: func(row int) string {
				if n := node(row); n != nil {
					return fmt.Sprintf("0x%016x", n.GUID)
				}
				return ""
			}},
		{Name: "note", Help: "problems, and simulated failures",
			Text: func(row int) string {
				switch r := &t.rows[row]; r.kind {
				case rowSwitch:
					note, _ := t.switchNote(&draw.Pen{Theme: t.Theme}, r.node)
					return note
				case rowPort:
					f := t.Scene.Top.Fabric
					peer := f.PeerNode(r.port)
					note, _ := t.linkNote(&draw.Pen{Theme: t.Theme}, r.port, peer, !f.Nodes[peer].IsSwitch())
					return note
				}
				return ""
			}},
		t.cablingColumn(),
	}
}

func (t *topology) rowName(row int) string {
	f := t.Scene.Top.Fabric
	switch r := &t.rows[row]; r.kind {
	case rowTier:
		return t.tierName(r.tier)
	case rowPort:
		return f.PortName(f.Ports[r.port].Peer)
	case rowIdle:
		return "no link"
	default:
		return f.NodeName(r.node)
	}
}

func (t *topology) tierName(tier int32) string {
	switch {
	case tier == tierOutside:
		return "unreachable"
	case tier == tierLoose:
		return "not attached to a switch"
	case t.groups != nil:
		return t.groups[tier].name
	case tier == 0:
		return "leaves"
	}
	return fmt.Sprintf("tier %d", tier)
}

// sortSwitches sorts the switches of a branch by the selected column. The argument is sorted by name.
func (t *topology) sortSwitches(list []fabric.SwitchIndex) []fabric.SwitchIndex {
	if t.Sorted == 0 {
		return list
	}
	f := t.Scene.Top.Fabric
	key := func(s fabric.SwitchIndex) int64 {
		n := f.SwitchNode(s)
		switch t.Cols[max(t.Sorted, -t.Sorted)-1].Name {
		case "LID":
			return int64(t.Scene.LID(n.FirstPort))
		case "links":
			return int64(t.Scene.Now.LinkedPorts(n))
		case "load":
			return t.worstPaths(n)
		case "GUID":
			return int64(n.GUID >> 1)
		case "note":
			note, _ := t.switchNote(&draw.Pen{Theme: t.Theme}, f.Switches[s])
			return -int64(len(note))
		case "cabling":
			return -int64(t.Scene.Cabling().Of(n.GUID))
		}
		return int64(t.Scene.Top.Rank[f.Switches[s]])
	}
	keys := make(map[fabric.SwitchIndex]int64, len(list))
	for _, s := range list {
		keys[s] = key(s)
		if t.Sorted < 0 {
			keys[s] = -keys[s]
		}
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b fabric.SwitchIndex) int { return cmp.Compare(keys[a], keys[b]) })
	return list
}

// worstPaths returns the number of paths over the busiest link from a switch to another switch.
func (t *topology) worstPaths(n *fabric.Node) int64 {
	if t.Loads() == nil || t.Loads().Fabric != t.Scene.Top.Fabric &&
		!fabric.SameLinks(t.Loads().Fabric, t.Scene.Top.Fabric) {
		return 0
	}
	var worst int64
	for p := range n.Ports() {
		if linkload.ClassOf(t.Scene.Top.Fabric, p) == linkload.BetweenSwitches {
			worst = max(worst, t.Loads().Paths[p])
		}
	}
	return worst
}

// switchLoad draws the number of paths over each link from a switch to other switches. If there are many links, several
// share a cell.
func (t *topology) switchLoad(n *fabric.Node) string {
	if t.Loads() == nil || len(t.Loads().Paths) != len(t.Scene.Top.Fabric.Ports) ||
		t.Busiest() == 0 {
		return ""
	}
	var list []int64
	known := false
	for p := range n.Ports() {
		if t.Scene.Top.Fabric.PeerSwitch(p) != fabric.None {
			list = append(list, t.Loads().Paths[p])
			known = known || t.Loads().Known(p)
		}
	}
	if list != nil && !known {
		return "?"
	}
	return t.Theme.Spark(list, t.Busiest(), 8)
}

// bySystem groups switches with the same system image GUID, such as the switches of a chassis.
func bySystem(ix *pane.Index) []treeGroup {
	return grouped(ix, func(n *fabric.Node, name string) string {
		if n.SystemGUID == 0 || n.SystemGUID == n.GUID {
			return "single switches"
		}
		return fmt.Sprintf("chassis 0x%016x", n.SystemGUID)
	})
}

// byPattern groups switches whose names differ only in their numbers.
func byPattern(ix *pane.Index) []treeGroup {
	return grouped(ix, func(_ *fabric.Node, name string) string {
		var b strings.Builder
		for name != "" {
			if d := prose.Digits(name); d > 0 {
				b.WriteByte('#')
				name = name[d:]
				continue
			}
			b.WriteByte(name[0])
			name = name[1:]
		}
		return b.String()
	})
}

// byPart groups switches by pod, plane or group. Switches that belong to none of these are grouped by rail if they have
// hosts.
func byPart(ix *pane.Index) []treeGroup {
	s := ix.Structure
	return grouped(ix, func(n *fabric.Node, _ string) string {
		for _, part := range []struct {
			noun string
			of   classify.Parts
		}{{"pod", s.Pods}, {"plane", s.Planes}, {"group", s.Groups}} {
			if part.of.Has() && part.of.Of[n.Switch] != classify.None {
				return fmt.Sprintf("%s %d", part.noun, part.of.Of[n.Switch]+1)
			}
		}
		if rails := &s.Rails; len(rails.Names) > 1 && rails.Of[n.Switch] != classify.None {
			return "rail " + rails.Names[rails.Of[n.Switch]]
		}
		return "in no group"
	})
}

func grouped(ix *pane.Index, key func(n *fabric.Node, name string) string) []treeGroup {
	at := map[string]int{}
	var out []treeGroup
	for tier := len(ix.Tiers) - 1; tier >= 0; tier-- {
		for _, s := range ix.Tiers[tier] {
			k := key(ix.Fabric.SwitchNode(s), ix.Fabric.NodeName(ix.Fabric.Switches[s]))
			i, known := at[k]
			if !known {
				i = len(out)
				at[k] = i
				out = append(out, treeGroup{name: k})
			}
			out[i].switches = append(out[i].switches, s)
		}
	}
	slices.SortStableFunc(out, func(a, b treeGroup) int { return prose.Natural(a.name, b.name) })
	return out
}

// director returns the argument of the command "fail director" for the selected heading: the system, or a pattern of
// switch names. It returns "" if the argument would also match other switches.
func (t *topology) director() string {
	row, ok := t.Selected()
	if !ok || t.rows[row].kind != rowTier || t.groups == nil || t.rows[row].tier < 0 {
		return ""
	}
	f, group := t.Scene.Top.Fabric, &t.groups[t.rows[row].tier]
	prefix, _, _ := strings.Cut(group.name, "#")
	system := f.Nodes[f.Switches[group.switches[0]]].SystemGUID
	only := func(is func(node fabric.NodeIndex) bool) bool {
		all, here := 0, 0
		for _, node := range f.Switches {
			all += draw.Btoi(is(node))
		}
		for _, s := range group.switches {
			here += draw.Btoi(is(f.Switches[s]))
		}
		return all == here && here == len(group.switches)
	}
	switch {
	case system != 0 && only(func(node fabric.NodeIndex) bool { return f.Nodes[node].SystemGUID == system }):
		return fmt.Sprintf("guid:0x%016x", system)
	case prefix != "" && prose.Plain(prefix) && only(func(node fabric.NodeIndex) bool {
		return strings.HasPrefix(f.NodeName(node), prefix)
	}):
		return lang.Quote(prefix + "*")
	}
	return ""
}
