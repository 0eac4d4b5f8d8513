// SPDX-License-Identifier: Apache-2.0

// Package cli is the program: its flags and words, the faces that it shows a subnet with, and its exit statuses.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/app/site"
	"example.org/ibconsole/internal/base/audit"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/signals"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/repl"
	"example.org/ibconsole/shell/session"
)

const usage = `usage:
  ibconsole [-s SOURCE] [--theme T] [--no-color]   the terminal interface; without a terminal: a script from standard
                                                   input, or a summary of the subnet where that is empty
  ibconsole [-s SOURCE] [--json] CMD [ARG ...]     one command, as in: ibconsole trace A B
  ibconsole [-s SOURCE] shell                      the command line
  ibconsole [-s SOURCE] [--json] -c 'CMD; CMD'     a script; stops at the first command that fails; several -c run in order
  ibconsole [-s SOURCE] [--json] run FILE|-        a script from a file or standard input
  ibconsole tour                                   the terminal interface, with a tour through it
  ibconsole [-s SOURCE] record [OPTION=VALUE ...]  records what ports count, and events, until a signal ends it
                                                   (help record start)
  ibconsole [-s SOURCE] doctor                     what this machine has, or SOURCE and its subnet, and what is missing;
                                                   exit status 1 where that is a fault
  ibconsole [-s SOURCE] doctor --report FILE       the same and more for a report of a bug, without names and keys
  ibconsole [-s SOURCE] doctor verify [FILE]       what it reads, held against the programs of infiniband-diags
  ibconsole version | help [COMMAND] | COMMAND --help | completion bash|zsh|fish | man
  ibconsole schema [COMMAND]                       the JSON Schema of what a command answers with --json

-o FORMAT prints answers as text, json (as --json does), csv, md or html; with csv, --table NAME chooses a table of an answer.
--fail-on found ends with exit status 1 where problems, balance and others find something, --fail-on unknown also where they cannot know.

Several -s open several subnets, each with a session of its own: on NAME CMD, on all CMD, sources, source NAME.

SOURCE is umad[:CA[:PORT]] (an InfiniBand port of this machine), ibsim[:NAME], ibsim:HOST:PORT, sim:FILE, sim:KIND:ARGS
(a simulated subnet inside the program), file:FILE (offline; what it states is so), net:FILE (the same by ibsim's
rules, for comparisons over ibsim) or ibdiagnet:FOLDER (what ibdiagnet 2 left, or a .tar.gz of it). Without one, what
IBCONSOLE_SOURCE names, or else umad where there is a port, or else a simulated 648-host fat-tree. --window N keeps at most N management packets in flight, --fast as many as a
simulated subnet takes. --mkeys FILE names the file with the subnet's M_Key and SA_Key. What of a file
cannot be read is left out and listed by problems; --strict refuses such a file.

Of several, umad:all is every active port of this machine, sim:rails:N,KIND:ARGS N simulated subnets of the same hosts,
NAME=SOURCE gives one a name, and a line NAME = SOURCE, SOURCE, ... of a configuration names a set of them.

`

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	// exitSignal is added to the number of the signal that ended the program.
	exitSignal = 128
)

type streams struct {
	in       *os.File
	out, err io.Writer
	site     string     // the administrator's configuration, "" for none
	log      *audit.Log // where writes are told, nil for nowhere
	rights   rights
	places   session.Places
}

type options struct {
	streams                // as they are
	out, err *plain.Writer // take what people read
	sources  []string      // as they were given
	commands []string      // of -c, as they were given
	theme    string
	noColor  bool
	json     bool
	form     string // of answers
	table    string // that CSV has
	failOn   string // the verdict
	window   int
	fast     bool
	mkeys    string
	strict   bool
	report   string         // a file
	first    *session.Reads // what a sweep reads that is the first command, nil where another one is
	// told says that the first thing that could not be read of a file was said.
	told bool
}

// Main runs the program on the process's own arguments and files, and returns its exit status.
func Main() int {
	rights, err := giveUpRoot()
	if err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "ibconsole: %s\n", fabric.Escape(err.Error()))
		return exitFailed
	}
	log := audit.Machine(site.Path)
	places := session.Places{
		CacheDir: cmp.Or(os.Getenv("OSM_CACHE_DIR"), site.Path("/var/cache/opensm")),
		ConfDir:  site.Path("/etc/opensm"),
		Records:  site.Path("/var/lib/ibconsole"),
	}
	return run(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr, site.Path(site.File), &log, rights, places})
}

func run(args []string, files streams) int {
	o := newOptions(files)
	defer o.flush()
	root := o.command()
	args, err := longFlags(args, root.PersistentFlags())
	if err != nil {
		return o.misused(err)
	}
	root.SetArgs(args)
	err = root.Execute()
	switch failed := statusError(0); {
	case err == nil:
		return exitDone
	case errors.As(err, &failed):
		return int(failed)
	}
	return o.misused(err)
}

func newOptions(files streams) *options {
	return &options{streams: files, out: plain.New(files.out), err: plain.New(files.err)}
}

func (o *options) flush() {
	_ = o.out.Flush()
	_ = o.err.Flush()
}

func (o *options) misused(err error) int {
	_, _ = fmt.Fprintf(o.err, "ibconsole: %v (try: ibconsole help)\n", err)
	return exitUsage
}

func (o *options) failed(err error) int {
	_, _ = fmt.Fprintf(o.err, "ibconsole: %v\n", err)
	return exitFailed
}

func (o *options) help(words []string) int {
	text, err := shell.New(nil).Help(words...)
	if err != nil {
		return o.misused(err)
	}
	if len(words) == 0 {
		text = usage + text
	}
	_, _ = fmt.Fprint(o.out, text)
	return exitDone
}

// ended says what the work ended with, and is the exit status of that.
func (o *options) ended(ctx context.Context, err error) int {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	switch {
	case err == nil, errors.Is(err, shell.ErrExit):
		return exitDone
	case lang.IsUsage(err):
		_, _ = fmt.Fprintf(o.err, "ibconsole: %v\n", err)
		return exitUsage
	}
	n := signalOf(err)
	if n == syscall.SIGPIPE {
		return exitSignal + int(n)
	}
	status := o.failed(err)
	if n > 0 {
		status = exitSignal + int(n)
	}
	return status
}

// answerForm returns the form of answers that the flags give.
func (o *options) answerForm() answer.Form {
	if o.json {
		return answer.FormJSON
	}
	return answer.Form(o.form)
}

func (o *options) output() *shell.Output {
	out := &shell.Output{
		W: o.out, Raw: o.streams.out, Notes: o.err, Form: o.answerForm(), Table: o.table, FailOn: o.failOn,
		Told: o.told, Answers: new(atomic.Int64),
	}
	if file, ok := o.streams.out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		out.Raw = o.out // nobody's input
	}
	if o.onTerminal() {
		out.Ask = func(ctx context.Context, prompt string) (string, error) {
			return repl.ReadLine(ctx, o.in, o.out, prompt)
		}
	}
	return out
}

// script runs texts one after the other, as if they were one.
func (o *options) script(name string, texts ...string) int {
	all, err := statements(name, texts)
	o.first = shell.New(nil).FirstReads(all)
	return o.open(false, func(ctx context.Context, s *shell.Subnets) error {
		if err != nil {
			return err
		}
		return s.Execute(ctx, name, all, o.scriptOutput())
	})
}

// statements returns those of all texts. Lines are counted on from one text to the next.
func statements(name string, texts []string) ([]lang.Statement, error) {
	var all []lang.Statement
	lines := 0
	for _, text := range texts {
		stmts, err := lang.Parse(name, text)
		if syntax, ok := errors.AsType[*lang.SyntaxError](err); ok {
			syntax.Line += lines
		}
		if err != nil {
			return nil, err
		}
		for _, stmt := range stmts {
			stmt.Line += lines
			all = append(all, stmt)
		}
		lines += strings.Count(text, "\n") + 1
	}
	return all, nil
}

func (o *options) scriptOutput() *shell.Output {
	out := o.output()
	out.Script = true
	return out
}

func (o *options) file(path string) int {
	if path == "-" {
		return o.stdin()
	}
	ctx, stop := signals.Context()
	text, err := files.All(ctx, path, files.Script)
	if err != nil {
		defer stop()
		return o.ended(ctx, fmt.Errorf("run: %w", err))
	}
	stop()
	return o.script(path, string(text))
}

// stdin runs the commands on standard input.
func (o *options) stdin() int {
	return o.open(false, func(ctx context.Context, s *shell.Subnets) error {
		return o.runParts(ctx, s, inputParts(repl.NewInput(ctx, o.in)))
	})
}

const (
	partPause = 100 * time.Millisecond // the pause in standard input that ends a part
	maxPart   = 16 << 20               // bytes of standard input that are checked together
)

// inputParts returns a function that returns standard input in parts, for [lang.Parts]. A part ends with the file, with
// the pipe, or where a pipe pauses.
func inputParts(in *repl.Input) func() (string, error) {
	buffer := make([]byte, 64<<10)
	return func() (string, error) {
		var part strings.Builder
		for {
			n, err := in.Read(buffer)
			part.Write(buffer[:n])
			if err != nil || part.Len() >= maxPart {
				return part.String(), err
			}
			if ready, err := in.Ready(partPause); err != nil || !ready {
				return part.String(), err
			}
		}
	}
}

// runParts checks all commands of a part of standard input, then runs them, and continues with the next part.
func (o *options) runParts(ctx context.Context, s *shell.Subnets, next func() (string, error)) error {
	out := o.scriptOutput()
	err := lang.Parts(next, "stdin", func(stmts []lang.Statement) error { return s.Execute(ctx, "stdin", stmts, out) })
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%w; the rest of standard input was not run", err)
	}
	return err
}

// interactive shows the screen. Without a terminal it runs the commands on standard input; where there is none it
// prints the summary.
func (o *options) interactive() int {
	if o.onTerminal() {
		return o.tui(false)
	}
	return o.open(false, func(ctx context.Context, s *shell.Subnets) error {
		switch next, err := o.piped(ctx, s); {
		case err != nil:
			return err
		case next != nil:
			return o.runParts(ctx, s, next)
		}
		return o.summary(ctx, s)
	})
}

// firstByte is how long a pipe on standard input may be without a byte and still be taken for a script.
const firstByte = time.Second

// piped returns standard input in parts, or nil if it is not a file or pipe with a byte, or a source is read from it.
func (o *options) piped(ctx context.Context, s *shell.Subnets) (next func() (string, error), err error) {
	if o.in == nil {
		return nil, nil
	}
	info, err := o.in.Stat()
	if err != nil || !info.Mode().IsRegular() && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return nil, nil
	}
	for _, n := range s.All() {
		source, err := os.Stat(n.Session().State().Source.Arg)
		if err == nil && os.SameFile(info, source) {
			return nil, nil
		}
	}
	in := repl.NewInput(ctx, o.in)
	switch ready, err := in.Ready(firstByte); {
	case err != nil:
		return nil, err
	case !ready:
		_, _ = fmt.Fprintln(o.err, "ibconsole: no command on standard input within a second; hint: 'ibconsole run -' "+
			"waits for commands")
		return nil, nil
	}
	rest := inputParts(in)
	switch first, err := rest(); {
	case errors.Is(err, io.EOF) && first == "":
		return nil, nil
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	default:
		return func() (string, error) {
			if first == "" {
				return rest()
			}
			part := first
			first = ""
			return part, err
		}, nil
	}
}

// onTerminal reports whether somebody sits in front of the program.
func (o *options) onTerminal() bool {
	out, ok := o.streams.out.(*os.File)
	return ok && o.in != nil && term.IsTerminal(int(o.in.Fd())) && term.IsTerminal(int(out.Fd()))
}
