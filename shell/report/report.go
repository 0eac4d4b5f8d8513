// SPDX-License-Identifier: Apache-2.0

// Package report writes reports of a routing. The formats are text, Markdown, CSV, JSON, a drawing for Graphviz or as
// SVG, topologies for Slurm, and a self-contained HTML page.
//
// Names of nodes are untrusted: each format escapes them in its own syntax.
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
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/drawing"
	"example.org/ibconsole/shell/session/analysis"
)

// Report holds the figures of a report. Figures of tables are nil or empty if the state has no tables.
type Report struct {
	Title    string
	Source   string
	When     time.Time
	Nodes    int
	Switches int
	Hosts    int
	LinkSum  int
	MaxLID   uint16
	// Unreachable counts the nodes and links that are excluded from the counts above. It is nil if there are none.
	Unreachable *fabric.Amounts
	Routing     *Routing
	Ports       []Port // both directions of the links between switches
	// Adapters are the patterns that select the adapters of a topology of Slurm.
	Adapters []string

	fabric *fabric.Fabric
	facts  *analysis.Memo
	loads  *linkload.Loads // nil without tables
	limits linkload.Limits
	drawn  *drawing.Drawing
	small  *cells // instead of drawn, for many switches
}

// Routing holds the figures of tables.
type Routing struct {
	Engine string
	// Pairs counts the ordered pairs of end ports. LostPairs counts those with a path that does not arrive. LuckPairs
	// counts those with a path that arrives only by some choices of adaptive routing. UnknownPairs counts those with an
	// unknown path.
	Pairs        int64
	LostPairs    int64
	LuckPairs    int64
	UnknownPairs int64
	Paths        int64
	Lost         int64
	// Unknown counts the paths over switches whose tables were not read, and NotRead lists these switches. The other
	// figures exclude these paths.
	Unknown int64
	NotRead []string
	Links   []int64 // counts paths by their number of links
	Worst   int64
	linkload.Quick
	// VLs is nil if the number of VLs is unknown.
	VLs        *int
	CreditLoop credits.Verdict

	unknown string
}

// Port is one direction of a link between switches.
type Port struct {
	Index fabric.PortIndex // of the port through which packets leave
	From  string
	Out   uint8
	To    string
	In    uint8
	Width string
	Speed string
	Gbps  float64
	// Paths and LIDs are nil if their numbers are unknown.
	Paths *int64
	LIDs  *int32
}

// New returns the report of a fabric, and of its tables if t is not nil. The argument facts is the memo of the session,
// which caches results. If the function progress is not nil, it is called with the completed steps of each check.
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
		r.loads, r.limits = l, l.Limits(facts.Structure(f).Heights())
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

// Format is a format of a report.
type Format struct {
	Name, Summary string
	Topology      bool // the format does not use tables
	Write         func(r *Report, w io.Writer) error
}

// Formats returns all formats.
func Formats() []Format {
	return []Format{
		{"text", "Write figures and the busiest links as text", false, (*Report).Text},
		{"markdown", "Write figures and the busiest links as Markdown", false, (*Report).Markdown},
		{"csv", "Write the links between switches as CSV", false, (*Report).CSV},
		{"dot", "Write switches and links for Graphviz", false, (*Report).Dot},
		{"slurm-conf", "Write Slurm's topology.conf", true, slurmTree((*slurm.Tree).WriteConf)},
		{"slurm-yaml", "Write Slurm's topology.yaml", true, slurmTree((*slurm.Tree).WriteYAML)},
		{"svg", "Draw the subnet with loads and failures", false, (*Report).SVG},
		{"html", "Write an HTML page with plots", false, (*Report).HTML},
	}
}

func slurmTree(write func(*slurm.Tree, io.Writer) error) func(*Report, io.Writer) error {
	return func(r *Report, w io.Writer) error {
		tree, err := slurm.TreeOf(r.fabric, r.Adapters...)
		if err != nil {
			return err
		}
		return write(tree, w)
	}
}

const mostNotRead = 5 // listed switches whose tables were not read

func byLuck(pairs int64) string {
	if pairs == 0 {
		return ""
	}
	return fmt.Sprintf(", %d arrive by luck", pairs)
}

// figures returns the figures as pairs of a label and a text.
func (r *Report) figures() [][2]string {
	out := [][2]string{
		{"Source", r.Source}, {"State", r.Title}, {"Time", when.Text(r.When)},
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
			"Unknown", fmt.Sprintf("%d paths over tables that were not read; the figures exclude them", t.Unknown),
		})
	}
	if t.NotRead != nil {
		out = append(out, [2]string{"Not read", "the tables of " + prose.List(t.NotRead, mostNotRead)})
	}
	out = append(out, [2]string{"Paths per link", fmt.Sprintf("at most %d over a link between switches", t.Worst)},
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

// CSV writes a row for each port, and a heading. It puts an apostrophe before a name that a spreadsheet would interpret
// as a formula.
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

// The function known returns a number as text, or "" if the number is unknown.
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
