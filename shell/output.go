// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"encoding/json"
	"fmt"
	"io"
)

// Output takes what commands say: text for people, or JSON, one object a line.
type Output struct {
	// W takes the answers.
	W io.Writer
	// Notes takes what is said beside them; nil for nowhere.
	Notes io.Writer
	// JSON asks for JSON.
	JSON bool
	// Ask asks who sits at the terminal; nil where there is none.
	Ask Asker
}

// answer prints v as JSON, or as text says it.
func (o *Output) answer(v any, text func(w io.Writer)) error {
	if !o.JSON {
		b := &writer{w: o.W}
		text(b)
		return b.err
	}
	line, err := json.Marshal(withLists(v))
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	_, err = fmt.Fprintf(o.W, "%s\n", line)
	return err
}

// raw writes a file as it is in place of an answer, which JSON has no place for.
func (c *call) raw(write func(w io.Writer) error) error {
	if c.out.JSON {
		return c.Misused("with --json - is no file: what is written is not JSON; name a file, or leave out --json")
	}
	return write(c.out.W)
}

// note says something beside the answer: which picture it is of, a warning.
func (o *Output) note(format string, args ...any) {
	if o.Notes != nil {
		_, _ = fmt.Fprintf(o.Notes, format+"\n", args...)
	}
}

// writer remembers the first error, so that text can be printed line by line.
type writer struct {
	w   io.Writer
	err error
}

func (b *writer) Write(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.w.Write(p)
	b.err = err
	return n, err
}
