// SPDX-License-Identifier: Apache-2.0

// Package unread lists the parts of a file that could not be read.
package unread

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Kind is the kind of a [Finding].
type Kind string

// The kinds of findings.
const (
	// Line means that a line, or a part of the line, was skipped.
	Line Kind = "line"
	// Truncated is a file that ends too early.
	Truncated Kind = "truncated"
	// GUID is a GUID that occurred before.
	GUID Kind = "duplicate GUID"
	// LID is a LID that occurred before.
	LID Kind = "duplicate LID"
)

// Finding describes a part of a file that could not be read. In strict mode a reader returns it as an error.
type Finding struct {
	Kind Kind
	File string // escaped
	Line int
	// Why describes the fault. It also states what the reader expected or how it handles the fault. It is escaped.
	Why string
	// Node and Port identify the second port with a GUID or LID that occurs twice. Node is the node GUID. For other
	// findings Node is 0 and Port is -1.
	Node uint64
	Port int
}

// At returns a finding of kind Line.
func At(file string, line int, format string, args ...any) Finding {
	return Finding{
		Kind: Line, File: fabric.Escape(file), Line: line, Why: fmt.Errorf(format, args...).Error(), Port: -1,
	}
}

// Error returns file, line and reason.
func (f Finding) Error() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Why) }

// Most is the maximum number of findings that a [List] keeps.
const Most = 100

// List holds the parts that could not be read. The zero value is empty and ready for use.
type List struct {
	// Findings holds the first findings. If the file is truncated, this finding comes first.
	Findings []Finding
	// Count is the number of all findings.
	Count int
}

// Add adds a finding.
func (l *List) Add(f Finding) {
	l.Count++
	switch {
	case f.Kind == Truncated:
		l.Findings = append([]Finding{f}, l.Findings[:min(len(l.Findings), Most-1)]...)
	case len(l.Findings) < Most:
		l.Findings = append(l.Findings, f)
	}
}

// Take adds err if it is a [Finding]. Otherwise it returns err.
func (l *List) Take(err error) error {
	f, ok := errors.AsType[Finding](err)
	if ok {
		l.Add(f)
		return nil
	}
	return err
}

// Clash adds a conflict between two ports. The argument line is the line number of the second port.
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

// Lines returns sentences about the first findings, at most this many. It returns nil if everything was read.
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

// Merge adds the findings of another list.
func (l *List) Merge(other *List) {
	for _, f := range other.Findings {
		l.Add(f)
	}
	l.Count += other.Count - len(other.Findings)
}

// MaxLine is the maximum length in bytes of a line that [EachLine] passes to parse.
const MaxLine = 64 << 10

// EachLine calls the function parse for each line of a text. It passes the line number, counted from 1, and the line
// without its newline. The line is nil if it is longer than [MaxLine]. The result cut is set if the last line has no
// newline. EachLine returns the first error of parse, of reading, or of ctx.
func EachLine(ctx context.Context, from io.Reader, name string, parse func(line int, text []byte) error) (cut bool,
	err error) {
	r := bufio.NewReaderSize(from, MaxLine)
	for line := 1; ; line++ {
		text, err := r.ReadSlice('\n')
		if err == io.EOF && len(text) == 0 {
			return cut, nil
		}
		if line%4096 == 0 && ctx.Err() != nil {
			return cut, fmt.Errorf("read %s: %w", fabric.Escape(name), ctx.Err())
		}
		long := err != nil && errors.Is(err, bufio.ErrBufferFull)
		for err != nil && errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.ReadSlice('\n')
		}
		if cut = err == io.EOF; err != nil && !cut {
			return cut, fmt.Errorf("read %s: %w", fabric.Escape(name), err)
		}
		text = bytes.TrimSuffix(text, []byte("\n"))
		if long {
			text = nil
		}
		if err := parse(line, text); err != nil {
			return cut, err
		}
	}
}
