// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestFlapsAtLeast records an hour in which two links went down. The counters of one of them were read all the time,
// those of the other only in the first half. The number of flaps of the other one, and of all, is a lower bound.
func TestFlapsAtLeast(t *testing.T) {
	dir := t.TempDir()
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{StateDir: dir})
	f := s.State().Live.Fabric
	store, err := records.Open(t.Context(), filepath.Join(dir, records.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	const minutes = 60
	now := time.Now().Truncate(time.Second)
	port := func(node string, num int) fabric.PortIndex { return f.PortAt(f.NodesByDescription(node)[0], num) }
	flapped, missed := port("leaf-01", 3), port("leaf-02", 3)
	for i := 1; i <= minutes; i++ {
		r := records.Round{Subnet: s.Subnet(), What: counters.Errors, Every: time.Minute}
		for _, p := range counters.AllPorts(f) {
			isMissed := p == missed || p == f.Ports[missed].Peer
			if isMissed && i > minutes/2 {
				continue
			}
			x := records.Sample{Key: counters.KeyOf(f, p), Name: f.PortName(p),
				Until: now.Add(time.Duration(i-minutes) * time.Minute)}
			x.Seconds, x.Has = 60, counters.Errors
			if i == 10 && (p == flapped || p == missed) {
				x.Increase[counters.LinkDowned] = 2
			}
			r.Samples = append(r.Samples, x)
		}
		if err := store.Keep(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	run := func(form answer.Form, command string) string {
		t.Helper()
		var text bytes.Buffer
		if err := shell.New(s).Run(t.Context(), "test", command, &shell.Output{W: &text, Form: form}); err != nil {
			t.Fatal(err)
		}
		return text.String()
	}
	got := map[string]bool{}
	for line := range strings.Lines(run(answer.FormJSON, "flaps since=1h")) {
		var x struct {
			A       struct{ Name string }
			Flaps   int
			AtLeast bool `json:"flaps_at_least"`
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err, line)
		}
		if x.A.Name != "" {
			got[x.A.Name] = x.AtLeast
		}
		if x.A.Name != "" && x.Flaps != 2 {
			t.Errorf("%s: %d flaps", x.A.Name, x.Flaps)
		}
	}
	if len(got) != 2 || got["leaf-01"] || !got["leaf-02"] {
		t.Errorf("links that are marked: %v", got)
	}
	text := run(answer.FormText, "flaps since=1h")
	if strings.Count(text, "at least 2") != 1 || !strings.Contains(text, "2 cables, at least 4 flaps") {
		t.Errorf("text: %s", text)
	}
}
