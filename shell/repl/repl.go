// SPDX-License-Identifier: Apache-2.0

// Package repl reads commands from a terminal, with completion and a kept
// history, and from anything else line by line.
//
// It alone knows go-prompt, whose version 0.2.6 opens /dev/tty whenever a Prompt is made, never closes it and
// panics where there is none; leaves a terminal raw; ends the process by itself when signals come; and never
// submits what is pasted. So there is one Prompt in a process, for all Runs, which reads through our own
// keyboard and writes through our own screen, and is only ever asked for one line.
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

// ErrExit is what Execute returns to leave the loop.
var ErrExit = errors.New("exit")

// ErrInterrupted is the cause of a command's context that Ctrl-C has cancelled.
var ErrInterrupted = errors.New("interrupted")

// Options say what Run works with. Execute is needed.
type Options struct {
	// Execute runs one line that is not blank. Its context is cancelled by Ctrl-C,
	// by signals that end programs and with that of Run; it is to return soon then.
	Execute func(ctx context.Context, line string) error
	// Complete returns what can replace line[start:cursor]. It is asked after
	// every key. Texts are printable and ready to be put into the line.
	Complete func(line string, cursor int) (start int, candidates []lang.Candidate)
	Prompt   func() string // asked before every line; one line of plain text
	// HistoryFile, mode 0600 in a directory of 0700, keeps what was entered; empty: nothing is kept.
	HistoryFile string
	Private     func(line string) bool // says of a line that HistoryFile is not to have it: it holds a secret
	In, Out     *os.File               // In and Out are the standard ones where nil
	Err         io.Writer              // takes errors; standard error where nil
	NoColor     bool
}

// Run reads lines and executes them until the input ends, a line says "exit" or
// "quit", Execute returns ErrExit, ctx is cancelled, or a signal ends it.
//
// On a terminal a line that fails has its error printed to Err and the next is read. Ctrl-C drops the line,
// or cancels the command that runs; SIGINT is Ctrl-C, so ctx must not be cancelled by it. However Run ends,
// by a panic of Execute too, the terminal is as it was before. SIGTERM, SIGHUP and SIGQUIT end it with a
// [*signals.Error]; they kill the process where a command has not returned after five seconds, or at the
// second one. Run may be called again, but not twice at once.
//
// From anything else than a terminal, no prompt is shown and Run returns the first error of Execute.
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

// execute runs one line; it returns ErrExit where the line says so.
func (o *Options) execute(ctx context.Context, line string) error {
	switch strings.TrimSpace(line) {
	case "":
		return nil
	case "exit", "quit":
		return ErrExit
	}
	return o.Execute(ctx, line)
}

// report prints the error of a command to whoever typed it, of one that was
// cancelled why, unless the error has a method Interrupted and says it by itself.
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
