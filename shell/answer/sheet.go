// SPDX-License-Identifier: Apache-2.0

package answer

// Sheet is a table of an answer for a screen, which asks for the cells that it shows.
type Sheet struct {
	Title   string
	Help    string
	Columns []Column
	More    int64 // how many rows there are in addition to these
	Best    int   // the number of the row that is best, from 1; 0 for none
	t       *boundTable
	held    [][]Value // the rows of a table that can be read once
	shown   []int     // the numbers of the columns that people see
}

// mostHeld is how many rows of a table that can be read once a sheet keeps.
const mostHeld = 200000

// Sheets returns the tables of the answer. Rows that can be read once are read now; their error is returned.
func (a *Answer) Sheets() ([]Sheet, error) {
	var sheets []Sheet
	for i := range a.tables {
		t := &a.tables[i]
		if t.aside {
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
				if len(s.held) == mostHeld {
					s.More++
					return nil
				}
				s.held = append(s.held, append([]Value(nil), values...))
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

// Lead returns where a row leads.
func (s *Sheet) Lead(row int) Lead {
	if s.t.lead == nil {
		return Lead{}
	}
	return s.t.lead(row)
}

// ID returns a number that stays with a row when the rows are made again.
func (s *Sheet) ID(row int) uint64 {
	if s.t.id == nil {
		return uint64(row)
	}
	return s.t.id(row)
}

// Key returns the key of the table in JSON.
func (s *Sheet) Key() string { return s.t.key }
