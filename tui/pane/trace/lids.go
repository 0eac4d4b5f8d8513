// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/tui/draw"
)

// lidColumns returns the columns of the view in which each row is the path to one LID of the destination.
func (c *columns) lidColumns() []draw.Column {
	path := func(row int) *walk.Path { return &c.t.group[row] }
	return []draw.Column{
		{Name: "  LID", Help: "local identifier, assigned by the subnet manager",
			Wide: 7, Text: func(row int) string {
				return prose.When(path(row).DstLID == c.t.hops.DstLID, c.t.Theme.OnPath, " ") +
					fmt.Sprintf(" %d", path(row).DstLID)
			}, Order: func(row int) int64 { return int64(path(row).DstLID) }},
		{Name: "ends", Help: "how the path ends",
			Wide: 12, Rank: 1, Text: func(row int) string {
				return path(row).Verdict.String()
			}, Look: func(row int) draw.Style { return c.t.verdictStyle(path(row).Verdict) }},
		{Name: "shared", Help: "links in common with the path shown, of all its links",
			Wide: 7, Right: true, Rank: 2, Text: func(row int) string {
				return fmt.Sprintf("%d/%d", c.t.common(path(row)), path(row).Links())
			},
			Order: func(row int) int64 { return int64(c.t.common(path(row))) }},
		{Name: "switches", Help: "switches of the path; = marks a switch of the path shown",
			Least: 20, Text: c.switchesText},
	}
}

// common returns the number of links that a path shares with the path shown.
func (t *trace) common(p *walk.Path) int { return p.Common(&t.hops) }

// switchesText returns the switches of a path, each with the port through which the path leaves it.
func (c *columns) switchesText(row int) string {
	f, p := c.t.Scene.Picture.Fabric, &c.t.group[row]
	var words []string
	for i, n := range p.Shared([]walk.Path{c.t.hops}) {
		h := &p.Hops[i]
		if !f.Nodes[h.Node].IsSwitch() {
			continue
		}
		word := prose.When(n > 0 && p.DstLID != c.t.hops.DstLID, "=", "") + f.NodeName(h.Node)
		if h.Out != fabric.None {
			word += " " + portText(f, h.Out)
		}
		words = append(words, word)
	}
	return strings.Join(words, " "+c.t.Theme.Arrow+" ")
}

// addGroup adds a row for the path to each LID. Enter shows the path of the row.
func (t *trace) addGroup() {
	for i := range t.group {
		lid := t.group[i].DstLID
		t.rows = append(t.rows, traceRow{f: t.Scene.Picture.Fabric, hop: walk.Hop{In: fabric.None, Out: fabric.None},
			at: -1, back: -1, remark: fmt.Sprintf("%d %s", lid, t.columns.switchesText(i)), open: func() tea.Msg {
				t.LID = lid
				return t.traced()
			}})
	}
}

// groupWords returns a text with the number of different paths to the LIDs of the destination.
func (r *remarks) groupWords() string {
	different := 0
	for i := range r.t.group {
		if !slices.ContainsFunc(r.t.group[:i], func(p walk.Path) bool {
			return slices.Equal(p.Hops, r.t.group[i].Hops)
		}) {
			different++
		}
	}
	return prose.When(different == 1, "all the same path", prose.Count(different, "path"))
}
