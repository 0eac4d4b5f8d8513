// SPDX-License-Identifier: Apache-2.0

// Package repl reads commands from a terminal, with completion and a saved history. From other files it reads commands
// line by line.
//
// No other package imports go-prompt. Version 0.2.6 of go-prompt has these faults: it opens /dev/tty for each Prompt,
// never closes it, and panics if there is none; it leaves the terminal raw; it ends the process on signals; it never
// submits pasted text. Therefore a process has a single Prompt for all calls of Run. This Prompt uses the keyboard and
// the screen of this package, and reads one line at a time.
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

// ErrExit is returned by Execute to end the loop.
var ErrExit = errors.New("exit")

// ErrInterrupted is the cause in the context of a command that Ctrl-C cancelled.
var ErrInterrupted = errors.New("interrupted")

// Options controls [Run]. Execute is required.
type Options struct {
	// Execute runs one line that is not blank. Its context is cancelled by Ctrl-C, by signals that end programs, and by
	// the context of Run. It should then return soon.
	Execute func(ctx context.Context, line string) error
	// Complete returns candidates that replace line[start:cursor]. It is called after every key press. The texts of
	// candidates are printable and quoted as needed.
	Complete func(line string, cursor int) (start int, candidates []lang.Candidate)
	Prompt   func() string // is called before every line; one line of plain text
	// HistoryFile is the file that stores the lines, or "" for none. Its mode is 0600, in a directory of mode 0700.
	HistoryFile string
	Private     func(line string) bool // reports whether a line contains a secret and must not be saved
	In, Out     *os.File               // standard input and output if nil
	Err         io.Writer              // receives errors; standard error if nil
	NoColor     bool
}

// Run reads lines and executes them until the input ends, a line is "exit" or "quit", Execute returns ErrExit, ctx is
// cancelled, or a signal arrives.
//
// On a terminal, Run prints the error of a line to Err and continues. Ctrl-C drops the line or cancels the running
// command. SIGINT has the same effect as Ctrl-C, so SIGINT must not cancel ctx. Run always restores the terminal, also
// after a panic of Execute. SIGTERM, SIGHUP and SIGQUIT end Run with a [*signals.Error]. These signals kill the process
// if a command does not return within five seconds, or if a second signal arrives. Run may be called again, but not
// concurrently.
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

// execute runs one line. It returns ErrExit for the lines exit and quit.
func (o *Options) execute(ctx context.Context, line string) error {
	switch strings.TrimSpace(line) {
	case "":
		return nil
	case "exit", "quit":
		return ErrExit
	}
	return o.Execute(ctx, line)
}

// report prints the error of a command. If the command was cancelled, it prints the cause instead, unless the error has
// a method Interrupted.
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
