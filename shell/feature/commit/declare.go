// SPDX-License-Identifier: Apache-2.0

package commit

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/apply"
	fabricwrite "example.org/ibconsole/fabric/write"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
)

// SwitchesTitle is the title of the table that lists the switches in the plan.
const SwitchesTitle = "switches that are written to"

// The limits of lists in texts.
const (
	mostNodes  = 10
	mostListed = 20
)

// label is a line of a plan for people. The field text is the label of the line. The contents of the line are in
// [Change.texts], under the key id.
type label struct{ id, text string }

// item returns the line.
func (l label) item() answer.Item[*Change] {
	return answer.Item[*Change]{Line: fmt.Sprintf("{?%s}%-16s {%s}", l.id, l.text, l.id)}
}

// labels returns a label for each id. The text of each label is its id.
func labels(ids ...string) (all []label) {
	for _, id := range ids {
		all = append(all, label{id, id})
	}
	return all
}

const interrupted = "INTERRUPTED"

// The labels of the lines of a plan, in the order of the text. Some groups are followed by a table.
var (
	portLabels = append(labels("port control", "link trains", "own path", "hosts lost", "jobs", "enable again"),
		label{"links down", "LINKS DOWN"})
	writesLabels = append(labels("LIDs", "ports", "LinearFDBTop", "LFT blocks", "SL2VL tables", "MFT blocks"),
		label{"method", "transition"}, label{"drained", interrupted}, label{"groups", interrupted},
		label{"unknown interrupted", "PAIRS UNKNOWN"},
		label{"interrupted", interrupted})
	orderLabels  = labels("in this order", "unreachable")
	keptLabels   = labels("kept")
	unreadLabels = labels("not read")
	othersLabels = labels("changed entries", "CHANGED SINCE")
	loopLabels   = append([]label{{"loops", "credits"}}, labels("CREDIT LOOP")...)
	lostLabels   = labels("service levels", "PAIRS LOST")
	lastLabels   = append([]label{{"unknown lost", "PAIRS UNKNOWN"}},
		labels("connections", "not put back", "master SM", "SM acts")...)
)

// facts returns the facts of a plan: values for programs, and lines for people.
func facts() []answer.Field[*Change] {
	fields := []answer.Field[*Change]{
		answer.FieldOf(answer.KindMap, "plan", "", "counts of what is written", (*Change).totals),
		answer.FieldOf(answer.KindTexts, "order", "", "the kinds of writes, in their order",
			func(x *Change) answer.Value {
				var texts []string
				for _, p := range phases(x.Plan) {
					texts = append(texts, p.String())
				}
				return answer.Texts(texts)
			}),
		answer.FieldOf(answer.KindList, "groups_interrupted", "", "multicast LIDs whose members lose packets",
			func(x *Change) answer.Value { return answer.Ints(x.Plan.Hit.Groups) }),
		answer.IntField("pairs_lost", "", "pairs that lose their path", func(x *Change) int64 { return x.Lost }),
		answer.IntField("pairs_unknown", "", "pairs that may lose their path or packets",
			func(x *Change) int64 { return x.Unknown + x.Plan.Hit.Unknown }),
		answer.FieldOf(answer.KindInt, "connections_to_rebuild", "", "connections whose LIDs, service level or "+
			"alternate path change; none if they were not counted, as in large subnets",
			func(x *Change) answer.Value { return x.rebuild.count }),
		answer.FieldOf(answer.KindMap, "credits", "", "whether the old and new routes have a credit loop, together "+
			"and alone",
			func(x *Change) answer.Value { return x.loops }),
		answer.FieldOf(answer.KindMap, "transition", "", "steps that avoid a credit loop of old and new routes "+
			"together", (*Change).transition),
		answer.FieldOf(answer.KindMap, "service_levels", "", "service levels that the routes need from the subnet "+
			"administration", (*Change).levels),
		textsField("port_controls", "ports that are controlled, with their state before", (*Change).controlTexts),
		textsField("link_trains", "what the links can train to with the enabled widths and speeds",
			(*Change).trainTexts),
		textsField("own_path", "why this console depends on links that go down",
			func(x *Change) []string { return x.OwnPath }),
		textsField("hosts_lost", "hosts that lose connectivity because links go down",
			func(x *Change) []string { return x.Hosts }),
		textsField("links_down", "enabled ports whose links have not come up",
			func(x *Change) []string { return x.LinksDown }),
		answer.OptionalField("jobs_using_links", "", "jobs that use links that go down",
			func(x *Change) string { return x.texts["jobs"] }),
		answer.OptionalField("master", "master", "the active master subnet manager",
			func(x *Change) string { return x.texts["master SM"] }),
		answer.OptionalField("differs_from_opensm", "", "how the tables may differ from those of OpenSM",
			func(x *Change) string { return x.Unlike }),
		answer.IntField("adaptive_switches", "", "switches that route adaptively by groups that are not written",
			func(x *Change) int { return x.Adaptive }),
		answer.FieldOf(answer.KindInt, "lids_not_put_back", "", "LIDs that a rollback leaves", leftOf(
			func(x *Change) int { return x.LIDsLeft })),
		answer.FieldOf(answer.KindInt, "ports_not_put_back", "", "active ports that a rollback leaves", leftOf(
			func(x *Change) int { return x.PortsLeft })),
		answer.FieldOf(answer.KindInt, "others_count", "", "entries that others wrote since the tables were computed",
			ifOthersWrote(func(x *Change) answer.Value { return answer.Int(x.Others.Count) })),
		answer.FieldOf(answer.KindInt, "others_recorded", "", "how many of them the journal has already",
			ifOthersWrote(func(x *Change) answer.Value { return answer.Int(x.Others.Recorded) })),
		answer.FieldOf(answer.KindText, "others_by", "", "who probably wrote them",
			ifOthersWrote(func(x *Change) answer.Value { return answer.Text(x.Others.Who) })),
	}
	fields = append(append(fields, writtenFacts()...), answer.OptionalField("", rebuildLine, "",
		func(x *Change) string { return x.texts[rebuildLine] }))
	for _, l := range slices.Concat(portLabels, writesLabels, orderLabels, keptLabels, unreadLabels, othersLabels,
		loopLabels,
		lostLabels, lastLabels) {
		fields = append(fields, answer.OptionalField("", l.id, "", func(x *Change) string { return x.texts[l.id] }))
	}
	return fields
}

// textsField returns a field with texts, which is absent if there are none.
func textsField(key, help string, of func(*Change) []string) answer.Field[*Change] {
	return answer.FieldOf(answer.KindTexts, key, "", help, func(x *Change) answer.Value {
		if all := of(x); len(all) > 0 {
			return answer.Texts(all)
		}
		return answer.None()
	})
}

// leftOf returns a function for a field that counts things that a rollback does not restore. It returns None for a
// count of 0.
func leftOf(count func(x *Change) int) func(x *Change) answer.Value {
	return func(x *Change) answer.Value {
		if count(x) == 0 {
			return answer.None()
		}
		return answer.Int(count(x))
	}
}

// writtenFacts returns the facts about the writes of a commit.
func writtenFacts() []answer.Field[*Change] {
	return []answer.Field[*Change]{
		answer.BoolField("written", "written", "", func(x *Change) bool { return x.Written != nil }),
		answer.FieldOf(answer.KindDuration, "seconds", "seconds", "", ifWritten(func(x *Change) answer.Value {
			return answer.Duration(x.elapsed())
		})),
		answer.FieldOf(answer.KindMap, "wrote", "", "counts of what was written",
			ifWritten(func(x *Change) answer.Value {
				return counts(x.Written.Written)
			})),
		answer.FieldOf(answer.KindMap, "read_back", "", "counts of what was read back",
			ifWritten(func(x *Change) answer.Value {
				return counts(x.Written.ReadBack)
			})),
		answer.FieldOf(answer.KindText, "", "writes", "", ifWritten(func(x *Change) answer.Value {
			return answer.Text(x.Written.Written.String())
		})),
		answer.FieldOf(answer.KindText, "", "read back", "", ifWritten(func(x *Change) answer.Value {
			return answer.Text(x.Written.ReadBack.String())
		})),
		answer.FieldOf(answer.KindInt, "history", "history", "the number of the history entry",
			func(x *Change) answer.Value {
				if x.Journal == 0 {
					return answer.None()
				}
				return answer.Int(x.Journal)
			}),
		answer.OptionalField("undo", "undo", "how to undo it", func(x *Change) string { return x.undo }),
		answer.OptionalField("note", "note", "the commit that is rolled back or finished",
			func(x *Change) string { return x.note }),
		answer.OptionalField("next", "next", "how to write a plan that was only shown",
			func(x *Change) string { return x.next }),
		answer.BoolField("", "nothing", "", (*Change).Empty),
	}
}

// ifWritten returns a function for a field about the writes. It calls the function value, or returns None if nothing
// was written.
func ifWritten(value func(x *Change) answer.Value) func(x *Change) answer.Value {
	return func(x *Change) answer.Value {
		if x.Written == nil {
			return answer.None()
		}
		return value(x)
	}
}

// ifOthersWrote returns a function for a field about changes by others. It calls the function value, or returns None if
// nobody else changed the tables.
func ifOthersWrote(value func(x *Change) answer.Value) func(x *Change) answer.Value {
	return func(x *Change) answer.Value {
		if x.Others == nil {
			return answer.None()
		}
		return value(x)
	}
}

func counts(c apply.Counts) answer.Value {
	return answer.Map([]answer.Named{
		{Name: "lids", Value: answer.Int(c.LIDs)}, {Name: "linear_fdb_tops", Value: answer.Int(c.Tops)},
		{Name: "blocks", Value: answer.Int(c.Blocks)},
		{Name: "sl2vl_tables", Value: answer.Int(c.SL2VLs)}, {Name: "mft_blocks", Value: answer.Int(c.MFTs)},
		{Name: "port_states", Value: answer.Int(c.States)}, {Name: "port_controls", Value: answer.Int(c.Controls)},
	})
}

var (
	switchTable = answer.Table[switchRow]{
		Key: "switches", Title: SwitchesTitle, Fields: answer.Fields[switchRow](), Lead: func(r switchRow) answer.Lead {
			return r.lead
		},
	}
	phaseTable = answer.Table[phaseRow]{
		Key: "steps", Title: "writes in their order", Fields: answer.Fields[phaseRow](),
	}
	drainedTable = answer.Table[drainedRow]{
		Key: "drained", Title: "ports without a path during the writes", Fields: answer.Fields[drainedRow](),
		Row: "  {port}", MaxRows: mostNodes,
	}
	interruptedTable = answer.Table[pairRow]{
		Key: "interrupted", Title: "pairs that are interrupted", Help: "examples of pairs that lose packets",
		Fields: answer.Fields[pairRow](), Row: "  {src} -> {dst}",
	}
	lostTable = answer.Table[pairRow]{
		Key: "lost_pairs", Title: "pairs that lose their path", Help: "examples", Fields: answer.Fields[pairRow](),
		Row: "  {src} -> {dst}",
	}
	ringTable = answer.Table[hop]{
		Key: "ring", Title: "a credit loop", Help: "the links of a shortest credit loop that old and new routes form " +
			"together",
		Fields: answer.Fields[hop](),
		Row:    "  {from} -> {to}", MaxRows: mostNodes, Lead: func(h hop) answer.Lead { return h.lead },
	}
	conflictTable = answer.Table[fabricwrite.Conflict]{
		Key: "others", Title: "written by others", Help: "what others wrote since the tables were computed",
		MaxRows: mostNodes, Row: "  {text}",
		Fields: []answer.Field[fabricwrite.Conflict]{
			conflict("node", "NODE", func(c *fabricwrite.Conflict) string { return c.Node }),
			conflict("guid", "GUID", func(c *fabricwrite.Conflict) string { return c.GUID }),
			conflict("what", "DATA", func(c *fabricwrite.Conflict) string { return c.What }),
			conflict("was", "WAS", func(c *fabricwrite.Conflict) string { return c.Was }),
			conflict("is", "IS", func(c *fabricwrite.Conflict) string { return c.Is }),
			conflict("would", "WOULD BECOME", func(c *fabricwrite.Conflict) string { return c.Would }),
			answer.BoolField("written", "", "the commit that found it had written the entry",
				func(c fabricwrite.Conflict) bool {
					return c.Written
				}),
			{Name: "text", Kind: answer.KindText, Value: func(c fabricwrite.Conflict) answer.Value {
				return answer.Text(c.String())
			}},
		},
	}
	differTable = answer.Table[fault]{
		Key: "differ", Title: "read back differently", Help: "what reads differently from what was written",
		Fields: answer.Fields[fault](), Row: "  differs: {fault}", MaxRows: mostListed,
	}
	failedTable = answer.Table[fault]{Key: "failed", Title: "failed", Help: "writes and reads that failed",
		Fields: answer.Fields[fault](), Row: "  failed: {fault}", MaxRows: mostListed}
)

func conflict(key, name string, of func(c *fabricwrite.Conflict) string) answer.Field[fabricwrite.Conflict] {
	return answer.Field[fabricwrite.Conflict]{Key: key, Name: name, Kind: answer.KindText,
		Value: func(c fabricwrite.Conflict) answer.Value {
			return answer.Text(of(&c))
		}}
}

// fault is a write that failed, or whose value read back differs.
type fault struct {
	Text string `key:"fault" name:"FAULT"`
}

// nodeRow is a node that the plan does not write to.
type nodeRow struct {
	Node answer.Value `key:"node" name:"NODE" kind:"place"`
	lead answer.Lead
}

// nodes returns a table of nodes that a plan does not write to.
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

// planLayout returns the layout of a plan. If the argument shown is false, text omits the plan; only programs get it.
func planLayout(shown bool) (items []answer.Item[*Change]) {
	lines := func(labels []label) {
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
	lines(portLabels)
	lines(writesLabels)
	table(answer.Show(&interruptedTable, func(x *Change) answer.Rows[pairRow] {
		return pairsOf(x.live, x.Plan.Hit.Examples, x.Plan.Hit.Pairs())
	}))
	table(answer.Show(&drainedTable, (*Change).drainedRows))
	lines(orderLabels)
	items = append(items, answer.Item[*Change]{When: answer.Hidden[*Change],
		Table: answer.Show(&phaseTable, (*Change).phaseRows)})
	table(nodes("unreachable", "unreachable nodes", func(p *plan.Plan) []plan.Node { return p.Unreachable }))
	lines(keptLabels)
	table(nodes("kept", "nodes without staged tables", func(p *plan.Plan) []plan.Node { return p.Kept }))
	lines(unreadLabels)
	table(nodes("not_read", "nodes that were not read", func(p *plan.Plan) []plan.Node { return p.Unread }))
	lines(othersLabels)
	table(answer.Show(&conflictTable, (*Change).others))
	lines(loopLabels)
	table(answer.Show(&ringTable, (*Change).ring))
	lines(lostLabels)
	table(answer.Show(&lostTable, func(x *Change) answer.Rows[pairRow] {
		if x.Lost == 0 {
			return pairsOf(x.live, nil, 0)
		}
		return pairsOf(x.live, x.Examples, x.Lost)
	}))
	lines(lastLabels)
	return items
}

// faults returns the function that computes the rows of a table of faults.
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
		Layout: append(planLayout(true), answer.Item[*Change]{Line: "{?note}{note}"},
			answer.Item[*Change]{Line: "{?next}{next}"}),
	}
	written = &answer.Decl[*Change]{
		Command: command, Help: "what was planned and written", Facts: all, Action: true,
		Title: "written in {seconds}: {writes}; read back: {read back}",
		Layout: append([]answer.Item[*Change]{
			{Line: "{?note}{note}"},
			{Line: "{?undo}[history {history|#}; ]{undo}"},
			{Line: "{?" + rebuildLine + "}{" + rebuildLine + "}"},
			{Line: "{?links down}LINKS DOWN       {links down}"},
			{Table: answer.Show(&differTable, faults(func(r *apply.Report) []apply.Difference { return r.Differ },
				apply.Difference.String))},
			{Table: answer.Show(&failedTable, faults(func(r *apply.Report) []apply.Failure { return r.Failed },
				apply.Failure.Error))},
		}, planLayout(false)...),
	}
	return planned, written
}

var (
	planDecl, doneDecl         = declare("commit")
	backPlanDecl, backDoneDecl = declare("rollback")
)
