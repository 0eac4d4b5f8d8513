// SPDX-License-Identifier: Apache-2.0

// Package repl reads commands from a terminal, with completion and a saved history, and from other files line by line.
//
// It is the only importer of go-prompt. Version 0.2.6 has these faults: it opens /dev/tty for each Prompt, never closes
// it and panics if there is none; it leaves the terminal raw; it ends the process on signals; it never submits pasted
// text. Therefore a process has one Prompt for all Runs, which reads from our keyboard, writes to our screen, and reads
// one line at a time.
package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"example.org/ibconsole/shell/lang"
)

// ErrExit is the error with which Execute ends the loop.
var ErrExit = errors.New("exit")

// ErrInterrupted is the cause of the context of a command that Ctrl-C cancelled.
var ErrInterrupted = errors.New("interrupted")

// Options controls [Run]. Execute is required.
type Options struct {
	// Execute runs one line that is not blank. Ctrl-C, signals that end programs and the context of Run cancel its
	// context; it should return soon then.
	Execute func(ctx context.Context, line string) error
	// Complete returns replacements of line[start:cursor]. It is called after every key. The texts are printable and
	// quoted as needed.
	Complete func(line string, cursor int) (start int, candidates []lang.Candidate)
	Prompt   func() string // is called before every line; one line of plain text
	// HistoryFile saves the lines, with mode 0600 in a directory of mode 0700; empty for none.
	HistoryFile string
	Private     func(line string) bool // reports whether a line contains a secret and must not be saved
	In, Out     *os.File               // standard input and output if nil
	Err         io.Writer              // receives errors; standard error if nil
	NoColor     bool
}

// Run reads lines and executes them until the input ends, a line is "exit" or "quit", Execute returns ErrExit, ctx is
// cancelled, or a signal ends it.
//
// On a terminal, Run prints the error of a line to Err and continues. Ctrl-C drops the line or cancels the running
// command. SIGINT counts as Ctrl-C, so it must not cancel ctx. Run always restores the terminal, also after a panic of
// Execute. SIGTERM, SIGHUP and SIGQUIT end Run with a [*signals.Error]. They kill the process if a command does not
// return within five seconds, or if a second one arrives. Run may be called again, but not concurrently.
//
// If In is not a terminal, Run shows no prompt and returns the first error of Execute.
func Run(ctx context.Context, o Options) error {
	o.setDefaults()
	if !isTerminal(o.In) {
		return runLines(ctx, &o)
	}
	if !canEdit(&o) {
		return runPlain(ctx, &o)
	}
	return runConsole(ctx, &o)
}

func (o *Options) setDefaults() {
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Err == nil {
		o.Err = os.Stderr
	}
	if o.Prompt == nil {
		o.Prompt = func() string { return "> " }
	}
	if o.Complete == nil {
		o.Complete = func(string, int) (int, []lang.Candidate) { return 0, nil }
	}
}

// execute runs one line. It returns ErrExit for exit and quit.
func (o *Options) execute(ctx context.Context, line string) error {
	switch strings.TrimSpace(line) {
	case "":
		return nil
	case "exit", "quit":
		return ErrExit
	}
	return o.Execute(ctx, line)
}

// report prints the error of a command. For a cancelled command it prints the cause, unless the error has a method
// Interrupted.
func (o *Options) report(ctx context.Context, err error) {
	var itself interface{ Interrupted() }
	if errors.Is(err, context.Canceled) && ctx.Err() != nil && !errors.As(err, &itself) {
		err = context.Cause(ctx)
	}
	if err != nil {
		fmt.Fprintln(o.Err, err)
	}
}

func (o *Options) print(text string) { fmt.Fprint(o.Out, text) }
