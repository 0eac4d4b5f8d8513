// SPDX-License-Identifier: Apache-2.0

// Package suggest finds options of engines: roots and compute nodes for ftree, and the configuration of torus-2QoS.
package suggest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature provides the commands "suggest guids" and "suggest torus".
var Feature = feature.Feature{Name: "suggest", Commands: []feature.Command{
	{Path: "suggest", Group: feature.GroupRoute, Summary: "Find the options that an engine needs"},
	{
		Path:    "suggest guids",
		Summary: "Find roots and compute nodes for ftree",
		Help: "suggest guids lists the classes of switches and adapters, and the suggestions that ftree was tried " +
			"with. With DIR it\nwrites root_guids, cn_guids and, if there are I/O, service or aggregation nodes, " +
			"io_guids to a new directory.",
		Args:     []lang.Arg{{Name: "DIR", Kind: lang.KindFile, Optional: true, Written: true}},
		Examples: []string{"suggest guids", "suggest guids guids; engine ftree root_guid_file=guids/root_guids; route"},
		Answers:  []answer.Declared{&guidsDecl},
		Run:      runGUIDs,
	},
	{
		Path:    "suggest torus",
		Summary: "Find the configuration of a torus for torus-2QoS",
		Help: "With FILE, suggest torus writes the configuration to a file. clear=yes uses the staged tables: if " +
			"multicast and unicast\ntogether have a credit loop around a lost switch, it moves the datelines, and so " +
			"the root of the tree, until there is no\nsuch loop. This changes the SLs of some paths. clear=all " +
			"searches before a failure: it moves the datelines until there is\nno such loop after the loss of any " +
			"single switch or link, or as few as possible.",
		Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Optional: true, Written: true}},
		Options: []lang.Option{{Name: "clear", Kind: lang.KindWord, Words: []string{"yes", "all", "no"},
			Summary: "move datelines until multicast has no credit loop, now or after each failure", Default: "no"}},
		Examples: []string{
			"gen torus 4x4x4 net; load topology net; suggest torus",
			"gen torus 4x4x4 net; load topology net; suggest torus torus.conf; engine torus-2QoS " +
				"torus_config=torus.conf; route",
		},
		Answers: []answer.Declared{&torusDecl},
		Run:     runTorus,
	},
}}

// class is a row of the table: a class of switches.
type class struct {
	Switches int          `key:"switches" name:"SWITCHES"`
	Layer    string       `key:"layer" name:"LAYER"`
	Rank     int32        `key:"rank" name:"RANK"`
	Pattern  string       `key:"pattern" name:"NAMED" help:"# stands for a number"`
	Cables   string       `name:"CABLES"`
	HostText string       `name:"HOSTS"`
	Least    int          `key:"min_degree" help:"fewest links to switches"`
	Most     int          `key:"max_degree" help:"most links to switches"`
	MinHosts int          `key:"min_hosts"`
	MaxHosts int          `key:"max_hosts"`
	Example  answer.Value `key:"example" name:"SUCH AS" kind:"place"`
	lead     answer.Lead
}

// role is a row of the table: end ports with a role.
type role struct {
	Ports   int          `key:"ports" name:"ADAPTERS"`
	Role    string       `key:"role" name:"ROLE"`
	Pattern string       `key:"pattern" name:"NAMED" help:"# stands for a number"`
	Example answer.Value `key:"example" name:"SUCH AS" kind:"place"`
	At      answer.Value `key:"at" name:"ON" kind:"place" help:"the switch that the example is attached to"`
	Reason  string       `key:"reason" name:"BECAUSE"`
	lead    answer.Lead
}

// attempt is a row of the table: the result of ftree with a suggestion.
type attempt struct {
	What        string       `key:"what" name:"TRIED"`
	Error       answer.Value `key:"error" kind:"text"`
	Pairs       int64        `key:"pairs" help:"pairs of end ports"`
	Unreachable int64        `key:"unreachable" help:"pairs of hosts without a path"`
	Aggregation int64        `key:"unreachable_aggregation" help:"pairs with an aggregation node without a path"`
	Outcome     string       `name:"OUTCOME"`
}

// suggestion is the answer with the suggested options of ftree.
type suggestion struct {
	Roots          int          `key:"roots"`
	ComputeNodes   int          `key:"compute_nodes"`
	IONodes        int          `key:"io_nodes"`
	MaxReverseHops uint16       `key:"max_reverse_hops"`
	Dir            answer.Value `key:"dir" kind:"text" help:"the directory of the files"`
	Files          answer.Value `key:"files" kind:"texts"`
	Command        answer.Value `key:"try" kind:"text" help:"the command that passes the files to ftree"`
	Next           string       `name:"next"`
	of             *classify.Suggestion
}

var (
	classTable = answer.Table[class]{Key: "switches", Title: "switches", Fields: answer.Fields[class](),
		Lead: func(c class) answer.Lead {
			return c.lead
		}}
	roleTable = answer.Table[role]{Key: "adapters", Title: "adapters", Fields: answer.Fields[role](),
		Lead: func(r role) answer.Lead {
			return r.lead
		}}
	attemptTable = answer.Table[attempt]{Key: "tried", Title: "tried", Fields: answer.Fields[attempt](),
		Row: "tried {what}: {OUTCOME}"}
)

var guidsDecl = answer.Decl[suggestion]{
	Command: "suggest guids", Help: "roots and compute nodes for ftree", Facts: answer.Fields[suggestion](),
	Layout: []answer.Item[suggestion]{
		{
			Table: answer.Show(&classTable, func(s suggestion) answer.Rows[class] {
				return answer.Slice(classes(s.of.Classes))
			}),
		},
		{Line: ""},
		{
			Table: answer.Show(&roleTable, func(s suggestion) answer.Rows[role] {
				return answer.Slice(roles(s.of.Classes))
			}),
		},
		{Line: ""},
		{
			Table: answer.Show(&attemptTable, func(s suggestion) answer.Rows[attempt] {
				return answer.Slice(attempts(s.of.Tried))
			}),
		},
		{
			Line: "ftree routes with {roots|root}, {compute_nodes|compute node} and {io_nodes|other node}, " +
				"max_reverse_hops {max_reverse_hops}",
		},
		{Line: "{next}"},
		{Line: "{?try}hint: {try}"},
	},
}

func runGUIDs(c *feature.Call) error {
	st := c.Session.State()
	s, err := classify.Suggest(c.Ctx, st.Paper(), c.Session.Analysis().Hints(), routing.Options{})
	if err != nil {
		return err
	}
	a := suggestion{
		Roots: len(s.Roots), ComputeNodes: len(s.ComputeNodes), IONodes: len(s.IONodes),
		MaxReverseHops: s.MaxReverseHops,
		Next:           "hint: 'suggest guids DIR' writes the files", of: s,
	}
	if dir := c.Arg(0); dir != "" {
		names, command, err := write(dir, s)
		if err != nil {
			return err
		}
		a.Dir, a.Files, a.Command = answer.Text(dir), answer.Texts(names), answer.Text(command)
		a.Next = strings.Join(names, ", ") + " written to " + fabric.Escape(dir)
	}
	return c.Answer(guidsDecl.Answer(st.Basis(routed(&st), session.NeedLinks), a))
}

// routed returns the state for which routes are computed: the what-if if it exists, otherwise live.
func routed(st *session.State) *session.Picture {
	if st.WhatIf != nil {
		return st.WhatIf
	}
	return st.Live
}

func classes(c *classify.Classes) (all []class) {
	f := c.Fabric
	for _, g := range c.SwitchGroups() {
		node := f.Switches[g.Switches[0]]
		all = append(all, class{
			len(g.Switches), g.Layer.String(), g.Rank, g.Pattern, span(g.MinDegree, g.MaxDegree),
			span(g.MinHosts, g.MaxHosts),
			g.MinDegree, g.MaxDegree, g.MinHosts, g.MaxHosts, answer.Node(f, node), feature.ToNode(f, node),
		})
	}
	return all
}

func roles(c *classify.Classes) (all []role) {
	f := c.Fabric
	for _, g := range c.AdapterGroups() {
		sw, _ := f.AttachedSwitch(g.Ends[0])
		all = append(all, role{
			len(g.Ends), g.Role.String(), g.Pattern, answer.Port(f, g.Ends[0]), answer.Node(f, f.Switches[sw]),
			g.Reason, feature.ToPort(f, g.Ends[0]),
		})
	}
	return all
}

func attempts(tried []classify.Attempt) (all []attempt) {
	for _, a := range tried {
		t := attempt{What: a.What, Pairs: a.Pairs, Unreachable: a.Unreachable, Aggregation: a.Aggregation}
		switch {
		case a.Err != nil:
			t.Outcome, t.Error = a.Err.Error(), answer.Text(a.Err.Error())
		case a.Unreachable > 0:
			t.Outcome = fmt.Sprintf("routes; of %s pairs of ports %s of hosts have no path",
				prose.Thousands(t.Pairs), prose.Count(t.Unreachable, "pair"))
		case a.Aggregation > 0:
			t.Outcome = fmt.Sprintf("routes; all hosts have paths; of %s pairs of ports %s with an aggregation "+
				"node have none", prose.Thousands(t.Pairs), prose.Thousands(t.Aggregation))
		default:
			t.Outcome = "routes; all pairs have paths"
		}
		all = append(all, t)
	}
	return all
}

func span(low, high int) string {
	return prose.When(low == high, fmt.Sprint(low), fmt.Sprintf("%d-%d", low, high))
}

// write writes the files of a suggestion to a new directory. It returns the file names, and the command that passes the
// files to ftree.
func write(dir string, s *classify.Suggestion) (names []string, command string, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, "", files.Err(err)
	}
	f := s.Classes.Fabric
	var roots []fabric.PortIndex
	for _, r := range s.Roots {
		roots = append(roots, f.SwitchNode(r).FirstPort)
	}
	command = "engine ftree"
	for _, file := range []struct {
		name, option string
		ports        []fabric.PortIndex
	}{
		{"root_guids", "root_guid_file", roots}, {"cn_guids", "cn_guid_file", s.ComputeNodes},
		{"io_guids", "io_guid_file", s.IONodes},
	} {
		if len(file.ports) == 0 {
			continue
		}
		path := filepath.Join(dir, file.name)
		if err := files.Write(path, func(w io.Writer) error { return writeGUIDs(w, f, file.ports) }); err != nil {
			return nil, "", err
		}
		names = append(names, file.name)
		command += " " + file.option + "=" + lang.Quote(fabric.Escape(path))
	}
	if s.MaxReverseHops > 0 {
		command += fmt.Sprintf(" max_reverse_hops=%d", s.MaxReverseHops)
	}
	return names, command, nil
}

// longestName is the maximum number of runes of a node name in a line of GUIDs. OpenSM reads at most 255 bytes of a
// line, and takes the rest as another line.
const longestName = 50

// writeGUIDs writes a line for each port, with its GUID and, as a comment, its name.
func writeGUIDs(w io.Writer, f *fabric.Fabric, ports []fabric.PortIndex) error {
	for _, p := range ports {
		name := []rune(f.NodeName(f.Ports[p].Node))
		if _, err := fmt.Fprintf(w, "0x%016x # %s\n", f.Ports[p].GUID,
			string(name[:min(len(name), longestName)])); err != nil {
			return err
		}
	}
	return nil
}

// config is a configuration for torus-2QoS.
type config struct {
	Conf string       `key:"conf" help:"the text of the configuration"`
	File answer.Value `key:"file" kind:"text" help:"the written file"`
	// With clear=all:
	Failures answer.Value `key:"failures" kind:"int" help:"single failures of switches and links that were tried"`
	Loops    answer.Value `key:"loops" kind:"list" help:"failures after which multicast has a credit loop"`
	Refused  answer.Value `key:"refused" kind:"list" help:"failures after which torus-2QoS refuses the subnet"`
	said     []string
}

var torusDecl = answer.Decl[config]{
	Command: "suggest torus", Help: "a configuration for torus-2QoS", Title: "# torus configuration of {of}",
	Facts: answer.Fields[config](),
	Draw: func(w *answer.Canvas, _ answer.Basis, c config) {
		for line := range strings.Lines(c.Conf) {
			w.Line("%s", plain.EscapeLine(strings.TrimSuffix(line, "\n")))
		}
		for _, line := range c.said {
			w.Line("# %s", line)
		}
		if file := c.File.String(); !c.File.IsNone() {
			w.Line("written to %s; hint: 'engine torus-2QoS torus_config=%s'", file, lang.Quote(file))
		}
	},
}

func runTorus(c *feature.Call) error {
	st := c.Session.State()
	of, find, a := routed(&st), recognised, config{}
	switch c.Option("clear", "no") {
	case "yes":
		find = clearOfLoops
	case "all":
		find = a.foreseen
	}
	if c.Option("clear", "no") != "no" && st.Staged != nil {
		of = st.Staged
	}
	conf, err := find(c)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := osm.WriteTorusConf(&text, conf); err != nil {
		return err
	}
	if path := c.Arg(0); path != "" {
		if err := files.Write(path, func(w io.Writer) error {
			_, err := io.WriteString(w, text.String())
			return err
		}); err != nil {
			return err
		}
	}
	a.Conf, a.File = text.String(), answer.Optional(c.Arg(0))
	return c.Answer(torusDecl.Answer(st.Basis(of, session.NeedLinks), a))
}

// clearOfLoops returns a configuration of torus-2QoS for the staged tables. Its datelines are chosen so that multicast
// and unicast together have no credit loop.
func clearOfLoops(c *feature.Call) (*osm.TorusConf, error) {
	op, err := c.Session.Begin(c.Ctx, "search datelines")
	if err != nil {
		return nil, err
	}
	defer op.End()
	st := c.Session.State()
	grid, err := stagedTorus(&st)
	if err != nil {
		return nil, err
	}
	loop, err := c.Session.Job(&st).TreeLoop(c.Ctx, st.Staged.Tables)
	switch {
	case err != nil:
		return nil, err
	case loop == nil:
		return grid.Config(), nil
	case loop.Clear == nil:
		return nil, errors.New(loop.String())
	}
	return loop.Clear, nil
}

const mostLosses = 5

// foreseen returns a configuration of torus-2QoS whose datelines are chosen so that no single failure leads to a credit
// loop of multicast with unicast, and describes the search in the answer.
func (a *config) foreseen(c *feature.Call) (*osm.TorusConf, error) {
	op, err := c.Session.Begin(c.Ctx, "search datelines")
	if err != nil {
		return nil, err
	}
	defer op.End()
	st := c.Session.State()
	grid, err := stagedTorus(&st)
	if err != nil {
		return nil, err
	}
	opt := c.Session.Job(&st).Options
	f := st.Staged.Fabric
	opt.LMC = f.MaxLMC()
	r, err := grid.Foresee(c.Ctx, opt, op.Progress)
	if err != nil {
		return nil, err
	}
	place := func(losses []torus.Loss) (values []answer.Value, names []string) {
		for _, l := range losses {
			v, name := answer.Node(f, l.Switch), ""
			if l.Switch == fabric.None {
				v, name = answer.Port(f, l.Links[0].A), f.PortName(l.Links[0].A)
			} else {
				name = f.NodeName(l.Switch)
			}
			values, names = append(values, v), append(names, name)
		}
		return values, names
	}
	a.Failures = answer.Int(r.Failures)
	loops, loopNames := place(r.Loops)
	refused, refusedNames := place(r.Refused)
	a.Loops, a.Refused = answer.List(loops), answer.List(refused)
	a.said = []string{fmt.Sprintf("%s of single switches and links: %d lead to a credit loop of multicast with unicast",
		prose.Count(r.Failures, "failure"), len(loops))}
	if len(loops) > 0 {
		a.said[0] += fmt.Sprintf(" (%s); of %s of the datelines, this one has the fewest",
			prose.List(loopNames, mostLosses), prose.Count(r.Tried, "position"))
	}
	if len(refused) > 0 {
		a.said = append(a.said, fmt.Sprintf("torus-2QoS refuses the subnet after %s: %s",
			prose.Count(len(refused), "failure"), prose.List(refusedNames, mostLosses)))
	}
	if !slices.Contains(st.Settings.Chain, torus.Name) {
		a.said = append(a.said, fmt.Sprintf("this holds for tables of torus-2QoS; the next route uses %s",
			&st.Settings))
	}
	return r.Conf, nil
}

// stagedTorus returns the torus of the staged tables.
func stagedTorus(st *session.State) (*torus.Torus, error) {
	if st.Staged != nil {
		if grid, ok := torus.Of(st.Staged.Tables); ok {
			return grid, nil
		}
	}
	return nil, errNoStagedTorus
}

var errNoStagedTorus = errors.New("no tables of torus-2QoS are staged; hint: run 'engine torus-2QoS; route'")

// recognised returns the configuration of the torus of the what-if. The coordinates are those from before the simulated
// failures.
func recognised(c *feature.Call) (*osm.TorusConf, error) {
	op, err := c.Session.Begin(c.Ctx, "recognise")
	if err != nil {
		return nil, err
	}
	defer op.End()
	st := c.Session.State()
	known, err := c.Session.Job(&st).Torus.Config(c.Ctx, st.Whole())
	switch {
	case err != nil:
		return nil, err
	case known == nil:
		return torus.Recognise(c.Ctx, st.Paper())
	}
	return torus.Fit(c.Ctx, st.Paper(), known)
}
