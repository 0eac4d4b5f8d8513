// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
)

// twoEvents returns an event of a port and an event without a place.
func twoEvents() []session.Event {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return []session.Event{
		{
			When: at, What: history.WhatLink, Text: "a/1 to b/2: link down", Who: "cable",
			Change: &fabric.Change{Kind: fabric.LinkDown, At: fabric.End{GUID: 7, Port: 1}},
		},
		{When: at, Text: "commit refused"},
	}
}

// TestEventLeads checks the row of an event, and that it leads to its port, if it has one.
func TestEventLeads(t *testing.T) {
	decl := answer.Decl[[]session.Event]{
		Command: "events",
		Layout:  []answer.Item[[]session.Event]{{Table: answer.Show(EventTable(false), answer.Slice[session.Event])}},
	}
	sheets, err := decl.Answer(answer.Basis{}, twoEvents()).Sheets()
	if err != nil || len(sheets) != 1 {
		t.Fatal(sheets, err)
	}
	s := &sheets[0]
	var cells []string
	for column := range s.Columns {
		cells = append(cells, s.Cell(0, column))
	}
	if want := []string{"2026-01-02 03:04:05", "link", "a/1 to b/2: link down", "cable"}; !slices.Equal(cells, want) {
		t.Errorf("%q, expected %q", cells, want)
	}
	if l := s.Lead(0); l.GUID != 7 || l.Port != 1 {
		t.Errorf("%+v", l)
	}
	if l := s.Lead(1); l != (answer.Lead{}) {
		t.Errorf("%+v", l)
	}
}

// TestEventsAreWrittenAsTheyHappen checks that each form has an event before the next one happens, and that the screen
// has all events at the end.
func TestEventsAreWrittenAsTheyHappen(t *testing.T) {
	for _, form := range answer.Forms {
		var out bytes.Buffer
		stay := &Stay{Until: "for 1s", events: func(yield func(session.Event, error) bool) {
			for _, e := range twoEvents() {
				if !yield(e, nil) {
					return
				}
				if written := out.String(); !strings.Contains(written, e.Text) {
					t.Errorf("%s: %q is missing when the next event happens:\n%s", form, e.Text, written)
				}
			}
		}}
		a := DeclareStay("watch").Answer(answer.Basis{}, stay)
		if err := a.Write(&out, form, 1, ""); err != nil {
			t.Fatal(err)
		}
		sheets, err := a.Sheets()
		if err != nil || len(sheets) != 1 || sheets[0].Len() != 2 {
			t.Errorf("%s: %+v, %v", form, sheets, err)
		}
	}
}
