// SPDX-License-Identifier: Apache-2.0

// Package generate generates regular topologies.
package generate

import (
	"io"
	"strings"

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
		var options []lang.Option
		for _, name := range k.Params() {
			options = append(options, lang.Option{Name: name, Kind: lang.KindInt})
		}
		for _, o := range gen.Common() {
			options = append(options, lang.Option{Name: o.Name, Kind: lang.KindWord, Words: o.Words, Summary: o.Help})
		}
		decl := feature.OneLine[generated]("gen "+k.Name, "the topology that was written",
			k.Name+" {arguments}: {switches|switch}, {cas|channel adapter}, {links|link} written to {file}")
		all = append(all, feature.Command{
			Path: "gen " + k.Name, Summary: "Generate a topology of the shape " + k.Name, Help: k.Usage + "\n" + k.Help,
			Options: options,
			Args:    []lang.Arg{{Name: "ARGS FILE", Kind: lang.KindFile, Repeat: true, Written: true}},
			Examples: []string{
				"gen " + k.Name + " " + arguments[k.Name] + " net",
				"gen " + k.Name + " " + arguments[k.Name] + " net; load topology net over=no; route",
			},
			Answers: []answer.Declared{decl},
			Run:     func(c *feature.Call) error { return generate(c, decl, k.Name) },
		})
		parent.Help += k.Usage + "\n"
	}
	parent.Help = strings.TrimSuffix(parent.Help, "\n")
	all[0] = parent
	return all
}

// generated is a topology that was written.
type generated struct {
	File      string `key:"file"`
	Switches  int    `key:"switches"`
	CAs       int    `key:"cas"`
	Links     int    `key:"links"`
	Arguments string `key:"arguments" help:"of the shape"`
}

func generate(c *feature.Call, decl *answer.Decl[generated], kind string) error {
	args := c.Args
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
	write := func(w io.Writer) error { return gen.WriteNet(w, f) }
	if path == "-" {
		return c.Raw(write)
	}
	if err := files.Write(path, write); err != nil {
		return err
	}
	a := generated{path, len(f.Switches), len(f.Nodes) - len(f.Switches), len(f.Links()), strings.Join(args, " ")}
	return c.Answer(decl.Answer(answer.Basis{}, a))
}
