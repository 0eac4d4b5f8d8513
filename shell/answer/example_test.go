// SPDX-License-Identifier: Apache-2.0

package answer_test

import (
	"fmt"
	"os"
	"strings"

	"example.org/ibconsole/shell/answer"
)

// fan is a row of a table. The tags declare its fields.
type fan struct {
	Name  string       `key:"name" name:"FAN" help:"where the fan is"`
	Speed answer.Value `key:"speed" name:"SPEED" unit:"1/min" kind:"int" help:"revolutions per minute"`
}

// All forms of an answer are derived from one declaration. A value that was not read is null in JSON and "not read" in
// text.
func ExampleDecl() {
	table := answer.Table[fan]{Key: "fans", Title: "fans", Fields: answer.Fields[fan]()}
	decl := answer.Decl[[]fan]{
		Command: "show fans", Help: "the fans of a switch",
		Facts: []answer.Field[[]fan]{answer.IntField("count", "fans", "", func(fans []fan) int { return len(fans) })},
		Layout: []answer.Item[[]fan]{
			{Line: "  {count|fan} in the switch"},
			{Table: answer.Show(&table, answer.Slice[fan])},
		},
	}
	a := decl.Answer(answer.Basis{State: "live", Title: "live", Source: "file:net"}, []fan{
		{"front", answer.Int(5100)}, {"rear", answer.NotRead()},
	})
	_ = a.Text(os.Stdout)
	var object strings.Builder
	_ = a.JSON(&object, 1)
	fmt.Print(strings.ReplaceAll(object.String(), `,"`, ",\n  \""))
	_ = a.CSV(os.Stdout, "")
	// Output:
	// show fans of live
	//   2 fans in the switch
	// FAN    SPEED
	// front  5100
	// rear   not read
	// {"command":"show fans",
	//   "answer":1,
	//   "kind":"answer",
	//   "schema":2,
	//   "of":{"state":"live",
	//   "title":"live",
	//   "source":"file:net",
	//   "warnings":[],
	//   "unread":{"count":0,
	//   "causes":[]}},
	//   "count":2,
	//   "fans":[{"name":"front",
	//   "speed":5100},{"name":"rear",
	//   "speed":null}]}
	// name,speed
	// front,5100
	// rear,not read
}
