// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"

	"example.org/ibconsole/internal/base/prose"
)

// grid returns the columns that are not hidden and have text, and lines of the list as clean text. The first row
// contains the column heads.
func (t *Table) grid(lines []int) (cols []*Column, rows [][]string) {
	rows = make([][]string, len(lines)+1)
	for i := range t.Cols {
		c := &t.Cols[i]
		if c.gone() || c.Drawn {
			continue
		}
		cols = append(cols, c)
		rows[0] = append(rows[0], strings.TrimSpace(c.Name))
		text := c.Cell
		if c.Plain != nil {
			text = c.Plain
		}
		for k, line := range lines {
			rows[k+1] = append(rows[k+1], Clean(text(t.Row(line)), false))
		}
	}
	return cols, rows
}

// PlainText returns lines of the list as text in columns.
func (t *Table) PlainText(lines []int, head bool) string {
	cols, rows := t.grid(lines)
	if !head {
		rows = rows[1:]
	}
	wide := make([]int, len(cols))
	for _, row := range rows {
		for i, s := range row {
			wide[i] = max(wide[i], Width(s))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i, s := range row {
			blank := Spaces(wide[i] - Width(s))
			row[i] = prose.When(cols[i].Right, blank+s, s+blank)
		}
		b.WriteString(strings.TrimRight(strings.Join(row, "  "), " ") + "\n")
	}
	return b.String()
}

// CSVText returns lines of the list as comma-separated values (RFC 4180).
func (t *Table) CSVText(lines []int) (string, error) {
	_, rows := t.grid(lines)
	for _, row := range rows[1:] {
		for i := range row {
			if _, err := number(row[i]); err == nil {
				row[i] = strings.ReplaceAll(row[i], ",", "")
			}
		}
	}
	var b strings.Builder
	err := csv.NewWriter(&b).WriteAll(rows)
	return b.String(), err
}

// JSONText returns lines of the list as JSON, with one object per line.
func (t *Table) JSONText(lines []int) (string, error) {
	cols, rows := t.grid(lines)
	var b strings.Builder
	for _, row := range rows[1:] {
		for i, s := range row {
			var value any = s
			if n, err := number(s); cols[i].Right && err == nil {
				value = n
			}
			name, err := json.Marshal(rows[0][i])
			if err != nil {
				return "", err
			}
			text, err := json.Marshal(value)
			if err != nil {
				return "", err
			}
			b.WriteString(prose.When(i == 0, "{", ",") + string(name) + ":" + string(text))
		}
		b.WriteString("}\n")
	}
	return b.String(), nil
}

// number parses a number with separators of thousands.
func number(s string) (float64, error) { return strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64) }
