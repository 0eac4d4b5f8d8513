// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell"
)

// Answered says what a command answered.
type Answered struct {
	Job     int
	Command string
	Sheets  []Sheet // one at least
	First   int     // the one to show
}

// Sheet is a table of an answer.
type Sheet struct {
	Title   string
	Columns []string // none for lines
	Help    []string // what the columns are, nil where that is not declared
	Rows    []SheetRow
	More    int // how many rows were let go
	Best    int // the best row, from 1, 0 for none
}

// SheetRow is a row, and where it leads.
type SheetRow struct {
	Cells   []string
	At      Place  // none where it is about no place
	Command string // what Enter runs, "" for going to the place
	Sheet   int    // the sheet of the same answer that says it in full, 0 for none
}

// Cell is what stands in a column, "" in a row that is shorter.
func (s *Sheet) Cell(row, col int) string {
	if cells := s.Rows[row].Cells; col < len(cells) {
		return cells[col]
	}
	return ""
}

// mostRows is how many rows of a sheet are kept: all entries of a large switch and all ports of a large subnet.
const mostRows = 200_000

// Add adds a row of an answer; those that are for programs alone have no cells.
func (s *Sheet) Add(r shell.Row) {
	cells := r.Cells()
	if d, ok := r.(shell.Detailed); ok {
		cells = d.Detail()
	}
	if cells == nil {
		return
	}
	if len(s.Rows) >= mostRows {
		s.More++
		return
	}
	row := SheetRow{Cells: make([]string, len(cells))}
	for i, c := range cells {
		row.Cells[i] = fmt.Sprint(c)
	}
	if l, ok := r.(shell.Leading); ok {
		to := l.Lead()
		row.At, row.Command = Place{GUID: to.GUID, Port: to.Port}, to.Command
	}
	s.Rows = append(s.Rows, row)
}

// SheetOf is a table of an answer.
func SheetOf(t *shell.Table) Sheet {
	s := Sheet{Title: t.Title, Columns: t.Columns, Help: t.Help, More: t.More, Best: t.Best}
	for _, r := range t.Rows {
		s.Add(r)
	}
	return s
}

// Summary is a sheet of the lines of an answer. A line that names one of the sheets behind it leads there.
func Summary(lines []string, behind []Sheet) Sheet {
	s := Sheet{Title: "summary"}
	for _, line := range lines {
		row := SheetRow{Cells: []string{line}}
		for i := range behind {
			if strings.HasPrefix(strings.TrimSpace(line), behind[i].Title) {
				row.Sheet = i + 1
			}
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// SubjectAt is what a place is in the topology: the link of a port, or a node.
func (sc *Scene) SubjectAt(at Place) Subject {
	f := sc.Top.Fabric
	node, port := at.In(f)
	if at.None() || node == fabric.None {
		return Nothing
	}
	s := Subject{Fabric: f, Node: node, Port: port, Link: fabric.None, Via: fabric.None}
	if at.Port > 0 && port != fabric.None && f.Ports[port].Linked() {
		s.Link = port
	}
	return s
}

// Mentioned is the first port or node that a line of text names.
func (sc *Scene) Mentioned(line string) Subject {
	f := sc.Top.Fabric
	at := places.Mentioned(f, line)
	if at.Node == fabric.None {
		return Nothing
	}
	place := Place{GUID: f.Nodes[at.Node].GUID}
	if at.PortNamed {
		place.Port = f.Ports[at.Port].Num
	}
	return sc.SubjectAt(place)
}
