// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/shell/session/source"
)

// asking is a session over an ibsim whose nodes can be made to leave questions unanswered.
type asking struct {
	t   *testing.T
	sim *ibsimtest.Sim
	s   *session.Session
}

func newAsking(t *testing.T) *asking {
	t.Helper()
	testenv.Tool(t, "ibsim")
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	var net bytes.Buffer
	if err := ibnet.Write(&net, f, ibnet.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "net")
	if err := os.WriteFile(file, net.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &asking{t: t, sim: ibsimtest.Start(t, file)}
	ibsimtest.OpenSM(t, a.sim)
	src, err := source.Parse("ibsim:" + a.sim.Name)
	if err != nil {
		t.Fatal(err)
	}
	if a.s, err = session.Open(t.Context(), src, session.Options{
		Client: mad.ClientOptions{Timeout: 50 * time.Millisecond},
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.s.Close() })
	if err := a.s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return a
}

// portCounters is the attribute of the performance agents that has the counters of a port.
const portCounters = 0x12

// silence makes nodes leave questions for port counters unanswered.
func (a *asking) silence(nodes ...fabric.Node) {
	for _, n := range nodes {
		name := fmt.Sprintf("%c-%016x", prose.When(n.IsSwitch(), 'S', 'H'), n.GUID)
		if said := a.sim.Console(fmt.Sprintf("Error %q 100 %d", name, portCounters)); strings.Contains(said, "#") {
			a.t.Fatal(said)
		}
	}
}

func (a *asking) run(asJSON bool, command string) (string, error) {
	var out bytes.Buffer
	err := shell.New(a.s).Run(a.t.Context(), "test", command,
		&shell.Output{W: &out, Notes: &out, Form: prose.When(asJSON, answer.FormJSON, answer.FormText)})
	return out.String(), err
}

// TestCountersNotRead: ports whose counters were not read are listed with the reason, and have no counters that
// are 0. A command that gets the counters of no port fails.
func TestCountersNotRead(t *testing.T) {
	a := newAsking(t)
	all := a.s.State().Live.Fabric.Nodes
	a.silence(all[slices.IndexFunc(all, func(n fabric.Node) bool { return n.Desc == "leaf-02" })])
	type answer struct {
		Read    int `json:"ports_read"`
		NotRead int `json:"not_read"`
		Of      struct {
			Unread struct {
				Count  int
				Causes []struct {
					Why   string
					Count int
					At    []struct{ Name string }
				}
			}
		}
	}
	summary := func(text string) (x answer) {
		t.Helper()
		first, _, _ := strings.Cut(text, "\n")
		if err := json.Unmarshal([]byte(first), &x); err != nil {
			t.Fatal(err, text)
		}
		return x
	}
	// 6 switches with 4 ports each and 8 hosts.
	out, err := a.run(true, "show counters")
	x := summary(out)
	silent := 0
	for _, c := range x.Of.Unread.Causes {
		if silent += c.Count; len(c.At) == 0 || c.At[0].Name != "leaf-02" || !strings.Contains(c.Why, "no answer") {
			t.Errorf("not read: %+v", c)
		}
	}
	if err != nil || x.Read != 28 || silent != 4 || x.NotRead != 4 || x.Of.Unread.Count != 4 {
		t.Errorf("%d read, %d not: %v\n%s", x.Read, silent, err, out)
	}
	out, err = a.run(false, "show counters")
	if err != nil || !strings.Contains(out, "28 ports read, 0 shown, 4 not read") ||
		!strings.Contains(out, "not read: 4 counter readings (no answer") || !strings.Contains(out, "): leaf-02") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err = a.run(true, "show counters leaf-02"); err == nil || !strings.Contains(err.Error(), "no answer") ||
		summary(out).Read != 0 {
		t.Errorf("of the silent switch: %v\n%s", err, out)
	}
	a.silence(all...)
	out, err = a.run(true, "show counters")
	if err == nil || !strings.Contains(err.Error(), "no counters were read") ||
		!strings.Contains(err.Error(), "no answer") {
		t.Errorf("of silent nodes: %v", err)
	}
	if x := summary(out); x.Read != 0 || x.NotRead == 0 {
		t.Errorf("of silent nodes: %s", out)
	}
	for _, command := range []string{"balance hot", "check load measured"} {
		if out, err := a.run(false, command); err == nil || !strings.Contains(err.Error(), "no counters were read") {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
	for _, command := range []string{"problems", "problems counters"} {
		out, err = a.run(false, command)
		if err != nil || !strings.Contains(out, "not checked: rising error counters: unknown: the last reading got "+
			"the counters of no port") || strings.Contains(out, "try: show counters") {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}

// TestTimesNotRecorded: what was counted before a recorder began is not known, nor what ports of a subnet counted that
// was never recorded.
func TestTimesNotRecorded(t *testing.T) {
	dir, began := t.TempDir(), time.Now()
	start := func(from string) *asking {
		a := &asking{t: t}
		src, err := source.Parse(from)
		if err != nil {
			t.Fatal(err)
		}
		if a.s, err = session.Open(t.Context(), src, session.Options{StateDir: dir}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.s.Close() })
		if err := a.s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := start("sim:fattree:2,4 traffic=30%")
	if out, err := a.run(true, "record start every=0.1 traffic=0.1"); err != nil {
		t.Fatal(err, out)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if st, _ := recording.StatusOf(a.s); st.Rounds > 5 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing is recorded")
		}
	}
	if out, err := a.run(true, "record stop"); err != nil {
		t.Fatal(err, out)
	}
	type span struct{ From, Until time.Time }
	var x struct {
		Recorded    []span
		NotRecorded []span  `json:"not_recorded"`
		Seconds     float64 `json:"recorded_seconds"`
		Of          struct{ Unread struct{ Count int } }
	}
	for _, command := range []string{
		"counters worst since=1h", "counters worst since=1h by=traffic", "counters history leaf-01/3 since=1h",
	} {
		out, err := a.run(true, command)
		first, _, _ := strings.Cut(out, "\n")
		if err := json.Unmarshal([]byte(first), &x); err != nil {
			t.Fatal(err, out)
		}
		took := time.Since(began).Seconds() + 1 // times are in whole seconds
		if err != nil || len(x.Recorded) == 0 || x.Recorded[0].From.Before(began.Add(-time.Second)) || x.Seconds <= 0 ||
			x.Seconds > took || x.Of.Unread.Count > 0 {
			t.Errorf("%s: recorded %v, %.1f s, began %v, not read %v: %v", command, x.Recorded, x.Seconds, began,
				x.Of.Unread.Count, err)
		}
		if len(x.NotRecorded) == 0 || x.NotRecorded[0].Until.Before(began.Add(-time.Second)) ||
			x.NotRecorded[0].Until.Sub(x.NotRecorded[0].From) < 58*time.Minute {
			t.Errorf("%s: not recorded %v", command, x.NotRecorded)
		}
		if out, err := a.run(false, command); err != nil || !strings.Contains(out, "not recorded: ") ||
			!strings.Contains(out, "of 1h0m0s") {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
	for _, command := range []string{"counters worst since=3h until=2h", "counters history leaf-01/3 since=3h until=2h",
		"check load measured since=3h until=2h"} {
		if out, err := a.run(false, command); err == nil || !strings.Contains(err.Error(), "nothing was recorded") {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
	never := start("sim:fattree:2,6")
	if out, err := never.run(false, "counters worst"); err == nil ||
		!strings.Contains(err.Error(), "nothing was recorded of this subnet") {
		t.Errorf("a subnet that was never recorded: %v\n%s", err, out)
	}
	if _, err := recording.Grown(t.Context(), never.s, counters.Errors, began.Add(-time.Hour), time.Now(),
		2); !errors.Is(err, recorded.ErrNone) {
		t.Errorf("the pane of such a subnet: %v", err)
	}
	morning := func(a *asking) string {
		out, err := a.run(false, "report morning since=1h")
		if err != nil {
			t.Error(err)
		}
		return strings.ReplaceAll(out, "\\", "")
	}
	out := morning(never)
	for _, want := range []string{
		"counters: nothing was recorded of this subnet", "ports with more errors unknown",
		"## Ports with more errors\n\nunknown", "## Links with changed traffic\n\nunknown",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out := morning(a); !strings.Contains(out, "counters: it was not recorded from") {
		t.Error(out)
	}
}
