// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
)

// Table is rows that an answer has beside its text, for a face that lets people enter, sort and filter them.
type Table struct {
	Title   string
	Columns []string
	Help    []string // what the columns are, nil where that is not declared
	Rows    []Row
	More    int // how many rows there are beside these
	Best    int // the number of the row that is best, from 1; 0 for none
}

// Tabled is an answer whose text sums up or shortens what its tables have in full.
type Tabled interface {
	Answer
	Tables() []Table
}

// listTitle is the title of the table of an answer that is nothing else: the answers of a command make one table.
const listTitle = "list"

// Detailed is a row of a list of lines, in cells for faces that show tables: those of List.Details.
type Detailed interface {
	Row
	Detail() []any
}

// Lead is where a row leads.
type Lead = answer.Lead

// Leading is a row that leads somewhere.
type Leading interface {
	Row
	Lead() Lead
}

// leads is what rows begin with that lead somewhere.
type leads struct{ to Lead }

// Lead is where the row leads.
func (l leads) Lead() Lead { return l.to }

// toCommand leads to a command.
func toCommand(format string, args ...any) Lead { return Lead{Command: fmt.Sprintf(format, args...)} }

// plainRow is a row of a Table that programs do not get.
type plainRow struct {
	leads
	cells []any
}

// Cells returns them.
func (r plainRow) Cells() []any { return r.cells }

// tableOf makes a table of things, without those that are no row.
func tableOf[T any](title string, columns []string, things []T, row func(T) plainRow) Table {
	t := Table{Title: title, Columns: columns}
	for _, x := range things {
		if r := row(x); r.cells != nil {
			t.Rows = append(t.Rows, r)
		}
	}
	return t
}

// named is how many of a kind an analysis is to name: as many as it likes where nobody shows tables.
func (c *call) named() int {
	if c.out.Row == nil {
		return 0
	}
	return feature.MostNamed
}

// leafOf names the port of a switch that an end port is attached to, "-" where there is none.
func leafOf(f *fabric.Fabric, end fabric.PortIndex) string {
	return feature.Attachment(f, end).String()
}
