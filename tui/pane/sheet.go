// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell/answer"
)

// Answered is the answer of a command.
type Answered struct {
	Job     int
	Command string
	Sheets  []Sheet // at least one
	First   int     // the one to show
}

// Sheet is a table of an answer, or the lines of its text. Its cells are computed on demand, until [Sheet.Frozen].
type Sheet struct {
	Title   string
	Columns []answer.Column // none for lines
	More    int             // rows in addition to these
	Best    int             // the best row, counted from 1; 0 for none

	parts  []answer.Sheet // one below the other
	lines  []string
	leads  []int       // by line: the sheet of the same answer that it summarizes, 0 for none
	frozen []frozenRow // instead of parts
}

type frozenRow struct {
	cells []string
	lead  answer.Lead
}

// SheetsOf returns the tables of an answer, none for an action.
func SheetsOf(a *answer.Answer) []Sheet {
	if a.IsAction() {
		return nil
	}
	all, err := a.Sheets()
	if err != nil {
		return nil // the text of the answer has the error
	}
	out := make([]Sheet, len(all))
	for i := range all {
		s := &all[i]
		out[i] = Sheet{Title: s.Title, Columns: s.Columns, More: int(s.More), Best: s.Best, parts: all[i : i+1 : i+1]}
		if a.IsTable() {
			out[i].Title = ListTitle
		}
	}
	return out
}

// ListTitle is the title of a table that is a whole answer.
const ListTitle = "list"

// Summary returns a sheet of the lines of an answer. A line that begins with the title of another sheet leads there.
func Summary(lines []string, behind []Sheet) Sheet {
	s := Sheet{Title: "summary", lines: lines, leads: make([]int, len(lines))}
	for at, line := range lines {
		for i := range behind {
			if strings.HasPrefix(strings.TrimSpace(line), behind[i].Title) {
				s.leads[at] = i + 1
			}
		}
	}
	return s
}

// Join appends a table with the same columns and reports whether it could.
func (s *Sheet) Join(more *Sheet) bool {
	if s.Title != more.Title || s.lines != nil || !slices.EqualFunc(s.Columns, more.Columns,
		func(a, b answer.Column) bool {
			return a.Name == b.Name
		}) {
		return false
	}
	s.parts, s.More = append(s.parts, more.parts...), s.More+more.More
	return true
}

// Len returns the number of rows.
func (s *Sheet) Len() int {
	n := len(s.lines) + len(s.frozen)
	for i := range s.parts {
		n += s.parts[i].Len()
	}
	return n
}

// at returns the part that has a row, and the row in it.
func (s *Sheet) at(row int) (part *answer.Sheet, in int) {
	i := 0
	for row >= s.parts[i].Len() {
		row -= s.parts[i].Len()
		i++
	}
	return &s.parts[i], row
}

// Cell returns the text of a cell.
func (s *Sheet) Cell(row, col int) string {
	switch {
	case s.lines != nil:
		return s.lines[row]
	case s.frozen != nil:
		return s.frozen[row].cells[col]
	}
	part, in := s.at(row)
	return part.Cell(in, col)
}

// Lead returns the target of a row: a place, a command, or the number of another sheet of the answer; 0 for none.
func (s *Sheet) Lead(row int) (to Place, command string, sheet int) {
	if s.lines != nil {
		return Place{}, "", s.leads[row]
	}
	lead := answer.Lead{}
	if s.frozen != nil {
		lead = s.frozen[row].lead
	} else {
		part, in := s.at(row)
		lead = part.Lead(in)
	}
	return Place{GUID: lead.GUID, Port: lead.Port}, lead.Command, 0
}

// Frozen returns the sheet with all cells as texts. It does not refer to the subnet of the answer.
func (s *Sheet) Frozen() Sheet {
	out := *s
	if s.parts == nil {
		return out
	}
	out.parts, out.frozen = nil, make([]frozenRow, 0, s.Len())
	for p := range s.parts {
		part := &s.parts[p]
		for row := range part.Len() {
			cells := make([]string, len(s.Columns))
			for col := range cells {
				cells[col] = part.Cell(row, col)
			}
			out.frozen = append(out.frozen, frozenRow{cells, part.Lead(row)})
		}
	}
	return out
}

// SubjectAt returns a place in the topology: the link of a port, or a node.
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

// Mentioned returns the first port or node that a line of text names.
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
