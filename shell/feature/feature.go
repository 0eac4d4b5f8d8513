// SPDX-License-Identifier: Apache-2.0

// Package feature is what a feature of the command language is: its commands with their examples and answers, in one
// literal. Each feature has a package of its own below this one. Features do not import each other.
package feature

import (
	"cmp"
	"context"
	"io"
	"strings"

	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature is a part of the program that can be left out: commands, and the keys of the screen for them.
type Feature struct {
	Name     string
	Keys     []Key
	Commands []Command
}

// Key is a key of the screen for what a feature offers. The screen finds what it does by Name, and the pane by Pane.
type Key struct {
	Name string // by which a configuration file binds other keys
	Keys string // the keys unless they are rebound, with blanks between them
	Pane string // the name of the pane to which it leads, "" for an action
	Help string
}

// Group is the task that a command serves, as a heading of the list of commands.
type Group string

// The groups, in the order of the list.
const (
	GroupLook     Group = "Look at the subnet"
	GroupTrace    Group = "Trace paths"
	GroupSimulate Group = "Simulate failures and changes"
	GroupRoute    Group = "Route"
	GroupWrite    Group = "Write to the subnet"
	GroupHistory  Group = "Compare with past states"
	GroupRecord   Group = "Record counters, events and packets"
	GroupFiles    Group = "Read and write files"
	GroupSession  Group = "Control this session"
)

// Groups lists the groups in their order.
var Groups = []Group{
	GroupLook, GroupTrace, GroupSimulate, GroupRoute, GroupWrite, GroupHistory, GroupRecord, GroupFiles, GroupSession,
}

// Command is a command of a feature. Its last word may be a subcommand of a command of another feature: "show cables".
type Command struct {
	Path     string
	Bare     bool     // runs without a subcommand although there are some
	Aliases  []string // of the last word
	Group    Group    // of a Path of one word
	Summary  string   // at most 60 characters: a verb with a capital letter first, no semicolon, no full stop
	Help     string   // more lines, may be empty
	Args     []lang.Arg
	Options  []lang.Option
	DashArgs bool              // words that begin with a dash are arguments
	Examples []string          // each a script for the default simulated subnet
	Answers  []answer.Declared // what Run answers
	NoAnswer bool              // Run answers nothing itself: it runs other commands, or ends the console
	Run      func(*Call) error // nil for a command that has subcommands only
}

// Words returns the words of the path.
func (c *Command) Words() []string { return strings.Fields(c.Path) }

// Output takes what a command answers.
type Output interface {
	// Declared writes an answer.
	Declared(*answer.Answer) error
	// File returns the writer for a file in place of an answer, nil where the answers are JSON, which has no place for
	// it.
	File() io.Writer
	// Preview writes for people what is to be done, before it is. Programs find it in the answer that follows.
	Preview(*answer.Answer) error
	// Previewed writes for programs an answer that people have read as a preview.
	Previewed(*answer.Answer) error
	// Terminal returns where questions are written and the function that asks for answers, nil where nobody answers.
	Terminal() (io.Writer, Asker)
	// Format returns the form of the answers.
	Format() answer.Form
	// Remarks writes next to a file what it rests on: warnings, and what was not read unless that was written before.
	Remarks(answer.Basis)
	// Warn writes a warning next to the answers.
	Warn(text string)
	// IsScript reports whether nobody reads along, so that a command fails where something is not as it was asked for.
	IsScript() bool
	// FailsOn reports whether the user asked for commands to fail on a verdict.
	FailsOn(answer.Verdict) bool
}

// Call is a command that runs.
type Call struct {
	*lang.Invocation
	Ctx     context.Context
	Session *session.Session
	Output  Output
	Console Console
}

// FoundError is the error of a command whose answer has a verdict that fails.
type FoundError struct {
	Verdict answer.Verdict
	What    string
}

func (e *FoundError) Error() string { return e.What }

// Answer writes an answer. It fails with a [*FoundError] where the verdict of the answer is one that fails, always or
// because the user asked for it.
func (c *Call) Answer(a *answer.Answer) error {
	if err := c.Output.Declared(a); err != nil {
		return err
	}
	return c.VerdictError(a)
}

// VerdictError returns the error of an answer with a verdict that fails, as [Call.Answer] does, without writing the answer.
func (c *Call) VerdictError(a *answer.Answer) error {
	verdict, what := a.Verdict()
	switch {
	case verdict == answer.OK || a.Fails() == answer.Never || a.Fails() == answer.Asked && !c.Output.FailsOn(verdict):
		return nil
	case verdict == answer.Unknown && c.Option("strict", "yes") == "no":
		c.Output.Warn(what)
		return nil
	}
	return &FoundError{verdict, cmp.Or(what, verdict.String())}
}

// State returns the state of the session, and the picture that the option of names; without it staged if there is one,
// else the what-if, else live.
func (c *Call) State() (*session.State, *session.Picture, error) {
	st := c.Session.State()
	p, err := st.Subject(session.Kind(c.Option("of", "")))
	return &st, p, err
}

// Tables is [Call.State] for a picture that must have tables.
func (c *Call) Tables() (*session.State, *session.Picture, error) {
	st := c.Session.State()
	p, err := st.FreshTablesOf(session.Kind(c.Option("of", "")))
	return &st, p, err
}

// Raw writes a file as it is in place of an answer.
func (c *Call) Raw(write func(io.Writer) error) error {
	w := c.Output.File()
	if w == nil {
		return c.Misused("with --json - is no file: what is written is not JSON; name a file, or leave out --json")
	}
	return write(w)
}
