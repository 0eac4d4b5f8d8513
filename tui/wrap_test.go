// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/tui/pane"
)

// TestWrap checks that a key wraps the long lines of the log and of the text of an answer, and cuts them again. The
// cursor, the mouse and the filter still act on whole lines, and paging shows each line to its end.
func TestWrap(t *testing.T) {
	d := drive(t, tree).size(80, 24)
	d.press(":help show", "enter", "G").sees("›8 Log", "…").misses("else live)")
	d.press(`\`).sees("long lines are wrapped", "else live)").misses("…")
	for y, line := range strings.Split(d.screen(), "\n") {
		if strings.Contains(line, "else live)") {
			d.send(tea.MouseMsg{X: 30, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
		}
	}
	base := d.m.pane().Base()
	row, _ := base.Selected()
	text := base.Cols[1].Text(row)
	if !strings.Contains(text, "ID of a history entry") || !strings.HasSuffix(text, "else live)") {
		t.Errorf("a click on the second line of a row selects %q", text)
	}
	d.press("j")
	if after, _ := base.Selected(); after != row+1 {
		t.Errorf("j goes from row %d to row %d", row, after)
	}
	d.press("/", "03:12 (default", "enter").sees("1 line", "else live)").press("esc")
	d.press(`\`).sees("long lines are cut").misses("else live)")

	// row i has i words, the last ones nearly fill the pane
	var rows, words []string
	for i := range 40 {
		rows = append(rows, fmt.Sprintf("row-%d", i))
		for j := range i * 2 {
			words = append(words, fmt.Sprintf("word-%d-%d;", i, j))
			rows[i] += " " + words[len(words)-1]
		}
	}
	d.m.updatePanes(pane.Answered{Job: 1, Command: "words", Sheets: []pane.Sheet{
		pane.Summary(rows, answer.Basis{}, nil),
	}})
	d.press("a").sees("›a Answer words", "…").press(`\`, "8").misses("are wrapped").press("a", "g")
	var shown strings.Builder
	for range len(rows) {
		shown.WriteString(d.screen())
		d.press("pgdown")
	}
	for _, word := range words {
		if !strings.Contains(shown.String(), word) {
			t.Errorf("no page shows %s", word)
			break
		}
	}
	d.size(40, 12).sees("…").press("pgup", "ctrl+u", "up", "g", `\`) // a row is taller than the pane
	d.size(80, 24).press(":show switches", "enter", `\`)
	d.sees("rows of a table are not wrapped: ← and → scroll its columns")
}

// TestWideTable checks that a table says how many of its columns fit, that the arrows show all others next to the first
// column, and that a filter still matches the texts of columns that are scrolled out.
func TestWideTable(t *testing.T) {
	d := drive(t, tree).size(60, 20)
	d.press(":compare engines minhop updn", "enter")
	a := d.m.pane().Base()
	heads, shown := map[string]bool{}, 0
	for range len(a.Cols) {
		was := a.Offset
		lines := strings.Split(d.screen(), "\n")
		for _, c := range a.Cols {
			if strings.Contains(lines[3], " "+c.Name+" ") {
				heads[c.Name] = true
			}
		}
		if !strings.Contains(lines[3], a.Cols[0].Name) {
			t.Errorf("the first column is scrolled out: %s", lines[3])
		}
		shown, _ = a.Fitting(a.Wide)
		d.sees(fmt.Sprintf("%d of %d columns (← →)", shown, len(a.Cols))).press("right")
		if a.Offset == was {
			break
		}
	}
	for _, c := range a.Cols {
		if !heads[c.Name] {
			t.Errorf("column %q is never shown", c.Name)
		}
	}
	if a.Offset == 0 || a.Offset > len(a.Cols)-2 {
		t.Errorf("%d columns are scrolled out", a.Offset)
	}
	d.press("/", "updn", "enter").sees("1 row", "columns (").press("esc")
	d.size(200, 50).sees("columns (").press("0")
}
