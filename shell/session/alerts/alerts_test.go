// SPDX-License-Identifier: Apache-2.0

package alerts_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/alerts"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestAlert runs a program for events: one at a time, with unchanged arguments, for every event, and for none after
// Stop. The notes about the program's failures start no further run.
func TestAlert(t *testing.T) {
	dir := t.TempDir()
	s := sessiontest.Open(t, "sim:fattree:2,4")
	out := filepath.Join(dir, "out")
	program := filepath.Join(dir, "alert program")
	script := "#!/bin/sh\n[ \"$#\" = 2 ] && [ \"$2\" = '$(id); *' ] || exit 3\nwhile read -r l; do echo \"$l\"; done " +
		">>\"$1\"\nexit 1\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := alerts.Start(s, filepath.Join(dir, "none")); err == nil {
		t.Error("a missing program: no error")
	}
	if err := alerts.Start(s, program, out, "$(id); *"); err != nil {
		t.Fatal(err)
	}
	const events = 7
	s.Publish(session.ChangeLive, func(st *session.State) {
		now := time.Now()
		for i := range events {
			c := fabric.Change{}
			c.At.GUID, c.At.Port = uint64(i+1), i
			st.Add(session.Event{When: now, What: history.WhatLink, Text: fmt.Sprintf("event %d", i), Change: &c})
		}
		st.NoteOf(history.WhatRest, "", "nothing")
	})
	var lines []string
	for range 1000 {
		text, _ := os.ReadFile(out)
		if lines = strings.Split(strings.TrimSpace(string(text)), "\n"); len(lines) == events {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for i, line := range lines {
		var a alerts.Alert
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.Text != fmt.Sprintf("event %d", i) ||
			a.GUID != uint64(i+1) || a.Subnet != "sim:fattree:2,4" {
			t.Errorf("%s: %v", line, err)
		}
	}
	alerts.Stop(s)
	failed := 0
	for _, e := range s.State().Events {
		if strings.HasPrefix(e.Text, "exec ") {
			failed++
		}
	}
	if len(lines) != events || failed == 0 || failed > events {
		t.Errorf("%d alerts, want %d; %d notes of failed runs", len(lines), events, failed)
	}
	s.Publish(session.ChangeLive, func(st *session.State) { st.Note("later") })
	if text, _ := os.ReadFile(out); strings.Contains(string(text), "later") {
		t.Error("the program was run after Stop")
	}
}
