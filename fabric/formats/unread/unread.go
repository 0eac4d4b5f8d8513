// SPDX-License-Identifier: Apache-2.0

// Package unread lists what of a file could not be read, while the rest of it was.
package unread

import (
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Kind says what is wrong with a line.
type Kind string

// The kinds.
const (
	// Line is a line, or a part of it, that is left out.
	Line Kind = "line"
	// Truncated is a file that stops in the middle.
	Truncated Kind = "truncated"
	// GUID is one that something before it has.
	GUID Kind = "duplicate GUID"
	// LID is one that something before it has.
	LID Kind = "duplicate LID"
)

// Finding is one thing that could not be read. It is the error that a strict reader
// ends with.
type Finding struct {
	Kind Kind
	File string // escaped
	Line int
	// Why says what is wrong and what was expected, or what became of it. It is escaped.
	Why string
	// Node is the GUID of the second one that claims a GUID or a LID, 0 where there is
	// none, and Port its port, -1 for all of it.
	Node uint64
	Port int
}

// At returns a finding of kind Line.
func At(file string, line int, format string, args ...any) Finding {
	return Finding{
		Kind: Line, File: fabric.Escape(file), Line: line, Why: fmt.Errorf(format, args...).Error(), Port: -1,
	}
}

// Error gives file, line and reason.
func (f Finding) Error() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Why) }

// Most is how many findings a [List] keeps.
const Most = 100

// List is what could not be read. The zero value is empty and ready.
type List struct {
	// Findings are the first ones, that the file is truncated before the others.
	Findings []Finding
	// Count is how many there are in all.
	Count int
}

// Add takes a finding.
func (l *List) Add(f Finding) {
	l.Count++
	switch {
	case f.Kind == Truncated:
		l.Findings = append([]Finding{f}, l.Findings[:min(len(l.Findings), Most-1)]...)
	case len(l.Findings) < Most:
		l.Findings = append(l.Findings, f)
	}
}

// Take takes an error that is a finding. Any other is given back.
func (l *List) Take(err error) error {
	f, ok := errors.AsType[Finding](err)
	if ok {
		l.Add(f)
		return nil
	}
	return err
}

// Clash takes what two ports claim; line is where the second one stands.
func (l *List) Clash(file string, line int, e *fabric.PortError, node uint64) {
	f := At(file, line, "%s", e.Msg)
	f.Node, f.Port = node, int(e.Num)
	switch e.Claim {
	case fabric.ClaimsGUID:
		f.Kind = GUID
	case fabric.ClaimsLID:
		f.Kind = LID
	}
	l.Add(f)
}

// Lines returns the first few as sentences, for people; none where all was read.
func (l *List) Lines(most int) []string {
	var lines []string
	for _, f := range l.Findings[:min(len(l.Findings), most)] {
		lines = append(lines, "not read: "+f.Error())
	}
	if more := l.Count - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("not read: %s", prose.Count(more, "more thing")))
	}
	return lines
}

// Merge takes what another list has.
func (l *List) Merge(other *List) {
	for _, f := range other.Findings {
		l.Add(f)
	}
	l.Count += other.Count - len(other.Findings)
}
