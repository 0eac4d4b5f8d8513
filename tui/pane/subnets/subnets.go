// SPDX-License-Identifier: Apache-2.0

// Package subnets lists the subnets of the console and the differences between them.
package subnets

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/feature/sources"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// The views of the pane.
const (
	kindSubnets = iota
	kindDifferences
)

// Source returns the subnets.
type Source interface {
	// Glances returns the overviews of all subnets. The result here is the index of the subnet that this screen shows.
	Glances() (all []shell.Glance, here int)
	Compare(ctx context.Context) (*sources.Comparison, error)
}

// subnets lists the subnets.
type subnets struct {
	pane.List
	src      Source
	glances  []shell.Glance
	here     int
	compared pane.AsyncResult[*sources.Comparison]
	taken    *sources.Comparison
	rows     []classify.Difference
}

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[Source]{Name: "All", New: New}

// New makes the pane.
func New(c *pane.Common, src Source) pane.Pane {
	l := &subnets{src: src}
	t := c.Look
	l.List = pane.NewList(c, pane.About{Name: "All", Enter: "go there", Broad: true},
		draw.Table{Kinds: []string{"subnets", "differences"}, ID: l.id}, l.Renew)
	all := func() bool { return l.Kind != kindSubnets }
	figure := func(of func(o *sources.Overview) int) (func(row int) string, func(row int) int64) {
		return func(row int) string {
				if o := l.overview(row); o != nil && o.Trouble == "" {
					return prose.Thousands(of(o))
				}
				return "-"
			}, func(row int) int64 {
				if o := l.overview(row); o != nil {
					return int64(of(o))
				}
				return -1
			}
	}
	column := func(name, help string, wide, rank int, look draw.Style, of func(o *sources.Overview) int) draw.Column {
		text, order := figure(of)
		return draw.Column{Name: name, Help: help, Wide: wide, Right: true, Rank: rank, Hidden: all, Text: text,
			Order: order, Look: func(row int) draw.Style {
				if order(row) > 0 {
					return look
				}
				return ""
			}}
	}
	l.Cols = []draw.Column{
		{Name: "subnet", Help: "name from -s or the configuration, otherwise the source",
			Least: 16, Share: 2, Text: l.name, Look: l.look},
		column("switches", "number of switches", 8, 3, "", func(o *sources.Overview) int { return o.Switches }),
		column("hosts", "hosts with a channel adapter, without aggregation nodes", 6, 2, "",
			func(o *sources.Overview) int {
				return o.Hosts
			}),
		column("links", "all links, including those of hosts", 6, 4, "", func(o *sources.Overview) int {
			return o.Links
		}),
		column("down", "links that were lost, or are missing compared with the baseline", 5, 0, t.Bad,
			func(o *sources.Overview) int {
				return o.Down
			}),
		column("errors", "problems of severity error; pane 1 lists them", 6, 0, t.Bad, func(o *sources.Overview) int {
			return o.Errors
		}),
		column("warnings", "problems of severity warning", 8, 2, t.Warn, func(o *sources.Overview) int {
			return o.Warnings
		}),
		column("most paths", "paths over the busiest link between switches, all end ports to all others", 10, 3, "",
			func(o *sources.Overview) int {
				return int(max(o.Worst, 0))
			}),
		column("differences", "differences from most of the subnets; b lists them", 11, 0, t.Warn,
			func(o *sources.Overview) int {
				return o.Differs
			}),
		{Name: "state", Help: "when the subnet was read, its master SM, running operations, what-if; or why nothing " +
			"is known",
			Least: 20, Share: 3, Rank: 1, Hidden: all, Text: l.state, Look: l.look},
		{Name: "differs in", Help: "what differs from most of the subnets: size, hosts, cabling, speed or engine",
			Wide: 10, Hidden: func() bool {
				return !all()
			}, Text: func(row int) string { return string(l.rows[row].Kind) }},
		{Name: "place", Help: "host, port or link; Enter selects it",
			Least: 30, Share: 6, Hidden: func() bool {
				return !all()
			}, Text: func(row int) string { return l.rows[row].What }},
	}
	l.glance()
	return l
}

// Global marks the pane as independent of the subnet that the screen shows.
func (l *subnets) Global() {}

// Hidden reports whether there is only one subnet.
func (l *subnets) Hidden() bool { return len(l.glances) < 2 }

func (l *subnets) id(row int) uint64 {
	if l.Kind == kindSubnets {
		return uint64(row) + 1
	}
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d %s", l.rows[row].Subnet, l.rows[row].What)
	return h.Sum64()
}

// at returns the subnet of a row.
func (l *subnets) at(row int) int {
	if l.Kind == kindSubnets {
		return row
	}
	return l.rows[row].Subnet
}

func (l *subnets) name(row int) string {
	name := l.glances[l.at(row)].Name
	if l.Kind == kindSubnets && row == l.here {
		return name + " (shown)"
	}
	return name
}

// difference returns the difference in a row. It returns nil if the row is a subnet.
func (l *subnets) difference(row int) *classify.Difference {
	if l.Kind != kindDifferences {
		return nil
	}
	return &l.rows[row]
}

// overview returns the results of the comparison for the subnet in a row, or nil before the first comparison.
func (l *subnets) overview(row int) *sources.Overview {
	if l.taken == nil || row >= len(l.taken.Subnets) {
		return nil
	}
	return &l.taken.Subnets[row]
}

func (l *subnets) look(row int) draw.Style {
	switch g := &l.glances[l.at(row)]; {
	case g.Trouble != "" || g.Lost != "":
		return l.Theme.Bad
	case l.Kind == kindSubnets && row == l.here:
		return l.Theme.Live
	}
	return ""
}

// state returns the problem of a subnet, the operation that is running, or the time when the subnet was read.
func (l *subnets) state(row int) string {
	g := &l.glances[row]
	switch {
	case g.Trouble != "":
		return g.Trouble
	case g.Busy != "":
		return g.Busy + " runs"
	case g.Read.IsZero():
		return "not read yet"
	}
	words := []string{"read " + when.Clock(g.Read)}
	if g.Lost != "" {
		words = []string{"DISCONNECTED, " + words[0], g.Lost}
	}
	if o := l.overview(row); o != nil && o.Manager != "" {
		words = append(words, "SM "+o.Manager)
	}
	if g.Paper != "" {
		words = append(words, g.Paper)
	}
	return strings.Join(words, "; ")
}

// glance reads the state of all subnets.
func (l *subnets) glance() {
	if l.src == nil {
		return
	}
	l.glances, l.here = l.src.Glances()
}

// Renew makes the rows.
func (l *subnets) Renew() {
	l.glance()
	n := len(l.glances)
	l.rows = nil
	if l.taken != nil {
		l.rows = l.taken.Differences
	}
	if l.Kind == kindDifferences {
		n = len(l.rows)
	}
	if len(l.glances) < 2 {
		n = 0
	}
	l.KeepRow()
	l.Build(n)
}

// Seek compares the subnets if at least one has changed.
func (l *subnets) Seek(s pane.Stage) tea.Cmd {
	if !s.Visible || l.src == nil {
		return nil
	}
	before := l.glances
	if l.glance(); !slices.Equal(before, l.glances) {
		l.Renew()
	}
	if len(l.glances) < 2 {
		return nil
	}
	key := strings.Join(prose.Words(l.glances, func(g shell.Glance) string { return g.Stamp }), "\n")
	return l.compared.Start(l.Common, key, func(ctx context.Context, _ func(int, int)) (*sources.Comparison, error) {
		return l.src.Compare(ctx)
	})
}

// Collect accepts a new comparison. Until then, the previous comparison is shown.
func (l *subnets) Collect() {
	if v := l.compared.Value; v != nil && v != l.taken {
		l.taken = v
		l.Renew()
	}
}

// Title is the view.
func (l *subnets) Title() string { return l.Kinds[l.Kind] }

// Figure is the number of rows.
func (l *subnets) Figure() string {
	switch {
	case len(l.glances) < 2:
		return ""
	case l.Kind == kindDifferences:
		return prose.Count(len(l.rows), "difference")
	}
	return prose.Count(len(l.glances), "subnet")
}

// Empty returns why there are no rows.
func (l *subnets) Empty() string {
	switch {
	case len(l.glances) < 2:
		return "There is only one subnet. Start with several -s, with -s umad:all, or try -s sim:rails:8,fattree:2,36."
	case l.Kind == kindDifferences && l.taken == nil:
		return "The subnets are being compared."
	case l.Kind == kindDifferences && l.Filt.Empty():
		return "No differences between the subnets: " + l.taken.Compared + "."
	}
	return "No row matches the filter."
}

// Alarm returns the number of subnets that could not be read.
func (l *subnets) Alarm() (n int) {
	for i := range l.glances {
		n += draw.Btoi(l.glances[i].Trouble != "" || l.glances[i].Lost != "")
	}
	return n
}

// Subject returns [pane.Nothing], because the rows are about other subnets.
func (l *subnets) Subject() pane.Subject { return pane.Nothing }

// Enter goes to the subnet of the selected row. If the row is a difference, it goes to the place of the difference.
func (l *subnets) Enter() (func() tea.Msg, string) {
	row, ok := l.Selected()
	if !ok {
		return nil, l.Empty()
	}
	to := pane.EnterSubnet{At: l.at(row)}
	if d := l.difference(row); d != nil && d.Node != fabric.None {
		to.Place = pane.PlaceOf(l.taken.Fabrics[d.Subnet], d.Node, d.Port)
	}
	return func() tea.Msg { return to }, ""
}
