// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// TestRenderingsAgree: of random commands on random states, the text, JSON, CSV and the tables of the screen have the
// same figures, and each shows its state and what was not read.
func TestRenderingsAgree(t *testing.T) {
	t.Chdir(t.TempDir()) // examples write files
	r := testenv.Rand(t)
	t.Chdir(t.TempDir()) // where examples write files
	want := testenv.Count(t, 60, 300)
	answers := 0
	for answers < want {
		from := []string{"sim:fattree:2,4", "sim:fattree:3,4", "sim:torus:3x3", "sim:dragonfly:4,2,2"}[r.IntN(4)]
		before := strings.Join(someOf(r, "fail random 1 seed=3", "engine updn lmc=1", "route", "engine minhop",
			"fail node node-0003", "sweep full", "route"), "; ")
		src, err := source.Parse(from)
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.Open(t.Context(), src, session.Options{Fast: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		var heard []*answer.Answer
		out := &Output{W: new(bytes.Buffer), OnAnswer: func(a *answer.Answer) { heard = append(heard, a) }}
		sh := New(s)
		_ = sh.Run(t.Context(), "before", before, out)
		for range 8 {
			f := features[r.IntN(len(features))]
			c := &f.Commands[r.IntN(len(f.Commands))]
			if len(c.Examples) > 0 && !strings.HasPrefix(c.Path, "sa ") { // the simulation has no subnet administration
				// An example may want another subnet.
				_ = sh.Run(t.Context(), "example", c.Examples[r.IntN(len(c.Examples))], out)
			}
		}
		for _, a := range heard {
			agree(t, fmt.Sprintf("%s, %s; %s", from, before, a.Command()), a)
		}
		answers += len(heard)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d answers", answers)
}

// someOf returns some of the texts in their order.
func someOf(r *rand.Rand, texts ...string) []string {
	return slices.DeleteFunc(texts, func(string) bool { return r.IntN(2) == 0 })
}

// agree compares the renderings of an answer.
func agree(t *testing.T, of string, a *answer.Answer) {
	t.Helper()
	var text, out bytes.Buffer
	if err := a.Text(&text); err != nil {
		t.Fatalf("%s: %v", of, err)
	}
	if err := a.JSON(&out, 1); err != nil {
		t.Fatalf("%s: %v", of, err)
	}
	var head map[string]any
	rows := map[string][]map[string]any{}
	figures := map[float64]bool{}
	decoder := json.NewDecoder(&out)
	for decoder.More() {
		var o map[string]any
		if err := decoder.Decode(&o); err != nil {
			t.Fatalf("%s: %v", of, err)
		}
		gather(figures, o)
		if kind, _ := o["kind"].(string); kind == "answer" {
			head = o
		} else {
			rows[kind] = append(rows[kind], o)
		}
	}
	for key, v := range head {
		list, _ := v.([]any)
		for _, x := range list {
			if o, ok := x.(map[string]any); ok {
				rows[key] = append(rows[key], o)
			}
		}
	}
	if !a.IsAction() {
		saysOf(t, of, text.String(), head)
	}
	for _, n := range figuresIn(text.String()) {
		if !within(figures, n) && !slices.Contains(fixed[a.Command()], n) {
			t.Errorf("%s: the text has %s, JSON does not:\n%s\n%v", of, n, &text, head)
		}
	}
	sheets, err := a.Sheets()
	if err != nil {
		t.Fatalf("%s: %v", of, err)
	}
	for i := range sheets {
		sheet := &sheets[i]
		its := rows[sheet.Key()]
		if len(its) != sheet.Len() {
			t.Errorf("%s: the screen has %d rows in %q, JSON %d", of, sheet.Len(), sheet.Title, len(its))
			continue
		}
		cells := csvOf(t, of, a, sheet)
		for row, o := range its {
			for column := range sheet.Columns {
				c := &sheet.Columns[column]
				if row == 0 && (c.Name == "WHAT" || c.Name == "WHY") {
					t.Errorf("%s: the heading %s of %q names no term of the field", of, c.Name, sheet.Title)
				}
				if c.Key == "" {
					continue
				}
				v, there := o[c.Key]
				if cell := sheet.Cell(row, column); !same(cell, v, there) {
					t.Errorf("%s: row %d of %q: the screen has %s %q, JSON %v", of, row, sheet.Title, c.Key, cell, v)
				}
				if cell := cells[row][c.Key]; !same(cell, v, there) {
					t.Errorf("%s: row %d of %q: CSV has %s %q, JSON %v", of, row, sheet.Title, c.Key, cell, v)
				}
			}
		}
	}
}

// fixed are the figures in the words of answers that are the same for all subnets: the shares by which updn finds
// roots, and the last service level.
var fixed = map[string][]string{"show roots": {"90", "5"}, "show sl2vl": {"15"}}

// saysOf compares the state in the text with the head of the JSON.
func saysOf(t *testing.T, of, text string, head map[string]any) {
	t.Helper()
	basis := head["of"].(map[string]any)
	first, _, _ := strings.Cut(text, "\n")
	state, ofState := basis["state"].(string)         // other answers are about the session
	if ofState && head["command"] != "show states" && // which lists the states
		!strings.Contains(first, state) && !strings.Contains(first, basis["title"].(string)) {
		t.Errorf("%s: the first line does not name the state %v: %q", of, basis["state"], first)
	}
	if unread := basis["unread"].(map[string]any); unread["count"].(float64) > 0 &&
		!strings.Contains(text, "not read") {
		t.Errorf("%s: %v were not read, the text does not report it:\n%s", of, unread, text)
	}
}

// gather collects the figures of a JSON value, those within its texts too, and the lengths of its lists.
func gather(into map[float64]bool, v any) {
	switch v := v.(type) {
	case float64:
		into[v] = true
	case string:
		for _, n := range figuresIn(v) {
			f, _ := strconv.ParseFloat(n, 64)
			into[f] = true
		}
	case []any:
		into[float64(len(v))] = true
		for _, x := range v {
			gather(into, x)
		}
	case map[string]any:
		for _, x := range v {
			gather(into, x)
		}
	}
}

// moreRows is how many rows the text leaves out.
var moreRows = regexp.MustCompile(`and [0-9,]+ more`)

// thousands is a number with commas.
var thousands = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+$`)

// figuresIn returns the words of a text that are numbers.
func figuresIn(text string) []string {
	var all []string
	for word := range strings.FieldsSeq(moreRows.ReplaceAllString(text, "")) {
		word = strings.Trim(word, "(),;:%[]")
		parts := []string{strings.ReplaceAll(word, ",", "")}
		if !thousands.MatchString(word) {
			parts = strings.Split(word, ",") // coordinates
		}
		for _, part := range parts {
			if _, err := strconv.ParseFloat(part, 64); err == nil && strings.Trim(part, "0123456789.") == "" {
				all = append(all, part)
			}
		}
	}
	return all
}

// within reports whether a figure is one of several, rounded to its digits.
func within(figures map[float64]bool, word string) bool {
	n, _ := strconv.ParseFloat(word, 64)
	if figures[n] {
		return true
	}
	word, _, _ = strings.Cut(word, "e")
	_, digits, _ := strings.Cut(word, ".")
	if digits == "" {
		return false
	}
	for f := range figures {
		for _, unit := range []float64{1, 100, 1e-3, 1e-6} { // %, kB, MB
			if math.Abs(unit*f-n) <= 0.5001*math.Pow10(-len(digits)) {
				return true
			}
		}
	}
	return false
}

// same reports whether a cell shows the JSON value.
func same(cell string, v any, there bool) bool {
	switch v := v.(type) {
	case nil:
		return there == (cell == "not read") && (there || cell == "" || cell == "-")
	case float64:
		cell = strings.ReplaceAll(cell, ",", "")
		if n, err := strconv.ParseFloat(cell, 64); err == nil {
			return n == v || within(map[float64]bool{v: true}, cell)
		}
		return cell != "" && cell != "-" && cell != "not read" // with a unit: a time
	case bool:
		return cell == map[bool]string{true: "yes", false: "no"}[v] || cell == strconv.FormatBool(v)
	case string:
		return strings.TrimPrefix(cell, "'") == v || strings.ContainsAny(v, ":T") // a time has two forms
	case map[string]any:
		return strings.HasPrefix(cell, v["name"].(string))
	}
	return cell != ""
}

// csvOf returns the rows of CSV by their headings.
func csvOf(t *testing.T, of string, a *answer.Answer, sheet *answer.Sheet) (rows []map[string]string) {
	t.Helper()
	var out bytes.Buffer
	if err := a.CSV(&out, sheet.Key()); err != nil {
		t.Fatalf("%s: %v", of, err)
	}
	all, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", of, err)
	}
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, key := range all[0] {
			row[key] = cells[i]
		}
		rows = append(rows, row)
	}
	return rows
}
