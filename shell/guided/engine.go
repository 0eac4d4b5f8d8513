// SPDX-License-Identifier: Apache-2.0

package guided

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/comparison"
	"example.org/ibconsole/shell/session/settings"
)

// engineTexts describes the engines.
var engineTexts = map[string]string{
	"minhop": "OpenSM's default: fewest hops, paths spread over ports",
	"updn":   "up from the source, then down, without loops", "dnup": "down, then up, for inverted trees",
	"ftree": "fat-trees, with paths ordered for all-to-all", "dor": "dimension order, for meshes and hypercubes",
	"lash": "any topology, with VLs that break loops",
	"sssp": "any topology, balanced over all links", "dfsssp": "sssp with VLs that break loops",
	"nue": "any topology without deadlock on any number of VLs", "torus-2QoS": "tori and meshes, routes around " +
		"failures",
	"file": "tables or hop counts from a file",
}

const noMore = "done" // ends the choice of options

// Engine returns the flow that asks for an engine and its options.
func Engine(ctx context.Context, s *session.Session) *Flow {
	return &Flow{answers: map[string]string{}, next: func(f *Flow) (*Question, error) {
		switch option := f.answers["option"]; {
		case !f.has("engine"):
			return askEngine(s), nil
		case option == "":
			return f.askOption(), nil
		case option == noMore:
			return nil, nil
		case !f.has(option):
			return f.askValue(ctx, option), nil
		}
		delete(f.answers, "option")
		return f.askOption(), nil
	}, command: func(f *Flow) string {
		words := []string{"engine", f.answers["engine"]}
		for _, g := range f.given() {
			words = append(words, g.Name+"="+lang.Quote(g.Value))
		}
		return strings.Join(words, " ")
	}}
}

func askEngine(s *session.Session) *Question {
	set := s.State()
	q := &Question{
		Name: "engine", Text: "Which engine computes the routes?",
		Explain: []string{
			"If the engine refuses, minhop routes instead. Options that are not given return to OpenSM's defaults.",
		},
	}
	if p := set.Paper(); len(p.Switches)*int(p.MaxLID) <= figuresUnasked {
		q.Figures = func(ctx context.Context, engine string) (string, error) {
			e, err := comparison.Engine(ctx, s, engine)
			if err != nil {
				return "", err
			}
			return figuresText(&e), nil
		}
	} else {
		q.Explain = append(q.Explain, "compare engines shows the result of each engine; on this subnet it takes "+
			"a while.")
	}
	for _, name := range settings.EngineNames() {
		if name == engines.NoFallback {
			continue
		}
		q.Choices = append(q.Choices, Choice{name, engineTexts[name]})
		if name == set.Settings.Chain[0] {
			q.Default = name
		}
	}
	return q
}

// figuresUnasked is the maximum number of table entries for which the figures of engines are computed without a
// request.
const figuresUnasked = 40_000_000

// figuresText returns the figures of an engine in the order of the columns of the command "compare engines".
func figuresText(e *comparison.Figures) string {
	if e.Refused != "" {
		return "refuses: " + e.Refused
	}
	words := []string{"most paths over a link " + fmt.Sprint(e.Worst)}
	if e.Shifts != nil {
		words = append(words, fmt.Sprintf("bisection %.3f", e.Bisections.Mean))
	}
	words = append(words, fmt.Sprintf("%.2f hops per path", e.MeanHops))
	if e.VLs > 0 {
		words = append(words, prose.Count(e.VLs, "VL"))
	}
	words = append(words, map[credits.Verdict]string{
		credits.None: "no credit loop", credits.Loop: "A CREDIT LOOP",
	}[e.Loop])
	if e.Changed >= 0 {
		words = append(words, prose.Count(e.Changed, "entry")+" differ from the switches")
	}
	if e.Lost > 0 {
		words = append(words, fmt.Sprint(e.Lost)+" PAIRS LOST")
	}
	words = append(words, "computed in "+e.Took.Round(time.Millisecond/10).String())
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}

// askOption returns the question whether to set another option.
func (f *Flow) askOption() *Question {
	q := &Question{Name: "option", Text: "Which option should differ from OpenSM's default?", Default: noMore,
		Choices: []Choice{{noMore, "no more options"}}}
	for _, o := range settings.Options {
		if !f.has(o.Name) {
			q.Choices = append(q.Choices, Choice{o.Name, o.Summary})
		}
	}
	return q
}

func (f *Flow) askValue(ctx context.Context, name string) *Question {
	for _, o := range settings.Options {
		if o.Name != name {
			continue
		}
		q := &Question{Name: name, Text: fmt.Sprintf("%s: %s. Which value?", name, o.Summary)}
		if o.File {
			q.Files = files.Folder
		}
		if o.Boolean() {
			q.Choices = []Choice{{"yes", "TRUE in opensm.conf"}, {"no", "FALSE"}}
		}
		q.check = func(value string) error {
			_, err := settings.Parse(ctx, []string{f.answers["engine"]},
				append(f.given(), settings.Setting{Name: name, Value: value}))
			return err
		}
		return q
	}
	return nil
}

// The method given returns the options that the user has set, in the order of [settings.Options].
func (f *Flow) given() []settings.Setting {
	var given []settings.Setting
	for _, o := range settings.Options {
		if f.has(o.Name) {
			given = append(given, settings.Setting{Name: o.Name, Value: f.answers[o.Name]})
		}
	}
	return given
}
