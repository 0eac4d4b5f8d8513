// SPDX-License-Identifier: Apache-2.0

// Package generate generates regular topologies.
package generate

import (
	"io"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/plans"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
)

// Feature is the commands gen.
var Feature = feature.Feature{Name: "generate", Commands: commands()}

// arguments are the arguments in the examples, by kind of topology.
var arguments = map[string]string{
	"bull": "2 2", "dfplus": "3 2 2", "director": "2 2", "dragonfly": "2 1 2", "fattree": "2 8", "hypercube": "3",
	"mesh": "3x3", "multiplane": "2 4 2",
	"railtree": "32", "random": "8 3 16", "torus": "4x4x4 hosts=2", "xgft": "2 4,4 1,2",
}

func commands() []feature.Command {
	parent := feature.Command{
		Path: "gen", Group: feature.GroupFiles, Summary: "Generate a topology and write it as an ibsim net",
	}
	all := []feature.Command{{}}
	for _, k := range gen.Kinds() {
		decl := feature.OneLine[generated]("gen "+k.Name, "the topology that was written",
			k.Name+" {arguments}: {switches|switch}, {cas|channel adapter}, {links|link} written to {file}")
		all = append(all, feature.Command{
			Path: "gen " + k.Name, Summary: "Generate a topology of the shape " + k.Name, Help: k.Usage + "\n" + k.Help,
			Options: optionsOf(k),
			Args:    []lang.Arg{{Name: "ARGS FILE", Kind: lang.KindFile, Repeat: true, Written: true}},
			Examples: []string{
				"gen " + k.Name + " " + arguments[k.Name] + " net",
				"gen " + k.Name + " " + arguments[k.Name] + " net; load topology net over=no; route",
			},
			Answers: []answer.Declared{decl},
			Run: func(c *feature.Call) error {
				return generate(c, decl, k.Name, c.Args, gen.WriteNet)
			},
		})
		parent.Help += k.Usage + "\n"
	}
	parent.Help = strings.TrimSuffix(parent.Help, "\n")
	all[0] = parent
	return append(all, planCommand())
}

// optionsOf returns the options of some kinds, each option once.
func optionsOf(kinds ...gen.Kind) (options []lang.Option) {
	seen := map[string]bool{}
	for _, k := range kinds {
		for _, name := range k.Params() {
			if !seen[name] {
				options = append(options, lang.Option{Name: name, Kind: lang.KindInt})
			}
			seen[name] = true
		}
	}
	for _, o := range gen.Common() {
		options = append(options, lang.Option{Name: o.Name, Kind: lang.KindWord, Words: o.Words, Summary: o.Help})
	}
	return options
}

// planCommand returns the command that writes the cables of a shape as a plan.
func planCommand() feature.Command {
	const format = "format"
	decl := feature.OneLine[generated]("gen plan", "the plan that was written",
		"cabling plan of {shape}: {links|cable} written to {file}")
	return feature.Command{
		Path: "gen plan", Summary: "Generate the cabling plan of a topology",
		Help: "KIND is a shape with its arguments, as in 'gen fattree'. Nodes get the names that 'gen KIND' gives " +
			"them.\nThe command check cabling reads the plan.",
		Args: []lang.Arg{{Name: "KIND ARGS FILE", Kind: lang.KindFile, Repeat: true, Written: true}},
		Options: append(optionsOf(gen.Kinds()...), lang.Option{
			Name: format, Kind: lang.KindWord, Words: plans.Formats, Summary: "NDT of UFM, CSV or YAML (default ndt)",
		}),
		Examples: []string{
			"gen plan fattree 2 8 plan.csv",
			"gen fattree 2 8 net; load topology net over=no; gen plan fattree 2 8 plan.yaml format=yaml; " +
				"check cabling plan.yaml",
		},
		Answers: []answer.Declared{decl},
		Run: func(c *feature.Call) error {
			if len(c.Args) < 2 {
				return c.Misused("missing kind of topology or file")
			}
			form := c.Option(format, plans.Formats[0])
			delete(c.Options, format) // the other options are arguments of the shape
			_, hasSpeed := c.Options["speed"]
			return generate(c, decl, c.Arg(0), c.Args[1:], func(w io.Writer, f *fabric.Fabric) error {
				return plans.Write(w, f, form, hasSpeed)
			})
		},
	}
}

// generated is a topology that was written.
type generated struct {
	File      string `key:"file"`
	Switches  int    `key:"switches"`
	CAs       int    `key:"cas"`
	Links     int    `key:"links"`
	Arguments string `key:"arguments" help:"of the shape"`
	Shape     string `name:"shape"`
}

// generate writes the topology of a kind with the given arguments. The last argument is the file.
func generate(c *feature.Call, decl *answer.Decl[generated], kind string, args []string,
	writeTo func(io.Writer, *fabric.Fabric) error) error {
	if len(args) < 1 {
		return c.Misused("missing file")
	}
	path, args := args[len(args)-1], args[:len(args)-1]
	for name, value := range c.Options {
		args = append(args, name+"="+value)
	}
	f, err := gen.Parse(kind, args)
	switch {
	case err != nil && len(args) == 0:
		return c.Misused("the arguments of the shape are missing before the file %s", path)
	case err != nil:
		return err
	}
	write := func(w io.Writer) error { return writeTo(w, f) }
	if path == "-" {
		return c.Raw(write)
	}
	if err := files.Write(path, write); err != nil {
		return err
	}
	a := generated{path, len(f.Switches), len(f.Nodes) - len(f.Switches), len(f.Links()), strings.Join(args, " "),
		kind + " " + strings.Join(args, " ")}
	return c.Answer(decl.Answer(answer.Basis{}, a))
}
