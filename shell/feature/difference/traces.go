// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/traces"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/changes/moved"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/pairs"
	"example.org/ibconsole/shell/session/reroutes"
)

const mostMoves = 20 // default for the number of listed paths in text

var tracesCommand = feature.Command{
	Path:    "diff traces",
	Summary: "Compare paths of two times and find what moved them",
	Help: "OLD and NEW are files that trace save= wrote, states (live, whatif, staged, a history entry) or times " +
		"(now, 03:12).\nFor a file, the paths are those in the file. For two states, they are those from SRC to DST, " +
		"or of all hosts.\nThe cause of a changed path is the first change with which it left its old course: a link " +
		"of the path that is gone\nor new, a commit, or tables that another program wrote. Changes that moved the " +
		"path again are listed after it.\nThe command follows the paths through the states in the history between " +
		"OLD and NEW (help history).",
	Args: []lang.Arg{
		{Name: "OLD", Kind: lang.KindPicture}, {Name: "NEW", Kind: lang.KindPicture},
		{Name: "SRC|all", Kind: lang.KindPlace, Words: []string{feature.AllWord}, Optional: true},
		{Name: "DST|all", Kind: lang.KindPlace, Words: []string{feature.AllWord}, Optional: true},
	},
	Options: []lang.Option{
		{Name: "limit", Kind: lang.KindInt, Default: strconv.Itoa(mostMoves), Summary: "number of listed paths"},
	},
	Examples: []string{
		"trace all node-0001 rows save=old.traces; fail link leaf-01 36; route; diff traces old.traces staged",
		"fail link leaf-01 36; route; diff traces base staged node-0001 all limit=3",
	},
	Answers: []answer.Declared{&tracesDecl},
	Run:     runTraces,
}

// tracesDifference is the answer with the paths that differ between two times, and the causes.
type tracesDifference struct {
	Old       string       `key:"old" help:"the file or the state before"`
	New       string       `key:"new" help:"the file or the state after"`
	Pairs     int          `key:"pairs" help:"paths that both have, one for each LID of a destination"`
	Same      int          `key:"same"`
	Changed   int          `key:"changed" help:"with other ports, or another result"`
	Unknown   int          `key:"unknown" help:"that lead over tables that were not read"`
	Lost      int          `key:"lost" help:"changed paths that no longer arrive"`
	Gained    int          `key:"gained" help:"changed paths that arrive again"`
	OnlyOld   int          `key:"only_old"`
	OnlyNew   int          `key:"only_new"`
	LIDs      int          `key:"lids_moved" help:"with another LID of the destination"`
	States    int          `key:"states" help:"states in the history between the two times"`
	NoHistory answer.Value `key:"no_history" kind:"text" help:"why the history was not used"`
	OldDigest answer.Value `key:"old_digest" kind:"text" help:"of a file"`
	NewDigest answer.Value `key:"new_digest" kind:"text"`
	Rest      string       `name:"rest"`

	limit  int
	result *reroutes.Result
	names  []*fabric.Fabric // for names, in this order
}

// causeRow is a row of the table: a change that moved paths.
type causeRow struct {
	Kind   string       `key:"what" help:"link, commit, reroute, what-if, computed or unknown"`
	Text   string       `key:"cause" name:"CAUSE"`
	When   answer.Value `key:"when" name:"WHEN" kind:"time"`
	Pairs  int          `key:"pairs" name:"PATHS" help:"paths that left their old course with it"`
	Lost   int          `key:"lost" name:"LOST" help:"paths that no longer arrive"`
	Again  int          `key:"again" name:"AGAIN" help:"paths that it moved after they had left their old course"`
	A      answer.Value `key:"a" kind:"place" help:"end of the link"`
	B      answer.Value `key:"b" kind:"place" help:"other end of the link"`
	Down   answer.Value `key:"down" kind:"bool" help:"whether the link is gone, or new"`
	Commit answer.Value `key:"commit" kind:"int" help:"history entry of the commit"`
	Before answer.Value `key:"before" kind:"int" help:"history entry before the change"`
	After  answer.Value `key:"after" kind:"int" help:"history entry after the change"`
	answer.Lead
}

// moveRow is a row of the table: a path that changed.
type moveRow struct {
	From    answer.Value `key:"from" name:"FROM" kind:"place"`
	To      answer.Value `key:"to" name:"TO" kind:"place" help:"none if no port has the LID"`
	LID     uint16       `key:"lid" name:"LID" kind:"lid"`
	At      answer.Value `key:"at" name:"PARTS AT" kind:"place" help:"last node at which both paths are the same"`
	Hop     answer.Value `key:"hop" kind:"int" help:"its number in both paths, the source is 0"`
	Old     string       `name:"OLD PATH"`
	New     string       `name:"NEW PATH"`
	OldHops []string     `key:"old_path" help:"port in, node GUID and port out of each node"`
	NewHops []string     `key:"new_path"`
	OldEnd  string       `key:"old_result" help:"how the path ended, as in files of traces"`
	NewEnd  string       `key:"new_result"`
	Cause   string       `key:"cause" name:"CAUSE"`
	Later   []string     `key:"later" help:"changes that moved the path again"`
	answer.Lead
}

var (
	causeTable = answer.Table[causeRow]{
		Key: "causes", Title: "causes", Help: "what moved paths, most paths first", Fields: answer.Fields[causeRow](),
	}
	moveTable = answer.Table[moveRow]{
		Key: "paths", Title: "changed paths", Help: "by GUID of the source and LID", Stream: true, MaxRows: mostMoves,
		Fields: answer.Fields[moveRow](),
	}
)

var tracesDecl = answer.Decl[*tracesDifference]{
	Command: "diff traces", Help: "paths that differ between two times, and what moved them",
	Title: "traces from {old} to {new}: {changed} of {pairs|path} changed, {lost} lost, {gained} gained",
	Facts: answer.Fields[*tracesDifference](),
	Layout: []answer.Item[*tracesDifference]{
		{Line: "[{rest}]"},
		{Line: "{?no_history}the history was not used: {no_history}", When: (*tracesDifference).isUnknown},
		{Table: answer.Show(&causeTable, func(d *tracesDifference) answer.Rows[causeRow] {
			return answer.Lazy(len(d.result.Causes), d.cause)
		}), When: func(d *tracesDifference) bool { return d.Changed > 0 }},
		{Table: answer.Show(&moveTable, func(d *tracesDifference) answer.Rows[moveRow] {
			rows := answer.Lazy(len(d.result.Moves), d.move)
			rows.Shown = d.limit
			return rows
		}), When: func(d *tracesDifference) bool { return d.Changed > 0 }},
	},
	Verdict: func(d *tracesDifference) (answer.Verdict, string) {
		switch {
		case d.Changed+d.OnlyOld+d.OnlyNew > 0:
			return answer.Found, fmt.Sprintf("%s changed", prose.Count(d.Changed, "path"))
		case d.Unknown > 0:
			return answer.Unknown, "not everything was read"
		}
		return answer.OK, ""
	},
	Fails: answer.Asked,
}

// isUnknown reports whether the cause of a changed path is unknown.
func (d *tracesDifference) isUnknown() bool {
	return slices.ContainsFunc(d.result.Causes, func(c reroutes.Cause) bool { return c.Kind == reroutes.Unknown })
}

// tracesSide returns a side without paths of a state, or with those of a file.
func tracesSide(c *feature.Call, st *session.State, word string) (*reroutes.Side, error) {
	p, err := st.FreshTablesOf(session.Kind(word))
	if err == nil {
		return reroutes.PictureSide(p, st.Title(p)), nil
	}
	if slices.Contains(session.Kinds, session.Kind(word)) || strings.Trim(word, "0123456789:") == "" {
		return nil, err
	}
	f, err := traces.ReadFile(c.Ctx, word)
	if err != nil {
		return nil, err
	}
	return reroutes.FileSide(f, fmt.Sprintf("%s (%s of %s)", fabric.Escape(word), fabric.Escape(f.State),
		when.Text(f.Tables))), nil
}

func runTraces(c *feature.Call) error {
	if c.Flag("entries") {
		return c.Misused("entries applies to diff, not to diff traces")
	}
	limit, err := c.AtLeast("limit", mostMoves, 1)
	if err != nil {
		return err
	}
	st := c.Session.State()
	var sides [2]*reroutes.Side
	for i := range sides {
		if sides[i], err = tracesSide(c, &st, c.Arg(i)); err != nil {
			return err
		}
	}
	op, err := c.Session.Begin(c.Ctx, "diff traces")
	if err != nil {
		return err
	}
	defer op.End()
	if err := tracePairs(c, &sides); err != nil {
		return err
	}
	r, err := reroutes.Compare(c.Ctx, c.Session, sides[0], sides[1], op.Progress)
	if err != nil {
		return err
	}
	d := newTracesDifference(r, limit)
	return c.Answer(tracesDecl.Answer(d.basis(c, &st), d))
}

// newTracesDifference returns the answer of a comparison.
func newTracesDifference(r *reroutes.Result, limit int) *tracesDifference {
	d := &tracesDifference{
		Old: r.Old.Title, New: r.New.Title, Pairs: r.Both, Same: r.Same, Changed: r.Changed, Unknown: r.Unknown,
		Lost: r.Lost, Gained: r.Gained, OnlyOld: r.OnlyOld, OnlyNew: r.OnlyNew, LIDs: r.LIDs, States: r.States,
		limit: limit, result: r,
	}
	if r.NoHistory != nil {
		d.NoHistory = answer.Text(r.NoHistory.Error())
	}
	for i, at := range []*answer.Value{&d.OldDigest, &d.NewDigest} {
		if f := []*reroutes.Side{r.Old, r.New}[i].File; f != nil {
			*at = answer.Text(f.Digest)
		}
	}
	for _, x := range []struct {
		n    int
		text string
	}{
		{d.Unknown, "%s unknown, as tables were not read"}, {d.OnlyOld, "%s in OLD only"},
		{d.OnlyNew, "%s in NEW only"}, {d.LIDs, "%s to another LID of the same port"},
	} {
		if x.n > 0 {
			d.Rest += prose.When(d.Rest != "", "; ", "") + fmt.Sprintf(x.text, prose.Count(x.n, "path"))
		}
	}
	return d
}

// basis returns the basis of the answer: the new state, or the live one for a file. It sets the fabrics for names.
func (d *tracesDifference) basis(c *feature.Call, st *session.State) answer.Basis {
	b := st.Basis(st.Live, 0)
	for i, side := range []*reroutes.Side{d.result.New, d.result.Old} {
		p := side.Picture
		if p == nil {
			continue
		}
		d.names = append(d.names, p.Fabric)
		if i == 0 {
			b = st.Basis(p, 0)
		}
		u := st.Basis(p, session.NeedTables).Unread
		for i := range u.Causes {
			u.Causes[i].Why = st.Title(p)
		}
		b.Unread = b.Unread.Add(u)
	}
	d.names = append(d.names, st.Live.Fabric)
	for _, side := range []*reroutes.Side{d.result.Old, d.result.New} {
		if f := side.File; f != nil && f.Subnet != c.Session.Subnet() {
			b.Warnings = append(b.Warnings, fmt.Sprintf("%s is of another subnet, or of a console at another port: %s",
				side.Title, fabric.Escape(f.Subnet)))
		}
	}
	return b
}

// tracePairs traces the pairs in the states: those of the file if one side is a file, otherwise those of the arguments.
func tracePairs(c *feature.Call, sides *[2]*reroutes.Side) error {
	isFile := [2]bool{sides[0].File != nil, sides[1].File != nil}
	if (isFile[0] || isFile[1]) && c.Arg(2) != "" {
		return c.Misused("the paths are those of the file, so SRC and DST are not allowed")
	}
	for i, side := range sides {
		switch {
		case isFile[i]:
		case isFile[1-i]:
			if err := side.Trace(c.Ctx, reroutes.Keys(sides[1-i].Set)); err != nil {
				return err
			}
		default:
			f := side.Picture.Fabric
			list, err := pairsOf(c, f)
			if err != nil {
				return err
			}
			if err := side.Trace(c.Ctx, reroutes.PairKeys(f, list)); err != nil {
				return err
			}
		}
	}
	return nil
}

// pairsOf returns the pairs of the arguments SRC and DST, or of all hosts, in the order of files of traces.
func pairsOf(c *feature.Call, f *fabric.Fabric) (list []pairs.Pair, err error) {
	src, dst := c.Arg(2), c.Arg(3)
	switch {
	case src != "" && dst == "":
		return nil, c.Misused("DST is missing")
	case src == "" || src == feature.AllWord && dst == feature.AllWord:
		ends, unreachable := f.Ends(false)
		ends = append(ends, unreachable...)
		if len(ends) > feature.MaxFilteredHosts {
			return nil, fmt.Errorf("%d end ports have too many pairs, the maximum is %d; name SRC or DST", len(ends),
				feature.MaxFilteredHosts)
		}
		list = pairs.Product(f, ends, pairs.Places(f, ends))
	default:
		if list, err = feature.PairsOf(f, src, dst, false); err != nil {
			return nil, err
		}
	}
	pairs.Sort(f, list)
	return slices.Compact(list), nil
}

// node returns a node by its GUID, with a port unless it is negative.
func (d *tracesDifference) node(guid uint64, port int) answer.Value {
	for _, f := range d.names {
		n := f.NodeByGUID(guid)
		switch {
		case n == fabric.None:
		case port < 0:
			return answer.Node(f, n)
		case f.PortAt(n, port) != fabric.None:
			return answer.Port(f, f.PortAt(n, port))
		}
	}
	at := answer.Place{GUID: guid, Port: port}
	for _, side := range []*reroutes.Side{d.result.New, d.result.Old} {
		if side.File != nil && at.Name == "" {
			at.Name = side.File.Names[guid]
		}
	}
	return answer.At(at)
}

// port returns an end port by its GUID.
func (d *tracesDifference) port(guid uint64) answer.Value {
	for _, f := range d.names {
		if p := f.PortByGUID(guid); p != fabric.None {
			return answer.Port(f, p)
		}
	}
	return answer.At(answer.Place{GUID: guid, Port: -1})
}

// text returns the ports by which a path leaves its nodes, and its result unless it arrives.
func (d *tracesDifference) text(r *traces.Row) (text string, hops []string) {
	var words []string
	for _, h := range r.Hops {
		hops = append(hops, h.String())
		if h.Out != traces.NoPort {
			words = append(words, d.node(h.GUID, int(h.Out)).String())
		}
	}
	if r.Ending != traces.Delivered {
		words = append(words, "("+r.Ending.String()+")")
	}
	return strings.Join(words, ", "), hops
}

func (d *tracesDifference) causeText(i int) string {
	c := &d.result.Causes[i]
	switch c.Kind {
	case reroutes.Link:
		text := fmt.Sprintf("link %s -- %s %s", d.node(c.A.GUID, c.A.Port), d.node(c.B.GUID, c.B.Port),
			prose.When(c.Down, "down", "up"))
		return text + prose.When(c.Text != "", " ("+c.Text+")", "")
	case reroutes.Reroute:
		if by, ok := strings.CutPrefix(c.Text, "probably "); ok {
			return "reroute, probably by " + by
		}
		return "reroute by " + strings.Replace(c.Text, "unknown (", "another program (", 1)
	case reroutes.Unknown:
		return "unknown: " + c.Text
	case reroutes.WhatIf:
		return "what-if: " + c.Text
	}
	return c.Text
}

func (d *tracesDifference) cause(i int) causeRow {
	c := &d.result.Causes[i]
	r := causeRow{Kind: string(c.Kind), Text: d.causeText(i), Pairs: c.Pairs, Lost: c.Lost, Again: c.Again}
	if !c.When.IsZero() {
		r.When = answer.Time(c.When.Local())
	}
	if c.Kind == reroutes.Link {
		r.A, r.B, r.Down = d.node(c.A.GUID, c.A.Port), d.node(c.B.GUID, c.B.Port), answer.Bool(c.Down)
		r.Lead = answer.Lead{GUID: c.A.GUID, Port: uint8(max(c.A.Port, 0))}
	}
	for _, x := range []struct {
		id int64
		at *answer.Value
	}{{c.Entry, &r.Commit}, {c.Before, &r.Before}, {c.After, &r.After}} {
		if x.id != 0 {
			*x.at = answer.Int(x.id)
		}
	}
	if c.Kind != reroutes.Link && c.Before != 0 && c.After != 0 {
		r.Lead = answer.Lead{Command: fmt.Sprintf("diff %d %d", c.Before, c.After)}
	}
	return r
}

func (d *tracesDifference) move(i int) moveRow {
	m := &d.result.Moves[i]
	a, b := d.result.Old.Set.Row(m.Old, nil), d.result.New.Set.Row(m.New, nil)
	r := moveRow{
		From: d.port(a.Src), LID: b.LID, OldEnd: a.Ending.String(), NewEnd: b.Ending.String(),
		Cause: d.causeText(m.Cause), Later: []string{},
	}
	if a.Dst != 0 {
		r.To = d.port(a.Dst)
	}
	if at := moved.Parts(&a, &b); at >= 0 {
		r.At, r.Hop = d.node(a.Hops[at].GUID, -1), answer.Int(at)
	}
	r.Old, r.OldHops = d.text(&a)
	r.New, r.NewHops = d.text(&b)
	for _, n := range m.Later {
		r.Later = append(r.Later, d.causeText(n))
	}
	if len(r.Later) > 0 {
		r.Cause += ", then " + strings.Join(r.Later, ", then ")
	}
	if p := d.result.New.Picture; p != nil {
		r.Lead = feature.ToTrace(p, p.Fabric.PortByGUID(b.Src), p.Fabric.PortByGUID(b.Dst), b.LID)
	}
	return r
}
