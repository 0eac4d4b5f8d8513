// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/guided"
)

// Asker prints a prompt and reads a line from the user. It returns io.EOF if the user quits.
type Asker func(ctx context.Context, prompt string) (string, error)

// GuidedWord is the name of the subcommands that ask questions.
const GuidedWord = "guided"

// Guided returns the subcommand of a command that asks for the arguments, such as "fail guided".
func Guided(command, what string, flow func(*Call) *guided.Flow) Command {
	path := command + " " + GuidedWord
	return Command{
		Path: path, Summary: "Ask step by step what to " + what,
		Help:     "At the end it shows the command that does the same without questions.",
		Examples: []string{path}, NoAnswer: true,
		Run: func(c *Call) error { return c.Guide(flow(c)) },
	}
}

// errUnattended is returned by guided commands without a terminal.
var errUnattended = errors.New("questions require a terminal; hint: 'help' lists commands without questions")

// Guide asks the questions of a flow one after the other, and then runs the command that the answers give.
func (c *Call) Guide(f *guided.Flow) error {
	w, ask := c.Output.Terminal()
	if ask == nil {
		return errUnattended
	}
	for {
		q, err := f.Next()
		if err != nil {
			return err
		}
		if q == nil {
			break
		}
		if err := c.question(w, ask, f, q); err != nil {
			return err
		}
	}
	if !f.Agreed() {
		_, err := fmt.Fprintln(w, "nothing was done")
		return err
	}
	return c.Console.Run(c.Ctx, c.Command, f.Command())
}

// question prints a question and reads answers until one is valid.
func (c *Call) question(w io.Writer, ask Asker, f *guided.Flow, q *guided.Question) error {
	for _, line := range q.Explain {
		_, _ = fmt.Fprintln(w, line)
	}
	_, _ = fmt.Fprintln(w, q.Text)
	wide := 10
	for _, choice := range q.Choices {
		wide = max(wide, len(choice.Value))
	}
	for i, choice := range q.Choices {
		number := fmt.Sprintf("%2d", i+1)
		if !q.Numbered() {
			number = "  "
		}
		_, _ = fmt.Fprintf(w, " %s  %-*s  %s\n", number, wide, choice.Value, choice.Text)
	}
	prompt := prose.When(q.Default != "", fmt.Sprintf("%s [%s]: ", q.Name, q.Default), q.Name+": ")
	for {
		text, err := ask(c.Ctx, prompt)
		if errors.Is(err, io.EOF) {
			return errors.New("cancelled; nothing was done")
		}
		if err != nil {
			return err
		}
		if err = f.Answer(q, text); err == nil {
			return nil
		}
		_, _ = fmt.Fprintln(w, err)
	}
}
