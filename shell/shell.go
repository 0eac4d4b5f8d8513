// SPDX-License-Identifier: Apache-2.0

// Package shell runs the command language of ibconsole on one or several sessions. Scripts, the command line and the
// screen use this package.
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

// ErrExit is the error of the command exit.
var ErrExit = feature.ErrExit

// CommandError is returned for a command that failed.
type CommandError struct {
	Command string
	Name    string // name of the script
	Line    int    // line in the script, 0 to omit it from the text
	Err     error
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
	among   *Subnets // all open subnets, nil for a shell of its own
}

// Spec describes a command.
type Spec = lang.Spec[*call]

// call is a running command.
type call struct {
	*lang.Invocation
	ctx     context.Context
	out     *Output
	shell   *Shell
	session *session.Session
}

// New returns a shell on a session.
func New(s *session.Session) *Shell { return &Shell{session: s, specs: commands()} }

// Session returns the session on which the commands act.
func (sh *Shell) Session() *session.Session { return sh.session }

// Specs returns the commands.
func (sh *Shell) Specs() []Spec { return sh.specs }

// Help returns the help of the command that the words name. Without words it returns a list of all commands.
func (sh *Shell) Help(words ...string) (string, error) { return lang.Help(sh.specs, words...) }

// Complete returns candidates that can replace line[start:cursor].
func (sh *Shell) Complete(line string, cursor int) (start int, candidates []lang.Candidate) {
	cursor = min(max(cursor, 0), len(line))
	of, from := sh.targetShell(line[:cursor])
	start, candidates = lang.Complete(sh.specs, line[from:], cursor-from, env{of.session, sh.among})
	return from + start, candidates
}

// Hint returns the usage and the summary of the command at the end of a text.
func (sh *Shell) Hint(text string) (usage, summary string) {
	_, from := sh.targetShell(text)
	return lang.Hint(sh.specs, text[from:])
}

// Search returns the commands whose names or help contain a word.
func (sh *Shell) Search(word string) []lang.Candidate { return lang.Search(sh.specs, word) }

type step struct {
	*lang.Invocation
	run  func(*call) error
	on   string // the subnet of "on SUBNET", or all; "" for none
	file string // the file that it writes, "" for none
}

// Run runs the statements of a text in order, until one fails. It first checks all statements. If a statement is wrong,
// Run runs none and returns a [lang.UsageError] or a syntax error. The error of a command that ran is a [*CommandError]
// or [ErrExit]. If the first command finds that it was used wrongly, the error is a [lang.UsageError].
func (sh *Shell) Run(ctx context.Context, name, text string, out *Output) error {
	stmts, err := lang.Parse(name, text)
	if err != nil {
		return err
	}
	return sh.Execute(ctx, name, stmts, out)
}

// Execute is like [Shell.Run] for statements that were already parsed.
func (sh *Shell) Execute(ctx context.Context, name string, stmts []lang.Statement, out *Output) error {
	return sh.execute(ctx, name, stmts, out, func(step) performer { return sh })
}

// performer runs one step of a command. It is a shell, or one of several subnets.
type performer interface {
	Session() *session.Session
	perform(ctx context.Context, s step, out *Output) error
}

// execute runs each statement on the performer that target returns.
func (sh *Shell) execute(ctx context.Context, name string, stmts []lang.Statement, out *Output,
	target func(step) performer) error {
	var steps []step
	withLines := len(stmts) > 1 || len(stmts) == 1 && stmts[0].Line > 1
	for _, stmt := range stmts {
		s, err := sh.bind(stmt)
		if err != nil {
			if withLines && stmt.Line > 0 {
				return &lang.PlaceError{Name: name, Line: stmt.Line, Err: err}
			}
			return err
		}
		steps = append(steps, s)
	}
	place := prose.When(withLines, name, "")
	for i, s := range steps {
		at := target(s)
		if ctx.Err() != nil {
			return &InterruptedError{Left: len(steps) - i, Err: ctx.Err(), Cause: context.Cause(ctx)}
		}
		its := *out
		its.Last = out.Last && i == len(steps)-1
		if err := at.perform(ctx, s, &its); err != nil {
			st := at.Session().State()
			return failed(place, i, s, interrupted(ctx, &st, len(steps)-i-1, err))
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

// failed returns the error of a step. It wraps a [lang.UsageError] only if no earlier step ran. The argument script is
// the name of the script. If it is "", the error does not contain the position.
func failed(script string, earlier int, s step, err error) error {
	if errors.Is(err, ErrExit) {
		return err
	}
	var usage *lang.UsageError
	switch isUsage := errors.As(err, &usage); {
	case isUsage && earlier > 0:
		err = errors.New(err.Error())
	case isUsage && script != "" && s.Line > 0:
		return &lang.PlaceError{Name: script, Line: s.Line, Err: err}
	case isUsage:
		return err
	}
	e := &CommandError{Command: s.Invocation.Command, Name: script, Err: err}
	if script != "" {
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

// Prompt returns the prompt of the command line: the source, a lost connection, and the states except live.
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

// InterruptedError is returned for a command that was cancelled, with its progress, or for a script that was cancelled
// between two commands. It wraps the error of the command and the cause of the cancellation.
type InterruptedError struct {
	Done, Total int // completed and total steps, 0 of 0 if unknown
	Left        int // number of commands that did not run
	Err         error
	Cause       error
}

// Error returns a text such as "sweep: interrupted (1024 of 5013 done; 2 commands not run)".
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

// Interrupted marks an error whose text itself describes the interruption.
func (*InterruptedError) Interrupted() {}

// Unwrap returns Err and Cause.
func (e *InterruptedError) Unwrap() []error { return []error{e.Err, e.Cause} }

// interrupted returns an [InterruptedError] for the error of a cancelled command. It returns other errors unchanged.
// The argument left is the number of commands that did not run.
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

// Private reports whether a line contains a key. Such a line must not be saved.
func Private(line string) bool {
	return slices.ContainsFunc(strings.Fields(line), func(word string) bool { return strings.HasPrefix(word, "key=") })
}
