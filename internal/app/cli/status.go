// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
)

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	// exitSignal plus the number of a signal is the exit status of a program that this signal ended.
	exitSignal = 128
)

// exitStatuses describes the exit statuses for help, the manual page and docs/scripting.md.
var exitStatuses = []struct{ status, meaning string }{
	{"0", "all commands succeeded"},
	{"1", "a command failed, or a verdict is found or unknown"},
	{"2", "wrong usage; no command ran"},
	{"128+N", "signal N ended the program before the last command; the error counts the commands that did not run"},
}

// exitStatusText returns the exit statuses for help.
func exitStatusText() string {
	var b strings.Builder
	b.WriteString("Exit status:\n")
	for _, s := range exitStatuses {
		fmt.Fprintf(&b, "  %-6s %s\n", s.status, s.meaning)
	}
	b.WriteByte('\n')
	return b.String()
}

// complaint is the JSON object of an error.
type complaint struct {
	Kind    string `json:"kind"` // error
	Command string `json:"command,omitempty"`
	Subnet  string `json:"subnet,omitempty"`
	Cause   string `json:"cause"`
	Hint    string `json:"hint,omitempty"`
	Usage   string `json:"usage,omitempty"`
	Verdict string `json:"verdict,omitempty"` // of a command that failed because of its answer
	Script  string `json:"script,omitempty"`
	Line    int    `json:"line,omitempty"` // in the script
	Status  int    `json:"status"`         // exit status
}

// hintMark separates an error from its remedy.
const hintMark = "; hint: "

// complain reports an error and returns the exit status.
func (o *options) complain(err error, status int) int {
	if o.answerForm() != answer.FormJSON {
		text := err.Error()
		if status != exitUsage { // only the errors of a configuration file have a line each
			text = strings.ReplaceAll(text, "\n", "; ")
		}
		_, _ = fmt.Fprintf(plain.New(o.streams.err), "ibconsole: %s\n", text)
		return status
	}
	c := complaint{Kind: "error", Status: status}
	if wrong, ok := errors.AsType[*lang.UsageError](err); ok {
		c.Command = wrong.Command
	}
	if place, ok := errors.AsType[*lang.PlaceError](err); ok {
		c.Script, c.Line, err = place.Name, place.Line, place.Err
	}
	if syntax, ok := errors.AsType[*lang.SyntaxError](err); ok {
		c.Script, c.Line, err = syntax.Name, syntax.Line, errors.New(syntax.Reason)
	}
	if command, ok := errors.AsType[*shell.CommandError](err); ok {
		c.Command, c.Line = command.Command, command.Line
		if c.Line > 0 {
			c.Script = command.Name
		}
		err = command.Err
	}
	if found, ok := errors.AsType[*feature.FoundError](err); ok {
		c.Verdict = found.Verdict.String()
	}
	if of, ok := errors.AsType[*shell.SubnetError](err); ok {
		c.Subnet = of.Subnet
	}
	c.Cause, c.Hint, _ = strings.Cut(strings.TrimPrefix(err.Error(), c.Command+": "), hintMark)
	c.Cause, c.Usage, _ = strings.Cut(c.Cause, "; usage: ")
	writeObject(o.streams.err, &c)
	return status
}

// writeObject writes an object as a line of JSON.
func writeObject(w io.Writer, v any) {
	if line, err := json.Marshal(v); err == nil {
		_, _ = fmt.Fprintf(w, "%s\n", plain.EscapeJSON(line))
	}
}

// divert directs the output of the program as the flags --quiet and --json require.
func (o *options) divert() {
	switch {
	case o.quiet:
		o.streams.out, o.out = io.Discard, plain.New(io.Discard)
		o.err = plain.New(io.Discard)
	case o.answerForm() == answer.FormJSON:
		o.err = plain.New(&noteObjects{w: o.streams.err})
	}
}

// noteObjects writes lines for people as JSON objects.
type noteObjects struct {
	w    io.Writer
	part []byte // of a line
}

func (n *noteObjects) Write(text []byte) (int, error) {
	n.part = append(n.part, text...)
	for {
		line, rest, complete := bytes.Cut(n.part, []byte("\n"))
		if !complete {
			return len(text), nil
		}
		kind, what := "note", strings.TrimPrefix(string(line), "ibconsole: ")
		if warning, ok := strings.CutPrefix(what, "warning: "); ok {
			kind, what = "warning", warning
		}
		writeObject(n.w, map[string]string{"kind": kind, "text": what})
		n.part = rest
	}
}
