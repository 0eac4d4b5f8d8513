// SPDX-License-Identifier: Apache-2.0

// Package failures simulates failures, repairs, additions and moves, and lists them with the nodes that are
// unreachable.
package failures

import (
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// Feature provides the commands that change the simulation. It also provides "whatif" and "show failures", which give
// the same answer.
var Feature = feature.Feature{Name: "failures", Keys: []feature.Key{
	{Name: "pane-5", Keys: "5", Pane: "What-if", Nouns: "failures", Help: "simulated failures and their effects"},
	{
		Name: "fail", Keys: "f", Help: "simulate the failure of the selected link, switch or host, or of all " +
			"marked rows",
	},
	{Name: "undo", Keys: "u", Help: "undo the selected failure, repair or addition, or else the last one"},
	{
		Name: "fail-guided", Keys: "F", Help: "simulate a failure, step by step: a cable, a switch, a chassis, " +
			"or links at random",
	},
}, Commands: append([]feature.Command{
	{
		Path:    "whatif",
		Group:   feature.GroupSimulate,
		Summary: "List the simulated failures, repairs and additions",
		Help:    "The command undo takes the numbers in this list.",
		Examples: []string{
			"whatif",
			"fail random 3 seed=1; whatif",
		},
		Answers: []answer.Declared{whatIfDecl},
		Run:     func(c *feature.Call) error { return run(c, whatIfDecl) },
	},
	{
		Path:    "show failures",
		Summary: "List the simulated failures, repairs and additions",
		Help:    "The command undo takes the numbers in this list.",
		Examples: []string{
			"fail switch spine-03; show failures",
			"fail link leaf-01 36; show failures",
		},
		Answers: []answer.Declared{showDecl},
		Run:     func(c *feature.Call) error { return run(c, showDecl) },
	},
}, simulating()...)}

// simulation is the answer of whatif: the simulated changes and their effects.
type simulation struct {
	Failures    int               `key:"failures" help:"failures, repairs, additions and moves"`
	Unreachable answer.Value      `key:"unreachable" kind:"int" help:"nodes that failures separated from the subnet"`
	File        answer.Value      `key:"topology_file" kind:"text" help:"the file that the topology is from"`
	Source      answer.Value      `name:"source" kind:"text"`
	Base        answer.Value      `key:"base_as_of" kind:"time" help:"when the base was read"`
	Clock       answer.Value      `name:"clock" kind:"text"`
	None        answer.Value      `name:"none" kind:"text"`
	Over        *feature.Failover `prefix:""` // nil where no switch routes adaptively
	st          *session.State
}

// change is a simulated failure, repair, addition or move.
type change struct {
	Number int    `key:"number" name:"NUMBER" help:"the one that undo takes"`
	State  string `key:"state" name:"STATE" help:"failed, repaired, added or moved"`
	What   string `key:"what" name:"KIND" help:"link, switch, node or director"`
	Name   string `key:"name" name:"NAME"`
	Links  int    `key:"links" name:"LINKS" help:"links that it concerns"`
	Repair bool   `key:"repair"`
	Added  bool   `key:"added"`
	Moved  bool   `key:"moved"`
	lead   answer.Lead
}

// lost is an unreachable node.
type lost struct {
	Node   answer.Value `key:"node" name:"NODE" kind:"place"`
	Type   string       `key:"type" name:"TYPE"`
	LID    uint16       `key:"lid" name:"LID" kind:"lid"`
	Switch answer.Value `key:"switch" name:"SWITCH" kind:"place" help:"the port of the switch that it was attached to"`
	lead   answer.Lead
}

var (
	changeTable = answer.Table[change]{
		Key: "changes", Title: "changes", Stream: true, Fields: answer.Fields[change](),
		Row: "  {number|#}\t{state}\t{what} {name} ({links|link})", Lead: func(c change) answer.Lead { return c.lead },
	}
	lostTable = answer.Table[lost]{
		Key: "unreachable_nodes", Title: "unreachable nodes", Stream: true, Fields: answer.Fields[lost](),
		Lead: func(l lost) answer.Lead {
			return l.lead
		},
	}
)

var (
	whatIfDecl = declare("whatif")
	showDecl   = declare("show failures")
)

func declare(command string) *answer.Decl[simulation] {
	layout := []answer.Item[simulation]{
		{Line: "[{none}]"},
		{
			Table: answer.Show(&changeTable, func(s simulation) answer.Rows[change] {
				return answer.Slice(changes(s.st))
			}),
		},
	}
	layout = append(layout, feature.FailoverItems("", func(s simulation) *feature.Failover { return s.Over })...)
	return &answer.Decl[simulation]{
		Command: command, Help: "what was simulated", Title: "failures and changes of {of}",
		Facts: answer.Fields[simulation](),
		Layout: append(layout,
			answer.Item[simulation]{Line: "{?topology_file}the topology is that of {topology_file}"},
			answer.Item[simulation]{Line: "{?unreachable}{unreachable|node} unreachable; base: {source} as of {clock}"},
			answer.Item[simulation]{
				When: answer.Hidden[simulation], Table: answer.Show(&lostTable, func(s simulation) answer.Rows[lost] {
					return answer.Slice(unreachable(s.st))
				}),
			},
		),
	}
}

func run(c *feature.Call, decl *answer.Decl[simulation]) error {
	st := c.Session.State()
	s := simulation{st: &st}
	if st.WhatIf == nil {
		s.None = answer.Text("nothing has failed in the what-if; hint: run 'fail link SWITCH PORT'")
		return c.Answer(decl.Answer(st.Basis(st.Live, session.NeedLinks), s))
	}
	s.Failures, s.Unreachable = len(st.Failures), answer.Int(len(st.WhatIf.Unreachable()))
	s.File = answer.Optional(st.TopologyFile())
	s.Source, s.Base, s.Clock = answer.Text(st.Source.String()), answer.Time(st.Base.When),
		answer.Text(when.Clock(st.Base.When))
	over, err := c.Failover(&st)
	if err != nil {
		return err
	}
	s.Over = over
	return c.Answer(decl.Answer(st.Basis(st.WhatIf, session.NeedLinks), s))
}

func changes(st *session.State) []change {
	var all []change
	if st.WhatIf == nil {
		return nil
	}
	for i := range st.Failures {
		all = append(all, describe(st, &st.Failures[i]))
	}
	return all
}

func describe(st *session.State, f *failures.Failure) change {
	c := change{f.Number, f.Verb(), f.What, f.Name, len(f.Links), f.Repair, f.Added, f.Moved, answer.Lead{}}
	if len(f.Links) > 0 && int(f.Links[0].A) < len(st.Base.Fabric.Ports) {
		c.lead = feature.ToPort(st.Base.Fabric, f.Links[0].A)
	}
	return c
}

func unreachable(st *session.State) []lost {
	var all []lost
	if st.WhatIf == nil {
		return nil
	}
	f := st.Whole()
	for _, n := range st.WhatIf.Unreachable() {
		node := &f.Nodes[n]
		l := lost{answer.Node(f, n), feature.TypeWord(node.Type), feature.NodeLID(f, node), answer.None(),
			feature.ToNode(f, n)}
		for p := range node.Ports() {
			if !node.IsSwitch() && f.Ports[p].Linked() {
				l.Switch = feature.Attachment(f, p)
				break
			}
		}
		all = append(all, l)
	}
	return all
}
