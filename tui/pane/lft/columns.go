// SPDX-License-Identifier: Apache-2.0

package lft

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// wasAt is the index of the column with the entry in the state that is compared with.
const wasAt = 8

func (l *lft) lidColumns() []draw.Column {
	byPort := func() bool { return l.Kind == lftByPort }
	return []draw.Column{
		{Name: "LID", Help: "local identifier, assigned by the subnet manager",
			Naming: true, Wide: 6, Right: true, Hidden: byPort, Dim: true,
			Text: func(row int) string {
				return fmt.Sprint(l.lids[row])
			}, Order: func(row int) int64 { return int64(l.lids[row]) }},
		{Name: "destination", Help: "end port that has the LID",
			Naming: true, Least: 15, Share: 2, Hidden: byPort, Text: l.destination,
			Order: func(row int) int64 { return l.rankOf(l.Scene.Picture.Fabric.PortByLID(l.lids[row])) },
			Look: func(row int) draw.Style {
				return prose.When(l.Scene.Picture.Fabric.PortByLID(l.lids[row]) == fabric.None, l.Theme.Dim, "")
			}},
		{Name: "port", Help: "port of the switch for this LID in the forwarding table; 0 is the switch itself",
			Wide: 5, Right: true, Hidden: byPort,
			Text: func(row int) string {
				return l.entryText(l.entry(row))
			}, Order: func(row int) int64 { return int64(l.entry(row)) }},
		{Name: "next hop", Help: "node at the other end of the port",
			Least: 10, Share: 2, Hidden: byPort, Text: func(row int) string { return l.nextHop(l.entry(row)) },
			Order: func(row int) int64 {
				return l.nextRank(l.entry(row))
			}, Look: func(row int) draw.Style { return l.nextLook(l.entry(row)) }},
		{Name: "hops", Help: "switches on the rest of the path",
			Wide: 5, Right: true, Hidden: byPort, Text: func(row int) string { s, _ := l.hopText(row); return s },
			Order: l.hopsOrder, Look: func(row int) draw.Style { _, st := l.hopText(row); return st }},
		{Name: "link", Help: "active width and speed, for example 4xHDR",
			Wide: 7, Right: true, Rank: 1, Hidden: byPort, Text: func(row int) string { return l.link(l.entry(row)) },
			Order: func(row int) int64 { return l.linkOrder(l.entry(row)) }, Dim: true},
		{Name: "adaptive", Help: "how packets choose a port of the group; static: by the forwarding table alone",
			Wide: 8, Hidden: l.noGroups, Text: func(row int) string { return l.adapts(row).State().String() },
			Order: func(row int) int64 { return int64(l.adapts(row).State()) }, Dim: true},
		{Name: "group", Help: "ports from which adaptive routing chooses; those after \"then\" are used when none of " +
			"the first ones can be",
			Least: 6, Share: 1, Hidden: l.noGroups, Text: l.groupText, Order: func(row int) int64 {
				return int64(len(l.groupText(row)))
			}},
		{Name: "before", Called: "before", Help: "port in the state compared with",
			Wide: 6, Right: true, Hidden: func() bool { return byPort() || l.was == nil },
			Text: l.wasText, Order: func(row int) int64 {
				return int64(draw.Btoi(l.wasText(row) == ""))
			}, Look: func(int) draw.Style { return l.Theme.Warn }},
		l.errorsColumn(byPort, func(row int) uint8 {
			return l.entry(row)
		}), l.useColumn(byPort, func(row int) uint8 { return l.entry(row) }),
	}
}

// errorsColumn returns the column with the errors that the ports at both ends counted in the last hour.
func (l *lft) errorsColumn(hidden func() bool, entry func(row int) uint8) draw.Column {
	count := func(row int) uint64 {
		f, out := l.Scene.Picture.Fabric, l.out(entry(row))
		if out == fabric.None || entry(row) == 0 {
			return 0
		}
		n, _ := l.Scene.RecentErrors(f, out)
		far, _ := l.Scene.RecentErrors(f, f.Ports[out].Peer)
		return n + far
	}
	return draw.Column{Name: "errors", Help: "errors at both ends of the link in the last hour, as recorded",
		Wide: 7, Right: true, Rank: 2, Hidden: func() bool { return hidden() || l.Scene.Recent() == nil },
		Text: func(row int) string {
			return draw.CountOrNone(int(min(count(row), 1<<40)))
		}, Order: func(row int) int64 { return int64(count(row)) },
		Look: func(row int) draw.Style { return prose.When(count(row) > 0, l.Theme.Bad, l.Theme.Dim) }}
}

// useColumn returns the column with the utilization of the link in send direction in the last hour.
func (l *lft) useColumn(hidden func() bool, entry func(row int) uint8) draw.Column {
	use := func(row int) (int64, string) {
		out := l.out(entry(row))
		if out == fabric.None || entry(row) == 0 {
			return -1, ""
		}
		return l.Scene.RecentUse(l.Scene.Picture.Fabric, out)
	}
	return draw.Column{Name: "used", Help: "share of the data rate used in the last hour, as recorded",
		Wide: 5, Right: true, Rank: 3, Hidden: func() bool { return hidden() || l.Scene.Recent() == nil },
		Text: func(row int) string {
			_, text := use(row)
			return text
		}, Order: func(row int) int64 { n, _ := use(row); return n },
		Look: func(row int) draw.Style { n, _ := use(row); return prose.When(n > 90, l.Theme.Bad, "") }}
}

func (l *lft) portColumns() []draw.Column {
	byLID := func() bool { return l.Kind == lftByLID }
	return []draw.Column{
		{Name: "port", Help: "port of the switch for this LID in the forwarding table; 0 is the switch itself",
			Wide: 5, Right: true, Hidden: byLID,
			Text: func(row int) string {
				return l.entryText(l.ports[row])
			}, Order: func(row int) int64 { return int64(l.ports[row]) }},
		{Name: "next hop", Help: "node at the other end of the port",
			Least: 10, Hidden: byLID, Text: func(row int) string { return l.nextHop(l.ports[row]) },
			Order: func(row int) int64 {
				return l.nextRank(l.ports[row])
			}, Look: func(row int) draw.Style { return l.nextLook(l.ports[row]) }},
		{Name: "link", Help: "active width and speed, for example 4xHDR",
			Wide: 7, Right: true, Hidden: byLID, Rank: 1, Text: func(row int) string { return l.link(l.ports[row]) },
			Order: func(row int) int64 { return l.linkOrder(l.ports[row]) }, Dim: true},
		{Name: "LIDs", Help: "number of destination LIDs",
			Wide: 6, Right: true, Hidden: byLID, Order: func(row int) int64 { return int64(l.count[l.ports[row]]) }},
		{Name: "share", Help: "LIDs sent by this port, compared with the port that has most",
			Wide: 10, Hidden: byLID, Rank: 2, Drawn: true, Text: func(row int) string {
				return l.Theme.Bar(l.count[l.ports[row]], l.most, 10)
			},
			Order: func(row int) int64 { return int64(l.count[l.ports[row]]) }},
		{Name: "paths", Help: "paths over the link, all end ports to all others, by the tables of the state shown",
			Wide: 11, Right: true, Rank: 1, Hidden: func() bool { return byLID() || l.Loads() == nil },
			Text: func(row int) string {
				return l.pathsText(l.ports[row])
			}, Order: func(row int) int64 { return l.paths(l.ports[row]) }},
		l.errorsColumn(byLID, func(row int) uint8 {
			return l.ports[row]
		}), l.useColumn(byLID, func(row int) uint8 { return l.ports[row] }),
	}
}

func (l *lft) entry(row int) uint8 { return l.Scene.Picture.Tables.Port(l.sw, l.lids[row]) }

func (l *lft) destination(row int) string {
	f := l.Scene.Picture.Fabric
	if e := f.PortByLID(l.lids[row]); e != fabric.None {
		return f.NodeName(f.Ports[e].Node)
	}
	return "no owner"
}

func (l *lft) rankOf(port fabric.PortIndex) int64 {
	if port == fabric.None {
		return 1 << 40
	}
	return int64(l.Scene.Names.Rank[l.Scene.Picture.Fabric.Ports[port].Node])
}

// out returns the output port of an entry, or None if the switch has no such port.
func (l *lft) out(entry uint8) fabric.PortIndex {
	f := l.Scene.Picture.Fabric
	if l.sw == fabric.None {
		return fabric.None
	}
	return f.PortAt(f.Switches[l.sw], int(entry))
}

// nextHop returns the name of the next node for an entry, or the reason why there is none.
func (l *lft) nextHop(entry uint8) string {
	f := l.Scene.Picture.Fabric
	out := l.out(entry)
	switch {
	case entry == fabric.NoPath:
		return "no entry"
	case out == fabric.None:
		return "no such port"
	case entry == 0:
		return "this switch"
	case !f.Ports[out].Linked():
		return l.Theme.Failed + " link is down"
	}
	return f.NodeName(f.PeerNode(out))
}

func (l *lft) nextLook(entry uint8) draw.Style {
	out := l.out(entry)
	switch {
	case entry == 0 && out != fabric.None:
		return l.Theme.Dim
	case out == fabric.None || !l.Scene.Picture.Fabric.Ports[out].Linked():
		return l.Theme.Bad
	}
	return ""
}

func (l *lft) nextRank(entry uint8) int64 {
	out := l.out(entry)
	if out == fabric.None || !l.Scene.Picture.Fabric.Ports[out].Linked() {
		return -1
	}
	return l.rankOf(l.Scene.Picture.Fabric.Ports[out].Peer)<<8 | int64(entry)
}

// hopText returns the number of links of the path from this switch, or a text that describes how the path ends.
func (l *lft) hopText(row int) (string, draw.Style) {
	end := walk.Follow(l.Scene.Picture.Tables, l.sw, l.lids[row], nil)
	switch end.Verdict {
	case walk.Delivered, walk.TooLong:
		return fmt.Sprint(end.Links), ""
	case walk.Loop:
		return "loop", l.Theme.Bad
	case walk.Misdelivered:
		return "wrong", l.Theme.Bad
	case walk.Unknown:
		return "?", l.Theme.Warn
	}
	return "lost", l.Theme.Bad
}

func (l *lft) hopsOrder(row int) int64 {
	if lid := int(l.lids[row]); l.hopped.key == l.hopKey() && lid < len(l.hopped.order) {
		return int64(l.hopped.order[lid])
	}
	return 0
}

func (l *lft) link(entry uint8) string {
	out := l.out(entry)
	if out == fabric.None || entry == 0 || !l.Scene.Picture.Fabric.Ports[out].Linked() {
		return ""
	}
	p := &l.Scene.Picture.Fabric.Ports[out]
	return p.Width.String() + p.Speed.String()
}

func (l *lft) linkOrder(entry uint8) int64 {
	out := l.out(entry)
	if out == fabric.None || entry == 0 {
		return 0
	}
	return int64(1000 * l.Scene.Picture.Fabric.Ports[out].Gbps())
}

func (l *lft) wasText(row int) string {
	if l.was == nil || l.was(l.lids[row]) == l.entry(row) {
		return ""
	}
	return l.Theme.Changed + " " + l.entryText(l.was(l.lids[row]))
}

func (l *lft) paths(entry uint8) int64 {
	if out := l.out(entry); out != fabric.None && l.Loads() != nil && entry != 0 {
		return l.Loads().Paths[out]
	}
	return 0
}

func (l *lft) pathsText(entry uint8) string {
	if out := l.out(entry); out != fabric.None && l.Loads() != nil && entry != 0 {
		return pane.PathsText(l.Loads(), out)
	}
	return prose.Thousands(0)
}

// entryText returns the port of an entry with its label.
func (l *lft) entryText(entry uint8) string {
	if out := l.out(entry); out != fabric.None && entry != fabric.NoPath {
		return l.Scene.Picture.Fabric.PortNumber(out)
	}
	return prose.When(entry == fabric.NoPath, "-", fmt.Sprint(entry))
}

// widen makes the columns with port numbers as wide as the labels of the switch need.
func (l *lft) widen() {
	wide := len("port")
	if l.sw != fabric.None {
		f := l.Scene.Picture.Fabric
		for p := range f.SwitchNode(l.sw).Ports() {
			if f.Label(p) != "" {
				wide = max(wide, draw.Width(f.PortNumber(p)))
			}
		}
	}
	for i := range l.Cols {
		switch l.Cols[i].Name {
		case "port":
			l.Cols[i].Wide = wide + 1
		case "was":
			l.Cols[i].Wide = wide + 2
		}
	}
}

// noGroups reports whether the adaptive routing of the switch is unknown.
func (l *lft) noGroups() bool {
	t := l.tables()
	return l.Kind == lftByPort || t == nil || t.Adaptive == nil || len(t.Adaptive.Switches[l.sw].Tables) == 0
}

// adapts returns the adaptive entry for the LID of a row: how the switch chooses an output port.
func (l *lft) adapts(row int) fabric.AdaptiveEntry {
	_, e := l.Scene.Picture.Tables.Adaptive.Switches[l.sw].Entry(0, l.lids[row], 0)
	return e
}

// groupText returns the ports in the port group of a row, one sub-group after the other. It states if adaptive routing
// is off.
func (l *lft) groupText(row int) string {
	sw, e := &l.Scene.Picture.Tables.Adaptive.Switches[l.sw], l.adapts(row)
	if e.State() == fabric.StateStatic || e.Group() >= len(sw.Groups) {
		return ""
	}
	var words []string
	f := l.Scene.Picture.Fabric
	for _, sub := range sw.Groups[e.Group()] {
		words = append(words, feature.PortRanges(f, f.Switches[l.sw], sub))
	}
	return strings.Join(words, " then ") + prose.When(sw.Enabled, "", " (off)")
}
