// SPDX-License-Identifier: Apache-2.0

package route

import (
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/settings"
)

// engineOptions returns the options of the command engine.
func engineOptions() []lang.Option {
	options := []lang.Option{
		{Name: "from", Kind: lang.KindFile, Summary: "read engines and options from an opensm.conf"},
	}
	for _, o := range settings.Options {
		var aliases []string
		if o.Was != "" {
			aliases = []string{o.Was}
		}
		kind := prose.When(o.File, lang.KindFile, lang.KindText)
		options = append(options, lang.Option{Name: o.Name, Aliases: aliases, Kind: kind, Summary: o.Summary})
	}
	return options
}

// chosen is the answer of the command engine: the routing engines and the options that the user set.
type chosen struct {
	Engine  string       `key:"engine" help:"the engines in the order in which they are tried"`
	Options answer.Value `key:"options" kind:"map" help:"the given options, by OpenSM's names"`
	Notes   []string     `key:"notes"`
	Given   string       `name:"given"`
}

var engineDecl = answer.Decl[*chosen]{
	Command: "engine", Help: "the routing engines and their options", Title: "engine {engine}{given}",
	Facts:  answer.Fields[*chosen](),
	Layout: []answer.Item[*chosen]{{Line: "  note: {notes}", Each: "notes"}}, Action: true,
}

func engine(c *feature.Call) error {
	if c.Arg(0) == feature.GuidedWord && len(c.Args)+len(c.Options) == 1 {
		return c.Guide(guided.Engine(c.Ctx, c.Session))
	}
	if len(c.Args)+len(c.Options) > 0 {
		set, err := settingsOf(c)
		if err != nil {
			return err
		}
		c.Session.SetSettings(set)
	}
	st := c.Session.State()
	a := &chosen{Engine: st.Settings.String(), Notes: st.Settings.Notes}
	var options []answer.Named
	for _, g := range st.Settings.Given {
		options = append(options, answer.Named{Name: g.Name, Value: answer.Text(g.Value)})
		a.Given += " " + g.Name + "=" + lang.Quote(fabric.Escape(g.Value))
	}
	a.Options = answer.Map(options)
	return c.Answer(engineDecl.Answer(answer.Basis{Source: st.Source.String()}, a))
}

// settingsOf returns the engine settings that the arguments and options of the command select.
func settingsOf(c *feature.Call) (settings.Settings, error) {
	var chain []string
	words := c.Args
	if c.Arg(0) != "" && !strings.HasPrefix(c.Arg(0), "-") {
		chain, words = strings.Split(c.Arg(0), ","), words[1:]
	}
	var options []settings.Setting
	for _, o := range settings.Options {
		if value, ok := c.Options[o.Name]; ok {
			options = append(options, settings.Setting{Name: o.Name, Value: value})
		}
	}
	conf := c.Option("from", "")
	if len(words) == 0 {
		return read(c, conf, chain, options)
	}
	f, err := settings.ReadFlags(words)
	if err == nil {
		err = f.Join(conf, chain, options)
	}
	if err != nil {
		return settings.Settings{}, c.Misused("%v", err)
	}
	set, err := read(c, f.Conf, f.Chain, f.Given)
	set.Notes = append(f.Notes, set.Notes...)
	return set, err
}

func read(c *feature.Call, conf string, chain []string, options []settings.Setting) (settings.Settings, error) {
	if conf != "" {
		return session.ReadConf(c.Ctx, c.Session, conf, chain, options)
	}
	return settings.Parse(c.Ctx, chain, options)
}

// available is a row of the table: a routing engine.
type available struct {
	Engine string `key:"engine" name:"ENGINE"`
	Chosen bool   `key:"chosen" name:"CHOSEN" help:"the engine is chosen"`
	Mark   string `name:"mark"`
}

var availableTable = answer.Table[available]{Key: "engines", Title: "engines", Fields: answer.Fields[available](),
	Row: "{mark} {engine}"}

var enginesDecl = answer.Decl[[]available]{
	Command: "engines", Help: "the routing engines", Title: "routing engines",
	Layout: []answer.Item[[]available]{{Table: answer.Show(&availableTable, answer.Slice[available])}},
}

func listEngines(c *feature.Call) error {
	st := c.Session.State()
	var all []available
	for _, name := range settings.EngineNames() {
		if name != engines.NoFallback {
			is := slices.Contains(st.Settings.Chain, name)
			all = append(all, available{name, is, prose.When(is, "*", " ")})
		}
	}
	return c.Answer(enginesDecl.Answer(answer.Basis{Source: st.Source.String()}, all))
}
