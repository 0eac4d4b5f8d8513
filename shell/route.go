// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/settings"
)

func routeCommands() []Spec {
	options := []lang.Option{{Name: "from", Kind: lang.KindFile, Summary: "take engines and options from an opensm.conf"}}
	for _, o := range settings.Options {
		kind := prose.When(o.File, lang.KindFile, lang.KindText)
		options = append(options, lang.Option{Name: o.Name, Aliases: was(o.Was), Kind: kind, Summary: o.Summary})
	}
	return []Spec{
		{Name: engineCommand, Summary: "choose the routing engines, tried in order, and their options by OpenSM's names",
			Help: "Without words it shows them. What is not named goes back to OpenSM's default. Where all engines refuse, minhop routes,\n" +
				"unless no_fallback is among them. engine guided asks step by step for an engine and its options.\n" +
				"It takes OpenSM's own flags, too: engine -R updn -a roots -A -l 1. They are read as OpenSM reads them, and shown as options; then the LMC\n" +
				"is 0 and quality of service off where nothing says otherwise. Flags that mean nothing for routes are named.\n" +
				"Engines of NVIDIA's OpenSM (ar_updn, ar_ftree, ar_minhop, ar_dor, ar_torus; in an opensm.conf auto, too) are taken for those whose\n" +
				"tables they have by their names, unproved until calibrate agrees; route gives such tables groups of ports, on paper.",
			Args: []lang.Arg{{Name: "NAME", Kind: lang.KindEngine, List: true, Optional: true},
				{Name: "FLAG", Kind: lang.KindEngine, Optional: true, Repeat: true}},
			Options: options, Run: runEngine},
		{Name: "engines", Summary: "list the routing engines", Run: runEngines},
		{Name: "route", Summary: "compute routes for the what-if, else for the live subnet; the result is staged",
			Args: []lang.Arg{{Kind: lang.KindWord, Words: []string{incrementalWord}, Optional: true}},
			Help: "It goes on from the route before, as an OpenSM does that lives through the failures and repairs on paper: what failed since the\n" +
				"route before failed at once. undo, restore all, unstage and engine end that: the next route starts from the base.\n" +
				"incremental adapts the tables of the base, or the live ones, to what has changed, and touches no more entries than that takes.",
			Options: []lang.Option{
				{Name: "keep", Kind: lang.KindWord, Words: []string{"yes", "no"},
					Summary: "keep routes that are still among the shortest; by default as OpenSM: where links were only lost"},
				{Name: "fallback", Kind: lang.KindWord, Words: []string{"yes", "no"},
					Summary: "yes: a script goes on where an engine does not take a file of its options and the next one routes; no"},
				{Name: "beside", Kind: lang.KindWord, Words: []string{"yes", "no"},
					Summary: "incremental: say how many entries a full route would change; no"},
			}, Run: runRoute},
		calibrateCommand(),
		{Name: "unstage", Summary: "throw the staged tables away", Run: runUnstage},
	}
}

// was is the list of a name that a word had before, if it had one.
func was(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

const engineCommand = "engine"

func runEngine(c *call) error {
	if c.Arg(0) == guidedWord && len(c.Args)+len(c.Options) == 1 {
		return c.guide(guided.Engine(c.ctx, c.session))
	}
	if len(c.Args)+len(c.Options) > 0 {
		set, err := c.settings()
		if err != nil {
			return err
		}
		c.session.SetSettings(set)
	}
	set := c.session.State().Settings
	return c.out.Answer(engineAnswerOf(&set))
}

type engineAnswer struct {
	Engine  string            `json:"engine"`
	Options map[string]string `json:"options,omitempty"`
	Notes   []string          `json:"notes,omitempty"`
	given   []settings.Setting
}

func engineAnswerOf(set *settings.Settings) engineAnswer {
	a := engineAnswer{set.String(), map[string]string{}, set.Notes, set.Given}
	for _, g := range set.Given {
		a.Options[g.Name] = g.Value
	}
	return a
}

func (a engineAnswer) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "engine %s", a.Engine)
	for _, g := range a.given {
		_, _ = fmt.Fprintf(w, " %s=%s", g.Name, lang.Quote(quoteFile(g.Value)))
	}
	_, _ = fmt.Fprintln(w)
	list(w, "note", a.Notes)
}

// settings reads what the command was given.
func (c *call) settings() (settings.Settings, error) {
	var chain []string
	words := c.Args
	if c.Arg(0) != "" && !strings.HasPrefix(c.Arg(0), "-") {
		chain, words = strings.Split(c.Arg(0), ","), words[1:]
	}
	var given []settings.Setting
	for _, o := range settings.Options {
		if value, ok := c.Options[o.Name]; ok {
			given = append(given, settings.Setting{Name: o.Name, Value: value})
		}
	}
	conf := c.Option("from", "")
	if len(words) == 0 {
		return c.readSettings(conf, chain, given)
	}
	f, err := settings.ReadFlags(words)
	if err == nil {
		err = f.Join(conf, chain, given)
	}
	if err != nil {
		return settings.Settings{}, c.Misused("%v", err)
	}
	set, err := c.readSettings(f.Conf, f.Chain, f.Given)
	set.Notes = append(f.Notes, set.Notes...)
	return set, err
}

func (c *call) readSettings(conf string, chain []string, given []settings.Setting) (settings.Settings, error) {
	if conf != "" {
		return c.session.ReadConf(c.ctx, conf, chain, given)
	}
	return settings.Parse(c.ctx, chain, given)
}

func runEngines(c *call) error {
	chosen := c.session.State().Settings.Chain
	var rows []engineChoice
	for _, name := range settings.EngineNames() {
		if name == engines.NoFallback {
			continue
		}
		rows = append(rows, engineChoice{name, slices.Contains(chosen, name)})
	}
	return c.list(nil, eachRow(rows))
}

type engineChoice struct {
	Engine string `json:"engine"`
	Chosen bool   `json:"chosen"`
}

func (e engineChoice) Cells() []any {
	if e.Chosen {
		return []any{"* " + e.Engine}
	}
	return []any{"  " + e.Engine}
}

type routeAnswer struct {
	Engine   string  `json:"engine"`
	Seconds  float64 `json:"seconds"`
	Switches int     `json:"switches"`
	Entries  int     `json:"entries"`
	Changed  int     `json:"changed"`
	Unread   int     `json:"unread,omitempty"`
	Against  string  `json:"against,omitempty"`
	Kept     bool    `json:"kept"`
	// Since says that the route before was gone on from, Anew that a link came up since
	// and all was computed anew.
	Since    bool     `json:"since_last_route"`
	Anew     bool     `json:"anew"`
	Assigned int      `json:"lids_assigned,omitempty"`
	Refused  []string `json:"refused,omitempty"`
	// Multicast are the tables of multicast groups, nil where none are known.
	Multicast *multicastAnswer `json:"multicast,omitempty"`
	// TreeLoop is the credit loop of torus-2QoS's multicast tree with unicast, nil for none.
	TreeLoop *treeLoop `json:"tree_loop,omitempty"`
	// Proof says whether the subnet manager would make these tables, nil where there is none.
	Proof *session.Proof `json:"as_subnet_manager,omitempty"`
	warnings
	// measures are those in the ca-order, of an engine that gives one.
	measures
	took time.Duration
	// added says that the paper has more than what the routes are compared with.
	added bool
}

type multicastAnswer struct {
	Groups  string `json:"groups"`
	LIDs    int    `json:"lids"`
	Alone   int    `json:"too_few_members"`
	Changed *int   `json:"changed,omitempty"`
}

func multicastAnswerOf(rep *compute.Trees) *multicastAnswer {
	if rep == nil {
		return nil
	}
	a := &multicastAnswer{Groups: rep.Groups, LIDs: rep.LIDs, Alone: rep.Alone}
	if rep.Changed >= 0 {
		a.Changed = &rep.Changed
	}
	return a
}

func (a *multicastAnswer) text(w io.Writer) {
	if a == nil {
		return
	}
	_, _ = fmt.Fprintf(w, "  trees for %s from %s", count(a.LIDs, "multicast LID"), a.Groups)
	if a.Alone > 0 {
		_, _ = fmt.Fprintf(w, ", %d with too few members for one", a.Alone)
	}
	if a.Changed != nil {
		_, _ = fmt.Fprintf(w, "; %s changed", count(*a.Changed, "multicast entry"))
	}
	_, _ = fmt.Fprintln(w)
}

var keepWords = map[string]compute.Keep{"": compute.KeepAsOpenSM, "yes": compute.KeepYes, "no": compute.KeepNo}

func runRoute(c *call) error {
	if c.Arg(0) == incrementalWord {
		if c.Option("keep", "") != "" {
			return c.Misused("keep= is for a full route; an incremental one keeps all that it can")
		}
		return runRouteIncremental(c)
	}
	rep, err := c.session.Route(c.ctx, keepWords[c.Option("keep", "")])
	if err != nil {
		return err
	}
	st := c.session.State()
	a := routeAnswer{
		added: st.Added() != "", Refused: refusedWords(rep.Refusals), Engine: rep.Engine, Seconds: rep.Took.Seconds(), Switches: rep.Switches, Entries: rep.Entries, Changed: rep.Changed, Unread: rep.Unread,
		Against: rep.Against, Kept: rep.Kept, Since: rep.Since, Anew: rep.Back, Assigned: rep.Assigned, Multicast: multicastAnswerOf(rep.Multicast), warnings: warnings{rep.Warnings}, measures: measures(rep.Measures), took: rep.Took,
		TreeLoop: treeLoopOf(rep.TreeLoop),
	}
	a.Proof = proofOf(&st)
	if err := c.out.Answer(&a); err != nil {
		return err
	}
	return c.unasked(rep.Refusals, rep.Engine)
}

// refusedWords say why engines refused.
func refusedWords(all []engines.Refusal) []string {
	return prose.Words(all, engines.Refusal.String)
}

// unasked ends a script whose engine does not take a file that it was given, so that nobody commits other routes unseen.
func (c *call) unasked(refusals []engines.Refusal, by string) error {
	i := slices.IndexFunc(refusals, func(r engines.Refusal) bool { return r.File })
	if i < 0 || !c.out.Script || c.Option("fallback", "no") == "yes" {
		return nil
	}
	return fmt.Errorf("%s does not take its file, and %s routed in its place: %s (route fallback=yes takes that, as OpenSM does)", refusals[i].Engine, by, refusals[i].Reason)
}

func (a *routeAnswer) Text(w io.Writer) {
	list(w, "refused by", a.Refused)
	_, _ = fmt.Fprintf(w, "routed by %s in %s: %s on %s", a.Engine, seconds(a.took), count(a.Entries, "entry"), count(a.Switches, "switch"))
	if a.Against != "" {
		_, _ = fmt.Fprintf(w, ", %d of them other than %s%s", a.Changed, a.Against, diff.NotCompared(a.Unread))
	}
	_, _ = fmt.Fprint(w, "; staged, not written\n")
	switch from := a.Against; {
	case a.Anew && a.added:
		_, _ = fmt.Fprintln(w, "  something was added since: all was computed anew, as OpenSM does then")
	case a.Anew:
		_, _ = fmt.Fprintln(w, "  a link came up since the route before: all was computed anew, as OpenSM does then")
	case a.Kept && a.added && !a.Since:
		_, _ = fmt.Fprintf(w, "  routes of %s that are still among the shortest were kept; OpenSM would compute all anew, as something was added (keep=no does)\n", from)
	case a.Kept:
		if a.Since {
			from = "the route before"
		}
		_, _ = fmt.Fprintf(w, "  routes of %s that are still among the shortest were kept, as OpenSM does where links were only lost (keep=no computes all anew)\n", from)
	}
	if a.Assigned > 0 {
		_, _ = fmt.Fprintf(w, "  %s got the LIDs that OpenSM would give\n", count(a.Assigned, "port"))
	}
	if a.Shifts != nil {
		_, _ = fmt.Fprintln(w, "  compute nodes in the ca-order:")
	}
	a.measures.text(w)
	a.Multicast.text(w)
	if a.Proof != nil && !a.Proof.Proved {
		_, _ = fmt.Fprintf(w, "  %s\n", a.Proof)
	}
	list(w, "warning", a.Warnings)
}

func runUnstage(c *call) error {
	if c.session.State().Staged == nil {
		return fmt.Errorf("nothing is staged")
	}
	c.session.Unstage()
	return c.say(object{"staged": false}, "nothing is staged now")
}

const incrementalWord = "incremental"

type incrementalAnswer struct {
	Engine    string   `json:"engine"`
	Seconds   float64  `json:"seconds"`
	Touched   int      `json:"changed"`
	Switches  int      `json:"switches"`
	Looked    int      `json:"looked_at"`
	LIDs      int      `json:"lids"`
	Entries   int      `json:"full_route_entries"`
	Against   string   `json:"against"`
	Full      *int     `json:"full_route_changes,omitempty"`
	Lost      int      `json:"without_a_path"`
	Unreached []string `json:"examples,omitempty"`
	Changes   []string `json:"changes,omitempty"`
	warnings
	// Loop says that there is a credit loop that was not there before; absent where nobody knows.
	Loop   *bool `json:"new_credit_loop,omitempty"`
	took   time.Duration
	fullBy string // the engine of a full route
}

func runRouteIncremental(c *call) error {
	res, err := c.session.RouteIncremental(c.ctx, c.Option("beside", "no") == "yes")
	if err != nil {
		return err
	}
	rep, did := res.Adapted, res.Figures
	a := incrementalAnswer{
		Engine: incrementalWord, Seconds: did.Took.Seconds(), Touched: rep.Touched, Switches: rep.Switches, Looked: rep.Looked, LIDs: rep.LIDs, Entries: rep.Entries,
		Against: did.Against, Lost: rep.Lost, Unreached: rep.Unreached, Changes: rep.Changes, warnings: warnings{did.Warnings}, Loop: rep.Loop, took: did.Took, fullBy: rep.Engine,
	}
	if rep.Beside >= 0 {
		a.Full = &rep.Beside
	}
	return c.out.Answer(&a)
}

func (a *incrementalAnswer) Text(w io.Writer) {
	list(w, "changed", a.Changes)
	_, _ = fmt.Fprintf(w, "adapted %s in %s: %s on %s touched, of %d that a full route computes", a.Against, seconds(a.took), count(a.Touched, "entry"), count(a.Switches, "switch"), a.Entries)
	if a.Full != nil {
		_, _ = fmt.Fprintf(w, "; one by %s would change %d", a.fullBy, *a.Full)
	}
	_, _ = fmt.Fprint(w, "; staged, not written\n")
	if a.Lost > 0 {
		_, _ = fmt.Fprintf(w, "  %s without a path, left as they are:\n", count(a.Lost, "entry"))
		for _, e := range a.Unreached {
			_, _ = fmt.Fprintf(w, "    %s\n", e)
		}
	}
	list(w, "warning", a.Warnings)
}
