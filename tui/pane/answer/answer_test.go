// SPDX-License-Identifier: Apache-2.0

package answer_test

import (
	"fmt"
	"testing"

	shellanswer "example.org/ibconsole/shell/answer"

	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/answer"
	"example.org/ibconsole/tui/pane/panetest"
)

// sheets declares an answer with a table of n rows.
var sheets = shellanswer.Decl[int]{
	Command: "count", Help: "numbers",
	Layout: []shellanswer.Item[int]{{
		Line: "numbers",
	}, {Table: shellanswer.Show(&numbers, func(n int) shellanswer.Rows[int] {
		return shellanswer.Lazy(n, func(i int) int { return i })
	})}},
}

var numbers = shellanswer.Table[int]{Key: "numbers", Title: "numbers", Fields: []shellanswer.Field[int]{
	{Key: "number", Name: "NUMBER", Kind: shellanswer.KindInt, Value: func(i int) shellanswer.Value {
		return shellanswer.Int(i)
	}},
}}

// TestAnswers checks that the newest answer is shown with its first table, that thirty answers are kept, and that a
// visit returns to one of them.
func TestAnswers(t *testing.T) {
	p := answer.New(panetest.Common(t))
	if p.Base().N != 0 || p.Empty() == "" {
		t.Errorf("without answers: %d rows, %q", p.Base().N, p.Empty())
	}
	table := func(rows int) pane.Sheet {
		all := sheets.Answer(shellanswer.Basis{}, rows)
		return pane.SheetsOf(all)[0]
	}
	var places []pane.Place
	for i := range 35 {
		p.Update(pane.Answered{
			Job: i + 1, Command: fmt.Sprintf("command %d", i), Sheets: []pane.Sheet{table(2), table(i + 1)}, First: 1,
		})
		at, _ := p.Spot()
		places = append(places, at)
	}
	if n := p.Base().N; n != 35 {
		t.Errorf("%d rows of the newest, want 35", n)
	}
	p.Update(pane.Visit{At: places[10]})
	if _, label := p.Spot(); label != "command 10" || p.Base().N != 11 {
		t.Errorf("the visit shows %q with %d rows", label, p.Base().N)
	}
	p.Update(pane.Visit{At: places[3]}) // no longer kept
	if _, label := p.Spot(); label != "command 10" {
		t.Errorf("a visit of an answer that is not kept shows %q", label)
	}
}
