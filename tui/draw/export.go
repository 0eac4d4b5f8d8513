// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// shownColumns are the columns of a list that apply now.
func (t *Table) shownColumns() []*Column {
	var out []*Column
	for i := range t.Cols {
		if !t.Cols[i].gone() {
			out = append(out, &t.Cols[i])
		}
	}
	return out
}

// PlainText writes lines of a list as text in columns.
func (t *Table) PlainText(lines []int, head bool) string {
	cols := t.shownColumns()
	cells := make([][]string, 0, len(lines)+1)
	if head {
		row := make([]string, len(cols))
		for i, c := range cols {
			row[i] = strings.TrimSpace(c.Name)
		}
		cells = append(cells, row)
	}
	for _, line := range lines {
		row := make([]string, len(cols))
		for i, c := range cols {
			row[i] = Clean(c.Text(t.Row(line)), false)
		}
		cells = append(cells, row)
	}
	wide := make([]int, len(cols))
	for _, row := range cells {
		for i, s := range row {
			wide[i] = max(wide[i], Width(s))
		}
	}
	var b strings.Builder
	for _, row := range cells {
		var line strings.Builder
		for i, s := range row {
			if cols[i].Right {
				line.WriteString(Spaces(wide[i] - Width(s)))
			}
			line.WriteString(s)
			if !cols[i].Right {
				line.WriteString(Spaces(wide[i] - Width(s)))
			}
			line.WriteString("  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// CsvText writes lines of a list as comma-separated values (RFC 4180).
func (t *Table) CsvText(lines []int) (string, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	cols := t.shownColumns()
	row := make([]string, len(cols))
	for i, c := range cols {
		row[i] = strings.TrimSpace(c.Name)
	}
	_ = w.Write(row)
	for _, line := range lines {
		for i, c := range cols {
			row[i] = Clean(c.Text(t.Row(line)), false)
			if _, err := number(row[i]); err == nil {
				row[i] = strings.ReplaceAll(row[i], ",", "")
			}
		}
		_ = w.Write(row)
	}
	w.Flush()
	return b.String(), w.Error()
}

// JsonText writes lines of a list as JSON, an object a line.
func (t *Table) JsonText(lines []int) (string, error) {
	var b strings.Builder
	cols := t.shownColumns()
	for _, line := range lines {
		b.WriteByte('{')
		for i, c := range cols {
			if i > 0 {
				b.WriteByte(',')
			}
			name, err := json.Marshal(strings.TrimSpace(c.Name))
			if err != nil {
				return "", err
			}
			text := Clean(c.Text(t.Row(line)), false)
			value, err := json.Marshal(text)
			if n, nerr := number(text); c.Right && nerr == nil {
				value, err = json.Marshal(n)
			}
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "%s:%s", name, value)
		}
		b.WriteString("}\n")
	}
	return b.String(), nil
}

// number reads what thousands and others have written.
func number(s string) (float64, error) {
	return strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
}
