// SPDX-License-Identifier: Apache-2.0

package svg

import (
	"strings"
	"testing"
)

// A row that stays is drawn once, for as long as it stays, and one that changes twice; what is text is escaped.
func TestFilm(t *testing.T) {
	cast := `{"version": 2, "width": 10, "height": 2}
[0.0, "o", "\u001b[H\u001b[2Jstays\r\n<one>"]
[4.0, "o", "\u001b[H\u001b[2Jstays\r\ntwo"]
[10.0, "o", ""]
`
	var out strings.Builder
	if err := Film(strings.NewReader(cast), &out); err != nil {
		t.Fatal(err)
	}
	for text, times := range map[string]int{
		">stays<": 1, ">&lt;one&gt;<": 1, ">two<": 1, "10s step-end infinite": 3,
		"{0.000%{visibility:visible}}":                           1, // always
		"{0.000%{visibility:visible}40.000%{visibility:hidden}}": 1,
		"{visibility:hidden;animation:":                          1, // what is there later
		"{0.000%{visibility:hidden}40.000%{visibility:visible}}": 1,
	} {
		if n := strings.Count(out.String(), text); n != times {
			t.Errorf("%q is there %d times, want %d, in\n%s", text, n, times, out.String())
		}
	}
}

func TestFilmOfSomethingElse(t *testing.T) {
	for _, cast := range []string{
		"", `{"version": 1}`, `{"version": 2, "width": 1, "height": 1}`,
		"{\"version\": 2}\n[0, \"o\", \"a part of a screen\"]", "{\"version\": 2}\n[\"0\", \"o\", \"\"]",
		"{\"version\": 2}\n{}",
	} {
		if err := Film(strings.NewReader(cast), &strings.Builder{}); err == nil {
			t.Errorf("%q makes a film", cast)
		}
	}
}
