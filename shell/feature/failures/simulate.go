// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// result is the answer of a command that changes the simulation: the changes and their effects.
type result struct {
	Unreachable answer.Value `key:"unreachable" kind:"int" help:"nodes that failures separated from the subnet"`
	Hosts       answer.Value `key:"unreachable_hosts" kind:"int" help:"those of them that are no switches"`
	Sits        answer.Value `key:"session_port" kind:"place" help:"the port of the session, where it is unreachable"`
	Seen        answer.Value `key:"seen_from" kind:"place" help:"the port from which the reachable part is seen"`
	Stale       bool         `key:"staged_stale" help:"the staged tables were made for another topology"`
	First       string       `name:"first"`
	changes     []changed
}

// changed is a simulated failure, repair, addition or move that the command made or undid.
type changed struct {
	change `prefix:""`
	Line   answer.Value `name:"line" kind:"text"` // for people, None for the first
}

var changedTable = answer.Table[changed]{
	Key: "changes", Title: "changes", Fields: answer.Fields[changed](), Row: "{?line}{line}",
}

// simulates returns the declaration of the answer of a command that changes the simulation.
func simulates(command string) *answer.Decl[*result] {
	return &answer.Decl[*result]{
		Command: command, Help: "what changed in the simulation, and which nodes are unreachable now", Title: "{first}",
		Action: true,
		Facts:  answer.Fields[*result](),
		Layout: []answer.Item[*result]{
			{
				Table: answer.Show(&changedTable, func(r *result) answer.Rows[changed] {
					return answer.Slice(r.changes)
				}),
			},
			{
				Line: "{?session_port}the session's port {session_port} is unreachable; the other part of the " +
					"subnet is seen from {seen_from}",
			},
			{Line: "[unreachable: {unreachable|node}][, {unreachable_hosts|host}]"},
			{Line: "{?staged_stale}the staged tables are stale now: route again"},
		},
	}
}

const addHelp = "An addition is simulated; nothing is written. After an addition, route computes the tables that " +
	"OpenSM would compute:\nLIDs stay, new nodes get the lowest free LIDs, and all routes are computed again. route " +
	"keep=yes keeps routes that are\nstill shortest paths. route incremental keeps all routes that still reach " +
	"their destination. OpenSM orders equal paths\nby GUID; guid=GUID sets the GUID of the new node."

var (
	placeArg   = lang.Arg{Name: "NODE/PORT", Kind: lang.KindPlace}
	guidOption = lang.Option{
		Name: "guid", Kind: lang.KindGUID, Summary: "node GUID of the new node (default: the GUID after the " +
			"highest GUID of the same node type)",
	}
	portsOption = lang.Option{
		Name: "ports", Kind: lang.KindInt, Summary: "how many ports it has; as many as the largest switch that " +
			"is there",
	}
)

// additions returns the subcommands of add.
func additions() []feature.Command {
	return []feature.Command{
		simulate(feature.Command{
			Path: "add link", Summary: "Add a cable between two ports", Help: addHelp,
			Args: []lang.Arg{placeArg, placeArg},
			Examples: []string{
				"fail link leaf-01 36; fail link leaf-02 36; add link leaf-01/36 leaf-02/36",
				"fail link leaf-01 35; add switch spine-19 leaf-01/35; fail link leaf-02 35; " +
					"add link leaf-02/35 spine-19/2",
			},
		}, func(c *feature.Call) (*result, error) { return add(c, "added", failures.AddLink(c.Arg(0), c.Arg(1))) }),
		simulate(feature.Command{
			Path: "add switch", Summary: "Add a switch, its ports from 1 up cabled to these ports", Help: addHelp,
			Args: []lang.Arg{
				{Name: "NAME"}, {Name: "NODE/PORT", Kind: lang.KindPlace, Optional: true, Repeat: true},
			},
			Options: []lang.Option{guidOption, portsOption},
			Examples: []string{
				"fail link leaf-01 36; add switch spine-19 leaf-01/36; route",
				"add switch spine-19 ports=36",
			},
		}, addNode(mad.NodeSwitch)),
		simulate(feature.Command{
			Path: "add node", Summary: "Add an adapter, its ports from 1 up cabled to these ports", Help: addHelp,
			Args:    []lang.Arg{{Name: "NAME"}, {Name: "NODE/PORT", Kind: lang.KindPlace, Repeat: true}},
			Options: []lang.Option{guidOption},
			Examples: []string{
				`fail link leaf-01 36; add node "node-0649 HCA-1" leaf-01/36; route`,
				`fail node node-0002; add node "node-0649 HCA-1" leaf-01/2; route keep=yes`,
			},
		}, addNode(mad.NodeCA)),
	}
}

// simulating returns the commands that change the simulation.
func simulating() []feature.Command {
	fails := append(things("fail", "Fail", "", fail),
		simulate(feature.Command{
			Path: "fail director", Summary: "Fail all switches of one system",
			Help: "The switches of a system have the same system image GUID as SYSTEM, or names that begin " +
				"with PREFIX.",
			Args: []lang.Arg{{Name: "SYSTEM|PREFIX*", Kind: lang.KindSwitch}},
			Examples: []string{
				"fail director 'spine-0*'",
				"fail director 'spine-1*'; route",
			},
		}, fail("director")),
		simulate(feature.Command{
			Path: "fail random", Summary: "Fail N links between switches, chosen by a seed",
			Args: []lang.Arg{{Name: "N", Kind: lang.KindInt}},
			Options: []lang.Option{{Name: "seed", Kind: lang.KindInt, Summary: "the same seed chooses the same " +
				"links (default 1)"}},
			Examples: []string{
				"fail random 3",
				"fail random 3 seed=7",
			},
		}, fail("random")),
	)
	restores := append(things("restore", "Restore", "fail switch spine-03; ", restore), simulate(feature.Command{
		Path: "restore all", Summary: "Restore the base: undo all failures, repairs and additions",
		Examples: []string{
			"fail switch spine-03; restore all",
			"fail random 3; route; restore all",
		},
	}, restoreAll))
	moves := []feature.Command{simulate(feature.Command{
		Path: "move node", Summary: "Move an adapter, or another end of a cable, to a port",
		Help: "The adapter keeps its LID.",
		Args: []lang.Arg{{Name: "NODE", Kind: lang.KindPlace}, placeArg},
		Examples: []string{
			`fail link leaf-02 36; move node "node-0001 HCA-1" leaf-02/36; route`,
			"fail link leaf-02 36; move node node-0001 leaf-02/36; whatif",
		},
	}, func(c *feature.Call) (*result, error) { return add(c, "moved", failures.Move(c.Arg(0), c.Arg(1))) })}
	undo := simulate(feature.Command{
		Path: "undo", Group: feature.GroupSimulate, Summary: "Undo one failure, repair or addition",
		Help: "Without N, undo undoes the last change. show failures lists the changes with their numbers.",
		Args: []lang.Arg{{Name: "N", Kind: lang.KindInt, Optional: true}},
		Examples: []string{
			"fail link leaf-01 36; undo",
			"fail link leaf-01 36; fail link leaf-02 36; undo 1",
		},
	}, undo)
	return slices.Concat(
		[]feature.Command{{Path: "fail", Group: feature.GroupSimulate, Summary: "Simulate a failure"}}, fails,
		[]feature.Command{
			feature.Guided("fail", "fail", func(c *feature.Call) *guided.Flow { return guided.Fail(c.Session) }),
			{
				Path: "restore", Group: feature.GroupSimulate, Summary: "Undo a simulated failure, or repair a " +
					"part of it",
			},
		}, restores,
		[]feature.Command{
			undo, {
				Path: "add", Group: feature.GroupSimulate, Summary: "Add a cable, a switch or an adapter to the " +
					"simulation", Help: addHelp,
			},
		}, additions(),
		[]feature.Command{
			{Path: "move", Group: feature.GroupSimulate, Summary: "Plug a cable into another port in the simulation"},
		}, moves,
	)
}

// things returns three commands with the same verb: for a link, a switch and a node. The argument before is a command
// that their examples run first.
func things(verb, title, before string, run func(what string) changing) []feature.Command {
	thing := func(what, summary, example string, args ...lang.Arg) feature.Command {
		return simulate(feature.Command{
			Path: verb + " " + what, Summary: title + " " + summary, Args: args,
			Examples: []string{
				before + verb + " " + what + " " + example, before + verb + " " + what + " " + example + "; route",
			},
		}, run(what))
	}
	return []feature.Command{
		thing("link", "the link of a port", "spine-03 1", lang.Arg{Name: "NODE", Kind: lang.KindPlace},
			lang.Arg{Name: "PORT", Kind: lang.KindPort, Optional: true}),
		thing("switch", "a switch with all its links", "spine-03", lang.Arg{Name: "SWITCH", Kind: lang.KindSwitch}),
		thing("node", "a node with all its links", "spine-03", lang.Arg{Name: "NODE", Kind: lang.KindNode}),
	}
}

// changing changes the simulation.
type changing func(*feature.Call) (*result, error)

// simulate returns the command c with a Run function that makes a change and answers with its effects.
func simulate(c feature.Command, run changing) feature.Command {
	decl := simulates(c.Path)
	c.Answers = []answer.Declared{decl}
	c.Run = func(c *feature.Call) error {
		r, err := run(c)
		if err != nil {
			return c.LinkError(err)
		}
		st := c.Session.State()
		p := st.Live
		if st.WhatIf != nil {
			p = st.WhatIf
			r.follow(&st)
		}
		r.Stale = st.Stale
		return c.Answer(decl.Answer(st.Basis(p, session.NeedLinks), r))
	}
	return c
}

// follow adds the effects of the changes: the number of unreachable nodes, and the new port of the subnet manager.
func (r *result) follow(st *session.State) {
	nodes, hosts := st.WhatIf.Unreachable(), 0
	for _, n := range nodes {
		hosts += prose.When(st.Whole().Nodes[n].IsSwitch(), 0, 1)
	}
	r.Unreachable, r.Hosts = answer.Int(len(nodes)), answer.Int(hosts)
	if at, was := st.WhatIf.Fabric.SMPort, st.Whole(); at != was.SMPort {
		r.Sits, r.Seen = answer.Port(was, was.SMPort), answer.Port(st.WhatIf.Fabric, at)
	}
}

// resultOf returns a result with several changes. The argument word describes each of them, for example "failed".
func resultOf(word string, all ...failures.Failure) *result {
	r := &result{}
	for i := range all {
		r.add(word, &all[i])
	}
	return r
}

// add adds a change. The argument word describes what the command did with the failure, for example "failed".
func (r *result) add(word string, f *failures.Failure) {
	c := changed{
		change: change{f.Number, word, f.What, f.Name, len(f.Links), f.Repair, f.Added, f.Moved, answer.Lead{}},
	}
	came := prose.When(word == f.Verb(), " in the what-if", "")
	line := fmt.Sprintf("%s%s: %s%s %s", word, came, prose.When(f.Moved && came == "", "move of ", ""), f.What, f.Name)
	if f.What != "link" && !f.Moved {
		line += " with " + prose.Count(len(f.Links), "link")
	}
	if len(r.changes) == 0 {
		r.First = line
	} else {
		c.Line = answer.Text(line)
	}
	r.changes = append(r.changes, c)
}

func fail(what string) changing {
	return func(c *feature.Call) (*result, error) {
		failed, err := c.Session.Fail(c.Ctx, failures.Named(what, c.Args, uint64(c.Int("seed", 1))))
		return resultOf("failed", failed...), err
	}
}

var errNoFailure = errors.New("nothing has failed in the what-if")

func restoreAll(c *feature.Call) (*result, error) {
	if st := c.Session.State(); st.Base == nil {
		return nil, errNoFailure
	}
	gone, err := c.Session.Restore(c.Ctx, nil, failures.Failure{})
	r := &result{First: "restored: the live subnet"}
	for i := range gone {
		r.add(prose.When(gone[i].Added || gone[i].Repair, "undone", "restored"), &gone[i])
	}
	return r, err
}

// restore returns a function that undoes the simulated failures of things of a kind. If a thing failed only as part of
// a larger failure, the function repairs that part.
func restore(what string) changing {
	return func(c *feature.Call) (*result, error) {
		st := c.Session.State()
		if st.Base == nil {
			return nil, errNoFailure
		}
		match, repair, err := failures.ToRestore(st.Whole(), what, c.Args)
		if err != nil {
			return nil, err
		}
		gone, err := c.Session.Restore(c.Ctx, match, repair)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s %w", fabric.Escape(c.Arg(0)), err)
		case gone[0].Repair:
			return resultOf("repaired", gone...), nil
		}
		return resultOf("restored", gone...), nil
	}
}

func undo(c *feature.Call) (*result, error) {
	number := 0
	if len(c.Args) > 0 {
		if number, _ = strconv.Atoi(c.Arg(0)); number < 1 {
			return nil, c.Misused("unknown failure number %s; hint: 'show failures' lists the numbers", c.Arg(0))
		}
	}
	gone, err := c.Session.Undo(c.Ctx, number)
	return resultOf("undone", gone), err
}

func add(c *feature.Call, word string, find failures.Finder) (*result, error) {
	added, err := c.Session.Add(c.Ctx, find)
	return resultOf(word, added...), err
}

// addNode adds a node of a type.
func addNode(kind mad.NodeType) changing {
	return func(c *feature.Call) (*result, error) {
		n := failures.NewNode{Type: kind, Name: c.Arg(0), At: c.Args[1:], Ports: c.Int("ports", 0)}
		if n.Name == "" {
			return nil, c.Misused("a node without a name")
		}
		if given := c.Option("guid", ""); given != "" {
			var err error
			if n.GUID, err = strconv.ParseUint(given, 0, 64); err != nil || n.GUID == 0 {
				return nil, c.Misused("%q is not a GUID", given)
			}
		}
		return add(c, "added", failures.Add(n))
	}
}
