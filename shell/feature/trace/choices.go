// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// choiceSet describes all paths of a pair over the choices of switches that route adaptively.
type choiceSet struct {
	Paths   float64      `key:"paths" help:"number of paths by ports; 0 if packets can loop"`
	Reached string       `key:"reached"`
	CanLoop bool         `key:"can_loop"`
	Share   float64      `key:"share_delivered" help:"share of packets that arrive, if all choices are equally likely"`
	Fewest  int32        `key:"fewest_switches"`
	Most    answer.Value `key:"most_switches" kind:"int" help:"none if packets can loop"`
	Text    string       `key:"text"`
	f       *fabric.Fabric
	rows    []choices.Row
}

// choiceRow is a step of the tree of all paths.
type choiceRow struct {
	Depth    int          `key:"depth" help:"number of steps before"`
	What     string       `key:"what" name:"WHERE"`
	By       answer.Value `key:"by" name:"BY" kind:"text"`
	Switches answer.Value `key:"switches" kind:"list"`
	Ports    answer.Value `key:"ports" kind:"list"`
	Table    int          `key:"table" help:"the table of the switches that has the entry"`
	State    answer.Value `key:"state" kind:"text" help:"the state of the entry for the LID"`
	Share    float64      `key:"share" help:"share of packets, if all choices are equally likely"`
	Percent  answer.Value `name:"SHARE" kind:"text" help:"share of packets, if all choices are equally likely"`
	Static   bool         `key:"static" name:"STATIC" help:"a step of the path by the linear tables"`
	Again    bool         `key:"again" help:"its steps are listed above"`
	End      answer.Value `key:"end" kind:"text" help:"how packets end here"`
	lead     answer.Lead
}

var choiceTable = answer.Table[choiceRow]{
	Key: "choices_tree", Title: "choices of adaptive routing", Fields: answer.Fields[choiceRow](),
	Lead: func(r choiceRow) answer.Lead {
		return r.lead
	},
}

// addChoices adds all paths of the pair if the tables contain adaptive routing.
func (p *path) addChoices(s *session.Picture, src fabric.PortIndex, lid uint16) {
	if s.Tables.Adaptive == nil {
		return
	}
	set := choices.NewNet(s.Tables).Of(src, lid, uint8(p.SL.Int()))
	if len(set.Rows) == 0 {
		return
	}
	o := &set.Outcome
	p.Adaptive = answer.None()
	p.Choices = &choiceSet{
		Paths: o.Paths, Reached: o.Endings.Reach().String(), CanLoop: o.Endings&choices.Loops != 0, Share: o.Share,
		Fewest: set.FewestSwitches,
		Text:   set.String(), f: s.Fabric, rows: set.Rows,
	}
	if !p.Choices.CanLoop {
		p.Choices.Most = answer.Int(set.MostSwitches)
	}
	if reach := o.Endings.Reach(); (reach == choices.Sure) != p.Arrives {
		p.Ending, p.Arrives = prose.When(reach == choices.Sure, walk.Delivered.String(), reach.String()),
			reach == choices.Sure
		p.Why = set.String() + "; by the linear tables alone: " + p.Why
	}
}

func (p *path) tree() answer.Rows[choiceRow] {
	if p.Choices == nil {
		return answer.Slice[choiceRow](nil)
	}
	return answer.Lazy(len(p.Choices.rows), p.Choices.row)
}

func (s *choiceSet) row(i int) choiceRow {
	r, f := &s.rows[i], s.f
	row := choiceRow{Depth: r.Depth, Ports: answer.Ints(r.Ports), Table: int(r.Table), Share: r.Share, Static: r.Static,
		Again: r.Again}
	switches := make([]answer.Value, len(r.Switches))
	for i, sw := range r.Switches {
		switches[i] = answer.Node(f, f.Switches[sw])
	}
	row.Switches = answer.List(switches)
	if len(r.Switches) > 0 {
		row.State, row.lead = answer.Text(r.State.String()), feature.ToNode(f, f.Switches[r.Switches[0]])
	}
	what, by := r.Words(f)
	row.What, row.By = what, answer.Optional(by)
	if r.Stop {
		row.End, row.lead = answer.Text(what), feature.ToPort(f, r.At)
	}
	if !s.CanLoop && !r.Again {
		row.Percent = answer.Text(fmt.Sprintf("%.3g %%", r.Share*100))
	}
	return row
}

func (p *path) drawChoices(c *answer.Canvas) {
	if p.Choices == nil {
		return
	}
	c.Line("by every choice of adaptive routing:")
	for i := range p.Choices.rows {
		r := p.Choices.row(i)
		by, share := prose.When(r.By.IsNone(), "", "  "+textOf(r.By)), prose.When(r.Percent.IsNone(), "",
			"  "+textOf(r.Percent))
		c.Line(" %s%s%s%s%s", prose.When(r.Static, "*", " "), strings.Repeat("  ", r.Depth), r.What, by, share)
	}
	c.Line("  %s", p.Choices.Text+"; *: the path by the linear tables")
}
