// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/internal/base/prose"
)

// unreadTable is the key under which [Answer.CSV] writes the causes of unread values as a table.
const unreadTable = "unread"

// CSV writes one table with the JSON keys as headings. The argument table is the key of the table, or "unread" for the
// causes of unread values. For "" it writes the first table with rows. If no table has rows, it writes the facts as one
// row. If there are no facts, it writes the headings of the first table. An unread value is "not read".
func (a *Answer) CSV(w io.Writer, table string) error {
	out := csv.NewWriter(w)
	if table == "" {
		table = a.firstTable()
	}
	switch table {
	case unreadTable:
		_ = out.Write([]string{"what", "why", "count", "at"})
		for _, c := range a.basis.Unread.Causes {
			names := strings.Join(prose.Words(c.At, Place.String), " ")
			_ = out.Write([]string{cellText(c.What), cellText(c.Why), strconv.Itoa(c.Count), cellText(names)})
		}
	case "":
		columns, values := make([]Column, len(a.facts)), make([]Value, len(a.facts))
		for i, f := range a.facts {
			columns[i], values[i] = f.Column, f.Value
		}
		writeKeys(out, columns)
		_ = out.Write(csvCells(columns, values))
	default:
		t, err := a.table(table)
		if err != nil {
			return err
		}
		writeKeys(out, t.columns)
		err = t.rows(func(values []Value) error {
			if err := out.Write(csvCells(t.columns, values)); err != nil || !t.live {
				return err
			}
			out.Flush()
			return out.Error()
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// firstTable returns the key of the table that [Answer.CSV] writes by default. It returns "" if CSV writes the facts.
func (a *Answer) firstTable() string {
	for i := range a.tables {
		if t := &a.tables[i]; t.n != 0 { // -1 if unknown
			return t.key
		}
	}
	if len(a.tables) > 0 && !slices.ContainsFunc(a.facts, func(f fact) bool { return f.Key != "" }) {
		return a.tables[0].key
	}
	return ""
}

func (a *Answer) table(key string) (*boundTable, error) {
	var keys []string
	for i := range a.tables {
		if t := &a.tables[i]; t.key == key {
			return t, nil
		}
		keys = append(keys, a.tables[i].key)
	}
	return nil, fmt.Errorf("%s has no table %q, expected %s", a.command, key,
		strings.Join(append(keys, unreadTable), ", "))
}

func writeKeys(out *csv.Writer, columns []Column) {
	var keys []string
	for i := range columns {
		if columns[i].Key != "" {
			keys = append(keys, columns[i].Key)
		}
	}
	_ = out.Write(keys)
}

// asInJSON are the kinds whose values CSV writes as JSON does.
var asInJSON = []Kind{KindInt, KindFloat, KindLID, KindBool, KindDuration, KindTime}

func csvCells(columns []Column, values []Value) []string {
	var cells []string
	for i, v := range values {
		switch {
		case columns[i].Key == "":
		case v.IsNone():
			cells = append(cells, "")
		case slices.Contains(asInJSON, v.Kind()):
			cells = append(cells, strings.Trim(string(v.appendJSON(nil)), `"`))
		default:
			cells = append(cells, cellText(v.String()))
		}
	}
	return cells
}

// cellText returns the text in a form that a spreadsheet does not interpret as a formula.
func cellText(s string) string {
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		if _, err := strconv.ParseFloat(s, 64); err != nil {
			return "'" + s
		}
	}
	return s
}

// Markdown writes the lines of the text and all tables as Markdown. If the text is a drawing, the facts replace the
// lines.
func (a *Answer) Markdown(w io.Writer) error {
	return a.markup(w, markup{
		title:   func(s string) string { return "## " + escapeMarkdown(s) + "\n\n" },
		line:    func(s string) string { return "* " + escapeMarkdown(s) + "\n" },
		heading: func(s string) string { return "\n### " + escapeMarkdown(s) + "\n" },
		first: func(cells []string) string {
			return "\n" + markdownRow(cells) + "|" + strings.Repeat(" --- |", len(cells)) + "\n"
		},
		row: markdownRow,
	})
}

func markdownRow(cells []string) string {
	return "| " + strings.Join(prose.Words(cells, escapeMarkdown), " | ") + " |\n"
}

var markdownSigns = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`)

func escapeMarkdown(s string) string { return markdownSigns.Replace(s) }

// HTML writes the content of [Answer.Markdown] as a fragment of HTML.
func (a *Answer) HTML(w io.Writer) error {
	return a.markup(w, markup{
		title:   func(s string) string { return "<h2>" + html.EscapeString(s) + "</h2>\n" },
		line:    func(s string) string { return "<p>" + html.EscapeString(s) + "</p>\n" },
		heading: func(s string) string { return "<h3>" + html.EscapeString(s) + "</h3>\n" },
		first:   func(cells []string) string { return "<table>\n" + htmlRow(cells, "th") },
		row:     func(cells []string) string { return htmlRow(cells, "td") },
		last:    "</table>\n",
	})
}

func htmlRow(cells []string, tag string) string {
	var b strings.Builder
	b.WriteString("<tr>")
	for _, c := range cells {
		b.WriteString("<" + tag + ">" + html.EscapeString(c) + "</" + tag + ">")
	}
	b.WriteString("</tr>\n")
	return b.String()
}

// markup formats the parts of an answer in a markup language such as Markdown or HTML.
type markup struct {
	title, line, heading func(string) string
	first, row           func([]string) string
	last                 string
}

func (a *Answer) markup(w io.Writer, m markup) error {
	out := bufio.NewWriter(w)
	_, _ = out.WriteString(m.title(a.heading()))
	for _, warning := range a.basis.Warnings {
		_, _ = out.WriteString(m.line("warning: " + Text(warning).String()))
	}
	for _, line := range a.basis.Unread.Lines() {
		_, _ = out.WriteString(m.line(line))
	}
	written := map[*boundTable]bool{}
	if a.draw == nil && !a.labelled {
		err := a.eachItem(func(line string) {
			_, _ = out.WriteString(m.line(strings.Join(strings.Fields(line), " ")))
		}, func(t *boundTable) error {
			written[t] = true
			return a.tableMarkup(out, m, t)
		})
		if err != nil {
			return err
		}
	} else {
		a.factMarkup(out, m)
	}
	for i := range a.tables {
		if t := &a.tables[i]; !written[t] {
			if err := a.tableMarkup(out, m, t); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// factMarkup writes the facts. It omits facts that the title contains, and conditions that only forms use.
func (a *Answer) factMarkup(out *bufio.Writer, m markup) {
	title, _ := parseForm(a.title)
	for i := range a.facts {
		f := &a.facts[i]
		condition := f.Key == "" && f.Value.Kind() == KindBool
		inTitle := slices.ContainsFunc(title, func(p formPart) bool { return p.key == f.id() })
		if f.Name == "" || condition || inTitle || f.Value.IsNone() || f.Value.String() == "" {
			continue
		}
		_, _ = out.WriteString(m.line(label(f.Name) + ": " + f.Value.String() + unitText(f.Unit)))
	}
}

// label returns the name of a fact with blanks for the underscores of prefixes.
func label(name string) string { return strings.ReplaceAll(name, "_", " ") }

// tableMarkup writes a table. For a table without rows it writes the same line as text, if there is such a line.
func (a *Answer) tableMarkup(out *bufio.Writer, m markup, t *boundTable) error {
	if t.unread {
		_, err := out.WriteString(m.line(t.title + ": " + NotRead().String()))
		return err
	}
	rows, err := t.markup(out, m)
	switch {
	case err != nil || rows > 0:
		return err
	case t.empty != "":
		_, err = out.WriteString(m.line(strings.TrimSpace(t.empty)))
	case len(a.layout) == 1 && len(a.tables) == 1 && !a.judged:
		_, err = out.WriteString(m.line("none"))
	}
	return err
}

// markup writes a table with its title and headings, and returns the number of rows. It writes nothing if the table has
// no rows.
func (t *boundTable) markup(out *bufio.Writer, m markup) (rows int, err error) {
	var shown []int
	var names []string
	// A column without a key that a form names is a part of that text, unless the table has no others.
	hasKeys := slices.ContainsFunc(t.columns, func(c Column) bool { return c.Key != "" })
	for i := range t.columns {
		if c := &t.columns[i]; c.Name != "" && (c.Key != "" || t.form == "" || !hasKeys) {
			shown, names = append(shown, i), append(names, t.columns[i].Name)
		}
	}
	cells := make([]string, len(shown))
	err = t.rows(func(values []Value) error {
		if rows == 0 {
			if t.title != "" {
				_, _ = out.WriteString(m.heading(t.title))
			}
			_, _ = out.WriteString(m.first(names))
		}
		rows++
		for i, column := range shown {
			cells[i] = values[column].String()
		}
		_, err := out.WriteString(m.row(cells))
		if t.live && err == nil {
			err = out.Flush()
		}
		return err
	})
	if err == nil && rows > 0 {
		_, err = out.WriteString(m.last)
	}
	if err == nil && t.more > 0 {
		_, err = out.WriteString(m.line(prose.More(t.more)))
	}
	return rows, err
}
