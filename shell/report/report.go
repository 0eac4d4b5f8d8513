// SPDX-License-Identifier: Apache-2.0

// Package report writes what is known of a routing for readers elsewhere: as text, Markdown, CSV, JSON, a
// drawing for Graphviz, a topology for Slurm, and a page of HTML that needs nothing beside itself.
//
// Names of nodes are hostile until they are escaped: each form has its own way.
package report

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/slurm"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/drawing"
	"example.org/ibconsole/shell/session/analysis"
)

// Report is what a report says. Figures are nil or empty where there are no tables.
type Report struct {
	Title    string
	Source   string
	When     time.Time
	Nodes    int
	Switches int
	Hosts    int
	LinkSum  int
	MaxLID   uint16
	// Unreachable is counted in none of the amounts above, nil for nothing.
	Unreachable *fabric.Amounts
	Routing     *Routing
	Ports       []Port // the directions of links that leave switches for switches

	fabric *fabric.Fabric
	facts  *analysis.Memo
	loads  []int64 // by port, nil without tables
	drawn  *drawing.Drawing
}

// Routing are the figures of tables.
type Routing struct {
	Engine string
	// Pairs are those of all end ports, LostPairs those of which a path does not arrive, LuckPairs those of which one
	// arrives by luck with adaptive routing, UnknownPairs those of which one is unknown.
	Pairs        int64
	LostPairs    int64
	LuckPairs    int64
	UnknownPairs int64
	Paths        int64
	Lost         int64
	// Unknown counts the paths that meet a switch whose table was not read, as NotRead names them. The figures leave
	// these paths out.
	Unknown int64
	NotRead []string
	Links   []int64 // counts paths by their number of links
	Worst   int64
	linkload.Quick
	// VLs is null where it is unknown, and so is CreditLoop.
	VLs        *int
	CreditLoop credits.Verdict

	unknown string
}

// Port is one direction of a link between switches.
type Port struct {
	Index fabric.PortIndex // of the port that packets leave by
	From  string
	Out   uint8
	To    string
	In    uint8
	Width string
	Speed string
	Gbps  float64
	// Paths and LIDs are null where they are not known.
	Paths *int64
	LIDs  *int32
}

// New makes the report of a fabric, and of tables on it unless they are nil, from the facts that a session
// knows. Progress, where set, is told the steps done of a check.
func New(ctx context.Context, facts *analysis.Memo, f *fabric.Fabric, t *fabric.Tables, title, source string,
	progress func(done, total int)) (*Report, error) {
	r := &Report{Title: title, Source: source, When: time.Now(), MaxLID: f.MaxLID, Ports: []Port{}, fabric: f,
		facts: facts}
	inv := f.Inventory()
	r.Nodes, r.Switches, r.Hosts, r.LinkSum = inv.InSubnet.Nodes, inv.InSubnet.Switches, inv.InSubnet.Hosts(),
		inv.InSubnet.Links
	if inv.Unreachable.Nodes > 0 {
		r.Unreachable = &inv.Unreachable
	}
	var l *linkload.Loads
	if t != nil && f.MaxLID > 0 {
		var err error
		if l, err = facts.Load(ctx, t, linkload.Options{Progress: progress}); err != nil {
			return nil, err
		}
		r.loads = l.Paths
		if r.Routing, err = routingOf(ctx, facts, t, l, progress); err != nil {
			return nil, err
		}
	}
	for i := range f.Ports {
		if linkload.ClassOf(f, fabric.PortIndex(i)) != linkload.BetweenSwitches {
			continue
		}
		if !f.Discovered(fabric.PortIndex(i)) {
			continue
		}
		p, q := &f.Ports[i], &f.Ports[f.Ports[i].Peer]
		row := Port{Index: fabric.PortIndex(i), From: f.NodeName(p.Node), Out: p.Num, To: f.NodeName(q.Node), In: q.Num,
			Width: p.Width.String(), Speed: p.Speed.String(), Gbps: p.Gbps()}
		if l != nil && l.Known(fabric.PortIndex(i)) {
			row.Paths, row.LIDs = &l.Paths[i], &l.Destinations[i]
		}
		r.Ports = append(r.Ports, row)
	}
	return r, nil
}

func routingOf(ctx context.Context, facts *analysis.Memo, t *fabric.Tables, l *linkload.Loads,
	progress func(done, total int)) (*Routing, error) {
	res, err := facts.Reach(ctx, t, reach.Options{Progress: progress})
	if err != nil {
		return nil, err
	}
	pairs, err := facts.Pairs(ctx, t, reach.Options{Progress: progress})
	if err != nil {
		return nil, err
	}
	c, err := facts.Credits(ctx, t, credits.Options{Progress: progress})
	if err != nil {
		return nil, err
	}
	out := &Routing{Engine: t.Origin, Pairs: pairs.Pairs, LostPairs: pairs.Lost, LuckPairs: pairs.Luck,
		UnknownPairs: pairs.Unknown, Paths: pairs.Paths, Lost: pairs.Bad, Unknown: pairs.UnknownPaths, Links: res.Links,
		Worst: l.Summary(1).EdgeForwardingIndex, CreditLoop: c.Verdict, unknown: c.Unknown()}
	for _, n := range t.NotRead() {
		out.NotRead = append(out.NotRead, t.Fabric.NodeName(n))
	}
	if !c.Unread.Any() {
		out.VLs = &c.VLs
	}
	out.Quick, err = linkload.Estimate(ctx, t, linkload.Hosts(t.Fabric), 1, progress)
	return out, err
}

// Format is a form of a report.
type Format struct {
	Name, Summary string
	Topology      bool // says that it has no use for tables
	Write         func(r *Report, w io.Writer) error
}

// Formats are all forms.
func Formats() []Format {
	return []Format{
		{"text", "Write figures and the busiest links as text", false, (*Report).Text},
		{"markdown", "Write figures and the busiest links as Markdown", false, (*Report).Markdown},
		{"csv", "Write the links between switches as CSV", false, (*Report).CSV},
		{"dot", "Write switches and links for Graphviz", false, (*Report).Dot},
		{"slurm-conf", "Write Slurm's topology.conf", true, func(r *Report, w io.Writer) error {
			return slurm.TreeOf(r.fabric).WriteConf(w)
		}},
		{"slurm-yaml", "Write Slurm's topology.yaml", true, func(r *Report, w io.Writer) error {
			return slurm.TreeOf(r.fabric).WriteYAML(w)
		}},
		{"svg", "Draw the subnet with loads and failures", false, (*Report).SVG},
		{"html", "Write an HTML page with plots", false, (*Report).HTML},
	}
}

const mostNotRead = 5 // how many switches are named whose tables were not read

func byLuck(pairs int64) string {
	if pairs == 0 {
		return ""
	}
	return fmt.Sprintf(", %d arrive by luck", pairs)
}

// figures are the facts in words.
func (r *Report) figures() [][2]string {
	out := [][2]string{
		{"Source", r.Source}, {"Of", r.Title}, {"Time", r.When.Format("2006-01-02 15:04:05")},
		{"Switches", fmt.Sprint(r.Switches)}, {"Hosts", fmt.Sprint(r.Hosts)}, {"Links", fmt.Sprint(r.LinkSum)},
		{"Highest LID", fmt.Sprint(r.MaxLID)},
	}
	if u := r.Unreachable; u != nil {
		out = append(out, [2]string{
			"Unreachable", fmt.Sprintf("%s, %s, %s", prose.Count(u.Switches, "switch"), prose.Count(u.Hosts(), "host"),
				prose.Count(u.Links, "link")),
		})
	}
	t := r.Routing
	if t == nil {
		return append(out, [2]string{"Routing", "no forwarding tables"})
	}
	loop, vls := [...]string{
		credits.None: "none", credits.Loop: "YES", credits.Unknown: "unknown: " + t.unknown,
	}[t.CreditLoop], "unknown"
	if t.VLs != nil {
		vls = fmt.Sprint(*t.VLs)
	}
	out = append(out, [2]string{
		"Routing", t.Engine,
	}, [2]string{"Pairs", fmt.Sprintf("%d, %d of them lost", t.Pairs, t.LostPairs) + byLuck(t.LuckPairs)},
		[2]string{"Paths", fmt.Sprintf("%d, %d of them do not arrive", t.Paths, t.Lost)})
	if t.Unknown > 0 {
		out = append(out, [2]string{
			"Unknown", fmt.Sprintf("%d paths, over tables that were not read; the figures leave them out", t.Unknown),
		})
	}
	if t.NotRead != nil {
		out = append(out, [2]string{"Not read", "the tables of " + prose.List(t.NotRead, mostNotRead)})
	}
	out = append(out, [2]string{"Worst load", fmt.Sprintf("%d paths over a link between switches", t.Worst)},
		[2]string{"VLs", vls}, [2]string{"Credit loop", loop})
	if t.Shifts != nil {
		out = append(out, [2]string{
			"Shift figure", fmt.Sprintf("%d over %d shifts, mean %.2f", t.Shifts.Worst, t.Shifts.Shifts, t.Shifts.Mean),
		},
			[2]string{
				"Effective bisection", fmt.Sprintf("%.3f of full over %d random bisections", t.Bisections.Mean,
					t.Bisections.Bisections),
			})
	}
	return out
}

// CSV writes the ports below titles. A name that a spreadsheet would take for a formula gets an apostrophe in front.
func (r *Report) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"from", "port", "to", "peer_port", "width", "speed", "gbps", "paths", "lids"})
	for i := range r.Ports {
		p := &r.Ports[i]
		_ = c.Write([]string{cell(p.From), strconv.Itoa(int(p.Out)), cell(p.To), strconv.Itoa(int(p.In)),
			p.Width, p.Speed,
			strconv.FormatFloat(p.Gbps, 'f', -1, 64), known(p.Paths), known(p.LIDs)})
	}
	c.Flush()
	return c.Error()
}

// known writes a number, nothing for one that is not known.
func known[N int32 | int64](n *N) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(int64(*n), 10)
}

func cell(s string) string {
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
