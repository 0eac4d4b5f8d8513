// SPDX-License-Identifier: Apache-2.0

package shell

import "example.org/ibconsole/shell/answer"

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
