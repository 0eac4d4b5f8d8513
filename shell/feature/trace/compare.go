// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// comparedPath is another path, compared hop by hop with the requested path.
type comparedPath struct {
	Of     string `key:"of" help:"the state of the path"`
	Ending string `key:"ending"`
	Why    string `key:"why"`
	Same   bool   `key:"same" help:"the hops are the same"`

	hops []comparedHop
}

// comparedHop is a row of the table: a hop of one of the paths, or of both.
type comparedHop struct {
	Node      answer.Value `key:"node" name:"NODE" kind:"place" help:"a node of the requested path"`
	How       answer.Value `key:"how" name:"HOW" kind:"text" help:"same, port or switch (that differs), none"`
	Other     answer.Value `key:"other" name:"OTHER" kind:"place" help:"a node of the other path"`
	OtherIn   answer.Value `key:"other_in" name:"IN" kind:"int"`
	OtherOut  answer.Value `key:"other_out" name:"OUT" kind:"int"`
	OtherOnly bool         `key:"other_only" help:"a hop of the other path only"`
	lead      answer.Lead
}

func comparedTable(key, title string) answer.Table[comparedHop] {
	return answer.Table[comparedHop]{Key: key, Title: title, Fields: answer.Fields[comparedHop](),
		Lead: func(h comparedHop) answer.Lead {
			return h.lead
		}}
}

var (
	backTable    = comparedTable("back_hops", "back")
	againstTable = comparedTable("against_hops", "against")
)

// compareWith compares the requested path (argument of) with another path (argument with), hop by hop. The argument
// hops contains the hops of the other path in the order of the comparison.
func compareWith(f *fabric.Fabric, of *walk.Path, g *fabric.Fabric, with *walk.Path, hops []walk.Hop,
	state string) *comparedPath {
	o := &comparedPath{Of: state, Ending: with.Verdict.String(), Why: with.Explain(g), Same: true}
	for _, x := range walk.Compare(f, of.Hops, g, hops) {
		h := comparedHop{How: answer.Optional(x.How.String()), OtherOnly: x.A < 0}
		o.Same = o.Same && x.How == walk.SameHop
		if x.A >= 0 {
			h.Node, h.lead = answer.Node(f, of.Hops[x.A].Node), feature.ToNode(f, of.Hops[x.A].Node)
		}
		if x.B >= 0 {
			h.Other = answer.Node(g, hops[x.B].Node)
			h.OtherIn, h.OtherOut = answer.PortNumber(g, hops[x.B].In), answer.PortNumber(g, hops[x.B].Out)
			if x.A < 0 {
				h.lead = feature.ToNode(g, hops[x.B].Node)
			}
		}
		o.hops = append(o.hops, h)
	}
	return o
}

// addBack adds the path in the opposite direction. Its hops are in reverse order, so that they are next to the hops of
// the path there.
func (p *path) addBack(s *session.Picture, of *walk.Path) {
	if back, ok := of.Back(s.Tables); ok {
		p.Back = compareWith(s.Fabric, of, s.Fabric, &back, back.Backwards(), p.basis.Title)
		for i := range p.Back.hops {
			h := &p.Back.hops[i]
			h.OtherIn, h.OtherOut = h.OtherOut, h.OtherIn
		}
	}
}

// addAgainst adds the path between the same ports in another state.
func (p *path) addAgainst(st *session.State, s *session.Picture, of *walk.Path, in *session.Picture) error {
	that, err := of.In(s.Fabric, in.Tables)
	if err != nil {
		return fmt.Errorf("%s: %w", st.Title(in), err)
	}
	p.Against = compareWith(s.Fabric, of, in.Fabric, &that, that.Hops, st.Title(in))
	return nil
}

func (o *comparedPath) rows() answer.Rows[comparedHop] {
	if o == nil {
		return answer.Slice[comparedHop](nil)
	}
	return answer.Slice(o.hops)
}

func (o *comparedPath) draw(c *answer.Canvas, label string) {
	if o == nil {
		return
	}
	c.Line("  %s: %s%s", label, o.Why, prose.When(o.Same, ", with the same hops", ""))
	if o.Same {
		return
	}
	width := 0
	for i := range o.hops {
		width = max(width, len([]rune(textOf(o.hops[i].Node))))
	}
	for i := range o.hops {
		h := &o.hops[i]
		c.Line("    %s",
			strings.TrimRight(fmt.Sprintf("%-*s  %-6s  %s  %s", width, textOf(h.Node), h.How, textOf(h.Other),
				portsText(h.OtherIn, h.OtherOut)), " "))
	}
}

// lidPath is a row: the path to one of the LIDs of a port.
type lidPath struct {
	LID    uint16   `key:"lid" name:"LID" kind:"lid"`
	Ending string   `key:"ending" name:"ENDS"`
	Why    string   `key:"why" name:"CAUSE"`
	Shared int      `key:"shared" name:"SHARED" help:"links shared with the requested path"`
	All    int      `key:"hops" name:"LINKS" help:"links of the path"`
	Path   []string `key:"path" name:"PATH" help:"the switches of the path"`
}

var lidTable = answer.Table[lidPath]{Key: "lids", Title: "paths to all LIDs", Fields: answer.Fields[lidPath]()}

func (p *path) addLIDs(s *session.Picture, of *walk.Path) {
	if of.Dst == fabric.None {
		return
	}
	for _, x := range walk.TraceAll(s.Tables, of.Src, of.Dst) {
		p.lids = append(p.lids, lidPath{x.DstLID, x.Verdict.String(), x.Explain(s.Fabric), x.Common(of), x.Links(),
			prose.Words(passedOf(s.Fabric, &x), passedSwitch.String)})
	}
}

func (p *path) drawLIDs(c *answer.Canvas) {
	different := func(l lidPath) bool { return l.Shared < l.All }
	if n := len(p.lids); n > 1 && !slices.ContainsFunc(p.lids, different) {
		c.Line("  all %d LIDs have the same path", n)
		return
	}
	for _, l := range p.lids {
		c.Line("  LID %-5d  %d of %s shared  %s: %s", l.LID, l.Shared, prose.Count(l.All, "hop"), l.Ending,
			strings.Join(l.Path, " "))
	}
}
