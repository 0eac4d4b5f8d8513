// SPDX-License-Identifier: Apache-2.0

// Package cli implements the command line of the program: flags, commands of the program, and exit statuses. It opens
// the screen, reads typed commands, or runs a script.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
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
  ibconsole [-s SOURCE] [--theme T] [--no-color]   open the screen; without a terminal, run standard input as a script,
                                                   or print a summary of the subnet if it is empty
  ibconsole [-s SOURCE] [--json] CMD [ARG ...]     run one command, as in: ibconsole trace A B
  ibconsole [-s SOURCE] shell                      open the command line
  ibconsole [-s SOURCE] [--json] -c 'CMD; CMD'     run a script, up to the first command that fails; several -c run in
                                                   order
  ibconsole [-s SOURCE] [--json] run FILE|-        run a script from a file or standard input
  ibconsole tour                                   open the screen with a tour
  ibconsole [-s SOURCE] record [OPTION=VALUE ...]  record counters and events until a signal (help record start)
  ibconsole [-s SOURCE] doctor                     check this machine, or SOURCE and its subnet; status 1 on a fault
  ibconsole [-s SOURCE] doctor --report FILE       write a report for a bug, without names and keys
  ibconsole [-s SOURCE] doctor verify [FILE]       compare the last sweep with the programs of infiniband-diags
  ibconsole schema [COMMAND]                       print the JSON Schema of the answers of a command
  ibconsole version | help [COMMAND] | COMMAND --help | completion bash|zsh|fish | man

-o FORMAT prints answers as text, json (as --json), csv, md or html. With csv, --table NAME selects a table.
Options of commands are written NAME=VALUE or --NAME[=VALUE].
--fail-on error, warning, found or unknown sets exit status 1 if problems, diff and others find an error, a warning,
anything, or could not read parts of the subnet. --quiet prints only errors. With --json, errors are objects too.

SOURCE is one of
  umad[:CA[:PORT]]     an InfiniBand port of this machine
  ibsim[:NAME]         a running ibsim, or ibsim:HOST:PORT
  sim:KIND:ARGS        a simulated subnet inside the program, or sim:FILE
  file:FILE            offline, from a file of ibnetdiscover, ibsim or OpenSM
  net:FILE             the same by ibsim's rules, for comparisons with ibsim
  ibdiagnet:FOLDER     offline, from the output of ibdiagnet 2, or from a .tar.gz of it
If a file contains several subnets, FILE@PLACE selects the subnet of a node or port.
The default is IBCONSOLE_SOURCE, else umad if there is a port, else a simulated 648-host fat-tree.
--window N limits the management packets in flight to N; --fast sends as many as a simulated subnet accepts.
--mkeys FILE reads the M_Key and the SA_Key of the subnet. Parts of a file that cannot be read are skipped and listed by
problems; --strict refuses such a file.

Several -s open several subnets: see help on, sources and source. umad:all is every active port of this machine,
sim:rails:N,KIND:ARGS simulates N subnets of the same hosts, NAME=SOURCE names a source, and a line
NAME = SOURCE, SOURCE, ... of a configuration file names a set of sources.

`

type streams struct {
	in       *os.File
	out, err io.Writer
	site     string     // path of the administrator's configuration, "" for none
	log      *audit.Log // records writes to switches, nil for none
	rights   rights
	places   session.Places
}

type options struct {
	streams                   // unchanged
	out, err    *plain.Writer // escape text for people
	sources     []string      // as given
	commands    []string      // of -c, as given
	theme       string
	noColor     bool
	json        bool
	form        string // of answers
	table       string // of CSV
	failOn      string // one of shell.FailOns, "" for none
	quiet       bool
	window      int
	fast        bool
	mkeys       string
	strict      bool
	report      string         // a file
	on          string         // the subnet of "on SUBNET COMMAND"
	first       *session.Reads // additional reads of a full sweep as the first command, else nil
	helpStatus  int            // exit status of --help
	scripted    bool           // standard input has the commands
	unreadShown bool           // the unread parts of the source's file were reported
}

// Main runs the program with the arguments and files of the process, and returns the exit status.
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
	root.SetArgs(o.cutSubnet(args, root))
	err = root.Execute()
	switch failed := statusError(0); {
	case err == nil:
		return o.helpStatus
	case errors.As(err, &failed):
		return int(failed)
	case errors.As(err, new(*fs.PathError)): // --version on a full disk
		return o.exitStatus(context.Background(), err)
	}
	o.json = o.json || slices.Contains(args, "--json") // which may follow the wrong word
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
	if !strings.Contains(err.Error(), hintMark) {
		err = fmt.Errorf("%w"+hintMark+"run 'ibconsole help'", err)
	}
	return o.complain(err, exitUsage)
}

// misconfigured reports an error of a configuration file.
func (o *options) misconfigured(err error) int {
	return o.complain(fmt.Errorf("%w; hint: docs/site.md and docs/keys.md describe the configuration", err), exitUsage)
}

func (o *options) failed(err error) int { return o.complain(err, exitFailed) }

func (o *options) help(words []string) int {
	text := usage + exitStatusText() + lang.Overview(shell.New(nil).Specs())
	if len(words) > 0 {
		var err error
		if text, err = lang.Help(helpSpecs(), words...); err != nil {
			return o.misused(err)
		}
	}
	return o.printText(text)
}

// printText prints a text and returns the exit status.
func (o *options) printText(text string) int {
	if _, err := fmt.Fprint(o.out, text); err != nil {
		return o.exitStatus(context.Background(), err)
	}
	return exitDone
}

// exitStatus reports the error with which a run ended, and returns the exit status of the process.
func (o *options) exitStatus(ctx context.Context, err error) int {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	switch {
	case err == nil, errors.Is(err, shell.ErrExit):
		return exitDone
	case lang.IsUsage(err):
		return o.complain(err, exitUsage)
	}
	n := signalOf(err)
	if n == syscall.SIGPIPE {
		return exitSignal + int(n)
	}
	if n > 0 {
		return o.complain(err, exitSignal+int(n))
	}
	return o.failed(err)
}

// answerForm returns the form of answers that the flags select.
func (o *options) answerForm() answer.Form {
	if o.json {
		return answer.FormJSON
	}
	return answer.Form(o.form)
}

func (o *options) output() *shell.Output {
	out := &shell.Output{
		W: o.out, Raw: o.streams.out, Notes: o.err, Form: o.answerForm(), Table: o.table, FailOn: o.failOn,
		UnreadShown: o.unreadShown, Answers: new(atomic.Int64),
	}
	if file, ok := o.streams.out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		out.Raw = o.out // a terminal: escape it
	}
	if o.onTerminal() {
		out.Ask = func(ctx context.Context, prompt string) (string, error) {
			return repl.ReadLine(ctx, o.in, o.out, prompt)
		}
	}
	return out
}

// script runs texts in order as one script.
func (o *options) script(name string, texts ...string) int {
	all, err := statements(name, texts)
	o.first = shell.New(nil).FirstReads(all)
	return o.open(false, func(ctx context.Context, s *shell.Subnets) error {
		if err != nil {
			return err
		}
		return s.Execute(ctx, name, all, o.lastOutput())
	})
}

// statements returns the statements of all texts. Line numbers continue from one text to the next.
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

// lastOutput returns the output for commands after which the program ends.
func (o *options) lastOutput() *shell.Output {
	out := o.scriptOutput()
	out.Last = true
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
		return o.exitStatus(ctx, &shell.CommandError{Command: "run", Err: err})
	}
	stop()
	return o.script(path, string(text))
}

// stdin runs the commands on standard input.
func (o *options) stdin() int {
	o.scripted = true
	return o.open(false, func(ctx context.Context, s *shell.Subnets) error {
		return o.runParts(ctx, s, inputParts(repl.NewInput(ctx, o.in)))
	})
}

const (
	partPause = 100 * time.Millisecond // the pause in standard input that ends a part
	maxPart   = 16 << 20               // bytes of standard input that are checked together
)

// inputParts returns a function that returns standard input in parts, for [lang.Parts]. A part ends at the end of the
// file or pipe, or when the writer of a pipe pauses.
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

// interactive opens the screen. Without a terminal it runs the commands on standard input, or prints a summary if there
// are none.
func (o *options) interactive() int {
	if o.onTerminal() {
		return o.tui(false)
	}
	return o.open(false, func(ctx context.Context, s *shell.Subnets) error {
		switch next, err := o.piped(ctx, s); {
		case err != nil:
			return err
		case next != nil:
			return o.runParts(files.WithInput(ctx, nil), s, next)
		}
		return o.summary(ctx, s)
	})
}

// firstByte is the maximum time to wait for the first byte from a pipe on standard input. Without a byte in this time,
// the pipe is not run as a script.
const firstByte = time.Second

// piped returns a function that returns standard input in parts. It returns nil if standard input is not a file or
// pipe, has no byte, or is the file of a source.
func (o *options) piped(ctx context.Context, s *shell.Subnets) (next func() (string, error), err error) {
	if o.in == nil {
		return nil, nil
	}
	info, err := o.in.Stat()
	if err != nil || !info.Mode().IsRegular() && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return nil, nil
	}
	for _, n := range s.All() {
		source, err := files.Stat(ctx, n.Session().State().Source.Arg)
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

// onTerminal reports whether standard input and output are a terminal.
func (o *options) onTerminal() bool {
	out, ok := o.streams.out.(*os.File)
	return ok && o.in != nil && term.IsTerminal(int(o.in.Fd())) && term.IsTerminal(int(out.Fd()))
}
