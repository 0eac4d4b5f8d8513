// SPDX-License-Identifier: Apache-2.0

// Package route chooses routing engines, and computes and stages forwarding tables.
package route

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

const incrementalWord = "incremental"

var yesNo = []string{"yes", "no"}

// Feature provides the commands "engine", "engines", "route" and "unstage".
var Feature = feature.Feature{Name: "route", Keys: []feature.Key{
	{Name: "route", Keys: "r", Help: "compute routes and stage them, without writing"},
	{Name: "engine", Keys: "ctrl+e", Help: "choose the routing engine and its options, step by step (:engine guided)"},
}, Commands: []feature.Command{
	{
		Path: "engine", Group: feature.GroupRoute, Summary: "Choose the routing engines and their options",
		Help: "Engines are tried in order. An engine refuses a subnet that it cannot route. If all engines refuse, " +
			"minhop routes,\nunless no_fallback is in the list. Without words, engine shows the engines and options. " +
			"engine guided asks for both\nstep by step.\nOptions have the names of opensm.conf. An option that is " +
			"missing is set to OpenSM's default.\nengine also reads the flags of the opensm command: engine -R updn " +
			"-a roots -A -l 1. It shows the flags as options,\nand lists flags that do not affect routes. With " +
			"flags, the defaults are those of the opensm command: LMC 0, quality of\nservice off.\nEngines of " +
			"NVIDIA's OpenSM (ar_updn, ar_ftree, ar_minhop, ar_dor, ar_torus, and auto in an opensm.conf) are " +
			"replaced\nby updn, ftree, minhop, dor and torus-2QoS, with simulated groups of ports for adaptive " +
			"routing. Their tables are marked\nunproved until calibrate reproduces the tables on the switches.",
		Args: []lang.Arg{
			{Name: "NAME", Kind: lang.KindEngine, List: true, Optional: true},
			{Name: "FLAG", Kind: lang.KindEngine, Optional: true, Repeat: true},
		},
		Options:  engineOptions(),
		DashArgs: true,
		Examples: []string{"engine updn,minhop lmc=1; route", "engine -R ftree -A; route", "engine"},
		Answers:  []answer.Declared{&engineDecl},
		Run:      engine,
	},
	{
		Path: "engines", Group: feature.GroupRoute, Summary: "List the routing engines",
		Examples: []string{
			"engines",
			"engine updn; engines",
		},
		Answers: []answer.Declared{&enginesDecl},
		Run:     listEngines,
	},
	{
		Path: "route", Group: feature.GroupRoute, Summary: "Compute and stage routes for the what-if, otherwise live",
		Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{incrementalWord}, Optional: true}},
		Help: "route computes the tables of a running OpenSM after the simulated failures and repairs. It continues " +
			"from the tables of\nthe previous route. All changes since then are treated as one change of the subnet. " +
			"After undo, restore all, unstage or\nengine, the next route continues from the base.\nroute incremental " +
			"keeps the tables of the base or of the live subnet. If possible, it changes only the entries of " +
			"broken\npaths. If a full route changes fewer entries, it takes the full route.",
		Options: []lang.Option{
			{Name: "keep", Kind: lang.KindWord, Words: yesNo,
				Summary: "keep routes that are still shortest paths (default: yes, unless a link was added, as " +
					"OpenSM does)"},
			{Name: "fallback", Kind: lang.KindWord, Words: yesNo,
				Summary: "yes: a script continues if an engine refuses its input file and another engine routes",
				Default: "no"},
			{
				Name: "compare", Aliases: []string{"beside"}, Kind: lang.KindWord, Words: yesNo,
				Summary: "with incremental: count the entries that a full route would change", Default: "no",
			},
		},
		Examples: []string{"fail link leaf-01 36; route", "fail link leaf-02 36; route incremental compare=yes"},
		Answers:  []answer.Declared{&routeDecl, &incrementalDecl},
		Run:      route,
	},
	{
		Path: "unstage", Group: feature.GroupRoute, Summary: "Discard the staged tables",
		Examples: []string{
			"engine updn; route; unstage",
			"fail link leaf-01 36; route; unstage; restore all",
		},
		Answers: []answer.Declared{unstageDecl},
		Run:     unstage,
	},
}}

// routed is the result of a full route.
type routed struct {
	Engine   string        `key:"engine" help:"the engine that routed"`
	Took     time.Duration `key:"seconds"`
	Switches int           `key:"switches" help:"switches with computed tables"`
	Entries  int           `key:"entries" help:"entries of forwarding tables"`
	Changed  int           `key:"changed" help:"entries that differ from the tables of the state against"`
	Unread   int           `key:"unread" help:"switches without a comparison, as their tables were not read"`
	Against  answer.Value  `key:"against" kind:"text" help:"the state that the tables are compared with"`
	Kept     bool          `key:"kept" help:"routes still among the shortest were kept"`
	Since    bool          `key:"since_last_route" help:"the route continued from the previous one"`
	Restored bool          `key:"recomputed" help:"all routes were computed again, as a link came up or was added"`
	Assigned int           `key:"lids_assigned" help:"ports with LIDs assigned as by OpenSM"`
	Trees    answer.Value  `key:"multicast" kind:"map" help:"the trees of multicast groups, if groups are known"`
	TreeLoop answer.Value  `key:"tree_loop" kind:"map" help:"the credit loop of multicast with unicast (torus-2QoS)"`

	feature.Proof    `prefix:""`
	feature.Measures `prefix:""`

	// For people.
	Compared  string `name:"compared"`
	How       string `name:"how"`
	Unproved  bool   `name:"unproved"`
	TreesText string `name:"trees"`
	Hint      string `name:"hint"`
	refused   []engines.Refusal
}

var routeDecl = answer.Decl[*routed]{
	Command: "route", Help: "the result of a full route", Action: true,
	Title: "routed by {engine} in {seconds}: {entries|entry} on {switches|switch}{compared}; staged, not written",
	Facts: answer.Fields[*routed](),
	Layout: slices.Concat([]answer.Item[*routed]{
		{
			Table: answer.Show(&feature.Refusals, func(r *routed) answer.Rows[engines.Refusal] {
				return answer.Slice(r.refused)
			}),
		},
		{Line: "[  {how}]"},
		{Line: "[  {lids_assigned|port} got LIDs as OpenSM would assign them]"},
		{Line: "{?shifts_worst}  compute nodes in the ca-order:"},
	}, feature.MeasureLines[*routed](), []answer.Item[*routed]{
		{Line: "[  {trees}]"},
		{Line: "[  hint: {hint}]"},
		{Line: "{?unproved}  {proof}"},
	}),
}

var keepWords = map[string]compute.Keep{"": compute.KeepAsOpenSM, "yes": compute.KeepYes, "no": compute.KeepNo}

func route(c *feature.Call) error {
	if c.Arg(0) == incrementalWord {
		if c.Option("keep", "") != "" {
			return c.Misused("keep= applies only to a full route; an incremental route keeps all possible routes")
		}
		return routeIncremental(c)
	}
	rep, err := c.Session.Route(c.Ctx, keepWords[c.Option("keep", "")])
	if err != nil {
		return err
	}
	st := c.Session.State()
	r := &routed{
		Engine: rep.Engine, Took: rep.Took, Switches: rep.Switches, Entries: rep.Entries, Changed: rep.Changed,
		Unread:  rep.Unread,
		Against: answer.Optional(rep.Against), Kept: rep.Kept, Since: rep.FromPast, Restored: rep.RecomputedAll,
		Assigned: rep.Assigned,
		TreeLoop: treeLoop(rep.TreeLoop), Proof: feature.ProofOf(&st), Measures: feature.MeasuresOf(rep.Measures),
		How: keptRoutesText(&rep, st.Added() != ""), refused: rep.Refusals,
	}
	r.Unproved = r.IsUnproved()
	if rep.TreeUnchecked || rep.TreeLoop != nil && rep.TreeLoop.Clear != nil {
		r.Hint = "'suggest torus FILE clear=yes' looks for a torus_config without such a credit loop"
	}
	if rep.Against != "" {
		r.Compared = fmt.Sprintf(", %s of them differ from %s%s", prose.Thousands(rep.Changed), rep.Against,
			diff.NotCompared(rep.Unread))
	}
	if t := rep.Multicast; t != nil {
		r.Trees, r.TreesText = trees(t)
	}
	b := st.Basis(st.Staged, session.NeedLinks)
	b.Warnings = slices.Concat(b.Warnings, rep.Warnings)
	if err := c.Answer(routeDecl.Answer(b, r)); err != nil {
		return err
	}
	return checkFallback(c, &rep)
}

// keptRoutesText returns a sentence that states which routes the computation kept, and why. The argument added means
// that the what-if has additions that the compared tables do not cover.
func keptRoutesText(rep *compute.Figures, added bool) string {
	from := rep.Against
	switch {
	case rep.RecomputedAll && added:
		return "all routes were computed again, as OpenSM does after an addition"
	case rep.RecomputedAll:
		return "all routes were computed again, as OpenSM does after a link came up"
	case rep.Kept && added && !rep.FromPast:
		return "routes of " + from + " that are still among the shortest were kept; keep=no computes all again, as " +
			"OpenSM does after an addition"
	case rep.Kept:
		from = prose.When(rep.FromPast, "the previous route", from)
		return "routes of " + from + " that are still among the shortest were kept, as OpenSM does if links were " +
			"only lost (keep=no computes all again)"
	}
	return ""
}

// trees returns the figures of the trees of multicast groups, and a line about the trees.
func trees(t *compute.Trees) (facts answer.Value, text string) {
	named := []answer.Named{
		{Name: "groups", Value: answer.Text(t.Groups)}, {Name: "lids", Value: answer.Int(t.LIDs)},
		{Name: "too_few_members", Value: answer.Int(t.Alone)},
	}
	text = fmt.Sprintf("trees for %s from %s", prose.Count(t.LIDs, "multicast LID"), t.Groups)
	if t.Alone > 0 {
		text += fmt.Sprintf(", %d with too few members for a tree", t.Alone)
	}
	if t.Changed >= 0 {
		named = append(named, answer.Named{Name: "changed", Value: answer.Int(t.Changed)})
		text += fmt.Sprintf("; %s changed", prose.Count(t.Changed, "multicast entry"))
	}
	return answer.Map(named), text
}

// treeLoop returns the figures of a credit loop that the multicast tree of torus-2QoS and unicast form together.
func treeLoop(l *torus.TreeLoop) answer.Value {
	if l == nil {
		return answer.None()
	}
	facts := []answer.Named{
		{
			Name: "links", Value: answer.Int(l.Links),
		}, {Name: "root", Value: answer.Text(l.SwitchName(l.MasterTree().Root))},
	}
	if l.Clear != nil { // datelines that avoid the loop
		facts = append(facts, answer.Named{Name: "clear_root", Value: answer.Text(l.SwitchName(l.Root))},
			answer.Named{Name: "datelines_moved", Value: answer.Ints(l.Shift[:])})
	}
	return answer.Map(append(facts, answer.Named{Name: "other_sls", Value: answer.Int(l.OtherSLs)},
		answer.Named{Name: "switch_pairs", Value: answer.Int(l.Pairs)}))
}

// checkFallback returns an error in a script if an engine refused its file and another engine routed. Otherwise the
// script could commit routes that nobody wanted.
func checkFallback(c *feature.Call, rep *compute.Figures) error {
	i := slices.IndexFunc(rep.Refusals, func(r engines.Refusal) bool { return r.File })
	if i < 0 || !c.Output.IsScript() || c.Option("fallback", "no") == "yes" {
		return nil
	}
	return fmt.Errorf("%s refused its input file, and %s routed instead: %s; hint: 'route fallback=yes' "+
		"accepts the other engine, as OpenSM does",
		rep.Refusals[i].Engine, rep.Engine, rep.Refusals[i].Reason)
}

// adapted is the answer of an incremental route.
type adapted struct {
	Engine   string        `key:"engine"`
	Took     time.Duration `key:"seconds"`
	Touched  int           `key:"changed" help:"entries that differ from the previous tables"`
	Switches int           `key:"switches" help:"switches with changed entries"`
	Added    int           `key:"added" help:"entries on switches that the previous tables do not have"`
	Examined int           `key:"examined" help:"entries that were examined one by one"`
	LIDs     int           `key:"lids" help:"LIDs with entries that led to no port"`
	Entries  int           `key:"full_route_entries" help:"entries that a full route computes"`
	Against  string        `key:"against" help:"the state that was adapted"`
	Full     answer.Value  `key:"full_route_changes" kind:"int" help:"entries that a full route would have changed"`
	Lost     int           `key:"without_a_path" help:"unchanged entries without a path"`
	Examples []string      `key:"examples" help:"some of the entries without a path"`
	Changes  []string      `key:"changes" help:"changes of the topology"`
	Loop     answer.Value  `key:"new_credit_loop" kind:"bool" help:"the tables add a credit loop to the previous ones"`
	Repair   answer.Value  `key:"repair" kind:"text" name:"repair" help:"how broken paths were replaced"`
	Why      []string      `key:"why" help:"why repairs with fewer changes were not taken"`
	FullText string        `name:"full route"`
	New      string        `name:"new"`
}

var incrementalDecl = answer.Decl[*adapted]{
	Command: "route", Help: "the result of an incremental route", Action: true,
	Title: "adapted {against} in {seconds}: {changed|entry} on {switches|switch} changed{new}, of " +
		"{full_route_entries} of a full route{full route}; staged, not written",
	Facts: answer.Fields[*adapted](),
	Layout: []answer.Item[*adapted]{
		{Line: "  changed: {changes}", Each: "changes"},
		{Line: "[  {without_a_path|entry} without a path, unchanged:]"},
		{Line: "    {examples}", Each: "examples"},
		{Line: "[  repaired with {repair}]"},
		{Line: "    rejected a repair with fewer changes: {why}", Each: "why"},
	},
}

func routeIncremental(c *feature.Call) error {
	res, err := c.Session.RouteIncremental(c.Ctx, c.Option("compare", "") == "yes")
	if err != nil {
		return err
	}
	rep, did := res.Adaptation, res.Figures
	a := &adapted{
		Engine: incrementalWord, Took: did.Took, Touched: rep.Touched, Switches: rep.Switches, Added: rep.Added,
		Examined: rep.Examined, LIDs: rep.LIDs, Entries: rep.Entries,
		Against: did.Against, Lost: rep.Unreachable, Examples: rep.Examples, Changes: rep.Changes,
		Why: rep.Why,
	}
	if rep.Added > 0 {
		a.New = fmt.Sprintf(" and %d added", rep.Added)
	}
	if rep.Touched > 0 {
		a.Repair = answer.Text(string(rep.Repair))
	}
	if rep.Loop != nil {
		a.Loop = answer.Bool(*rep.Loop)
	}
	if rep.FullChanged >= 0 {
		a.Full = answer.Int(rep.FullChanged)
		a.FullText = fmt.Sprintf("; one by %s would change %d", rep.Engine, rep.FullChanged)
	}
	st := c.Session.State()
	b := st.Basis(st.Staged, session.NeedLinks)
	b.Warnings = slices.Concat(b.Warnings, did.Warnings)
	return c.Answer(incrementalDecl.Answer(b, a))
}

// unstaged is the answer after staged tables were discarded.
type unstaged struct {
	Staged bool `key:"staged"`
}

var unstageDecl = feature.OneLine[unstaged]("unstage", "no tables are staged", "discarded the staged tables")

func unstage(c *feature.Call) error {
	if st := c.Session.State(); st.Staged == nil {
		return errors.New("nothing is staged")
	}
	c.Session.Publish(session.ChangeStaged, (*session.State).Unstage)
	st := c.Session.State()
	return c.Answer(unstageDecl.Answer(st.Basis(st.Live, 0), unstaged{}))
}
