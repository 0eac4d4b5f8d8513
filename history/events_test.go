// SPDX-License-Identifier: Apache-2.0

package history_test

import (
	"path/filepath"
	"testing"
	"time"

	"example.org/ibconsole/history"
)

// TestEvents checks that events are exported with their entry, that a sweep that found the same adds its events, and
// that the latest of very many are kept.
func TestEvents(t *testing.T) {
	s := store(t, t.TempDir())
	f := tables(t, "torus:3").Fabric
	at := time.Unix(1000, 5)
	e := history.Entry{
		Kind: history.Sweep, Subnet: "s", Began: at, Until: at,
		Events: []history.Event{{When: at, What: "link", Text: "a", Who: "b", GUID: 7, Port: 3}},
	}
	add := func() {
		t.Helper()
		if _, err := s.Add(t.Context(), e, f, nil); err != nil {
			t.Fatal(err)
		}
	}
	add()
	e.Events = []history.Event{{When: at.Add(time.Second), Text: "c"}}
	add()
	file := filepath.Join(t.TempDir(), "export")
	if _, err := s.Export(t.Context(), file, "s"); err != nil {
		t.Fatal(err)
	}
	other := store(t, t.TempDir())
	if _, err := other.Import(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	for _, from := range []*history.Store{s, other} {
		list, err := from.List(t.Context(), "s", 0)
		if err != nil || len(list) != 1 || len(list[0].Events) != 2 {
			t.Fatalf("%+v, %v", list, err)
		}
		if x := list[0].Events[0]; !x.When.Equal(at) || x.What != "link" || x.Text != "a" || x.Who != "b" ||
			x.GUID != 7 || x.Port != 3 || list[0].Events[1].Text != "c" {
			t.Errorf("%+v", list[0].Events)
		}
	}
	e.Events = make([]history.Event, 600) // more than an entry keeps
	e.Events[599].Text = "last"
	add()
	if list, err := s.List(t.Context(), "s", 0); err != nil || len(list[0].Events) != 500 ||
		list[0].Events[499].Text != "last" {
		t.Errorf("%d events, %v", len(list[0].Events), err)
	}
}
