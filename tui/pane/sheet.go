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

// Sheet is a table of an answer, or the lines of its text. Its cells are computed on demand unless it was returned by
// [Sheet.Frozen].
type Sheet struct {
	Title   string
	Columns []answer.Column // none for lines
	More    int             // rows in addition to these
	Best    int             // the best row, counted from 1; 0 for none
	Of      answer.Basis    // of the answer, the first one if the sheet joins several

	parts  []answer.Sheet // one below the other
	lines  []string
	leads  []int       // by line: the sheet of the same answer that it summarizes, 0 for none
	frozen []frozenRow // instead of parts
}

type frozenRow struct {
	cells []string
	lead  answer.Lead
}

// SheetsOf returns the tables of an answer. It returns none if the answer is the report of an action.
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
		out[i] = Sheet{Title: s.Title, Columns: s.Columns, More: int(s.More), Best: s.Best, Of: a.Basis(),
			parts: all[i : i+1 : i+1]}
		if a.IsTable() {
			out[i].Title = ListTitle
		}
	}
	return out
}

// ListTitle is the title of the table of an answer that consists of a single table.
const ListTitle = "list"

// Summary returns a sheet with the lines of an answer that has a basis. The target of a line that begins with the title
// of another sheet is that sheet.
func Summary(lines []string, of answer.Basis, behind []Sheet) Sheet {
	s := Sheet{Title: "summary", Of: of, lines: lines, leads: make([]int, len(lines))}
	for at, line := range lines {
		for i := range behind {
			if strings.HasPrefix(strings.TrimSpace(line), behind[i].Title) {
				s.leads[at] = i + 1
			}
		}
	}
	return s
}

// Join appends a table. It returns false and appends nothing unless the columns are the same.
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

// The method at returns the part of the sheet that contains a row, and the index of the row in this part.
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

// Lead returns the target of a row: a place, a command, or another sheet of the answer. The result sheet is the number
// of that sheet, counted from 1, or 0 for no sheet.
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

// Frozen returns a copy of the sheet in which all cells are texts. The copy does not refer to the subnet of the answer.
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

// SubjectAt returns the subject for a place in the topology: the link of a port, or a node.
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

// Mentioned returns the subject for the first port or node that a line of text names.
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
