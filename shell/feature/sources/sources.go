// SPDX-License-Identifier: Apache-2.0

// Package sources compares the open subnets of a console and chooses among them.
package sources

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature provides the commands "sources", "source" and "on".
var Feature = feature.Feature{Name: "sources", Keys: []feature.Key{
	{
		Name: "pane-A", Keys: "A", Pane: "All", Nouns: "subnets",
		Help: "the open subnets and their differences",
	},
}, Commands: []feature.Command{
	{
		Path: "sources", Group: feature.GroupSession, Bare: true, Summary: "List the open subnets side by side",
		Help: "Each source (-s) is a subnet with its own session. Rails of the same hosts should be equal in most " +
			"respects.\nsources differ lists their differences. With --fail-on found the command fails if subnets " +
			"differ or have problems.",
		Examples: []string{"sources", "on all sweep; sources"},
		Answers:  []answer.Declared{listDecl},
		Run:      func(c *feature.Call) error { return list(c, listDecl, true) },
	},
	{
		Path: "sources now", Summary: "List the subnets without waiting for their first sweep",
		Help: "A subnet that is still being read is marked.",
		Examples: []string{
			"sources now",
			"sweep; sources now",
		},
		Answers: []answer.Declared{nowDecl},
		Run:     func(c *feature.Call) error { return list(c, nowDecl, false) },
	},
	{
		Path: "sources differ", Summary: "List how subnets differ from the majority",
		Help: "sources differ compares hosts, cabling, speeds and forwarding tables.",
		Examples: []string{
			"sources differ",
			"sweep; sources differ",
		},
		Answers: []answer.Declared{&differDecl},
		Run:     differ,
	},
	{
		Path: "source", Group: feature.GroupSession, Summary: "Show or choose the subnet that commands act on",
		Help: "Other commands act on the chosen subnet, unless they begin with on SUBNET.",
		Args: []lang.Arg{{Name: "SUBNET", Kind: lang.KindSubnet, Optional: true}},
		Examples: []string{
			"source",
			"sources; source",
		},
		Answers: []answer.Declared{sourceDecl},
		Run:     choose,
	},
	{
		Path: "on", Group: feature.GroupSession, Summary: "Run a command on one subnet or on all subnets",
		Help: "Answers are printed in the order of the subnets. A subnet that does not respond does not delay the " +
			"others. With --json,\neach answer has the key subnet. on all fails if the command fails on any subnet. " +
			"Commands that write to switches act on\none subnet only.",
		Args: []lang.Arg{
			{Name: "SUBNET", Kind: lang.KindSubnet}, {Name: "COMMAND", Kind: lang.KindCommand, Repeat: true},
		},
		Examples: []string{"on all check reach", "on all summary"}, NoAnswer: true,
		Run: func(c *feature.Call) error { return c.Misused("no command") },
	},
}}

// figure returns a field with a number from an Overview. The field is unknown if the subnet was not read.
func figure(key, help string, of func(o *Overview) int) answer.Field[*Overview] {
	return answer.Field[*Overview]{
		Key: key, Name: key, Kind: answer.KindInt, Help: help, Value: ifRead(func(o *Overview) answer.Value {
			return answer.Int(of(o))
		}),
	}
}

// ifRead returns a function that calls the function value if the subnet was read, and otherwise returns NotRead.
func ifRead(value func(o *Overview) answer.Value) func(o *Overview) answer.Value {
	return func(o *Overview) answer.Value {
		if o.Trouble != "" {
			return answer.NotRead()
		}
		return value(o)
	}
}

// word returns a field for JSON with an optional word.
func word(key, help string, of func(o *Overview) string) answer.Field[*Overview] {
	return answer.Field[*Overview]{Key: key, Kind: answer.KindText, Help: help, Value: func(o *Overview) answer.Value {
		return answer.Optional(of(o))
	}}
}

var table = answer.Table[*Overview]{
	Key: "subnets", Title: "subnets",
	Fields: []answer.Field[*Overview]{
		{Key: "name", Name: "subnet", Kind: answer.KindText, Help: "name by -s or the configuration, else the " +
			"source", Value: func(o *Overview) answer.Value {
			return answer.Text(o.Name)
		}},
		figure("switches", "", func(o *Overview) int { return o.Switches }),
		figure("hosts", "hosts with an HCA in the subnet, without aggregation nodes", func(o *Overview) int {
			return o.Hosts
		}),
		figure("links", "cables, including those of hosts", func(o *Overview) int { return o.Links }),
		figure("down", "links that were lost, or that the baseline has", func(o *Overview) int {
			return o.Down
		}),
		{
			Name: "errors/warnings", Kind: answer.KindText, Help: "problems",
			Value: ifRead(func(o *Overview) answer.Value {
				return answer.Text(fmt.Sprintf("%d/%d", o.Errors, o.Warnings))
			}),
		},
		{
			Key: "errors", Kind: answer.KindInt, Help: "problems that are errors",
			Value: ifRead(func(o *Overview) answer.Value {
				return answer.Int(o.Errors)
			}),
		},
		{
			Key: "warnings", Kind: answer.KindInt, Help: "problems that are warnings",
			Value: ifRead(func(o *Overview) answer.Value { return answer.Int(o.Warnings) }),
		},
		{
			Key: "worst_load", Name: "most paths", Kind: answer.KindInt,
			Help: "paths over the busiest link between switches, all end ports to all", Value: ifRead(worst),
		},
		answer.IntField("differs", "differs", "differences from most subnets", func(o *Overview) int {
			return o.Differs
		}),
		{Name: "state", Kind: answer.KindText, Help: "the master SM and the time of the last sweep, or why it could " +
			"not be read", Value: func(o *Overview) answer.Value {
			return answer.Text(o.state())
		}},
		word("source", "", func(o *Overview) string { return o.Source }),
		word("error", "why the subnet could not be read", func(o *Overview) string { return o.Trouble }),
		word("lost", "why the connection was lost", func(o *Overview) string { return o.Lost }),
		word("busy", "the command that runs", func(o *Overview) string { return o.Busy }),
		word("manager", "the port of the master subnet manager", func(o *Overview) string { return o.Manager }),
		word("engine", "engine of the live tables", func(o *Overview) string { return o.Engine }),
		{
			Key: "swept", Kind: answer.KindTime, Help: "time of the last sweep",
			Value: ifRead(func(o *Overview) answer.Value {
				return answer.Time(o.Swept)
			}),
		},
	},
}

func worst(o *Overview) answer.Value {
	if o.Worst < 0 {
		return answer.NotRead()
	}
	return answer.Int(o.Worst)
}

// state returns a text with the master SM and the time of the last sweep, or the reason why the subnet could not be
// read.
func (o *Overview) state() string {
	if o.Trouble != "" {
		return o.Trouble
	}
	read := "read " + when.Clock(o.Swept)
	switch {
	case o.Lost != "":
		read = "OUTDATED, " + read + ": " + o.Lost
	case o.Busy != "":
		read += ", " + o.Busy + " runs"
	}
	if o.Manager == "" {
		return read
	}
	return "manager " + o.Manager + "; " + read
}

var listDecl, nowDecl = declare("sources"), declare("sources now")

// declare returns the declaration of a list of subnets.
func declare(command string) *answer.Decl[*Comparison] {
	return &answer.Decl[*Comparison]{
		Command: command, Help: "the open subnets",
		Layout: []answer.Item[*Comparison]{{Table: answer.Show(&table, func(c *Comparison) answer.Rows[*Overview] {
			return answer.Lazy(len(c.Subnets), func(i int) *Overview { return &c.Subnets[i] })
		})}},
		Verdict: (*Comparison).verdict, Fails: answer.Asked, Warns: (*Comparison).warns,
	}
}

// verdict returns Found if subnets differ or have problems, otherwise OK. If something was not read, the basis of the
// answer turns OK into Unknown.
func (c *Comparison) verdict() (answer.Verdict, string) {
	errors, warnings := 0, 0
	for i := range c.Subnets {
		errors, warnings = errors+c.Subnets[i].Errors, warnings+c.Subnets[i].Warnings
	}
	var causes []string
	if errors+warnings > 0 {
		causes = append(causes, prose.Count(errors, "error")+" and "+prose.Count(warnings, "warning")+" in subnets")
	}
	if n := len(c.found()); n > 0 {
		causes = append(causes, prose.Count(n, "difference")+" between subnets")
	}
	if causes == nil {
		return answer.OK, ""
	}
	return answer.Found, strings.Join(causes, ", ")
}

// warns reports whether no subnet has errors. Differences between subnets are warnings.
func (c *Comparison) warns() bool {
	return !slices.ContainsFunc(c.Subnets, func(o Overview) bool { return o.Errors > 0 })
}

// The method found returns the differences between those subnets that were read.
func (c *Comparison) found() []classify.Difference {
	return slices.DeleteFunc(slices.Clone(c.Differences), func(d classify.Difference) bool { return d.Kind == notRead })
}

func list(c *feature.Call, decl *answer.Decl[*Comparison], wait bool) error {
	all := c.Console.Subnets()
	if wait {
		if err := waitForAll(c, all); err != nil {
			return err
		}
	}
	compared, err := Compare(c.Ctx, all)
	if err != nil {
		return err
	}
	return c.Answer(decl.Answer(basisOf(all), compared))
}

func waitForAll(c *feature.Call, all []feature.Subnet) error {
	for _, n := range all {
		if err := n.Wait(c.Ctx); err != nil {
			return err
		}
	}
	return nil
}

// basisOf returns the basis of an answer about several subnets, with the parts that were not read.
func basisOf(all []feature.Subnet) (b answer.Basis) {
	for _, n := range all {
		st := n.Session().State()
		unread := st.Basis(st.Live, session.NeedLinks|session.NeedTables).Unread
		if err := n.Trouble(); err != nil {
			unread = answer.Unread{Count: 1, Causes: []answer.Cause{{What: "subnet", Why: err.Error(), Count: 1}}}
		}
		for i := range unread.Causes {
			if x := &unread.Causes[i]; len(all) > 1 {
				x.Why = strings.TrimSuffix(n.Name()+": "+x.Why, ": ")
			}
		}
		b.Unread = b.Unread.Add(unread)
	}
	return b
}

// differing is the answer with the differences between subnets.
type differing struct {
	*Comparison
	names []string
}

// difference is a row of the table.
type difference struct {
	Subnet string `key:"name" name:"subnet" help:"the subnet that differs from most"`
	Kind   string `key:"differs_in" name:"differs in" help:"size, hosts, cabling, speed, tables, engine or nodes"`
	What   string `key:"what" name:"what"`
}

var differenceTable = answer.Table[difference]{
	Key: "differences", Title: "differences", Fields: answer.Fields[difference](),
}

var differDecl = answer.Decl[*differing]{
	Command: "sources differ", Help: "the differences of subnets from most others",
	Facts: []answer.Field[*differing]{
		answer.TextField("compared", "compared", "", func(d *differing) string { return d.Compared }),
		{Name: "equal", Kind: answer.KindBool, Value: func(d *differing) answer.Value {
			return answer.Bool(len(d.names) > 1 && len(d.Differences) == 0)
		}},
		{Name: "one", Kind: answer.KindBool, Value: func(d *differing) answer.Value {
			return answer.Bool(len(d.names) == 1)
		}},
	},
	Layout: []answer.Item[*differing]{
		{Line: "{?one}only one subnet is open"},
		{Line: "{?equal}all subnets are equal in {compared}"},
		{When: func(d *differing) bool {
			return len(d.Differences) > 0
		}, Table: answer.Show(&differenceTable, func(d *differing) answer.Rows[difference] {
			return answer.Lazy(len(d.Differences), func(i int) difference {
				x := &d.Differences[i]
				return difference{d.names[x.Subnet], string(x.Kind), x.What}
			})
		})},
	},
	Verdict: func(d *differing) (answer.Verdict, string) { return d.verdict() }, Fails: answer.Asked,
	Warns: func(*differing) bool { return true },
}

func differ(c *feature.Call) error {
	all := c.Console.Subnets()
	if err := waitForAll(c, all); err != nil {
		return err
	}
	d := &differing{&Comparison{Compared: compared(all)}, prose.Words(all, feature.Subnet.Name)}
	if len(all) > 1 {
		d.Differences, d.Fabrics = differences(all)
	}
	if err := c.Answer(differDecl.Answer(basisOf(all), d)); err != nil {
		return err
	}
	if read := len(all) - (len(d.Differences) - len(d.found())); len(all) > 1 && read < 2 {
		return fmt.Errorf("compare subnets: only %d of %d subnets could be read", read, len(all))
	}
	return nil
}

// chosen is the answer with the subnet that commands act on.
type chosen struct {
	Name   answer.Value `key:"name" name:"name" kind:"text" help:"if several subnets are open"`
	Source string       `key:"source" name:"source"`
}

var sourceDecl = feature.OneLine[chosen]("source", "the subnet that commands act on", "[{name} ]{source}")

func choose(c *feature.Call) error {
	n, err := c.Console.Choose(c.Arg(0))
	if err != nil {
		return err
	}
	st := n.Session().State()
	x := chosen{Source: st.Source.String()}
	if len(c.Console.Subnets()) > 1 {
		x.Name = answer.Text(n.Name())
	}
	return c.Answer(sourceDecl.Answer(st.SourceBasis(), x))
}
