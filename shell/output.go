// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
)

// Output writes the answers of commands in one form.
type Output struct {
	W           io.Writer   // receives the answers
	Raw         io.Writer   // receives files that replace answers, unchanged; nil for W
	Notes       io.Writer   // receives warnings; nil for none
	Form        answer.Form // of the answers; "" is text
	Table       string      // the table of an answer that CSV has, "" for the first
	FailOn      string      // one of [FailOns]: the answers on which commands fail that normally succeed; "" for none
	Subnet      string      // the value of the key subnet in JSON, "" if only one subnet is open
	Script      bool        // no user is present: commands fail instead of falling back
	Last        bool        // the program ends after the commands
	UnreadShown bool        // the unread parts of the source's file were reported before
	// OnAnswer is called with each answer before the answer is written. If the rows are produced during writing, it is
	// called after that. It may be nil.
	OnAnswer  func(*answer.Answer)
	OnWarning func(warning string) // is called with each warning; may be nil
	Ask       feature.Asker        // asks the user at the terminal; nil without one

	Answers *atomic.Int64 // counts the answers of a run; may be nil
	wrote   *atomic.Bool  // set by the first object of the running command; nil outside a command
}

// isJSON reports whether the answers are JSON.
func (o *Output) isJSON() bool { return o.Form == answer.FormJSON }

// isText reports whether the answers are text.
func (o *Output) isText() bool { return o.Form == "" || o.Form == answer.FormText }

// running returns the output for a command.
func (o *Output) running() *Output {
	its := *o
	its.wrote = new(atomic.Bool)
	return &its
}

// noRows is the JSON object that is written for a command without an answer.
type noRows struct {
	Subnet  string `json:"subnet,omitempty"`
	Command string `json:"command"`
	Kind    string `json:"kind"`
	Rows    int    `json:"rows"`
}

// ended is called after a command. In JSON it writes an object if the command wrote no answer. The argument outer is
// the output of the enclosing command.
func (o *Output) ended(command string, outer *Output) error {
	outer.writes()
	if !o.isJSON() || o.wrote.Load() {
		return nil
	}
	line, err := json.Marshal(noRows{o.Subnet, command, "end", 0})
	if err == nil {
		_, err = fmt.Fprintf(o.W, "%s\n", plain.EscapeJSON(line))
	}
	return err
}

// writes notes that an object was written.
func (o *Output) writes() {
	if o.wrote != nil {
		o.wrote.Store(true)
	}
}

// Declared implements [feature.Output].
func (o *Output) Declared(a *answer.Answer) error {
	a = a.In(o.Subnet)
	switch {
	case o.OnAnswer == nil:
	case a.IsLive():
		defer o.OnAnswer(a)
	default:
		o.OnAnswer(a)
	}
	if a.IsAction() && !o.isText() && !o.isJSON() {
		if o.Notes == nil {
			return nil
		}
		return a.Text(o.Notes)
	}
	number := 0
	if o.isJSON() {
		number = o.numbered()
		o.writes()
	}
	return a.Write(o.W, o.Form, number, o.Table)
}

// numbered returns the number of the next answer.
func (o *Output) numbered() int {
	if o.Answers == nil {
		return 1
	}
	return int(o.Answers.Add(1))
}

// Preview implements [feature.Output].
func (o *Output) Preview(a *answer.Answer) error {
	if !o.isText() {
		return nil
	}
	return a.Text(o.W)
}

// Previewed implements [feature.Output].
func (o *Output) Previewed(a *answer.Answer) error {
	if o.isText() {
		return nil
	}
	return o.Declared(a)
}

// File implements [feature.Output].
func (o *Output) File() io.Writer {
	switch {
	case o.isJSON():
		return nil
	case o.Raw != nil:
		return o.Raw
	}
	return o.W
}

// Format implements [feature.Output].
func (o *Output) Format() answer.Form { return o.Form }

// Terminal implements [feature.Output].
func (o *Output) Terminal() (io.Writer, feature.Asker) {
	if o.isJSON() {
		return o.W, nil
	}
	return o.W, o.Ask
}

// Remarks implements [feature.Output].
func (o *Output) Remarks(b answer.Basis) {
	if !o.UnreadShown {
		for _, line := range b.Unread.Lines() {
			o.Warn(line)
		}
	}
	shown, more := prose.Cut(b.Warnings, 2)
	for _, w := range shown {
		o.Warn(w)
	}
	if more != "" {
		o.Warn(more + " (summary lists them)")
	}
}

// Warn implements [feature.Output].
func (o *Output) Warn(text string) {
	if o.OnWarning != nil {
		o.OnWarning(text)
	}
	if o.Notes != nil {
		_, _ = fmt.Fprintf(o.Notes, "warning: %s\n", text)
	}
}

// IsScript implements [feature.Output].
func (o *Output) IsScript() bool { return o.Script }

// IsLast implements [feature.Output].
func (o *Output) IsLast() bool { return o.Last }

// The values of [Output.FailOn], from few answers to many.
const (
	failOnError   = "error"   // findings with an error
	failOnWarning = "warning" // findings
	failOnFound   = "found"   // the same, by the name of the verdict
	failOnUnknown = "unknown" // findings, and answers that unread data could change
)

// FailOns lists the values of [Output.FailOn].
var FailOns = []string{failOnError, failOnWarning, failOnFound, failOnUnknown}

// FailsOn implements [feature.Output].
func (o *Output) FailsOn(a *answer.Answer) bool {
	verdict, _ := a.Verdict()
	switch o.FailOn {
	case failOnError:
		return a.HasErrors()
	case failOnWarning, failOnFound:
		return verdict == answer.Found
	case failOnUnknown:
		return verdict != answer.OK
	}
	return false
}
