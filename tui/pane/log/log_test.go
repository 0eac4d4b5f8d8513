// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"fmt"
	"strings"
	"testing"

	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/log"
	"example.org/ibconsole/tui/pane/panetest"
)

// TestLines checks that the log keeps the order of lines, drops the oldest, and escapes control characters.
func TestLines(t *testing.T) {
	c := panetest.Common(t)
	p := log.New(c)
	var lines []pane.Line
	const n = 2 * pane.MaxKept
	for i := range n {
		lines = append(lines, pane.Line{Text: fmt.Sprintf("line %d", i)})
	}
	p.Update(pane.Log{Lines: lines})
	table := p.Base()
	if table.N != pane.MaxKept {
		t.Fatalf("%d lines are kept", table.N)
	}
	last := table.Cols[1].Text(table.Row(table.N - 1))
	if want := fmt.Sprintf("line %d", n-1); last != want {
		t.Errorf("the last line is %q, want %q", last, want)
	}
	p.Update(pane.Log{Lines: []pane.Line{{Text: "\x1b[2Jhostile\u202e"}}})
	pen := draw.NewPen(c.Look, 40)
	p.Draw(pen, table.N-1)
	if text := pen.Done(); strings.Contains(text, "\x1b[2J") || strings.ContainsRune(text, '\u202e') ||
		!strings.Contains(text, "hostile") {
		t.Errorf("drawn: %q", text)
	}
}
