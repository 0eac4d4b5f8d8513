// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/shell/answer"
)

// Moment is an event of the session or the history, as a row. Its lead is the difference of the states before and after
// the event, or the place of the event.
type Moment struct {
	When   time.Time    `key:"when" name:"WHEN"`
	What   answer.Value `key:"what" name:"KIND" kind:"text" help:"node, link, port, tables, manager, SM or SM log"`
	Text   string       `key:"text" name:"EVENT"`
	Who    answer.Value `key:"who" name:"WHO" kind:"text" help:"probable cause"`
	At     answer.Value `key:"at" kind:"place" help:"node or port"`
	Plan   answer.Value `key:"planned" kind:"text" help:"what the commit did that took the link down"`
	Before answer.Value `key:"before" name:"BEFORE" kind:"int" help:"history entry before the event"`
	After  answer.Value `key:"after" name:"AFTER" kind:"int" help:"history entry after the event"`
	answer.Lead
}

// MomentTable declares a table of events. The argument row is the form of each line. The argument empty is the line for
// a table without events.
func MomentTable(row, empty string) *answer.Table[Moment] {
	return &answer.Table[Moment]{
		Key: "events", Title: "events", Fields: answer.Fields[Moment](), Row: row, Empty: empty,
	}
}

// Moments returns the rows of events. Node names come from the fabric f.
func Moments(f *fabric.Fabric, moments []timeline.Moment) answer.Rows[Moment] {
	return answer.Lazy(len(moments), func(i int) Moment { return momentOf(f, &moments[i]) })
}

func momentOf(f *fabric.Fabric, m *timeline.Moment) Moment {
	e := Moment{
		When: m.When.Local(), What: answer.Optional(m.What), Text: m.Text, Who: answer.Optional(m.Who),
		Plan:   answer.Optional(m.Planned),
		Before: entryID(m.Before), After: entryID(m.After),
		Lead: answer.Lead{GUID: m.GUID, Port: uint8(m.Port)},
	}
	if m.GUID != 0 {
		at := answer.Place{GUID: m.GUID, Port: m.Port}
		if m.Port == 0 {
			at.Port = -1
		}
		if node := f.NodeByGUID(m.GUID); node != fabric.None {
			at.Name, at.Shared = f.Nodes[node].Desc, f.IsShared(node)
		}
		e.At = answer.At(at)
	}
	if m.Comparable() {
		e.Lead = answer.Lead{Command: fmt.Sprintf("diff %d %d", m.Before, m.After)}
	}
	return e
}

// entryID returns the number of an entry of the history, or None for 0.
func entryID(id int64) answer.Value {
	if id == 0 {
		return answer.None()
	}
	return answer.Int(id)
}
