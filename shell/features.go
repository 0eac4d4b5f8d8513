// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/feature/adaptive"
	"example.org/ibconsole/shell/feature/alternate"
	"example.org/ibconsole/shell/feature/balance"
	"example.org/ibconsole/shell/feature/cables"
	"example.org/ibconsole/shell/feature/cabling"
	"example.org/ibconsole/shell/feature/calibrate"
	"example.org/ibconsole/shell/feature/capture"
	"example.org/ibconsole/shell/feature/check"
	"example.org/ibconsole/shell/feature/commit"
	"example.org/ibconsole/shell/feature/compare"
	"example.org/ibconsole/shell/feature/congestion"
	"example.org/ibconsole/shell/feature/console"
	"example.org/ibconsole/shell/feature/counts"
	"example.org/ibconsole/shell/feature/difference"
	"example.org/ibconsole/shell/feature/doctor"
	"example.org/ibconsole/shell/feature/dump"
	"example.org/ibconsole/shell/feature/entries"
	"example.org/ibconsole/shell/feature/failures"
	"example.org/ibconsole/shell/feature/flaps"
	"example.org/ibconsole/shell/feature/forecast"
	"example.org/ibconsole/shell/feature/generate"
	"example.org/ibconsole/shell/feature/groups"
	"example.org/ibconsole/shell/feature/handover"
	"example.org/ibconsole/shell/feature/hosts"
	"example.org/ibconsole/shell/feature/ibdiagnet"
	"example.org/ibconsole/shell/feature/inventory"
	"example.org/ibconsole/shell/feature/job"
	"example.org/ibconsole/shell/feature/lft"
	"example.org/ibconsole/shell/feature/links"
	"example.org/ibconsole/shell/feature/load"
	"example.org/ibconsole/shell/feature/managers"
	"example.org/ibconsole/shell/feature/mft"
	"example.org/ibconsole/shell/feature/nodes"
	"example.org/ibconsole/shell/feature/partitions"
	"example.org/ibconsole/shell/feature/paths"
	"example.org/ibconsole/shell/feature/problems"
	"example.org/ibconsole/shell/feature/ranks"
	"example.org/ibconsole/shell/feature/record"
	"example.org/ibconsole/shell/feature/reports"
	"example.org/ibconsole/shell/feature/resilience"
	"example.org/ibconsole/shell/feature/route"
	"example.org/ibconsole/shell/feature/sa"
	"example.org/ibconsole/shell/feature/sl"
	"example.org/ibconsole/shell/feature/sl2vl"
	"example.org/ibconsole/shell/feature/sources"
	"example.org/ibconsole/shell/feature/states"
	"example.org/ibconsole/shell/feature/structure"
	"example.org/ibconsole/shell/feature/suggest"
	"example.org/ibconsole/shell/feature/summary"
	"example.org/ibconsole/shell/feature/sweep"
	"example.org/ibconsole/shell/feature/targets"
	"example.org/ibconsole/shell/feature/trace"
	"example.org/ibconsole/shell/feature/transition"
	"example.org/ibconsole/shell/feature/unanswered"
	"example.org/ibconsole/shell/feature/verify"
	"example.org/ibconsole/shell/feature/vlarb"
	"example.org/ibconsole/shell/feature/watch"
	"example.org/ibconsole/shell/feature/who"
)

// features lists the features.
var features = []*feature.Feature{
	&adaptive.Feature,
	&alternate.Feature,
	&balance.Feature,
	&cables.Feature,
	&inventory.Feature,
	&cabling.Feature,
	&calibrate.Feature,
	&capture.Feature,
	&check.Feature,
	&commit.Feature,
	&compare.Feature,
	&congestion.Feature,
	&console.Feature,
	&counts.Feature,
	&difference.Feature,
	&doctor.Feature,
	&dump.Feature,
	&entries.Feature,
	&failures.Feature,
	&flaps.Feature,
	&forecast.Feature,
	&ibdiagnet.Feature,
	&generate.Feature,
	&groups.Feature,
	&handover.Feature,
	&hosts.Feature,
	&job.Feature,
	&lft.Feature,
	&links.Feature,
	&load.Feature,
	&managers.Feature,
	&mft.Feature,
	&nodes.Feature,
	&partitions.Feature,
	&paths.Feature,
	&problems.Feature,
	&ranks.Feature,
	&record.Feature,
	&reports.Feature,
	&resilience.Feature,
	&route.Feature,
	&sa.Feature,
	&sl.Feature,
	&sl2vl.Feature,
	&sources.Feature,
	&states.Feature,
	&structure.Feature,
	&suggest.Feature,
	&summary.Feature,
	&sweep.Feature,
	&targets.Feature,
	&trace.Feature,
	&transition.Feature,
	&unanswered.Feature,
	&verify.Feature,
	&vlarb.Feature,
	&watch.Feature,
	&who.Feature,
}

// Features returns all features.
func Features() []*feature.Feature { return slices.Clone(features) }

// Keys returns the keys of the screen that all features define.
func Keys() []feature.Key {
	var all []feature.Key
	for _, f := range features {
		all = append(all, f.Keys...)
	}
	return all
}

// commands returns the commands of all features by group. Subcommands are placed below the command of their path.
func commands() []Spec {
	var specs []Spec
	for _, f := range features {
		for i := range f.Commands {
			specs = addCommand(specs, f.Commands[i].Words(), &f.Commands[i])
		}
	}
	slices.SortStableFunc(specs, func(a, b Spec) int {
		return cmp.Compare(slices.Index(feature.Groups, feature.Group(a.Group)),
			slices.Index(feature.Groups, feature.Group(b.Group)))
	})
	return specs
}

func addCommand(specs []Spec, words []string, c *feature.Command) []Spec {
	at := slices.IndexFunc(specs, func(s Spec) bool { return s.Name == words[0] })
	if at < 0 {
		at = len(specs)
		specs = append(specs, Spec{Name: words[0]})
	}
	if len(words) > 1 {
		specs[at].Subcommands = addCommand(specs[at].Subcommands, words[1:], c)
		return specs
	}
	under := specs[at].Subcommands
	specs[at] = specOf(words[0], c)
	specs[at].Subcommands = under
	return specs
}

func specOf(name string, c *feature.Command) Spec {
	spec := Spec{
		Name: name, Bare: c.Bare, Aliases: c.Aliases, Group: string(c.Group), Summary: c.Summary, Help: c.Help,
		Args: c.Args, Options: c.Options, DashArgs: c.DashArgs, Examples: c.Examples,
	}
	if c.Run != nil {
		spec.Run = func(call *call) error {
			return c.Run(call.feature())
		}
	}
	return spec
}

// feature returns the call for a feature.
func (c *call) feature() *feature.Call {
	return &feature.Call{
		Invocation: c.Invocation, Ctx: c.ctx, Session: c.session, Output: c.out, Console: theConsole{c},
	}
}

// Schemas returns the JSON Schema of the answers of a command. Without words it returns that of all commands. It fails
// if the command declares no answers.
func Schemas(words ...string) (map[string]any, error) {
	all := declarations(words)
	switch {
	case len(all) == 1:
		return all[0].Schema(), nil
	case all == nil:
		if _, err := New(nil).Help(words...); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("the answers of %s have no schema", fabric.Escape(strings.Join(words, " ")))
	}
	var schemas []any
	joined := map[string]any{}
	for _, d := range all {
		schema := d.Schema()
		for _, shared := range []string{"$schema", "$defs"} {
			joined[shared] = schema[shared]
			delete(schema, shared)
		}
		schemas = append(schemas, schema)
	}
	joined["anyOf"] = schemas
	return joined, nil
}

// declarations returns the declarations of the answers of a command. Without words it returns those of all commands.
func declarations(words []string) (all []answer.Declared) {
	for _, f := range features {
		for i := range f.Commands {
			if c := &f.Commands[i]; len(words) == 0 || slices.Equal(c.Words(), words) {
				all = append(all, c.Answers...)
			}
		}
	}
	return all
}
