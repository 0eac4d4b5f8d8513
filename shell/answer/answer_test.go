// SPDX-License-Identifier: Apache-2.0

package answer_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/shell/answer"
)

// hostile has characters that terminals, spreadsheets and HTML interpret.
const hostile = "=1+1\x1b]52;c;x\x07\r\n<script>|\u202e\\\"\xff"

type linkRow struct {
	Port   string       `key:"port" name:"PORT"`
	GUID   uint64       `key:"guid" kind:"guid"`
	LID    uint16       `key:"lid" name:"LID" kind:"lid"`
	Gbps   *float64     `key:"gbps" name:"RATE" unit:"Gbit/s" help:"data rate of the link"`
	Errors answer.Value `key:"errors" name:"ERRORS" kind:"int"`
	Seen   time.Time    `key:"seen"`
}

type linksValue struct {
	ends, lost int
	stale      bool
	rows       []linkRow
	fail       error
}

func links(stream bool) *answer.Decl[linksValue] {
	table := &answer.Table[linkRow]{Key: "links", Title: "links", Fields: answer.Fields[linkRow](), Stream: stream}
	return &answer.Decl[linksValue]{
		Command: "show links",
		Title:   "show links of {of}: {ends|end port}",
		Facts: []answer.Field[linksValue]{
			answer.IntField("ends", "end ports", "", func(v linksValue) int { return v.ends }),
			answer.IntField("lost", "lost", "", func(v linksValue) int { return v.lost }),
			answer.BoolField("stale", "", "", func(v linksValue) bool { return v.stale }),
		},
		Layout: []answer.Item[linksValue]{
			{Line: "  {lost|pair} lost"}, {Line: "{?stale}  the tables are stale"},
			{Table: answer.Show(table, func(v linksValue) answer.Rows[linkRow] {
				if v.fail == nil {
					return answer.Slice(v.rows)
				}
				return answer.Once(func(yield func(linkRow, error) bool) {
					for _, r := range v.rows {
						if !yield(r, nil) {
							return
						}
					}
					yield(linkRow{}, v.fail)
				})
			})},
		},
		Verdict: func(v linksValue) (answer.Verdict, string) {
			if v.lost > 0 {
				return answer.Found, "pairs are lost"
			}
			return answer.OK, ""
		},
		Fails: answer.Always,
	}
}

func scene() linksValue {
	return linksValue{ends: 1, rows: []linkRow{
		{Port: "leaf-01/1", GUID: 0x100, LID: 7, Gbps: new(400.0), Errors: answer.Int(0), Seen: time.Unix(0, 0).UTC()},
		{Port: hostile, Errors: answer.NotRead()},
	}}
}

// TestText checks widths, plurals, zeros, "-" for values that do not apply, and "not read".
func TestText(t *testing.T) {
	v := scene()
	v.rows[1].Port = "leaf-02/10"
	b := answer.Basis{Title: "live", Warnings: []string{"a warning"},
		Unread: answer.Unread{Count: 1, Causes: []answer.Cause{
			{What: "counter", Why: "no response", At: []answer.Place{{Name: "leaf-02", Port: 10}}, Count: 1}}}}
	var out bytes.Buffer
	if err := links(false).Answer(b, v).Text(&out); err != nil {
		t.Fatal(err)
	}
	want := `show links of live: 1 end port
  warning: a warning
  not read: 1 counter (no response): leaf-02/10
  0 pairs lost
PORT        LID  RATE    ERRORS
leaf-01/1   7    400.00  0
leaf-02/10  -    -       not read
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestUnreadMakesUnknown(t *testing.T) {
	unread := answer.Basis{Unread: answer.Unread{Count: 1}}
	if v, _ := links(false).Answer(unread, scene()).Verdict(); v != answer.Unknown {
		t.Errorf("verdict %v although something was not read", v)
	}
	lost := scene()
	lost.lost = 2
	if v, _ := links(false).Answer(unread, lost).Verdict(); v != answer.Found {
		t.Errorf("verdict %v although pairs are lost", v)
	}
	if v, _ := links(false).Answer(answer.Basis{}, scene()).Verdict(); v != answer.OK {
		t.Errorf("verdict %v although all was read", v)
	}
}

// TestJSONFitsSchema checks that each JSON object fits the schema of the declaration.
func TestJSONFitsSchema(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for _, fail := range []error{nil, errors.New("no response\x1b"), context.Canceled} {
			if fail != nil && !stream {
				continue
			}
			d := links(stream)
			if err := d.Check(); err != nil {
				t.Fatal(err)
			}
			v := scene()
			v.fail = fail
			b := answer.Basis{Subnet: hostile, State: "live", AsOf: time.Unix(1, 0), Stale: true,
				Warnings: []string{hostile},
				Unread: answer.Unread{
					Count: 2, Causes: []answer.Cause{
						{What: hostile, At: []answer.Place{{Name: hostile, LID: 3}}, Count: 2},
					},
				}}
			var out bytes.Buffer
			if err := d.Answer(b, v).JSON(&out, 1); !errors.Is(err, fail) {
				t.Fatalf("stream %t: %v, want %v", stream, err, fail)
			}
			schema := compile(t, d.Schema())
			var kinds []string
			for line := range strings.Lines(out.String()) {
				var o map[string]any
				if err := json.Unmarshal([]byte(line), &o); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				if err := schema.Validate(o); err != nil {
					t.Errorf("%s: %v", line, err)
				}
				kinds = append(kinds, o["kind"].(string))
				if !plain.Escaped(strings.TrimSuffix(line, "\n")) {
					t.Errorf("a control character in %q", line)
				}
			}
			want := []string{"answer"}
			if stream {
				last := "end"
				if fail != nil {
					last = "error"
				}
				want = append(want, "links", "links", last)
			}
			if errors.Is(fail, context.Canceled) && !strings.Contains(out.String(), `"cause":"interrupted"`) {
				t.Errorf("%s does not state that it was interrupted", &out)
			}
			if !slices.Equal(kinds, want) {
				t.Errorf("objects %v, want %v", kinds, want)
			}
		}
	}
}

func compile(t *testing.T, schema map[string]any) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAbsence checks that a value that was not read is null, that a value that does not apply has no key, and that a
// zero is 0.
func TestAbsence(t *testing.T) {
	var out bytes.Buffer
	if err := links(true).Answer(answer.Basis{}, scene()).JSON(&out, 1); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	var first, second map[string]any
	err := errors.Join(json.Unmarshal([]byte(lines[1]), &first), json.Unmarshal([]byte(lines[2]), &second))
	if err != nil {
		t.Fatal(err)
	}
	if first["errors"] != 0.0 {
		t.Errorf("a zero is %v", first["errors"])
	}
	if v, ok := second["errors"]; !ok || v != nil {
		t.Errorf("an unread value is %v", v)
	}
	if v, ok := second["gbps"]; ok {
		t.Errorf("a value that does not apply is %v", v)
	}
}

func TestRenderingsEscape(t *testing.T) {
	v := scene()
	a := links(false).Answer(answer.Basis{Title: hostile, Warnings: []string{hostile}}, v)
	for name, render := range map[string]func(*bytes.Buffer) error{
		"text":     func(w *bytes.Buffer) error { return a.Text(w) },
		"csv":      func(w *bytes.Buffer) error { return a.CSV(w, "") },
		"markdown": func(w *bytes.Buffer) error { return a.Markdown(w) },
		"html":     func(w *bytes.Buffer) error { return a.HTML(w) },
	} {
		var out bytes.Buffer
		if err := render(&out); err != nil {
			t.Fatal(name, err)
		}
		if text := out.String(); plain.EscapeText(text) != text {
			t.Errorf("%s has control characters: %q", name, out.String())
		}
		if name == "html" && strings.Contains(out.String(), "<script>") {
			t.Error("html has an element from a name")
		}
	}
	var out bytes.Buffer
	if err := a.CSV(&out, "links"); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != 3 || !strings.HasPrefix(rows[2][0], "'=") {
		t.Errorf("%q, %v: want three rows, and no formula", rows, err)
	}
	if !slices.Equal(rows[0], []string{"port", "guid", "lid", "gbps", "errors", "seen"}) {
		t.Errorf("headings %q are not the keys", rows[0])
	}
}

// TestRenderingsAgree checks that text, Markdown and the screen have the same cells.
func TestRenderingsAgree(t *testing.T) {
	v := scene()
	v.rows = v.rows[:1]
	a := links(false).Answer(answer.Basis{}, v)
	sheets, err := a.Sheets()
	if err != nil || len(sheets) != 1 || sheets[0].Len() != 1 {
		t.Fatal(sheets, err)
	}
	var text, markdown bytes.Buffer
	if err := errors.Join(a.Text(&text), a.Markdown(&markdown)); err != nil {
		t.Fatal(err)
	}
	var cells []string
	for i := range sheets[0].Columns {
		cells = append(cells, sheets[0].Cell(0, i))
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if got := strings.Fields(lines[len(lines)-1]); !slices.Equal(got, cells) {
		t.Errorf("text has %q, the sheet %q", got, cells)
	}
	if want := "| " + strings.Join(cells, " | ") + " |"; !strings.Contains(markdown.String(), want) {
		t.Errorf("markdown lacks %q:\n%s", want, markdown.String())
	}
}

// TestMarkdownLeavesOutConditions checks that Markdown omits facts that are only conditions of lines.
func TestMarkdownLeavesOutConditions(t *testing.T) {
	yes := func(int) answer.Value { return answer.Bool(true) }
	d := answer.Decl[int]{Command: "c", Facts: []answer.Field[int]{
		{Name: "none", Kind: answer.KindBool, Value: yes}, {Key: "stale", Name: "stale", Kind: answer.KindBool,
			Value: yes},
	}}
	var out bytes.Buffer
	if err := d.Answer(answer.Basis{}, 0).Markdown(&out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.Contains(got, "none") || !strings.Contains(got, "* stale: yes") {
		t.Errorf("markdown is:\n%s", got)
	}
}

func TestCheckFindsFaults(t *testing.T) {
	value := func(int) answer.Value { return answer.Int(1) }
	for name, d := range map[string]answer.Decl[int]{
		"reserved key": {Facts: []answer.Field[int]{{Key: "verdict", Kind: answer.KindInt, Value: value}}},
		"repeated key": {
			Facts: []answer.Field[int]{
				{Key: "a", Kind: answer.KindInt, Value: value}, {Key: "a", Kind: answer.KindInt, Value: value},
			},
		},
		"no kind":        {Facts: []answer.Field[int]{{Key: "a", Value: value}}},
		"no key or name": {Facts: []answer.Field[int]{{Kind: answer.KindInt, Value: value}}},
		"unknown field":  {Layout: []answer.Item[int]{{Line: "{b}"}}},
		"open brace":     {Title: "{of"},
		"printed condition": {
			Facts: []answer.Field[int]{
				{Key: "a", Kind: answer.KindBool, Value: func(int) answer.Value { return answer.Bool(true) }},
			},
			Layout: []answer.Item[int]{{Line: "all[ but one{a}]"}},
		},
	} {
		if d.Check() == nil {
			t.Errorf("%s: no fault found", name)
		}
	}
}

func TestValueSize(t *testing.T) {
	if size := unsafe.Sizeof(answer.Value{}); size != 48 {
		t.Errorf("a Value has %d bytes, want 48", size)
	}
}

// FuzzText compares JSON strings with encoding/json.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "leaf-01", hostile, "\u2028<&>", "\U0001f600\U000e0001"} {
		f.Add(s)
	}
	d := &answer.Decl[string]{Command: "c", Facts: []answer.Field[string]{
		answer.FieldOf(answer.KindText, "s", "", "", answer.Text),
	}}
	f.Fuzz(func(t *testing.T, s string) {
		var out bytes.Buffer
		if err := d.Answer(answer.Basis{}, s).JSON(&out, 1); err != nil {
			t.Fatal(err)
		}
		var got struct{ S string }
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%q: %v", out.String(), err)
		}
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var expected string
		if err := json.Unmarshal(want, &expected); err != nil || got.S != expected {
			t.Errorf("%q became %q, want %q (%v)", s, got.S, expected, err)
		}
	})
}

// part is a nested struct.
type part struct {
	Worst int    `key:"worst" name:"worst" help:"the worst"`
	Note  string `name:"note"`
}

type whole struct {
	Paths int     `key:"paths"`
	Lost  int     `key:"lost"`
	Own   part    `prefix:""`
	Other *part   `prefix:"other_"`
	Share float64 `key:"share"`
	rows  []linkRow
}

// TestNestedAndOptional checks prefixes of nested structs, nil pointers, which omit keys and lines, brackets with a
// zero, and lines with a When.
func TestNestedAndOptional(t *testing.T) {
	table := &answer.Table[linkRow]{Key: "links", Title: "links", Fields: answer.Fields[linkRow](), Row: "  {port}",
		MaxRows: 2}
	decl := &answer.Decl[*whole]{
		Command: "check", Title: "check", Facts: answer.Fields[*whole](),
		Layout: []answer.Item[*whole]{
			{Line: "{paths|path}[, {lost} lost][, {other_worst} at worst]"},
			{Line: "[{lost} lost]"}, {Line: "{?other_worst}other {other_worst} {other_note}"},
			{Line: "never", When: func(*whole) bool { return false }},
			{Table: answer.Show(table, func(w *whole) answer.Rows[linkRow] {
				rows := answer.Slice(w.rows)
				rows.Shown = w.Paths
				return rows
			})},
		},
	}
	if err := decl.Check(); err != nil {
		t.Fatal(err)
	}
	rows := []linkRow{{Port: "a"}, {Port: "b"}, {Port: "c"}}
	for _, tc := range []struct {
		value whole
		text  string
		keys  string
	}{
		{whole{Paths: 1, rows: rows}, "check\n1 path\n  a\n  and 2 more\n", "lost paths share worst"},
		{
			whole{rows: rows, Lost: 3}, "check\n0 paths, 3 lost\n3 lost\n  a\n  b\n  and 1 more\n",
			"lost paths share worst",
		},
		{
			whole{Other: &part{Worst: 7, Note: "x"}}, "check\n0 paths, 7 at worst\nother 7 x\n",
			"lost other_worst paths share worst",
		},
	} {
		a := decl.Answer(answer.Basis{}, &tc.value)
		var text, out bytes.Buffer
		if err := errors.Join(a.Text(&text), a.JSON(&out, 1)); err != nil || text.String() != tc.text {
			t.Errorf("%v: %q, want %q", err, text.String(), tc.text)
		}
		var o map[string]any
		if err := json.Unmarshal(out.Bytes(), &o); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"command", "answer", "kind", "schema", "of", "links"} {
			delete(o, key)
		}
		if keys := strings.Join(slices.Sorted(maps.Keys(o)), " "); keys != tc.keys {
			t.Errorf("keys %q, want %q", keys, tc.keys)
		}
		if err := compile(t, decl.Schema()).Validate(decode(t, out.Bytes())); err != nil {
			t.Error(err)
		}
	}
	if sheets, err := decl.Answer(answer.Basis{}, &whole{rows: rows}).Sheets(); err != nil || len(sheets) != 1 {
		t.Errorf("%d tables on the screen: %v", len(sheets), err)
	}
	table.TextOnly = true
	if sheets, err := decl.Answer(answer.Basis{}, &whole{rows: rows}).Sheets(); err != nil || len(sheets) != 0 {
		t.Errorf("%d tables on the screen that has none: %v", len(sheets), err)
	}
	for _, form := range []string{"[{paths}", "{paths}]", "[{paths]", "[{nothing}]"} {
		bad := *decl
		bad.Layout = []answer.Item[*whole]{{Line: form}}
		if bad.Check() == nil {
			t.Errorf("the form %q has no fault", form)
		}
	}
}

func decode(t *testing.T, line []byte) any {
	t.Helper()
	o, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// counts is a row with a map.
type counts struct {
	Name   string       `key:"name" name:"NAME"`
	Values answer.Value `key:"values" name:"VALUES" kind:"map"`
}

// TestMapsAndTabs checks that text after a tab is aligned over adjacent lines and rows, and that a map is an object in
// JSON.
func TestMapsAndTabs(t *testing.T) {
	table := answer.Table[counts]{Key: "rows", Title: "rows", Fields: answer.Fields[counts](), Row: "{name}\t{values}"}
	decl := answer.Decl[[]counts]{
		Command: "counts", Facts: []answer.Field[[]counts]{
			answer.IntField("n", "", "", func(v []counts) int { return len(v) }),
		},
		Layout: []answer.Item[[]counts]{
			{Line: "ports\t{n}"}, {Table: answer.Show(&table, answer.Slice[counts])}, {Line: "the end"},
		},
	}
	v := []counts{
		{
			"leaf-01/1",
			answer.Map([]answer.Named{{Name: "waits", Value: answer.Int(3)}, {Name: hostile, Value: answer.NotRead()}}),
		},
		{"a", answer.Map(nil)},
	}
	a := decl.Answer(answer.Basis{Title: "live"}, v)
	var text, out bytes.Buffer
	if err := errors.Join(a.Text(&text), a.JSON(&out, 1)); err != nil {
		t.Fatal(err)
	}
	want := "counts of live\nports      2\nleaf-01/1  waits 3, " + plain.EscapeLine(hostile) +
		" not read\na          \nthe end\n"
	if text.String() != want {
		t.Errorf("got\n%q\nwant\n%q", text.String(), want)
	}
	var got struct {
		Rows []struct{ Values map[string]*int }
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err, out.String())
	}
	if m := got.Rows[0].Values; len(m) != 2 || *m["waits"] != 3 || len(got.Rows[1].Values) != 0 {
		t.Errorf("%s", out.String())
	}
	var o any
	if err := json.Unmarshal(out.Bytes(), &o); err != nil {
		t.Fatal(err)
	}
	if err := compile(t, decl.Schema()).Validate(o); err != nil {
		t.Error(err)
	}
}

// TestNote checks that values that were not read for the same reason are one cause, with the sum of the counts and a
// limited number of places.
func TestNote(t *testing.T) {
	var u answer.Unread
	for i := range answer.MaxPlaces + 5 {
		u.Note("counter reading", "no response", 2, answer.Place{Name: "leaf-01", Port: i})
	}
	before := u
	u.Note("counter reading", "not supported", 1, answer.Place{Name: "leaf-02", Port: -1})
	if len(u.Causes) != 2 || u.Count != 2*(answer.MaxPlaces+5)+1 || u.Causes[0].Count != 2*(answer.MaxPlaces+5) ||
		len(u.Causes[0].At) != answer.MaxPlaces {
		t.Errorf("%+v", u)
	}
	if len(before.Causes) != 1 || before.Count != u.Count-1 {
		t.Errorf("a copy changes: %+v", before)
	}
}

// TestEach checks that a line with Each is written for each element, and that the last line has the number of others.
func TestEach(t *testing.T) {
	type lists struct {
		Notes []string `key:"notes"`
		Other int      `key:"other"`
	}
	decl := answer.Decl[lists]{Command: "engine", Title: "engine", Facts: answer.Fields[lists](),
		Layout: []answer.Item[lists]{{Line: "  note {other}: {notes}", Each: "notes"}}}
	for n, want := range map[int]string{0: "engine\n", 2: "engine\n  note 7: a\\x1b\n  note 7: a\\x1b\n"} {
		var b strings.Builder
		if err := decl.Answer(answer.Basis{}, lists{slices.Repeat([]string{"a\x1b"}, n), 7}).Text(&b); err != nil ||
			b.String() != want {
			t.Errorf("%d: %q, %v, expected %q", n, b.String(), err, want)
		}
	}
	var b strings.Builder
	if err := decl.Answer(answer.Basis{}, lists{make([]string, 30), 7}).Text(&b); err != nil ||
		!strings.HasSuffix(b.String(), "\n  note 7: and 10 more\n") {
		t.Errorf("%q, %v", b.String(), err)
	}
	decl.Layout[0].Each = "other"
	if err := decl.Check(); err == nil {
		t.Error("Check accepts a number as a list")
	}
}

// TestGrouped checks the commas between thousands of a count, and a number without them.
func TestGrouped(t *testing.T) {
	d := answer.Decl[int64]{
		Command: "count", Title: "{n} {n|#}", Layout: []answer.Item[int64]{},
		Facts: []answer.Field[int64]{answer.IntField("n", "", "", func(n int64) int64 { return n })},
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 136037232: "136,037,232", -1234: "-1,234",
		-123: "-123"} {
		var got strings.Builder
		want += " " + strconv.FormatInt(n, 10) + "\n"
		if err := d.Answer(answer.Basis{}, n).Text(&got); err != nil || got.String() != want {
			t.Errorf("%d is written %q, want %s: %v", n, got.String(), want, err)
		}
	}
}

// TestUnreadRows checks that a table that was not read is null in JSON, which fits the schema, and "not read" in text.
func TestUnreadRows(t *testing.T) {
	table := &answer.Table[linkRow]{Key: "links", Title: "links", Fields: answer.Fields[linkRow]()}
	decl := answer.Decl[struct{}]{
		Command: "links", Layout: []answer.Item[struct{}]{
			{Table: answer.Show(table, func(struct{}) answer.Rows[linkRow] { return answer.UnreadRows[linkRow]() })},
		},
	}
	for form, want := range map[answer.Form]string{
		answer.FormText: "links\nlinks: not read\n", answer.FormJSON: `"links":null}`,
		answer.FormMarkdown: "links: not read", answer.FormHTML: "links: not read",
	} {
		var out bytes.Buffer
		if err := decl.Answer(answer.Basis{}, struct{}{}).Write(&out, form, 1, ""); err != nil ||
			!strings.Contains(out.String(), want) {
			t.Errorf("%s: %v, expected %q in\n%s", form, err, want, &out)
		}
		if form != answer.FormJSON {
			continue
		}
		o, err := jsonschema.UnmarshalJSON(&out)
		if err == nil {
			err = compile(t, decl.Schema()).Validate(o)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// TestEmbeddedLead checks that a row leads to the target of its embedded Lead.
func TestEmbeddedLead(t *testing.T) {
	type row struct {
		Name string `key:"name" name:"NAME"`
		answer.Lead
	}
	table := answer.Table[row]{Key: "rows", Fields: answer.Fields[row]()}
	decl := answer.Decl[[]row]{
		Command: "c", Layout: []answer.Item[[]row]{{Table: answer.Show(&table, answer.Slice[row])}},
	}
	want := answer.Lead{GUID: 7, Port: 1}
	sheets, err := decl.Answer(answer.Basis{}, []row{{"a", want}}).Sheets()
	if err != nil || len(sheets) != 1 || sheets[0].Lead(0) != want {
		t.Errorf("%+v, %v: want %+v", sheets, err, want)
	}
}
