// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// textOf runs a script in a session, which must succeed, and returns its text.
func textOf(t *testing.T, s *session.Session, script string) string {
	t.Helper()
	var text bytes.Buffer
	out := &shell.Output{W: &text, Form: answer.FormText}
	if err := shell.New(s).Run(t.Context(), "test", script, out); err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return text.String()
}

// TestActiveAlerts shows the alerts of a record: that they are unknown if nothing is recorded, and their number and the
// newest ones if another process recorded them.
func TestActiveAlerts(t *testing.T) {
	dir := t.TempDir()
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{StateDir: dir})
	for _, command := range []string{"record alerts", "record status"} {
		text := textOf(t, s, command)
		if !strings.Contains(text, "nothing is recorded") || strings.Contains(text, "SINCE") ||
			strings.Contains(text, "0 active alerts") {
			t.Errorf("%s without a record: %s", command, text)
		}
	}
	store, err := records.Open(t.Context(), filepath.Join(dir, records.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	now := time.Now()
	var all []problems.Problem
	for i := range 5 {
		all = append(all, problems.Problem{Kind: problems.AlertKind("PortRcvErrors"),
			At:   problems.PlaceOfPort(s.State().Live.Fabric, s.State().Live.Fabric.EndPorts[i]),
			What: fmt.Sprintf("errors %d", i), Since: now.Add(time.Duration(i-10) * time.Second)})
	}
	if _, _, err := store.Observe(t.Context(), s.Subnet(), now, all, nil); err != nil {
		t.Fatal(err)
	}
	status, list := textOf(t, s, "record status"), textOf(t, s, "record alerts")
	if !strings.Contains(status, "5 active alerts") || !strings.Contains(list, "5 active alerts") {
		t.Errorf("not five alerts: %s%s", status, list)
	}
	for i, p := range all {
		if strings.Contains(status, p.What) != (i >= 2) || !strings.Contains(list, p.What) {
			t.Errorf("%q in the status: %v\n%s%s", p.What, i < 2, status, list)
		}
	}
}

// TestMissingSMLog follows a log that does not exist yet. The answer has a warning, and the log is read once it exists.
func TestMissingSMLog(t *testing.T) {
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{StateDir: t.TempDir()})
	log := filepath.Join(t.TempDir(), "opensm.log")
	for _, text := range []string{textOf(t, s, "record start smlog="+log), textOf(t, s, "record status")} {
		if !strings.Contains(text, log) || !strings.Contains(text, "does not exist yet") {
			t.Errorf("a missing log is not named: %s", text)
		}
	}
	now := time.Now().Add(time.Second)
	line := fmt.Sprintf("%s %06d [AB12] 0x80 -> OpenSM 3.3.24\n", now.Format("Jan _2 15:04:05"), now.Nanosecond()/1000)
	if err := os.WriteFile(log, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	text := ""
	for range 100 {
		if text = textOf(t, s, "record status"); !strings.Contains(text, "does not exist") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if strings.Contains(text, "not read") || !strings.Contains(text, "last event") {
		t.Errorf("after the log was created: %s", text)
	}
}
