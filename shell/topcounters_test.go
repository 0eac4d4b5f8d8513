// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
)

// trafficOf is the recorded traffic of a port in a sample of a minute: words of 4 bytes.
type trafficOf struct {
	port    string
	sent    uint64
	got     uint64
	cleared bool
}

// keepTraffic stores samples of a minute each that end at a time.
func keepTraffic(t *testing.T, s *session.Session, until time.Time, all ...trafficOf) {
	t.Helper()
	store, err := records.Open(t.Context(), s.Recorded().File())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	f := s.State().Live.Fabric
	round := records.Round{Subnet: s.Subnet(), What: records.Traffic, Every: time.Minute}
	for _, x := range all {
		for p := range f.NumPorts() {
			if f.PortName(p) != x.port {
				continue
			}
			d := records.Sample{Key: counters.KeyOf(f, p), Name: x.port, Until: until}
			d.Seconds, d.Has = 60, records.Traffic
			d.Increase[counters.XmitData], d.Increase[counters.RcvData] = x.sent, x.got
			if x.cleared {
				d.Cleared = records.Traffic
			}
			round.Samples = append(round.Samples, d)
		}
	}
	if len(round.Samples) != len(all) {
		t.Fatalf("%d of %d ports", len(round.Samples), len(all))
	}
	if err := store.Keep(t.Context(), round); err != nil {
		t.Fatal(err)
	}
}

// topRow is a row of counters top, in any of its forms.
type topRow struct {
	Kind, Host, Job string
	A, B            struct{ Name string }
	Sent            *int64   `json:"sent_bytes"`
	Received        *int64   `json:"received_bytes"`
	SentGbps        *float64 `json:"sent_gbps"`
	Used            *float64 `json:"used_percent"`
	AtLeast         bool     `json:"at_least"`
}

func (r topRow) String() string {
	number := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	return fmt.Sprintf("%s%s%s%s %s %s%s", r.Host, r.Job, r.A.Name, prose.When(r.B.Name != "", "="+r.B.Name, ""),
		number(r.Sent), number(r.Received), prose.When(r.AtLeast, " at least", ""))
}

// TestTopTraffic stores known traffic. One minute of 2^28 words is 2^30 bytes. A host port of the simulated subnet has
// 400 Gb/s. It checks that a link is listed once, that the peer of a silent port gives its figure, and the period.
func TestTopTraffic(t *testing.T) {
	const words = 1 << 28
	const gib = 4 * words
	s, run := keeping(t, "sim:fattree:2,4")
	now := time.Now()
	all := []trafficOf{
		{port: "node-0001 HCA-1/1", sent: 4 * words, got: words}, {port: "leaf-01/1", sent: words, got: 4 * words},
		{port: "leaf-01/2", sent: 2 * words, got: words}, // the port of node-0002 is silent
		{port: "node-0003 HCA-1/1", sent: words, got: words, cleared: true},
	}
	keepTraffic(t, s, now.Add(-2*time.Minute), all...)
	keepTraffic(t, s, now.Add(-time.Minute), all...)
	keepTraffic(t, s, now.AddDate(0, 0, -5), trafficOf{port: "node-0003 HCA-1/1", sent: 64 * words, got: words})
	rows := func(command string) (list []topRow) {
		t.Helper()
		out, err := run(command, true)
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		for line := range strings.Lines(out) {
			var r topRow
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			if r.Kind == "hosts" || r.Kind == "links" || r.Kind == "jobs" {
				list = append(list, r)
			}
		}
		return list
	}
	check := func(command string, want ...string) []topRow {
		t.Helper()
		got := rows(command)
		if fmt.Sprint(got) != "["+strings.Join(want, " ")+"]" {
			t.Errorf("%s: %v, want %v", command, got, want)
		}
		return got
	}
	one, two := fmt.Sprintf("node-0001 %d %d", 8*gib, 2*gib), fmt.Sprintf("node-0002 %d %d", 2*gib, 4*gib)
	three := fmt.Sprintf("node-0003 %d %d at least", 2*gib, 2*gib)
	got := check("counters top", one, two, three)
	// 4 GiB in a minute are 0.573 Gb/s, which is 0.143 % of 400 Gb/s.
	if gbps, used := *got[0].SentGbps, *got[0].Used; gbps < 0.572 || gbps > 0.574 || used < 0.142 || used > 0.144 {
		t.Errorf("%v Gb/s, %v %%", gbps, used)
	}
	check("counters top links", fmt.Sprintf("node-0001 HCA-1=leaf-01 %d %d", 8*gib, 2*gib),
		fmt.Sprintf("leaf-01=node-0002 HCA-1 %d %d", 4*gib, 2*gib),
		fmt.Sprintf("leaf-02=node-0003 HCA-1 %d %d at least", 2*gib, 2*gib))
	check("counters top since=1w limit=1", fmt.Sprintf("node-0003 %d %d at least", 66*gib, 3*gib))
	check("counters top hosts hosts=node-[0002-0003]", two, three)
	check("hosts pair node-0001 node-0002; counters top hosts=@pair", one, two)
	if out, err := run("counters worst by=traffic limit=1", false); err != nil || !strings.Contains(out, "258 GB") {
		t.Errorf("4 GiB a minute are 258 GB an hour: %v\n%s", err, out)
	}

	// Slurm knows a job of two hosts that began between the samples, and one that ended before them.
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if out, err := run("counters top jobs", false); err != nil || !strings.Contains(out, "pair") ||
		!strings.Contains(out, "sacct is not installed") {
		t.Errorf("without Slurm: %v\n%s", err, out)
	}
	stamp := func(ago time.Duration) string { return now.Add(-ago).Format("2006-01-02T15:04:05") }
	script := fmt.Sprintf("#!/bin/sh\necho '7|node-[0001-0002]|%s|Unknown|RUNNING|ada|a'\n"+
		"echo '8|node-0003|%s|%s|COMPLETED|ada|b'\necho '9|node-0001|%s|%s|COMPLETED|ada|c'\n",
		stamp(90*time.Second), stamp(3*time.Hour), stamp(2*time.Hour), stamp(3*time.Hour), stamp(30*time.Second))
	if err := os.WriteFile(filepath.Join(dir, "sacct"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	check("counters top jobs", fmt.Sprintf("9 %d %d", 8*gib, 2*gib), fmt.Sprintf("7 %d %d", 5*gib, 3*gib))
	if out, err := run("counters top jobs", false); err != nil || !strings.Contains(out,
		"1 job (nothing was recorded while it ran): 8") {
		t.Errorf("a job that was not recorded: %v\n%s", err, out)
	}
	check("counters top jobs hosts=node-0002", fmt.Sprintf("7 %d %d", 5*gib, 3*gib))
}
