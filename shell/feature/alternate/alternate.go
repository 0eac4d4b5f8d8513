// SPDX-License-Identifier: Apache-2.0

// Package alternate finds alternate paths for the automatic path migration of a connection.
package alternate

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/alternates"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/partitions"
)

// Feature is the command paths alternate.
var Feature = feature.Feature{Name: "alternate", Commands: []feature.Command{{
	Path: "paths alternate", Summary: "List the paths that a connection may migrate to (APM)",
	Help: "A path has two directions: from SRC to a LID of DST, and back to a LID of SRC. Alternate paths use the " +
		"other LIDs of\nDST (see lmc) and the other ports of both nodes. An alternate path is listed with the source " +
		"LID that makes it share\nthe fewest links with the primary path. Links and switches that all paths of a " +
		"port share are counted separately.",
	Args: []lang.Arg{{Name: "SRC", Kind: lang.KindPlace}, {Name: "DST", Kind: lang.KindPlace}},
	Options: []lang.Option{
		feature.OfOption(), {Name: "limit", Kind: lang.KindInt, Summary: "number of listed paths (default 20)"},
	},
	Examples: []string{
		"engine minhop lmc=1; route; paths alternate node-0001 node-0648", "paths alternate node-0001 node-0648",
	},
	Answers: []answer.Declared{&decl},
	Run:     run,
}}}

// connection is the answer: the primary path of a connection and its alternate paths.
type connection struct {
	Count   int          `key:"alternate_count" name:"alternates"`
	Lost    int          `key:"lost" name:"lost" help:"paths that do not arrive in both directions"`
	Unknown int          `key:"unknown" name:"unknown" help:"paths that meet a table that was not read"`
	None    answer.Value `key:"none" name:"no alternate" kind:"text" help:"why there is none"`
	Primary string       `name:"primary path"`

	t    *fabric.Tables
	r    *alternates.Result
	list []alternates.Alternate // the alternates that are listed
}

// path is one path of a connection, in both directions.
type path struct {
	From         answer.Value `key:"from" name:"FROM" kind:"place"`
	SLID         uint16       `key:"slid" name:"SLID" kind:"lid"`
	To           answer.Value `key:"to" name:"TO" kind:"place"`
	DLID         uint16       `key:"dlid" name:"DLID" kind:"lid"`
	SL           answer.Value `key:"sl" kind:"int" help:"service level of the path to DST"`
	SLs          answer.Value `key:"sls" name:"SL" kind:"text" help:"all levels that a record may have, as 0 to 2"`
	Arrives      bool         `key:"arrives" name:"ARRIVES" help:"whether packets arrive in both directions"`
	Why          answer.Value `key:"why" name:"REASON" kind:"text"`
	There        answer.Value `key:"there" name:"THERE" kind:"list" help:"ports by which packets leave switches"`
	Back         answer.Value `key:"back" name:"BACK" kind:"list" help:"the same on the reverse path"`
	Disjoint     answer.Value `key:"disjoint" name:"DISJOINT" kind:"text" help:"all, ends, links, none, or same"`
	Links        answer.Value `key:"shared_links" kind:"list" help:"shared links between the ends, a port each"`
	Switches     answer.Value `key:"shared_switches" kind:"list"`
	EndLinks     answer.Value `key:"shared_end_links" kind:"list" help:"links shared by a common port, a port each"`
	EndSwitches  answer.Value `key:"shared_end_switches" kind:"list"`
	SharedAsText string       `name:"SHARES" help:"links and switches shared with the primary path"`
}

var (
	primaryTable   = answer.Table[path]{Key: "primary", Title: "primary path", Fields: answer.Fields[path]()}
	alternateTable = answer.Table[path]{Key: "alternates", Title: "alternates", Help: "by increasing overlap",
		Fields: answer.Fields[path]()}
)

var decl = answer.Decl[*connection]{
	Command: "paths alternate", Help: "the paths that a connection may migrate to",
	Title: "{primary path}, of {of}", Facts: answer.Fields[*connection](),
	Layout: []answer.Item[*connection]{
		{Table: answer.Show(&primaryTable, func(c *connection) answer.Rows[path] {
			return answer.Slice([]path{c.path(&c.r.Primary)})
		})},
		{Table: answer.Show(&alternateTable, (*connection).alternates)},
	},
	Draw: draw,
}

func run(c *feature.Call) error {
	st, p, err := c.Tables()
	if err != nil {
		return err
	}
	limit, err := c.AtLeast("limit", 20, 1)
	if err != nil {
		return err
	}
	f := p.Fabric
	var lids [2]uint16
	var ends [2]fabric.PortIndex
	for i := range lids {
		at, err := places.Resolve(f, c.Arg(i))
		if err != nil {
			return err
		}
		if lids[i], ends[i] = at.LID, f.EndPortOf(at.Port); at.LID == 0 || f.PortByLID(at.LID) != ends[i] {
			return fmt.Errorf("%s has no LID", f.PortName(at.Port))
		}
	}
	if ends[0] == ends[1] {
		return fmt.Errorf("SRC and DST are the same port, %s", f.PortName(ends[0]))
	}
	r := alternates.Of(p.Tables, lids[0], lids[1])
	x := connection{
		Count: len(r.List), Lost: r.Lost, Unknown: r.Unknown, t: p.Tables, r: r, list: r.List[:min(limit, len(r.List))],
	}
	x.Primary = x.title(&r.Primary)
	switch {
	case x.Count > 0:
	case x.Unknown > 0:
		x.None = answer.Text("it is unknown whether another path arrives in both directions: tables were not read")
	case x.Lost > 0:
		x.None = answer.Text("no other path arrives in both directions")
	default:
		x.None = answer.Text("each has one port with one LID (LMC 0), and to a LID there is one path; hint: run " +
			"'engine ENGINE lmc=1; route; paths alternate'")
	}
	return c.Answer(decl.Answer(st.Basis(p, session.NeedLinks|session.NeedTables), &x))
}

func (c *connection) path(p *alternates.Path) path {
	f := c.t.Fabric
	row := path{
		From: answer.Port(f, p.Src), SLID: p.SLID, To: answer.Port(f, p.Dst), DLID: p.DLID,
		Arrives: p.Arrives(),
		There:   feature.Ports(f, outPorts(f, &p.There)), Back: feature.Ports(f, outPorts(f, &p.Back)),
		Why: answer.Optional(why(f, p)),
	}
	row.SL, row.SLs = feature.SLs(c.grant(p))
	return row
}

func (c *connection) alternates() answer.Rows[path] {
	f := c.t.Fabric
	rows := answer.Lazy(len(c.list), func(i int) path {
		x := &c.list[i]
		row := c.path(&x.Path)
		row.Disjoint, row.SharedAsText = answer.Text(c.disjoint(x)), c.shares(x)
		row.Links, row.Switches = feature.Ports(f, x.Between.Links), nodesOf(f, x.Between.Switches)
		row.EndLinks, row.EndSwitches = feature.Ports(f, x.Ends.Links), nodesOf(f, x.Ends.Switches)
		return row
	})
	rows.More = int64(c.Count - len(c.list))
	return rows
}

func nodesOf(f *fabric.Fabric, nodes []fabric.NodeIndex) answer.Value {
	values := make([]answer.Value, len(nodes))
	for i, n := range nodes {
		values[i] = answer.Node(f, n)
	}
	return answer.List(values)
}

// why returns the reason why packets do not arrive in both directions, or "" if they arrive.
func why(f *fabric.Fabric, p *alternates.Path) string {
	switch {
	case !p.There.Verdict.Arrives():
		return p.There.Explain(f)
	case !p.Back.Verdict.Arrives():
		return "reverse path: " + p.Back.Explain(f)
	}
	return ""
}

// outPorts returns the ports by which packets leave the switches of a path.
func outPorts(f *fabric.Fabric, p *walk.Path) (ports []fabric.PortIndex) {
	for _, h := range p.Hops {
		if n := &f.Nodes[h.Node]; n.IsSwitch() {
			out := n.FirstPort
			if h.Out != fabric.None {
				out = h.Out
			}
			ports = append(ports, out)
		}
	}
	return ports
}

// disjoint returns the degree to which an alternate path is disjoint from the primary path.
func (c *connection) disjoint(a *alternates.Alternate) string {
	f := c.t.Fabric
	same := func(p, q *walk.Path) bool { return slices.Equal(outPorts(f, p), outPorts(f, q)) }
	switch {
	case same(&a.There, &c.r.Primary.There) && same(&a.Back, &c.r.Primary.Back):
		return "same"
	case len(a.Between.Links) > 0:
		return "none"
	case len(a.Between.Switches) > 0:
		return "links"
	case len(a.Ends.Links)+len(a.Ends.Switches) > 0:
		return "ends"
	}
	return "all"
}

// shares returns a text with the links and switches that an alternate path shares with the primary path.
func (c *connection) shares(a *alternates.Alternate) string {
	f := c.t.Fabric
	names := func(s *alternates.Shared) string {
		links := prose.Words(s.Links, func(p fabric.PortIndex) string {
			return f.PortName(p) + " -- " + f.PortName(f.Ports[p].Peer)
		})
		return strings.Join(append(links, prose.Words(s.Switches, f.NodeName)...), ", ")
	}
	ends := ""
	if text := names(&a.Ends); text != "" {
		ends = "; the ports themselves have " + text
	}
	switch c.disjoint(a) {
	case "same":
		return "the same path"
	case "all":
		return "shares nothing"
	case "ends":
		return "shares nothing between the ends" + ends
	case "links":
		return "shares no link, but " + strings.Join(prose.Words(a.Between.Switches, f.NodeName), ", ") + ends
	}
	return "shares " + names(&a.Between) + ends
}

func (c *connection) title(p *alternates.Path) string {
	f := c.t.Fabric
	return fmt.Sprintf("%s LID %d -> %s LID %d, SL %s", f.PortName(p.Src), p.SLID, f.PortName(p.Dst), p.DLID,
		c.grant(p).SLs)
}

func (c *connection) grant(p *alternates.Path) partitions.Grant {
	sl, _ := c.t.SL(p.SLID, p.DLID)
	return partitions.Grant{SL: sl, SLs: c.t.SLRange(p.SLID, p.DLID)}
}

func draw(w *answer.Canvas, _ answer.Basis, c *connection) {
	f := c.t.Fabric
	line := func(p *alternates.Path) {
		names := func(p *walk.Path) string { return strings.Join(prose.Words(outPorts(f, p), f.PortName), " ") }
		w.Line("  there  %s", names(&p.There))
		w.Line("  back   %s", names(&p.Back))
		if text := why(f, p); text != "" {
			w.Line("  %s", text)
		}
	}
	line(&c.r.Primary)
	if !c.None.IsNone() {
		w.Line("no alternate: %s", c.None)
		return
	}
	w.Line("%s, by increasing overlap", prose.Count(c.Count, "alternate"))
	for i := range c.list {
		x := &c.list[i]
		w.Line("%s: %s", c.title(&x.Path), c.shares(x))
		line(&x.Path)
	}
	if more := c.Count - len(c.list); more > 0 {
		w.Line("and %d more (limit=N lists more)", more)
	}
	if c.Lost > 0 {
		w.Line("%s more not in both directions",
			prose.When(c.Lost == 1, "1 path arrives", fmt.Sprintf("%d paths arrive", c.Lost)))
	}
	if c.Unknown > 0 {
		w.Line("%s unknown, over tables that were not read", prose.Count(c.Unknown, "more path"))
	}
}
