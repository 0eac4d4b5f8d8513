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

// Output takes what commands answer, and writes it in the form that was asked for.
type Output struct {
	W     io.Writer   // takes the answers
	Raw   io.Writer   // takes what other programs read, as it is, in place of answers; nil for W
	Notes io.Writer   // takes warnings; nil for nowhere
	Form  answer.Form // of the answers; "" is text
	Table string      // the table that CSV has of an answer, "" for the first
	// on which verdicts commands fail that do not always: "found", "unknown" for both, "" for none
	FailOn string
	Subnet string // the subnet that JSON names as that of an answer, "" where there is but one
	Script bool   // says that nobody reads along: what is not as it was asked for fails
	Told   bool   // says that what could not be read of the source's file was said before
	// gets each answer, before it is written or, where its rows come meanwhile, after that; nil for nobody
	Hear func(*answer.Answer)
	Heed func(warning string) // gets each warning; nil for nobody
	Ask  feature.Asker        // asks who sits at the terminal; nil where there is none

	Answers *atomic.Int64 // counts the answers of a run; nil where nobody does
	wrote   *atomic.Bool  // set by the first object of the command that runs, nil outside of one
}

// isJSON reports whether the answers are for programs.
func (o *Output) isJSON() bool { return o.Form == answer.FormJSON }

// isText reports whether the answers are for people.
func (o *Output) isText() bool { return o.Form == "" || o.Form == answer.FormText }

// running returns the output of a command that runs.
func (o *Output) running() *Output {
	its := *o
	its.wrote = new(atomic.Bool)
	return &its
}

// noRows is what programs get of a command that has no answer for them.
type noRows struct {
	Subnet  string `json:"subnet,omitempty"`
	Command string `json:"command"`
	Kind    string `json:"kind"`
	Rows    int    `json:"rows"`
}

// ended writes an object for programs where the command wrote none. outer is the output of the command around it.
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
	case o.Hear == nil:
	case a.IsLive():
		defer o.Hear(a)
	default:
		o.Hear(a)
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

// numbered counts an answer.
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
	if !o.Told {
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
	if o.Heed != nil {
		o.Heed(text)
	}
	if o.Notes != nil {
		_, _ = fmt.Fprintf(o.Notes, "warning: %s\n", text)
	}
}

// IsScript implements [feature.Output].
func (o *Output) IsScript() bool { return o.Script }

// FailsOn implements [feature.Output].
func (o *Output) FailsOn(v answer.Verdict) bool {
	return o.FailOn != "" && (v == answer.Found || v == answer.Unknown && o.FailOn == answer.Unknown.String())
}
