// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/guided"
)

const guidedWord = "guided"

func guidedSpec(what string, flow func(*call) *guided.Flow) Spec {
	return Spec{Name: guidedWord, Run: func(c *call) error { return c.guide(flow(c)) }, Summary: "ask step by step what to " + what + ", and show the command that does the same unattended"}
}

// errUnattended says why there is nobody to ask.
var errUnattended = errors.New("it asks questions, and there is no terminal to answer them (help says what commands take unattended)")

// guide asks the questions of a flow one after the other and runs its command.
func (c *call) guide(f *guided.Flow) error {
	if c.out.Ask == nil || c.out.isJSON() {
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
		if err := c.ask(f, q); err != nil {
			return err
		}
	}
	if !f.Agreed() {
		c.out.note("nothing was done")
		return nil
	}
	return c.shell.Run(c.ctx, c.Command, f.Command(), c.out)
}

// ask prints a question and reads answers until one will do.
func (c *call) ask(f *guided.Flow, q *guided.Question) error {
	for _, line := range q.Explain {
		_, _ = fmt.Fprintln(c.out.W, line)
	}
	_, _ = fmt.Fprintln(c.out.W, q.Text)
	wide := 10
	for _, choice := range q.Choices {
		wide = max(wide, len(choice.Value))
	}
	for i, choice := range q.Choices {
		number := fmt.Sprintf("%2d", i+1)
		if !q.Numbered() {
			number = "  "
		}
		_, _ = fmt.Fprintf(c.out.W, " %s  %-*s  %s\n", number, wide, choice.Value, choice.Text)
	}
	prompt := prose.When(q.Default != "", fmt.Sprintf("%s [%s]: ", q.Name, q.Default), q.Name+": ")
	for {
		text, err := c.out.Ask(c.ctx, prompt)
		if errors.Is(err, io.EOF) {
			return errors.New("the questions were left; nothing was done")
		}
		if err != nil {
			return err
		}
		err = f.Answer(q, text)
		if err == nil {
			return nil
		}
		c.out.note("%v", err)
	}
}

// Asker reads one line that somebody types behind a prompt; io.EOF where they leave.
type Asker func(ctx context.Context, prompt string) (string, error)
