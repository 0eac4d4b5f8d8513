// SPDX-License-Identifier: Apache-2.0

package commit

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	fabricwrite "example.org/ibconsole/fabric/write"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
)

// SwitchesTitle is the title of the table of the switches that are written to.
const SwitchesTitle = "switches that are written to"

// The most that people read of lists.
const (
	mostNodes  = 10
	mostListed = 20
)

// label is a line of a plan for people: a label and what [Change.said] has by the id.
type label struct{ id, text string }

// item returns the line.
func (l label) item() answer.Item[*Change] {
	return answer.Item[*Change]{Line: fmt.Sprintf("{?%s}%-16s {%s}", l.id, l.text, l.id)}
}

// same returns the label with its text for an id.
func same(id string) label { return label{id, id} }

// The labels, in the order of the text. A table stands below some of them.
var (
	writesLabels = []label{
		same("LIDs"), same("ports"), same("LinearFDBTop"), same("LFT blocks"), same("SL2VL tables"), same("MFT blocks"),
		same("GROUPS HIT"),
		{"unknown hit", "PAIRS UNKNOWN"}, same("PAIRS HIT"),
	}
	orderLabels  = []label{same("in this order"), same("unreachable")}
	othersLabels = []label{same("changed entries"), same("CHANGED SINCE")}
	loopLabels   = []label{{"loops", "credits"}, same("CREDIT LOOP")}
	lostLabels   = []label{same("service levels"), same("PAIRS LOST")}
	lastLabels   = []label{{"unknown lost", "PAIRS UNKNOWN"}, same("beside")}
)

// facts returns the facts of a plan: those for programs, and the lines.
func facts() []answer.Field[*Change] {
	fields := []answer.Field[*Change]{
		{Key: "plan", Kind: answer.KindMap, Help: "counts of what is written", Value: (*Change).totals},
		{Key: "order", Kind: answer.KindTexts, Help: "the kinds of writes, in the order in which they are done",
			Value: func(x *Change) answer.Value {
				return answer.Texts(phases(x.Plan))
			}},
		{Key: "groups_hit", Kind: answer.KindList, Help: "multicast LIDs whose members lose packets",
			Value: func(x *Change) answer.Value {
				return answer.Ints(x.Plan.Hit.Groups)
			}},
		{Key: "pairs_cut_off", Kind: answer.KindInt, Help: "pairs that lose their path",
			Value: func(x *Change) answer.Value {
				return answer.Int(x.CutOff)
			}},
		{Key: "pairs_unknown", Kind: answer.KindInt, Help: "pairs of which it is unknown whether they are lost or hit",
			Value: func(x *Change) answer.Value {
				return answer.Int(x.Unknown + x.Plan.Hit.Unknown)
			}},
		{Key: "credits", Kind: answer.KindMap, Help: "whether old and new routes together, the old and the new ones " +
			"have a credit loop", Value: func(x *Change) answer.Value {
			return x.loops
		}},
		{
			Key: "service_levels", Kind: answer.KindMap, Help: "those that the routing needs from the subnet " +
				"administration", Value: (*Change).levels,
		},
		{Key: "master", Name: "master", Kind: answer.KindText, Help: "the master subnet manager that is active",
			Value: func(x *Change) answer.Value {
				return answer.Optional(x.said["beside"])
			}},
		{Key: "unlike_opensm", Kind: answer.KindText, Help: "in which way the tables are not those of OpenSM",
			Value: func(x *Change) answer.Value {
				return answer.Optional(x.Unlike)
			}},
		{Key: "adaptive_switches", Kind: answer.KindInt, Help: "switches that route adaptively by groups that are " +
			"not written", Value: func(x *Change) answer.Value {
			return answer.Int(x.Adaptive)
		}},
		{Key: "others_count", Kind: answer.KindInt, Help: "entries that others wrote since the staged tables were made",
			Value: other(func(x *Change) answer.Value { return answer.Int(x.Others.Count) })},
		{
			Key: "others_told", Kind: answer.KindInt, Help: "how many of them the journal has",
			Value: other(func(x *Change) answer.Value { return answer.Int(x.Others.Told) }),
		},
		{
			Key: "others_by", Kind: answer.KindText, Help: "who probably wrote them",
			Value: other(func(x *Change) answer.Value { return answer.Text(x.Others.Who) }),
		},
	}
	fields = append(fields, writtenFacts()...)
	for _, labels := range [][]label{writesLabels, orderLabels, {same("kept"), same("not read")}, othersLabels,
		loopLabels, lostLabels, lastLabels} {
		for _, l := range labels {
			fields = append(fields, answer.Field[*Change]{Name: l.id, Kind: answer.KindText,
				Value: func(x *Change) answer.Value {
					return answer.Optional(x.said[l.id])
				}})
		}
	}
	return fields
}

// writtenFacts returns the facts of a commit that has written.
func writtenFacts() []answer.Field[*Change] {
	return []answer.Field[*Change]{
		{Key: "written", Name: "written", Kind: answer.KindBool, Value: func(x *Change) answer.Value {
			return answer.Bool(x.Written != nil)
		}},
		{
			Key: "seconds", Name: "seconds", Kind: answer.KindDuration, Value: done(func(x *Change) answer.Value {
				return answer.Duration(x.elapsed())
			}),
		},
		{
			Key: "wrote", Kind: answer.KindMap, Help: "counts of what was written",
			Value: done(func(x *Change) answer.Value {
				return counts(x.Written.Written)
			}),
		},
		{
			Key: "read_back", Kind: answer.KindMap, Help: "counts of what was read back",
			Value: done(func(x *Change) answer.Value { return counts(x.Written.ReadBack) }),
		},
		{
			Name: "writes", Kind: answer.KindText, Value: done(func(x *Change) answer.Value {
				return answer.Text(x.Written.Written.String())
			}),
		},
		{
			Name: "read back", Kind: answer.KindText, Value: done(func(x *Change) answer.Value {
				return answer.Text(x.Written.ReadBack.String())
			}),
		},
		{Key: "history", Name: "history", Kind: answer.KindInt, Help: "the number of the entry of the history",
			Value: func(x *Change) answer.Value {
				if x.Journal == 0 {
					return answer.None()
				}
				return answer.Int(x.Journal)
			}},
		{Key: "undo", Name: "undo", Kind: answer.KindText, Help: "how it is taken back",
			Value: func(x *Change) answer.Value {
				return answer.Optional(x.undo)
			}},
		{Key: "note", Name: "note", Kind: answer.KindText, Help: "the commit that is taken back or ended",
			Value: func(x *Change) answer.Value {
				return answer.Optional(x.note)
			}},
		{Name: "nothing", Kind: answer.KindBool, Value: func(x *Change) answer.Value { return answer.Bool(x.Empty()) }},
	}
}

// done returns the value of what was written, None where nothing was.
func done(value func(x *Change) answer.Value) func(x *Change) answer.Value {
	return func(x *Change) answer.Value {
		if x.Written == nil {
			return answer.None()
		}
		return value(x)
	}
}

// other returns the value of what others wrote, None where they wrote nothing.
func other(value func(x *Change) answer.Value) func(x *Change) answer.Value {
	return func(x *Change) answer.Value {
		if x.Others == nil {
			return answer.None()
		}
		return value(x)
	}
}

func counts(c apply.Counts) answer.Value {
	return answer.Map([]answer.Named{
		{Name: "lids", Value: answer.Int(c.LIDs)}, {Name: "tops", Value: answer.Int(c.Tops)},
		{Name: "blocks", Value: answer.Int(c.Blocks)},
		{Name: "sl2vl_tables", Value: answer.Int(c.SL2VLs)}, {Name: "mft_blocks", Value: answer.Int(c.MFTs)},
		{Name: "port_states", Value: answer.Int(c.States)},
	})
}

var (
	switchTable = answer.Table[switchRow]{
		Key: "switches", Title: SwitchesTitle, Fields: answer.Fields[switchRow](), Lead: func(r switchRow) answer.Lead {
			return r.lead
		},
	}
	hitTable = answer.Table[pairRow]{
		Key: "hit", Title: "pairs that are hit", Help: "examples of pairs that lose packets",
		Fields: answer.Fields[pairRow](), Row: "  {src} -> {dst}",
	}
	lostTable = answer.Table[pairRow]{
		Key: "lost_pairs", Title: "pairs that lose their path", Help: "examples", Fields: answer.Fields[pairRow](),
		Row: "  {src} -> {dst}",
	}
	ringTable = answer.Table[hop]{
		Key: "ring", Title: "a credit loop", Help: "the links of a shortest credit loop of old and new routes together",
		Fields: answer.Fields[hop](),
		Row:    "  {from} -> {to}", MaxRows: mostNodes, Lead: func(h hop) answer.Lead { return h.lead },
	}
	conflictTable = answer.Table[fabricwrite.Conflict]{
		Key: "others", Title: "written by others", Help: "what others wrote since the staged tables were made",
		MaxRows: mostNodes, Row: "  {text}",
		Fields: []answer.Field[fabricwrite.Conflict]{
			conflict("node", "NODE", func(c *fabricwrite.Conflict) string { return c.Node }),
			conflict("guid", "GUID", func(c *fabricwrite.Conflict) string { return c.GUID }),
			conflict("what", "WHAT", func(c *fabricwrite.Conflict) string { return c.What }),
			conflict("was", "WAS", func(c *fabricwrite.Conflict) string { return c.Was }),
			conflict("is", "IS", func(c *fabricwrite.Conflict) string { return c.Is }),
			conflict("would", "WOULD BECOME", func(c *fabricwrite.Conflict) string { return c.Would }),
			{Key: "written", Kind: answer.KindBool, Help: "the commit that found it had written it",
				Value: func(c fabricwrite.Conflict) answer.Value {
					return answer.Bool(c.Written)
				}},
			{Name: "text", Kind: answer.KindText, Value: func(c fabricwrite.Conflict) answer.Value {
				return answer.Text(c.String())
			}},
		},
	}
	differTable = answer.Table[fault]{
		Key: "differ", Title: "read otherwise", Help: "what reads otherwise than it was written",
		Fields: answer.Fields[fault](), Row: "  differs: {fault}", MaxRows: mostListed,
	}
	failedTable = answer.Table[fault]{Key: "failed", Title: "failed", Help: "writes and readings that failed",
		Fields: answer.Fields[fault](), Row: "  failed: {fault}", MaxRows: mostListed}
)

func conflict(key, name string, of func(c *fabricwrite.Conflict) string) answer.Field[fabricwrite.Conflict] {
	return answer.Field[fabricwrite.Conflict]{Key: key, Name: name, Kind: answer.KindText,
		Value: func(c fabricwrite.Conflict) answer.Value {
			return answer.Text(of(&c))
		}}
}

// fault is something that was not written as it should be.
type fault struct {
	Text string `key:"fault" name:"FAULT"`
}

// nodeRow is a node that is not written.
type nodeRow struct {
	Node answer.Value `key:"node" name:"NODE" kind:"place"`
	lead answer.Lead
}

// nodes returns a table of nodes that a plan leaves as they are.
func nodes(key, title string, of func(*plan.Plan) []plan.Node) answer.Listed[*Change] {
	table := answer.Table[nodeRow]{Key: key, Title: title, Fields: answer.Fields[nodeRow](), Row: "  {node}",
		MaxRows: mostNodes, Lead: func(r nodeRow) answer.Lead {
			return r.lead
		}}
	return answer.Show(&table, func(x *Change) answer.Rows[nodeRow] {
		list := of(x.Plan)
		return answer.Lazy(len(list), func(i int) nodeRow {
			if n := x.live.NodeByGUID(uint64(list[i].GUID)); n != fabric.None {
				return nodeRow{answer.Node(x.live, n), feature.ToNode(x.live, n)}
			}
			return nodeRow{answer.At(answer.Place{Name: list[i].Name, GUID: uint64(list[i].GUID), Port: -1}),
				answer.Lead{}}
		})
	})
}

// planLayout is a plan for people. One that is not shown is for programs alone.
func planLayout(shown bool) (items []answer.Item[*Change]) {
	lines := func(labels ...label) {
		for _, l := range labels {
			if shown {
				items = append(items, l.item())
			}
		}
	}
	table := func(t answer.Listed[*Change]) {
		item := answer.Item[*Change]{Table: t}
		if !shown {
			item.When = answer.Hidden[*Change]
		}
		items = append(items, item)
	}
	items = append(items, answer.Item[*Change]{When: answer.Hidden[*Change],
		Table: answer.Show(&switchTable, func(x *Change) answer.Rows[switchRow] {
			return answer.Lazy(len(x.switches), func(i int) switchRow {
				s := &x.switches[i]
				node := x.live.Switches[s.Switch]
				return switchRow{answer.Node(x.live, node), s.Blocks, s.Entries, feature.ToNode(x.live, node)}
			})
		})})
	if shown {
		items = append(items, answer.Item[*Change]{Line: "{?nothing}nothing to write"})
	}
	lines(writesLabels...)
	table(answer.Show(&hitTable, func(x *Change) answer.Rows[pairRow] { return pairsOf(x.live, x.Plan.Hit.Examples) }))
	lines(orderLabels...)
	table(nodes("unreachable", "unreachable nodes", func(p *plan.Plan) []plan.Node { return p.Unreachable }))
	lines(same("kept"))
	table(nodes("kept", "nodes without staged tables", func(p *plan.Plan) []plan.Node { return p.Kept }))
	lines(same("not read"))
	table(nodes("not_read", "nodes that were not read", func(p *plan.Plan) []plan.Node { return p.Unread }))
	lines(othersLabels...)
	table(answer.Show(&conflictTable, (*Change).others))
	lines(loopLabels...)
	table(answer.Show(&ringTable, (*Change).ring))
	lines(lostLabels...)
	table(answer.Show(&lostTable, func(x *Change) answer.Rows[pairRow] {
		if x.CutOff == 0 {
			return pairsOf(x.live, nil)
		}
		return pairsOf(x.live, x.Examples)
	}))
	lines(lastLabels...)
	return items
}

// faults returns the rows of a table of faults.
func faults[F any](of func(*apply.Report) []F, text func(F) string) func(*Change) answer.Rows[fault] {
	return func(x *Change) answer.Rows[fault] {
		if x.Written == nil {
			return answer.Slice[fault](nil)
		}
		var rows []fault
		for _, f := range of(x.Written) {
			rows = append(rows, fault{text(f)})
		}
		return answer.Slice(rows)
	}
}

func declare(command string) (planned, written *answer.Decl[*Change]) {
	all := facts()
	planned = &answer.Decl[*Change]{
		Command: command, Help: "what would be written", Facts: all,
		Layout: append(planLayout(true), answer.Item[*Change]{Line: "{?note}{note}"}),
	}
	written = &answer.Decl[*Change]{
		Command: command, Help: "what was planned and written", Facts: all, Action: true,
		Title: "written in {seconds}: {writes}; read back: {read back}",
		Layout: append([]answer.Item[*Change]{
			{Line: "{?note}{note}"},
			{Line: "{?history}history {history}; {undo}"},
			{
				Table: answer.Show(&differTable, faults(func(r *apply.Report) []apply.Difference {
					return r.Differ
				}, apply.Difference.String)),
			},
			{
				Table: answer.Show(&failedTable, faults(func(r *apply.Report) []apply.Failure {
					return r.Failed
				}, apply.Failure.Error)),
			},
		}, planLayout(false)...),
	}
	return planned, written
}

var (
	planDecl, doneDecl         = declare("commit")
	backPlanDecl, backDoneDecl = declare("rollback")
)
