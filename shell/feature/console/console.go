// SPDX-License-Identifier: Apache-2.0

// Package console provides the commands help, run, exit and quit.
package console

import (
	"context"
	"errors"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
)

// Feature provides the commands "help", "run", "exit" and "quit".
var Feature = feature.Feature{Name: "console", Keys: []feature.Key{
	{Name: "pane-8", Keys: "8", Pane: "Log", Help: "commands and their output"},
	{Name: "pane-a", Keys: "a", Pane: "Answer", Nouns: "answers", Help: "answers of commands as tables"},
}, Commands: []feature.Command{
	{
		Path: "help", Group: feature.GroupSession, Summary: "List the commands, or explain one command",
		Args: []lang.Arg{{Name: "COMMAND", Kind: lang.KindCommand, Optional: true, Repeat: true}},
		Examples: []string{
			"help trace",
			"help fail link",
		},
		Answers: []answer.Declared{&helpDecl},
		Run:     help,
	},
	{
		Path: "run", Group: feature.GroupSession, Summary: "Run the commands of a file",
		Help: "run stops at the first command that fails. A file cannot run another file.",
		Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile}},
		Examples: []string{
			"run morning.ibconsole",
			"fail switch spine-03; run morning.ibconsole",
		}, NoAnswer: true,
		Run: run,
	},
	{Path: "exit", Group: feature.GroupSession, Summary: "End the program", Examples: []string{
		"exit",
		"check reach; exit",
	}, NoAnswer: true,
		Run: exit},
	{Path: "quit", Group: feature.GroupSession, Summary: "End the program", Examples: []string{
		"quit",
		"check reach; quit",
	}, NoAnswer: true,
		Run: exit},
}}

// explained is the help of a command.
type explained struct {
	Help string `key:"help"`
	Head string `name:"first line"`
}

var helpDecl = answer.Decl[explained]{
	Command: "help", Help: "the help, as lines", Title: "{first line}", Facts: answer.Fields[explained](), Action: true,
	Draw: func(w *answer.Canvas, _ answer.Basis, x explained) {
		_, rest, _ := strings.Cut(x.Help, "\n")
		_, _ = w.Write([]byte(rest))
	},
}

func help(c *feature.Call) error {
	text, err := c.Console.Help(c.Args...)
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(text, "\n")
	return c.Answer(helpDecl.Answer(answer.Basis{}, explained{text, first}))
}

// running is the key that marks the context of commands read from a file.
type running struct{}

func run(c *feature.Call) error {
	if c.Ctx.Value(running{}) != nil {
		return errors.New("a file cannot run another file")
	}
	text, err := files.All(c.Ctx, c.Arg(0), files.Script)
	if err != nil {
		return err
	}
	err = c.Console.Run(context.WithValue(c.Ctx, running{}, true), fabric.Escape(c.Arg(0)), string(text))
	if errors.Is(err, feature.ErrExit) {
		return nil
	}
	return err
}

func exit(*feature.Call) error { return feature.ErrExit }
