// SPDX-License-Identifier: Apache-2.0

// Package route chooses routing engines and computes forwarding tables, which are staged.
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

// Feature is the commands engine, engines, route and unstage.
var Feature = feature.Feature{Name: "route", Keys: []feature.Key{
	{Name: "route", Keys: "r", Help: "compute routes for it; they are staged, not written"},
	{Name: "engine", Keys: "E", Help: "choose the routing engine and its options; asks step by step"},
}, Commands: []feature.Command{
	{
		Path: "engine", Group: feature.GroupRoute, Summary: "Choose the routing engines and their options",
		Help: "Engines are tried in order; options have OpenSM's names. Without words it shows them. What is not " +
			"named goes back to OpenSM's default.\n" +
			"Where all engines refuse, minhop routes, unless no_fallback is among them. engine guided asks step by " +
			"step for an engine and its options.\n" +
			"It takes OpenSM's own flags, too: engine -R updn -a roots -A -l 1. They are read as OpenSM reads them, " +
			"and shown as options; then the LMC\n" +
			"is 0 and quality of service off where nothing says otherwise. Flags that mean nothing for routes are " +
			"named.\n" +
			"Engines of NVIDIA's OpenSM (ar_updn, ar_ftree, ar_minhop, ar_dor, ar_torus; in an opensm.conf auto, " +
			"too) are taken for those whose\n" +
			"tables they have by their names, unproved until calibrate agrees; route gives such tables groups of " +
			"ports, on paper.",
		Args: []lang.Arg{
			{Name: "NAME", Kind: lang.KindEngine, List: true, Optional: true},
			{Name: "FLAG", Kind: lang.KindEngine, Optional: true, Repeat: true},
		},
		Options:  engineOptions(),
		DashArgs: true,
		Examples: []string{"engine updn,minhop lmc=1; route"},
		Answers:  []answer.Declared{&engineDecl},
		Run:      engine,
	},
	{
		Path: "engines", Group: feature.GroupRoute, Summary: "List the routing engines",
		Examples: []string{"engines"},
		Answers:  []answer.Declared{&enginesDecl},
		Run:      listEngines,
	},
	{
		Path: "route", Group: feature.GroupRoute, Summary: "Compute routes for the what-if, else live, and stage them",
		Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{incrementalWord}, Optional: true}},
		Help: "It goes on from the route before, as an OpenSM does that lives through the failures and repairs on " +
			"paper: what failed since the\n" +
			"route before failed at once. undo, restore all, unstage and engine end that: the next route starts from " +
			"the base.\n" +
			"incremental adapts the tables of the base, or the live ones, to what has changed, and touches no more " +
			"entries than that takes.",
		Options: []lang.Option{
			{Name: "keep", Kind: lang.KindWord, Words: yesNo,
				Summary: "keep routes that are still among the shortest; by default as OpenSM: where links were " +
					"only lost"},
			{Name: "fallback", Kind: lang.KindWord, Words: yesNo,
				Summary: "yes: a script goes on where an engine does not take a file of its options and the next one " +
					"routes; no"},
			{
				Name: "beside", Kind: lang.KindWord, Words: yesNo, Summary: "incremental: count how many entries a " +
					"full route would change; no",
			},
		},
		Examples: []string{"fail link leaf-01 36; route", "fail link leaf-02 36; route incremental beside=yes"},
		Answers:  []answer.Declared{&routeDecl, &incrementalDecl},
		Run:      route,
	},
	{
		Path: "unstage", Group: feature.GroupRoute, Summary: "Discard the staged tables",
		Examples: []string{"engine updn; route; unstage"},
		Answers:  []answer.Declared{unstageDecl},
		Run:      unstage,
	},
}}

// routed is what a full route computed.
type routed struct {
	Engine   string        `key:"engine" help:"the engine that routed"`
	Took     time.Duration `key:"seconds"`
	Switches int           `key:"switches" help:"switches with computed tables"`
	Entries  int           `key:"entries" help:"entries of forwarding tables"`
	Changed  int           `key:"changed" help:"entries that differ from the tables that against names"`
	Unread   int           `key:"unread" help:"switches whose tables were not read, and not compared"`
	Against  answer.Value  `key:"against" kind:"text" help:"the state that the tables are compared with"`
	Kept     bool          `key:"kept" help:"routes that are still among the shortest were kept"`
	Since    bool          `key:"since_last_route" help:"it went on from the route before"`
	Back     bool          `key:"anew" help:"a link came up since, and all was computed again"`
	Assigned int           `key:"lids_assigned" help:"ports that got the LIDs that OpenSM would give"`
	Trees    answer.Value  `key:"multicast" kind:"map" help:"the trees of multicast groups, where groups are known"`
	TreeLoop answer.Value  `key:"tree_loop" kind:"map" help:"credit loop of torus-2QoS's multicast tree with unicast"`

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
	Command: "route", Help: "what a full route computed and staged", Action: true,
	Title: "routed by {engine} in {seconds}: {entries|entry} on {switches|switch}{compared}; staged, not written",
	Facts: answer.Fields[*routed](),
	Layout: slices.Concat([]answer.Item[*routed]{
		{
			Table: answer.Show(&feature.Refusals, func(r *routed) answer.Rows[engines.Refusal] {
				return answer.Slice(r.refused)
			}),
		},
		{Line: "[  {how}]"},
		{Line: "[  {lids_assigned|port} got the LIDs that OpenSM would give]"},
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
			return c.Misused("keep= is for a full route; an incremental one keeps all that it can")
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
		Against: answer.Optional(rep.Against), Kept: rep.Kept, Since: rep.FromPast, Back: rep.RecomputedAll,
		Assigned: rep.Assigned,
		TreeLoop: treeLoop(rep.TreeLoop), Proof: feature.ProofOf(&st), Measures: feature.MeasuresOf(rep.Measures),
		How: how(&rep, st.Added() != ""), refused: rep.Refusals,
	}
	r.Unproved = r.IsUnproved()
	if rep.TreeUnchecked || rep.TreeLoop != nil && rep.TreeLoop.Clear != nil {
		r.Hint = "'suggest torus FILE clear=yes' looks for a torus_config without such a credit loop"
	}
	if rep.Against != "" {
		r.Compared = fmt.Sprintf(", %d of them other than %s%s", rep.Changed, rep.Against, diff.NotCompared(rep.Unread))
	}
	if t := rep.Multicast; t != nil {
		r.Trees, r.TreesText = trees(t)
	}
	b := st.Basis(st.Staged, session.NeedLinks)
	b.Warnings = slices.Concat(b.Warnings, rep.Warnings)
	if err := c.Answer(routeDecl.Answer(b, r)); err != nil {
		return err
	}
	return unasked(c, &rep)
}

// how tells which routes before were kept; added tells that the what-if has more than what the routes are compared
// with.
func how(rep *compute.Figures, added bool) string {
	from := rep.Against
	switch {
	case rep.RecomputedAll && added:
		return "something was added since: all was computed anew, as OpenSM does then"
	case rep.RecomputedAll:
		return "a link came up since the route before: all was computed anew, as OpenSM does then"
	case rep.Kept && added && !rep.FromPast:
		return "routes of " + from + " that are still among the shortest were kept; OpenSM would compute all anew, " +
			"as something was added (keep=no does)"
	case rep.Kept:
		from = prose.When(rep.FromPast, "the route before", from)
		return "routes of " + from + " that are still among the shortest were kept, as OpenSM does where links were " +
			"only lost (keep=no computes all anew)"
	}
	return ""
}

// trees returns the figures of the trees of multicast groups, and a line of them.
func trees(t *compute.Trees) (facts answer.Value, text string) {
	named := []answer.Named{
		{Name: "groups", Value: answer.Text(t.Groups)}, {Name: "lids", Value: answer.Int(t.LIDs)},
		{Name: "too_few_members", Value: answer.Int(t.Alone)},
	}
	text = fmt.Sprintf("trees for %s from %s", prose.Count(t.LIDs, "multicast LID"), t.Groups)
	if t.Alone > 0 {
		text += fmt.Sprintf(", %d with too few members for one", t.Alone)
	}
	if t.Changed >= 0 {
		named = append(named, answer.Named{Name: "changed", Value: answer.Int(t.Changed)})
		text += fmt.Sprintf("; %s changed", prose.Count(t.Changed, "multicast entry"))
	}
	return answer.Map(named), text
}

// treeLoop returns the figures of a credit loop of torus-2QoS's multicast tree with unicast.
func treeLoop(l *torus.TreeLoop) answer.Value {
	if l == nil {
		return answer.None()
	}
	facts := []answer.Named{
		{
			Name: "links", Value: answer.Int(l.Links),
		}, {Name: "root", Value: answer.Text(l.SwitchName(l.MasterTree().Root))},
	}
	if l.Clear != nil { // datelines with which there is none
		facts = append(facts, answer.Named{Name: "clear_root", Value: answer.Text(l.SwitchName(l.Root))},
			answer.Named{Name: "datelines_moved", Value: answer.Ints(l.Shift[:])})
	}
	return answer.Map(append(facts, answer.Named{Name: "other_sls", Value: answer.Int(l.OtherSLs)},
		answer.Named{Name: "switch_pairs", Value: answer.Int(l.Pairs)}))
}

// unasked ends a script whose engine does not take a file that it was given, so that it does not commit other routes.
func unasked(c *feature.Call, rep *compute.Figures) error {
	i := slices.IndexFunc(rep.Refusals, func(r engines.Refusal) bool { return r.File })
	if i < 0 || !c.Output.IsScript() || c.Option("fallback", "no") == "yes" {
		return nil
	}
	return fmt.Errorf("%s does not take its file, and %s routed in its place: %s (route fallback=yes takes that, as "+
		"OpenSM does)",
		rep.Refusals[i].Engine, rep.Engine, rep.Refusals[i].Reason)
}

// adapted is what an incremental route changed.
type adapted struct {
	Engine   string        `key:"engine"`
	Took     time.Duration `key:"seconds"`
	Touched  int           `key:"changed" help:"entries that differ from the tables before"`
	Switches int           `key:"switches" help:"switches with such entries"`
	Looked   int           `key:"looked_at" help:"entries that were examined one by one"`
	LIDs     int           `key:"lids" help:"LIDs of which some entry led nowhere"`
	Entries  int           `key:"full_route_entries" help:"entries that a full route computes"`
	Against  string        `key:"against" help:"the state that was adapted"`
	Full     answer.Value  `key:"full_route_changes" kind:"int" help:"entries that a full route would have changed"`
	Lost     int           `key:"without_a_path" help:"entries that have no path and were left as they are"`
	Examples []string      `key:"examples" help:"some of the entries without a path"`
	Changes  []string      `key:"changes" help:"what changed in the topology"`
	Loop     answer.Value  `key:"new_credit_loop" kind:"bool" help:"there is a credit loop that was not there before"`
	Repair   answer.Value  `key:"repair" kind:"text" name:"repair" help:"how broken paths were replaced"`
	Why      []string      `key:"why" help:"why repairs with fewer changes were not taken"`
	FullText string        `name:"full route"`
}

var incrementalDecl = answer.Decl[*adapted]{
	Command: "route", Help: "what an incremental route changed and staged", Action: true,
	Title: "adapted {against} in {seconds}: {changed|entry} on {switches|switch} touched, of {full_route_entries} " +
		"that a full route computes{full route}" +
		"; staged, not written",
	Facts: answer.Fields[*adapted](),
	Layout: []answer.Item[*adapted]{
		{Line: "  changed: {changes}", Each: "changes"},
		{Line: "[  {without_a_path|entry} without a path, left as they are:]"},
		{Line: "    {examples}", Each: "examples"},
		{Line: "[  repaired with {repair}]"},
		{Line: "    not with fewer changes: {why}", Each: "why"},
	},
}

func routeIncremental(c *feature.Call) error {
	res, err := c.Session.RouteIncremental(c.Ctx, c.Option("beside", "no") == "yes")
	if err != nil {
		return err
	}
	rep, did := res.Adaptation, res.Figures
	a := &adapted{
		Engine: incrementalWord, Took: did.Took, Touched: rep.Touched, Switches: rep.Switches, Looked: rep.Examined,
		LIDs: rep.LIDs, Entries: rep.Entries,
		Against: did.Against, Lost: rep.Unreachable, Examples: rep.Examples, Changes: rep.Changes,
		Repair: answer.Optional(string(rep.Repair)), Why: rep.Why,
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

// unstaged is that no tables are staged.
type unstaged struct {
	Staged bool `key:"staged"`
}

var unstageDecl = feature.OneLine[unstaged]("unstage", "no tables are staged", "nothing is staged now")

func unstage(c *feature.Call) error {
	if st := c.Session.State(); st.Staged == nil {
		return errors.New("nothing is staged")
	}
	c.Session.Publish(session.ChangeStaged, (*session.State).Unstage)
	st := c.Session.State()
	return c.Answer(unstageDecl.Answer(st.Basis(st.Live, 0), unstaged{}))
}
