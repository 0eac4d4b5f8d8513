// SPDX-License-Identifier: Apache-2.0

// Package shell is the command language of ibconsole over one session, or several: every
// command of the scripts, the REPL and the terminal interface.
package shell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// ErrExit is what the command exit ends with.
var ErrExit = feature.ErrExit

// CommandError says which command failed, and why.
type CommandError struct {
	Command string
	// Name and Line say where it stood; Line is 0 where that does not matter.
	Name string
	Line int
	Err  error
}

func (e *CommandError) Error() string {
	text := e.Err.Error()
	if start := e.Command + ": "; !strings.HasPrefix(text, start) {
		text = start + text
	}
	if e.Line > 0 {
		text += fmt.Sprintf(" (%s:%d)", plain.EscapeLine(e.Name), e.Line)
	}
	return text
}

func (e *CommandError) Unwrap() error { return e.Err }

// Shell runs commands on a session.
type Shell struct {
	session *session.Session
	specs   []Spec
	among   *Subnets // those that are open beside it, nil for a shell by itself
}

// Spec describes a command.
type Spec = lang.Spec[*call]

// call is one command that runs.
type call struct {
	*lang.Invocation
	ctx     context.Context
	out     *Output
	shell   *Shell
	session *session.Session
}

// New makes a shell over a session.
func New(s *session.Session) *Shell { return &Shell{session: s, specs: commands()} }

// Session returns the session that the commands act on.
func (sh *Shell) Session() *session.Session { return sh.session }

// Specs returns the commands.
func (sh *Shell) Specs() []Spec { return sh.specs }

// Help explains the command that words name; without any it lists them all.
func (sh *Shell) Help(words ...string) (string, error) { return lang.Help(sh.specs, words...) }

// Complete returns what may stand at the cursor of a line: candidates for line[start:cursor].
func (sh *Shell) Complete(line string, cursor int) (start int, candidates []lang.Candidate) {
	cursor = min(max(cursor, 0), len(line))
	of, from := sh.onto(line[:cursor])
	start, candidates = lang.Complete(sh.specs, line[from:], cursor-from, env{of.session, sh.among})
	return from + start, candidates
}

// Hint returns the usage of the command at the end of a text, and what it does.
func (sh *Shell) Hint(text string) (usage, summary string) {
	_, from := sh.onto(text)
	return lang.Hint(sh.specs, text[from:])
}

// Search returns the commands that have to do with a word.
func (sh *Shell) Search(word string) []lang.Candidate { return lang.Search(sh.specs, word) }

type step struct {
	*lang.Invocation
	run  func(*call) error
	who  string // the subnet that it names, or all; "" for none
	file string // the file that it writes, "" for none
}

// Run runs the statements of a text one after the other and stops at the first that fails. Nothing runs where
// one of them is not understood: the error then is a [lang.UsageError] or a syntax error; else it is a
// [*CommandError], or [ErrExit].
func (sh *Shell) Run(ctx context.Context, name, text string, out *Output) error {
	stmts, err := lang.Parse(name, text)
	if err != nil {
		return err
	}
	return sh.Execute(ctx, name, stmts, out)
}

// Execute is [Shell.Run] of statements that were parsed already.
func (sh *Shell) Execute(ctx context.Context, name string, stmts []lang.Statement, out *Output) error {
	return sh.execute(ctx, name, stmts, out, func(step) performer { return sh })
}

// performer is what a step runs on: a shell, or a subnet among others.
type performer interface {
	Session() *session.Session
	perform(ctx context.Context, s step, out *Output) error
}

// execute runs statements, each on what target says.
func (sh *Shell) execute(ctx context.Context, name string, stmts []lang.Statement, out *Output,
	target func(step) performer) error {
	var steps []step
	withLines := len(stmts) > 1 || len(stmts) == 1 && stmts[0].Line > 1
	for _, stmt := range stmts {
		s, err := sh.bind(stmt)
		if err != nil {
			if withLines && stmt.Line > 0 {
				return fmt.Errorf("%s:%d: %w", plain.EscapeLine(name), stmt.Line, err)
			}
			return err
		}
		steps = append(steps, s)
	}
	for i, s := range steps {
		at := target(s)
		if ctx.Err() != nil {
			return &InterruptedError{Left: len(steps) - i, Err: ctx.Err(), Cause: context.Cause(ctx)}
		}
		if err := at.perform(ctx, s, out); err != nil {
			st := at.Session().State()
			return sh.failed(name, withLines, s, interrupted(ctx, &st, len(steps)-i-1, err))
		}
	}
	return nil
}

func (sh *Shell) perform(ctx context.Context, s step, out *Output) error {
	its := out.running()
	if err := s.run(&call{Invocation: s.Invocation, ctx: ctx, out: its, shell: sh, session: sh.session}); err != nil {
		return err
	}
	return its.ended(s.Command, out)
}

func (sh *Shell) failed(name string, withLine bool, s step, err error) error {
	var usage *lang.UsageError
	if errors.Is(err, ErrExit) || errors.As(err, &usage) {
		return err
	}
	e := &CommandError{Command: s.Invocation.Command, Name: name, Err: err}
	if withLine {
		e.Line = s.Line
	}
	return e
}

func (sh *Shell) bind(stmt lang.Statement) (step, error) {
	if stmt.Words[0] == onCommand && len(stmt.Words) > 2 {
		return sh.bindOn(stmt)
	}
	spec, err := lang.Find(sh.specs, stmt.Words[0])
	if err != nil {
		return step{}, err
	}
	spec, inv, err := lang.Bind(spec, stmt)
	if err != nil {
		return step{}, err
	}
	return step{Invocation: inv, run: spec.Run, file: spec.WrittenFile(inv)}, nil
}

// Prompt is what the command line shows before the cursor: the source, that the
// connection to it is lost, and the pictures that are not live.
func (sh *Shell) Prompt() string {
	st := sh.session.State()
	words := []string{string(st.Source.Kind)}
	if name := sh.Name(); name != "" {
		words = []string{name, words[0]}
	}
	if st.Lost != "" {
		words = append(words, "LOST")
	}
	switch {
	case st.Staged != nil && st.Stale:
		words = append(words, "stale")
	case st.Staged != nil:
		words = append(words, "staged")
	}
	if st.WhatIf != nil {
		words = append(words, "what-if")
	}
	if st.WriteOn {
		words = append(words, "WRITE")
	}
	return strings.Join(words, " ") + "> "
}

// InterruptedError says that a command was cancelled, and how far it was, or that a script was cancelled between two
// commands. It wraps what the command returned and what it was cancelled by.
type InterruptedError struct {
	Done, Total int // Done of Total steps were, or 0 of 0 where that is not known
	Left        int // how many commands were not run
	Err         error
	Cause       error
}

// Error returns for example "sweep: interrupted (1024 of 5013 done; 2 commands not run)".
func (e *InterruptedError) Error() string {
	var notes []string
	if e.Total > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d done", e.Done, e.Total))
	}
	if e.Left > 0 {
		notes = append(notes, prose.Count(e.Left, "command")+" not run")
	}
	text := strings.NewReplacer(context.Canceled.Error(), "interrupted", e.Cause.Error(),
		"interrupted").Replace(e.Err.Error())
	if len(notes) == 0 {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, strings.Join(notes, "; "))
}

// Interrupted marks the error as one that says by itself what happened.
func (*InterruptedError) Interrupted() {}

// Unwrap returns Err and Cause.
func (e *InterruptedError) Unwrap() []error { return []error{e.Err, e.Cause} }

// interrupted turns the error of a command that was cancelled into one that says
// so. left is how many commands after it were to be run.
func interrupted(ctx context.Context, st *session.State, left int, err error) error {
	cause := context.Cause(ctx)
	if cause == nil || !errors.Is(err, context.Canceled) && !errors.Is(err, cause) {
		return err
	}
	e := &InterruptedError{Left: left, Err: err, Cause: cause}
	if st.Done < st.Total {
		e.Done, e.Total = st.Done, st.Total
	}
	return e
}

// Private reports whether a line holds a key, which is not to be kept in a file.
func Private(line string) bool {
	return slices.ContainsFunc(strings.Fields(line), func(word string) bool { return strings.HasPrefix(word, "key=") })
}
