// SPDX-License-Identifier: Apache-2.0

package answer

import "slices"

// Sheet is a table of an answer for the screen. It computes only the cells that are requested.
type Sheet struct {
	Title   string
	Help    string
	Columns []Column
	More    int64 // number of rows that are not listed
	Best    int   // number of the best row, from 1; 0 for none
	t       *boundTable
	held    [][]Value // rows of a table that can be read only once
	shown   []int     // indexes of the columns with a name
}

// maxHeld is the maximum number of rows that are kept from a table that can be read only once.
const maxHeld = 200000

// Sheets returns the tables of the answer. It reads the rows that can be read only once, and returns the error of
// reading them.
func (a *Answer) Sheets() ([]Sheet, error) {
	var sheets []Sheet
	for i := range a.tables {
		t := &a.tables[i]
		if t.textOnly {
			continue
		}
		s := Sheet{Title: t.title, Help: t.help, More: t.more, Best: t.best, t: t}
		for j := range t.columns {
			if t.columns[j].Name != "" {
				s.Columns, s.shown = append(s.Columns, t.columns[j]), append(s.shown, j)
			}
		}
		if t.at == nil {
			err := t.rows(func(values []Value) error {
				if len(s.held) == maxHeld {
					s.More++
					return nil
				}
				s.held = append(s.held, slices.Clone(values))
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		sheets = append(sheets, s)
	}
	return sheets, nil
}

// Len returns the number of rows.
func (s *Sheet) Len() int {
	if s.t.at == nil {
		return len(s.held)
	}
	return s.t.n
}

// Value returns the value of a cell.
func (s *Sheet) Value(row, column int) Value {
	if s.t.at == nil {
		return s.held[row][s.shown[column]]
	}
	return s.t.cell(row, s.shown[column])
}

// Cell returns the text of a cell.
func (s *Sheet) Cell(row, column int) string { return s.Value(row, column).String() }

// Compare orders two rows by a column.
func (s *Sheet) Compare(a, b, column int) int { return s.Value(a, column).Compare(s.Value(b, column)) }

// Lead returns the target of a row.
func (s *Sheet) Lead(row int) Lead {
	if s.t.lead == nil {
		return Lead{}
	}
	return s.t.lead(row)
}

// ID returns a number that identifies a row. The number stays the same when the rows are computed again.
func (s *Sheet) ID(row int) uint64 {
	if s.t.id == nil {
		return uint64(row)
	}
	return s.t.id(row)
}

// Key returns the JSON key of the table.
func (s *Sheet) Key() string { return s.t.key }
