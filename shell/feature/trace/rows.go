// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/traces"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/changes/moved"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/live"
	"example.org/ibconsole/shell/session/pairs"
	"example.org/ibconsole/shell/session/partitions"
)

// pathRow is a row of the table: the path of a pair to one LID of the destination.
type pathRow struct {
	From   answer.Value `key:"from" name:"FROM" kind:"place"`
	To     answer.Value `key:"to" kind:"place" help:"none if no port has the LID"`
	ToName string       `name:"TO"`
	SLID   uint16       `key:"slid" name:"SLID" kind:"lid" help:"base LID of the source"`
	LID    uint16       `key:"lid" name:"LID" kind:"lid" help:"LID of the destination"`
	Hops   answer.Value `key:"hops" name:"HOPS" kind:"int" help:"links of a path that arrives"`
	SL     answer.Value `key:"sl" kind:"int" help:"service level in the tables of a state"`
	SLs    answer.Value `key:"sls" name:"SL" kind:"text" help:"all levels that a record may have, as 0 to 2"`
	Gbps   answer.Value `key:"gbps" name:"GBIT/S" kind:"float" unit:"Gbit/s" help:"rate of the slowest link"`
	MTU    answer.Value `key:"mtu" name:"MTU" kind:"int" help:"smallest MTU of the links, in bytes"`
	Parts  answer.Value `key:"parts" kind:"text" help:"where the live path differs from the state"`

	result
	in     *session.Picture
	pair   pairs.Pair
	path   *walk.Path // nil for a live path
	digest string     // of the row in files of traces
}

var rowTable = answer.Table[*pathRow]{
	Key: "rows", Title: "paths", Help: "a row for each path; without rows, undelivered paths first",
	Stream: true,
	Fields: append(answer.Fields[*pathRow](),
		answer.TextField("ending", "", "as of a single pair", func(r *pathRow) string { return r.Ending }),
		answer.BoolField("arrives", "", "", func(r *pathRow) bool { return r.Arrives }),
		answer.TextField("why", "", "", func(r *pathRow) string { return r.Why }),
		answer.TextField("digest", "", "of the ports, the LID and the result, as in files of traces",
			func(r *pathRow) string { return r.digest }),
		answer.TextField("", "RESULT", "how the path ends", func(r *pathRow) string {
			if r.Parts.IsNone() {
				return r.Why
			}
			return r.Why + "; " + r.Parts.String()
		})),
	Lead: func(r *pathRow) answer.Lead {
		return feature.ToTrace(r.in, r.pair.Src, r.in.Fabric.PortByLID(r.LID), r.LID)
	},
}

// setLimits sets the links, the rate and the MTU of a path that arrives.
func (r *pathRow) setLimits(links int, gbps float64, mtu mad.MTU) {
	r.Hops = answer.Int(links)
	if links == 0 {
		return
	}
	r.Gbps, r.MTU = answer.NotRead(), answer.NotRead()
	if gbps > 0 {
		r.Gbps = answer.Float(gbps, 1)
	}
	if mtu.Bytes() > 0 {
		r.MTU = answer.Int(mtu.Bytes())
	}
}

// listedPaths computes the paths of listed pairs on demand. Paths in a state are traced for each row again: this takes
// less than the row itself, and a million paths would take 300 MB.
type listedPaths interface {
	fabric() *fabric.Fabric
	// row returns nil for a path that was not traced.
	row(i int) *pathRow
	// switches returns those of the path of row i.
	switches(i int, of *pathRow) []passedSwitch
	// ibtracert returns the output of ibtracert.
	ibtracert(i int) (string, error)
	// trace returns the row in files of traces. ok is false for a path that was not traced.
	trace(i int) (row traces.Row, ok bool)
}

// statePaths are paths through the tables of a state.
type statePaths struct {
	s      *session.Picture
	grants *partitions.Grants
	pairs  []pairs.Pair
}

func (p *statePaths) fabric() *fabric.Fabric { return p.s.Fabric }

func (p *statePaths) row(i int) *pathRow {
	of := p.pairs[i].Trace(p.s.Tables)
	row := tableRow(p.s, p.pairs[i], &of)
	grant, err := p.grants.Of(of.Src, of.DstLID)
	if row.grant(err); err == nil {
		row.SL, row.SLs = feature.SLs(grant)
	}
	return row
}

// tableRow returns the row of a path through tables.
func tableRow(s *session.Picture, pair pairs.Pair, of *walk.Path) *pathRow {
	f := s.Fabric
	row := &pathRow{
		From: answer.Port(f, of.Src), To: answer.Port(f, of.Dst), ToName: destinationOf(f, of),
		SLID: f.LIDOf(of.Src), LID: of.DstLID, result: resultOf(f, of), in: s, pair: pair, path: of,
	}
	var room [16]traces.Hop
	row.digest = new(moved.Row(f, of, room[:])).Digest()
	if row.Arrives {
		gbps, mtu := of.Limits(f)
		row.setLimits(of.Links(), gbps, mtu)
	}
	return row
}

func (p *statePaths) trace(i int) (traces.Row, bool) {
	of := p.pairs[i].Trace(p.s.Tables)
	return moved.Row(p.s.Fabric, &of, nil), true
}

func (p *statePaths) switches(_ int, of *pathRow) []passedSwitch {
	return passedOf(p.s.Fabric, of.path)
}

func (p *statePaths) ibtracert(i int) (string, error) {
	if err := pairs.Addressed(p.s.Fabric, p.pairs[i]); err != nil {
		return "", err
	}
	of := p.pairs[i].Trace(p.s.Tables)
	return ibtracertText(p.s.Tables, &of)
}

func ibtracertText(t *fabric.Tables, of *walk.Path) (string, error) {
	var text strings.Builder
	err := walk.Ibtracert(&text, t, of)
	return text.String(), err
}

func linesOf(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// livePaths are paths through the switches.
type livePaths struct {
	st      *session.State
	against *session.Picture // nil for none
	pairs   []pairs.Pair
	paths   []*livetrace.Path // nil for pairs that were not traced, and for ports that cannot be addressed
}

func (p *livePaths) fabric() *fabric.Fabric { return p.st.Live.Fabric }

// traceAll traces the pairs. After an error some are missing.
func (p *livePaths) traceAll(c *feature.Call) error {
	p.paths = make([]*livetrace.Path, len(p.pairs))
	var indexes []int
	var addressed []pairs.Pair
	for i, pair := range p.pairs {
		if pairs.Addressed(p.st.Live.Fabric, pair) == nil {
			indexes, addressed = append(indexes, i), append(addressed, pair)
		}
	}
	return live.Trace(c.Ctx, c.Session, addressed, func(i int, of *livetrace.Path) {
		path := *of
		p.paths[indexes[i]] = &path
	})
}

func (p *livePaths) row(i int) *pathRow {
	f, of, pair := p.st.Live.Fabric, p.paths[i], p.pairs[i]
	switch {
	case of == nil && pairs.Addressed(f, pair) == nil:
		return nil
	case of == nil: // the path ends at the source, without a table
		there := walk.Between(&fabric.Tables{Fabric: f}, pair.Src, pair.Dst, pair.LID)
		return tableRow(p.st.Live, pair, &there)
	}
	row := &pathRow{
		From: answer.Port(f, of.Src), To: answer.Port(f, f.PortByLID(of.LID)),
		ToName: feature.DestinationName(f, of.LID), SLID: f.LIDOf(of.Src), LID: of.LID, result: liveResult(f, of),
		in: p.st.Live, pair: pair, digest: new(moved.LiveRow(f, of)).Digest(),
	}
	if row.Arrives {
		gbps, mtu := of.Limits()
		row.setLimits(len(of.Hops)-1, gbps, mtu)
	}
	if p.against != nil {
		row.Parts = answer.Optional(liveDifference(p.st, of, p.against, pair))
	}
	return row
}

func (p *livePaths) trace(i int) (traces.Row, bool) {
	f, of, pair := p.st.Live.Fabric, p.paths[i], p.pairs[i]
	if of != nil {
		return moved.LiveRow(f, of), true
	}
	there := walk.Between(&fabric.Tables{Fabric: f}, pair.Src, pair.Dst, pair.LID)
	return moved.Row(f, &there, nil), pairs.Addressed(f, pair) != nil
}

func (p *livePaths) switches(i int, _ *pathRow) []passedSwitch {
	return passedLive(p.st.Live.Fabric, p.paths[i])
}

func (p *livePaths) ibtracert(i int) (string, error) {
	f := p.st.Live.Fabric
	if err := pairs.Addressed(f, p.pairs[i]); err != nil {
		return "", err
	}
	of, err := walkedLive(f, p.paths[i])
	if err != nil {
		return "", err
	}
	return ibtracertText(p.st.Live.Tables, &of)
}

// walkedLive returns a path through the switches as one of the live fabric. It fails if the last sweep did not find a
// node or port of the path.
func walkedLive(f *fabric.Fabric, of *livetrace.Path) (walk.Path, error) {
	p := walk.Path{Src: of.Src, Dst: f.PortByLID(of.LID), DstLID: of.LID, Closes: -1, Entry: fabric.NoPath}
	p.Verdict, p.Cause = walkedVerdict(of.Verdict)
	if len(of.Hops) == 0 {
		return p, errors.New(of.Explain(f))
	}
	for i := range of.Hops {
		h := &of.Hops[i]
		x := walk.Hop{Node: h.Node, In: fabric.None, Out: fabric.None}
		for _, end := range []struct {
			num  int
			port *fabric.PortIndex
		}{{h.In, &x.In}, {h.Out, &x.Out}} {
			if h.Node != fabric.None && end.num != livetrace.NoPort {
				*end.port = f.PortAt(h.Node, end.num)
			}
		}
		if h.Node == fabric.None || h.In != livetrace.NoPort && x.In == fabric.None {
			return p, fmt.Errorf("%s was not found by the last sweep; hint: run 'sweep'", h.Name(f))
		}
		if of.Verdict == livetrace.Loop && h.GUID == of.Hops[len(of.Hops)-1].GUID && p.Closes < 0 {
			p.Closes = i
		}
		p.Hops = append(p.Hops, x)
	}
	return p, nil
}

// walkedVerdict returns the verdict of [walk] for one of [livetrace].
func walkedVerdict(v livetrace.Verdict) (walk.Verdict, walk.Cause) {
	switch v {
	case livetrace.Delivered:
		return walk.Delivered, 0
	case livetrace.Loop:
		return walk.Loop, 0
	case livetrace.Misdelivered:
		return walk.Misdelivered, 0
	case livetrace.NoEntry:
		return walk.DeadEnd, walk.NoEntry
	case livetrace.NoSuchPort:
		return walk.DeadEnd, walk.NoSuchPort
	case livetrace.LinkDown:
		return walk.DeadEnd, walk.NoLink
	}
	return walk.Unknown, 0
}

// pathList holds the listed paths of an answer.
type pathList struct {
	listedPaths
	byOutcome [reach.Lost + 1][]int32 // the traced pairs, in the order of the list
	order     []int32                 // the traced pairs, in the order of the answer
	isTable   bool                    // the answer has a row for each path
	shown     int                     // number of rows in the text, 0 for all
}

// addPaths adds the paths of listed pairs. Rows are those of paths that do not arrive, then unknown ones, then the
// others, each in the order of the list. The rows of files of traces, and the lines of ibtracert, which do not name the
// destination of an undelivered path, are in the order of the list.
func (m *many) addPaths(ctx context.Context, r *request, paths listedPaths) (err error) {
	m.list.listedPaths, m.list.isTable = paths, r.listed
	if !r.rows {
		m.list.shown = r.limit
	}
	var groups pathGroups
	for i := range r.pairs {
		if err = ctx.Err(); err != nil {
			break
		}
		row := paths.row(i)
		if row == nil {
			continue
		}
		m.add(i, row)
		if row.Arrives {
			groups.add(i, paths.switches(i, row))
		}
	}
	groups.addTo(m, r.limit, func(i int) []passedSwitch { return paths.switches(i, paths.row(i)) })
	for _, pairs := range slices.Backward(m.list.byOutcome[:]) {
		m.list.order = append(m.list.order, pairs...)
	}
	if r.ibtracert || r.canonical {
		slices.Sort(m.list.order)
	}
	return err
}

// addDigest sets the digest of the paths, and writes them to the file of the request.
func (m *many) addDigest(c *feature.Call, r *request, head *traces.Head) error {
	f := m.list.fabric()
	head.Subnet, head.Sweep = c.Session.Subnet(), c.Session.State().Live.When
	head.Selection = strings.Join(slices.DeleteFunc(slices.Clone(c.Args), func(word string) bool {
		return word == liveWord
	}), " ")
	if head.Selection == "" {
		head.Selection = "file=" + c.Option("file", "")
	}
	write := func(w io.Writer) error {
		out := traces.NewWriter(w, head)
		for n, i := range m.list.order {
			if n%4096 == 0 && c.Ctx.Err() != nil {
				return c.Ctx.Err()
			}
			if row, ok := m.list.trace(int(i)); ok {
				if err := out.Add(&row); err != nil {
					return err
				}
			}
		}
		m.Digest = answer.Text(out.Digest())
		return out.Close(func(guid uint64) string {
			if n := f.NodeByGUID(guid); n != fabric.None {
				return f.Nodes[n].Desc
			}
			return ""
		})
	}
	if r.save == "" {
		return write(io.Discard)
	}
	m.Saved = answer.Text(r.save)
	return files.Write(r.save, write)
}

func (m *many) rows() answer.Rows[*pathRow] {
	rows := answer.Lazy(len(m.list.order), func(i int) *pathRow {
		return m.list.row(int(m.list.order[i]))
	})
	rows.Shown = m.list.shown
	return rows
}

// tracedLines is a row of the table: a path as ibtracert prints it.
type tracedLines struct {
	From  answer.Value `key:"from" name:"FROM" kind:"place"`
	To    answer.Value `key:"to" name:"TO" kind:"place" help:"none if no port has the LID"`
	LID   uint16       `key:"lid" name:"LID" kind:"lid"`
	Lines []string     `key:"lines" name:"LINES" help:"the lines that ibtracert prints"`
	Error answer.Value `key:"error" name:"ERROR" kind:"text" help:"why there are no lines"`
}

var linesTable = answer.Table[tracedLines]{
	Key: "traces", Title: "paths", Help: "a row for each path, in the order of the list", Stream: true,
	Fields: answer.Fields[tracedLines](),
}

var manyLinesDecl = answer.Decl[*many]{
	Command: "trace", Help: "the paths of many pairs, as ibtracert prints them", Title: manyDecl.Title,
	Facts:   manyDecl.Facts,
	Layout:  []answer.Item[*many]{{Table: answer.Show(&linesTable, (*many).lines)}},
	Verdict: (*many).verdict, Fails: answer.Always,
}

func (m *many) lines() answer.Rows[tracedLines] {
	return answer.Lazy(len(m.list.order), func(i int) tracedLines {
		at := int(m.list.order[i])
		row := m.list.row(at)
		lines := tracedLines{From: row.From, To: row.To, LID: row.LID}
		if text, err := m.list.ibtracert(at); err != nil {
			lines.Error = answer.Text(err.Error())
		} else {
			lines.Lines = linesOf(text)
		}
		return lines
	})
}

// answerLines answers with the lines of ibtracert for all pairs. The text has them unchanged.
func answerLines(c *feature.Call, m *many) error {
	a, w := manyLinesDecl.Answer(m.basis, m), c.Output.File()
	if w == nil {
		return c.Answer(a)
	}
	out := bufio.NewWriter(w)
	for _, i := range m.list.order {
		text, err := m.list.ibtracert(int(i))
		if err != nil {
			row := m.list.row(int(i))
			c.Output.Warn(fmt.Sprintf("%s -> %s: %v", row.From, row.ToName, err))
		}
		_, _ = out.WriteString(text)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return c.VerdictError(a)
}
