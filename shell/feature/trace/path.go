// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/pairs"
	"example.org/ibconsole/shell/session/partitions"
	"example.org/ibconsole/shell/session/passage"
	"example.org/ibconsole/shell/session/source"
)

// path is the path between two end ports.
type path struct {
	From     answer.Value `key:"from" name:"from" kind:"place"`
	To       answer.Value `key:"to" kind:"place" help:"none if no port has the LID"`
	ToName   string       `name:"destination"`
	LID      uint16       `key:"lid" kind:"lid"`
	SL       answer.Value `key:"sl" kind:"int" help:"service level of the path, null if not read"`
	SLs      answer.Value `key:"sls" kind:"text" help:"all levels that a record may have, as 0 to 2"`
	Means    answer.Value `key:"sl_means" kind:"text" help:"what torus-2QoS encodes in the service level"`
	Level    string       `name:"level"`
	result   `prefix:""`
	SameAs   answer.Value  `key:"same_as" name:"same path in" kind:"text" help:"the state with the same live path"`
	Parts    answer.Value  `key:"parts" name:"difference" kind:"text" help:"where the live path differs from the state"`
	Adaptive answer.Value  `key:"adaptive" name:"adaptive" kind:"text" help:"switches may choose among several paths"`
	Choices  *choiceSet    `prefix:"choices_"` // nil if no switch is known to route adaptively
	Back     *comparedPath `prefix:"back_"`    // nil unless requested
	Against  *comparedPath `prefix:"against_"`

	hops   []hop
	lids   []lidPath
	unread []string
	basis  answer.Basis

	walked *walk.Path     // nil for a path through live switches
	tables *fabric.Tables // the tables of walked
}

// Walked returns the path and its tables. Both are nil for a path that was traced through live switches.
func (p *path) Walked() (*walk.Path, *fabric.Tables) { return p.walked, p.tables }

// hop is a row of the table: a node on the path.
type hop struct {
	Node      answer.Value `key:"node" name:"NODE" kind:"place"`
	LID       uint16       `key:"lid" name:"LID" kind:"lid"`
	In        answer.Value `key:"in" name:"IN" kind:"int" help:"the port through which packets enter"`
	Out       answer.Value `key:"out" name:"OUT" kind:"int" help:"the port through which packets leave"`
	Link      answer.Value `key:"link" name:"LINK" kind:"text" help:"width and speed of the port out"`
	InLink    answer.Value `key:"in_link" kind:"text" help:"width and speed of the port in"`
	VL        answer.Value `key:"vl" name:"VL" kind:"int" help:"the VL on which packets leave"`
	InVL      answer.Value `key:"in_vl" kind:"int" help:"the VL on which packets enter"`
	Dropped   bool         `key:"dropped" help:"the service level is mapped to VL 15"`
	Turn      answer.Value `key:"turn" kind:"text" help:"turn up or down between ranks"`
	Backwards bool         `key:"against_ranks" help:"the path goes up after it went down"`
	InLoop    bool         `key:"in_credit_loop" help:"the hop is part of the credit loop that was found"`
	Torus     *torusHop    `prefix:"torus_"` // nil unless torus-2QoS routed
	Errors    answer.Value `key:"errors" kind:"text" help:"nonzero error counters of the port out; null if not read"`
	InErrors  answer.Value `key:"in_errors" kind:"text" help:"nonzero error counters of the port in; null if not read"`
	InLabel   answer.Value `key:"in_label" kind:"text" help:"printed at the port in"`
	OutLabel  answer.Value `key:"out_label" kind:"text" help:"printed at the port out"`
	Notes     answer.Value `name:"NOTES" kind:"text"`

	name string
	lead answer.Lead
}

// torusHop describes a hop of a path at a switch of a torus.
type torusHop struct {
	At        answer.Value `key:"at" kind:"list" help:"coordinates of the switch"`
	Along     answer.Value `key:"along" kind:"text" help:"direction in which the packet leaves"`
	Crosses   answer.Value `key:"crosses" kind:"text" help:"dimension whose dateline the packet crosses"`
	Unmarked  bool         `key:"unmarked" help:"the service level has no bit for that dateline"`
	TurnsFrom answer.Value `key:"turns_from" kind:"text" help:"dimension along which the packet came, if it turns"`
	Illegal   bool         `key:"illegal_turn" help:"the turn violates the order of dimensions"`
	of        *torus.Hop
}

func torusHopOf(h *torus.Hop) *torusHop {
	if h == nil {
		return nil
	}
	return &torusHop{
		answer.Ints(h.At[:]), answer.Optional(h.Along), answer.Optional(h.Crosses), h.Unmarked,
		answer.Optional(h.TurnsFrom), h.Illegal, h,
	}
}

var hopTable = answer.Table[hop]{Key: "hops", Title: "hops", Fields: answer.Fields[hop](),
	Lead: func(h hop) answer.Lead {
		return h.lead
	}}

// declarePath declares the answer of a command that traces a path.
func declarePath(command string) *answer.Decl[*path] {
	return &answer.Decl[*path]{
		Command: command, Help: "the path between two end ports", Title: "{from} -> {destination}, LID {lid|#}[, " +
			"{level}], of {of}", Facts: answer.Fields[*path](),
		Layout: []answer.Item[*path]{
			{Table: answer.Show(&hopTable, func(p *path) answer.Rows[hop] { return answer.Slice(p.hops) })},
			{Table: answer.Show(&unreadTable, func(p *path) answer.Rows[unreadCounters] {
				return answer.Lazy(len(p.unread), func(i int) unreadCounters { return unreadCounters{p.unread[i]} })
			})},
			{Table: answer.Show(&choiceTable, (*path).tree)},
			{Table: answer.Show(&backTable, func(p *path) answer.Rows[comparedHop] { return p.Back.rows() })},
			{Table: answer.Show(&againstTable, func(p *path) answer.Rows[comparedHop] { return p.Against.rows() })},
			{Table: answer.Show(&lidTable, func(p *path) answer.Rows[lidPath] { return answer.Slice(p.lids) })},
		},
		Verdict: (*path).verdict, Fails: answer.Always,
		Draw: func(c *answer.Canvas, _ answer.Basis, p *path) { p.draw(c) },
	}
}

// unreadCounters is a row of the table: a port whose counters could not be read. The result of the trace does not
// depend on these counters.
type unreadCounters struct {
	Text string `key:"text" name:"PORT" help:"the port, and why"`
}

var unreadTable = answer.Table[unreadCounters]{Key: "counters_not_read", Title: "counters that were not read",
	Fields: answer.Fields[unreadCounters]()}

// verdict returns Found if packets do not arrive.
func (p *path) verdict() (answer.Verdict, string) {
	v := verdict.Of(!p.Arrives && !p.isUnknown(), p.isUnknown())
	if v == answer.OK {
		return v, ""
	}
	return v, fmt.Sprintf("%s -> %s: %s", p.From, p.ToName, p.Why)
}

// result is how a path ends.
type result struct {
	Ending  string `key:"ending" help:"delivered, dead end, loop, misdelivered, unknown, or adaptive result"`
	Arrives bool   `key:"arrives"`
	Why     string `key:"why" name:"result"`
}

func resultOf(f *fabric.Fabric, of *walk.Path) result {
	return result{of.Verdict.String(), of.Verdict.Arrives(), of.Explain(f)}
}

// isUnknown reports whether it is unknown if packets arrive, because a table was not read or a switch did not respond.
func (r *result) isUnknown() bool {
	return r.Ending == walk.Unknown.String() || r.Ending == livetrace.Silent.String()
}

// outcome returns the outcome for the counts of pairs.
func (r *result) outcome() reach.Outcome {
	switch {
	case r.Arrives:
		return reach.Arrives
	case r.isUnknown():
		return reach.Unknown
	}
	return reach.Lost
}

// notGranted is the ending of a path that would arrive, but for which the subnet manager grants no path record.
const notGranted = "not granted"

// grant sets the ending of a path that arrives but has no path record. The argument why is the reason. If the argument
// why is nil, the path has a record and grant does nothing.
func (r *result) grant(why error) {
	if why != nil && r.Arrives {
		*r = result{notGranted, false, why.Error() + "; the switches would forward its packets"}
	}
}

// pathOf returns the answer of a path through the tables of a fabric.
func pathOf(f *fabric.Fabric, of *walk.Path) *path {
	p := &path{
		From: answer.Port(f, of.Src), To: answer.Port(f, of.Dst), ToName: destinationOf(f, of), LID: of.DstLID,
		result: resultOf(f, of),
	}
	for _, h := range of.Hops {
		p.hops = append(p.hops, hop{
			Node: answer.Node(f, h.Node), LID: h.LID, In: answer.PortNumber(f, h.In), Out: answer.PortNumber(f, h.Out),
			InLabel: answer.PortLabel(f, h.In), OutLabel: answer.PortLabel(f, h.Out),
			Link: linkText(f, h.Out), InLink: linkText(f, h.In),
			name: f.NodeName(h.Node), lead: feature.ToNode(f, h.Node),
		})
	}
	return p
}

// destinationOf returns the name of the destination of a path.
func destinationOf(f *fabric.Fabric, of *walk.Path) string {
	if of.Dst != fabric.None {
		return f.PortName(of.Dst)
	}
	return feature.DestinationName(f, of.DstLID)
}

// linkText returns the width and speed of a link, such as "4xHDR". It returns None if there is no port or the port has
// no link.
func linkText(f *fabric.Fabric, port fabric.PortIndex) answer.Value {
	if port == fabric.None || !f.Ports[port].Linked() {
		return answer.None()
	}
	return answer.Optional(f.Ports[port].Width.String() + f.Ports[port].Speed.String())
}

// setBasis sets the basis of a path through the tables of a state. If the path is unknown, its unread part is the table
// that the path needed next.
func (p *path) setBasis(st *session.State, s *session.Picture, of *walk.Path) {
	p.basis = st.Basis(s, 0)
	if of.Verdict == walk.Unknown {
		place, _ := answer.Node(s.Fabric, of.Hops[len(of.Hops)-1].Node).Place()
		p.basis.Unread.Note("forwarding table", "", 1, place)
	}
}

// tracePair traces a pair through the tables of a state.
func tracePair(c *feature.Call, st *session.State, s *session.Picture, g *partitions.Grants,
	pair pairs.Pair) (*walk.Path,
	*path) {
	of := walk.Between(s.Tables, pair.Src, pair.Dst, pair.LID)
	packets := passage.Follow(s, g, &of, c.Session.Analysis())
	p := pathOf(s.Fabric, &of)
	p.walked, p.tables = &of, s.Tables
	p.setBasis(st, s, &of)
	p.Adaptive = adaptive(st)
	p.addPassage(s.Tables, packets)
	p.addChoices(s, pair.Src, pair.LID)
	p.grant(packets.Why)
	return &of, p
}

// adaptiveText is a note on every path through real switches, because standard management packets do not show whether a
// switch routes adaptively.
const adaptiveText = "there may be more paths: whether the switches route adaptively was not read"

func adaptive(st *session.State) answer.Value {
	if st.Source.Kind != source.Umad {
		return answer.None()
	}
	return answer.Text(adaptiveText)
}

// addPassage adds the properties of the path that are known: the service level, and the VLs and turns at the hops.
func (p *path) addPassage(t *fabric.Tables, by *passage.Passage) {
	p.Means = answer.Optional(by.Means)
	switch {
	case !by.Known():
		p.SL, p.Level = answer.NotRead(), "SL unknown"
	case t.SLs != nil || t.SL2VL != nil || by.SL != 0:
		p.SL, p.SLs = feature.SLs(by.Grant)
		p.Level = "SL " + by.SLs.String()
	}
	if by.Known() && p.Level != "" && by.SLs.N > 1 {
		p.Level += fmt.Sprintf(", VLs of SL %d", by.SL)
	}
	if by.Means != "" {
		p.Level = strings.TrimPrefix(p.Level+" ("+by.Means+")", " ")
	}
	for i := range by.Hops {
		h, x := &p.hops[i], &by.Hops[i]
		h.Torus, h.Turn, h.Backwards, h.InLoop = torusHopOf(x.Torus), answer.Optional(x.Turn), x.Backwards, x.InLoop
		if t.SL2VL != nil && x.Out != walk.NoVL {
			h.VL, h.Dropped = answer.Int(x.Out), x.Out == fabric.DropVL
			if x.In != walk.NoVL {
				h.InVL = answer.Int(x.In)
			}
		}
		h.Notes = answer.Optional(strings.TrimLeft(h.torusText()+h.turnText(), " "))
	}
}

// turnText returns the notes on a hop as text, such as "  turns down".
func (h *hop) turnText() (text string) {
	for _, x := range []struct {
		is   bool
		word string
	}{{!h.Turn.IsNone(), h.Turn.String()}, {h.Backwards, "against the ranks"}, {h.Dropped, "dropped: VL 15"},
		{h.InLoop, "in a credit loop"}} {
		if x.is {
			text += prose.When(text == "", "  ", ", ") + x.word
		}
	}
	return text
}

// torusText returns the notes on a hop in a torus as text, such as "  at 3,1,0 +y, turns from x to y".
func (h *hop) torusText() string {
	if h.Torus == nil {
		return ""
	}
	of := h.Torus.of
	text := fmt.Sprintf("  at %v", of.At)
	if of.Along != "" {
		text += " " + of.Along
	}
	if what := of.String(); what != "" {
		text += ", " + what
	}
	return text
}

// errorsText returns the errors of a port as text, such as "  out p3: SymbolErrors 5".
func errorsText(direction string, port, errors answer.Value) string {
	if errors.Kind() != answer.KindText || port.IsNone() {
		return ""
	}
	return fmt.Sprintf("  %s p%v: %v", direction, port, errors)
}

// portsText returns two ports as text, such as "p1 -> p9". If one port is None, the text has only the other port.
func portsText(in, out answer.Value) string {
	var ports []string
	for _, p := range []answer.Value{in, out} {
		if !p.IsNone() {
			ports = append(ports, fmt.Sprintf("p%v", p))
		}
	}
	return strings.Join(ports, " -> ")
}

// textOf returns the text of a value, or "" for None.
func textOf(v answer.Value) string {
	if v.Kind() == answer.KindNone {
		return ""
	}
	return v.String()
}

// lidText returns a LID, "-" for 0.
func lidText(lid uint16) string { return answer.LID(lid).String() }

// draw draws the path as text, with a line for each hop.
func (p *path) draw(c *answer.Canvas) {
	width, ports := 0, 10
	for i := range p.hops {
		h := &p.hops[i]
		width = max(width, len([]rune(h.name)))
		ports = max(ports, len([]rune(portsText(h.In, h.Out))))
	}
	before := ""
	for i := range p.hops {
		h := &p.hops[i]
		link, came := textOf(h.Link), textOf(h.InLink)
		next := link
		if came != "" && before != "" && came != before {
			link = strings.TrimSpace(fmt.Sprintf("(in %s) %s", came, link))
		}
		before = next
		vl := ""
		if !h.VL.IsNone() {
			vl = fmt.Sprintf("  VL %v", h.VL)
		}
		c.Line("  %-*s  LID %-5s  %-*s  %s%s%s%s%s%s", width, h.name, lidText(h.LID), ports,
			portsText(h.In, h.Out), link, vl, h.torusText(), h.turnText(),
			errorsText("in", h.In, h.InErrors), errorsText("out", h.Out, h.Errors))
	}
	c.Line("  %s", p.Why)
	if !p.SameAs.IsNone() {
		c.Line("  the same path as in %v", p.SameAs)
	}
	shown, more := prose.Cut(p.unread, 3)
	for _, port := range shown {
		c.Line("  not read: %s", port)
	}
	for _, line := range []string{more, textOf(p.Parts), textOf(p.Adaptive)} {
		if line != "" {
			c.Line("  %s", line)
		}
	}
	p.drawChoices(c)
	p.Back.draw(c, "reverse path")
	if p.Against != nil {
		p.Against.draw(c, p.Against.Of)
	}
	p.drawLIDs(c)
}
