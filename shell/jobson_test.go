// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// fakeSacct puts a program sacct with the given output first in PATH. Lines have the fields that ibconsole asks for:
// JobID|NodeList|Start|End|State|User|JobName.
func fakeSacct(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sacct"), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// pairsOver walks the path of each pair of hosts, hop by hop, and counts those that cross the link of a port.
func pairsOver(tables *fabric.Tables, hosts []string, link fabric.PortIndex) (n int) {
	f := tables.Fabric
	var ends []fabric.PortIndex
	for _, e := range f.EndPorts {
		for _, h := range hosts {
			if f.PortName(e) == h+" HCA-1/1" {
				ends = append(ends, e)
			}
		}
	}
	for _, src := range ends {
		for _, dst := range ends {
			at := src
			for hops := 0; src != dst && hops < 10; hops++ {
				peer := f.Ports[at].Peer
				if at == link || peer == link {
					n++
					break
				}
				if peer == dst {
					break
				}
				sw := &f.Nodes[f.Ports[peer].Node]
				at = sw.FirstPort + fabric.PortIndex(tables.Port(sw.Switch, f.Ports[dst].LID))
			}
		}
	}
	return n
}

// TestJobsOnLink has a history of three states: with a link, without it, and with it again, of which the second was
// last read an hour ago. Each job is followed through the tables of its time. What is not known is reported.
func TestJobsOnLink(t *testing.T) {
	s, run := keeping(t, "sim:fattree:2,4")
	live := s.State().Live
	f := live.Fabric
	leaf := f.NodesByDescription("leaf-01")[0]
	link := f.PortAt(leaf, 3)
	cable, _ := f.LinkOf(link)
	without := f.Without([]fabric.Link{cable})
	engine, err := engines.ByName("minhop")
	if err != nil {
		t.Fatal(err)
	}
	rerouted, err := routing.Route(t.Context(), engine, without, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	store, err := s.History()
	if err != nil {
		t.Fatal(err)
	}
	add := func(from, to int, f *fabric.Fabric, tables *fabric.Tables) int64 {
		id, err := store.Add(t.Context(), history.Entry{Kind: history.Sweep, Subnet: s.Subnet(), Began: ago(from),
			Until: ago(to)}, f, tables)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	add(120, 60, rerouted.Tables.Fabric, rerouted.Tables)
	first := add(180, 121, f, live.Tables)

	ledger, err := records.Open(t.Context(), s.Recorded().File())
	if err != nil {
		t.Fatal(err)
	}
	isChecked := func(*problems.Problem) bool { return true }
	for at := 185; at >= 60; at -= 2 {
		if _, _, err := ledger.Observe(t.Context(), s.Subnet(), ago(at), nil, isChecked); err != nil {
			t.Fatal(err)
		}
	}
	a, b := fabric.NamedEnd(f, link), fabric.NamedEnd(f, f.Ports[link].Peer)
	for _, up := range []bool{false, true} {
		when := ago(prose.When(up, 135, 140))
		change := records.LinkChange{When: when, Up: up, A: a, B: b, Pairs: -1}
		if err := ledger.ObserveLinks(t.Context(), s.Subnet(), when, []records.LinkChange{change}, nil,
			func(fabric.End, fabric.End) bool { return up }); err != nil {
			t.Fatal(err)
		}
	}
	if err := ledger.Close(); err != nil {
		t.Fatal(err)
	}

	line := func(id, hosts string, from, to int) string {
		end, state := ago(to).Format("2006-01-02T15:04:05"), "COMPLETED"
		if to == 0 {
			end, state = "Unknown", "RUNNING"
		}
		return fmt.Sprintf("%s|%s|%s|%s|%s|ada|a job", id, hosts, ago(from).Format("2006-01-02T15:04:05"), end, state)
	}
	fakeSacct(t, "cat <<'E'\n"+strings.Join([]string{
		line("11", "node-[0001-0008]", 170, 130), // in the first state, with an outage
		line("12", "node-[0001-0008]", 115, 70),  // in the second state
		line("13", "node-[0001-0008]", 40, 0),    // the second state was not read any more
		line("14", "node-0001", 170, 130),        // a host alone
		line("15", "node-[0003-0004]", 170, 130), // below one leaf
		line("16", "gpu[01-04]", 170, 130),       // another cluster
		line("17", "node-[0001-0002],node-0005", 139, 125),
		"18|None assigned|Unknown|Unknown|PENDING|ada|waits",
	}, "\n")+"\nE")

	type row struct {
		Kind, Job, Tables string
		Pairs, Outages    *int
		Shared            int `json:"shared_with"`
		Attached          bool
		Assumed           bool `json:"tables_assumed"`
		Count, All        int
		Elsewhere         int `json:"not_in_subnet"`
		Of                struct{ Unread struct{ Count int } }
	}
	rows := func(command string) (of map[string]row, head row) {
		t.Helper()
		out, err := run(command, true)
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		of = map[string]row{}
		for text := range strings.Lines(out) {
			var r row
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				t.Fatal(err)
			}
			switch r.Kind {
			case "answer":
				head = r
			case "jobs":
				of[r.Job] = r
			}
		}
		return of, head
	}
	all := []string{"node-0001", "node-0002", "node-0003", "node-0004", "node-0005", "node-0006", "node-0007",
		"node-0008"}
	of, head := rows("jobs on leaf-01 3 since=4h")
	if head.All != 7 || head.Count != len(of) || head.Elsewhere != 1 || head.Of.Unread.Count != 1 {
		t.Errorf("%+v", head)
	}
	for id, want := range map[string]struct {
		pairs, outages int
		known          bool
	}{
		"11": {pairsOver(live.Tables, all, link), 1, true},
		"13": {pairsOver(live.Tables, all, link), 0, false},
		"17": {pairsOver(live.Tables, []string{"node-0001", "node-0002", "node-0005"}, link), 1, true},
	} {
		got, listed := of[id]
		if want.pairs == 0 && !listed {
			continue
		}
		if !listed || got.Pairs == nil || *got.Pairs != want.pairs || got.Assumed == want.known ||
			want.known && (got.Outages == nil || *got.Outages != want.outages) || !want.known && got.Outages != nil {
			t.Errorf("job %s: %+v, want %+v", id, got, want)
		}
		delete(of, id)
	}
	for id, x := range of {
		t.Errorf("job %s used it: %+v", id, x)
	}
	of, _ = rows("jobs on leaf-01 3 since=4h until=125m")
	if got := of["11"]; got.Tables != fmt.Sprintf("history %d", first) || of["13"].Job != "" {
		t.Errorf("the states up to then: %+v", of)
	}
	of, _ = rows("jobs on node-0001 since=4h until=125m")
	if got := of["14"]; !got.Attached || *got.Pairs != 0 || got.Shared != 2 || *of["11"].Pairs != 2*7 {
		t.Errorf("the jobs of a host: %+v", of)
	}

	for script, want := range map[string]string{
		"echo 'slurmdbd: no answer' >&2; exit 1":                              "slurmdbd: no answer",
		"echo '11|node-[0001-0008]|Nov 26 08:00|Unknown|RUNNING|ada|a'":       "unexpected time",
		"echo '11|node-[0001-0008|2026-11-26T08:00:00|Unknown|RUNNING|ada|a'": "node-[0001-0008",
	} {
		fakeSacct(t, script)
		if out, err := run("jobs on leaf-01 3 since=4h", false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("sacct that does %q: %v\n%s", script, err, out)
		}
	}
	fakeSacct(t, "exit 1")
	out, err := run("hosts left leaf-01; hosts far leaf-04; jobs on leaf-01 3 since=10m", false)
	if err != nil || !strings.Contains(out, "the sets of hosts are listed") || !strings.Contains(out, "0 of 2 jobs") {
		t.Errorf("sets below one leaf each: %v\n%s", err, out)
	}
	out, err = run("hosts both leaf-01 leaf-03 leaf-04; jobs on leaf-01 since=10m", false)
	if err != nil || !strings.Contains(out, "\nboth ") || !strings.Contains(out, "\nleft ") ||
		strings.Contains(out, "\nfar ") {
		t.Errorf("sets with hosts below a leaf: %v\n%s", err, out)
	}
}

// TestJobsOnRecordedSets asks without Slurm which jobs used a link in the last hour. The jobs are sets of hosts that a
// recorder stored. Only those count whose hosts use the link and that were defined in that time. A set of this session
// that was not recorded counts for the whole period.
func TestJobsOnRecordedSets(t *testing.T) {
	fakeSacct(t, "exit 1")
	dir := t.TempDir()
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{StateDir: dir})
	f := s.State().Live.Fabric
	store, err := records.Open(t.Context(), filepath.Join(dir, records.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	guid := func(name string) string {
		for _, e := range f.EndPorts {
			if f.PortName(e) == name+" HCA-1/1" {
				return fmt.Sprintf("0x%016x", f.Ports[e].GUID)
			}
		}
		t.Fatal(name)
		return ""
	}
	now := time.Now()
	early := records.HostSet{Name: "early", Hosts: "node-[0001-0002]"}
	used := records.HostSet{Name: "used", Hosts: "node-[0001-0003],gone"}
	byGUID := records.HostSet{Name: "by-guid", Hosts: guid("node-0001") + "," + guid("node-0004")}
	away := records.HostSet{Name: "away", Hosts: "node-[0005-0006]"}
	for minute := -180; minute <= 0; minute++ {
		sets := []records.HostSet{early}
		if minute >= -30 {
			sets = []records.HostSet{used, byGUID, away}
		}
		if minute > -20 {
			sets = sets[:1]
		}
		if minute < -90 || minute >= -30 {
			if err := store.ObserveSets(t.Context(), s.Subnet(), now.Add(time.Duration(minute)*time.Minute),
				sets); err != nil {
				t.Fatal(err)
			}
		}
	}
	jobs := func(script string) map[string]int {
		t.Helper()
		got := map[string]int{}
		var text bytes.Buffer
		if err := shell.New(s).Run(t.Context(), "test", script, &shell.Output{W: &text,
			Form: answer.FormJSON}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(text.String()) {
			var x struct {
				Job  string
				From time.Time
				To   any // a text, or the word for a job that runs
			}
			if !strings.Contains(line, `"job":`) {
				continue
			}
			if err := json.Unmarshal([]byte(line), &x); err != nil {
				t.Fatal(err, line)
			}
			end := now
			if at, err := time.Parse(time.RFC3339, fmt.Sprint(x.To)); err == nil {
				end = at
			}
			got[x.Job] = int(end.Sub(x.From).Round(time.Minute).Minutes())
		}
		return got
	}
	if got, want := jobs("jobs on node-0001 since=1h"), map[string]int{"used": 30, "by-guid": 11}; !maps.Equal(got,
		want) {
		t.Errorf("jobs and their minutes in the last hour: %v, want %v", got, want)
	}
	if got, want := jobs("jobs on node-0001 since=4h until=2h"), map[string]int{"early": 89}; !maps.Equal(got, want) {
		t.Errorf("jobs and their minutes before: %v, want %v", got, want)
	}
	got := jobs("hosts mine node-0001 node-0005; jobs on node-0001 since=1h")
	if len(got) != 3 || got["mine"] != 60 {
		t.Errorf("with a set of the session: %v", got)
	}
}

// TestRecordedHostFile records the sets of a file and of the session, and takes up a change of the file.
func TestRecordedHostFile(t *testing.T) {
	dir := t.TempDir()
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{StateDir: dir})
	file := filepath.Join(dir, "jobs")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"a node-0001\n\na node-0002\n": ":3: a is defined twice", "a\n": ":1: a has no hosts",
		"# jobs\na/b node-0001\n": `:2: invalid name "a/b"`, "a node-[1-\n": ":1: ",
	} {
		write(text)
		err := shell.New(s).Run(t.Context(), "test", "record start hosts="+file, &shell.Output{W: io.Discard})
		if err == nil || !strings.Contains(err.Error(), file+want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	write("# jobs\njob1 node-[0001-0002] node-0004 # running\njob2 node-0003\n")
	textOf(t, s, "hosts own node-0005 node-0006; record start every=0.1 hosts="+file)
	expect := func(want ...string) {
		t.Helper()
		var got []string
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			store, err := s.Recorded().Store(t.Context())
			if err != nil {
				continue
			}
			sets, err := store.HostSets(t.Context(), s.Subnet(), time.Now().Add(-time.Hour), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			got = nil
			for _, h := range sets {
				if h.Ended.IsZero() {
					got = append(got, h.Name+" "+prose.When(strings.HasPrefix(h.Hosts, "0x"), "by GUID", h.Hosts))
				}
			}
			if slices.Sort(got); slices.Equal(got, want) {
				return
			}
		}
		t.Errorf("defined sets: %q, want %q", got, want)
	}
	expect("job1 node-[0001-0002],node-0004", "job2 node-0003", "own by GUID")
	write("job1 node-0001 node-0004\n")
	expect("job1 node-0001,node-0004", "own by GUID")
}

// TestNamedHostSets finds sets of hosts by their names in all commands: those of the session and recorded ones, for the
// time in which they were defined. Unknown hosts and names are refused.
func TestNamedHostSets(t *testing.T) {
	fakeSacct(t, "exit 1")
	s, run := keeping(t, "sim:fattree:2,4")
	store, err := records.Open(t.Context(), s.Recorded().File())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for minute := -60; minute <= 0; minute++ {
		sets := []records.HostSet{{Name: "train", Hosts: "node-[0001-0003],gone"}}
		if minute < -30 {
			sets = append(sets, records.HostSet{Name: "4712", Hosts: "node-[0005-0006]"})
		}
		if err := store.ObserveSets(t.Context(), s.Subnet(), now.Add(time.Duration(minute)*time.Minute),
			sets); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]struct {
		hosts, minutes int
		id             string
	}{
		"why train": {3, 60, "train"}, "why @train since=10m": {3, 10, "train"}, "why 4712": {2, 30, "4712"},
		"why 4711 hosts=node-[0001-0004] since=2h":                     {4, 120, "4711"},
		"why some hosts=node-[0001-0004] since=2h":                     {4, 120, "some"},
		"why some hosts=@train since=20m":                              {3, 20, "some"},
		"why some hosts=4712 since=1h until=40m":                       {2, 20, "some"},
		"hosts mine node-0001 node-0005; why mine since=1h":            {2, 60, "mine"},
		"hosts mine node-0001 node-0005; why 7 hosts=@mine since=30m":  {2, 30, "7"},
		"hosts train node-0001 node-0005; why train since=1h until=5m": {2, 55, "train"}, // that of the session
	} {
		out, err := run(command, true)
		var x struct {
			ID           string
			Hosts        int
			Since, Until time.Time
		}
		for line := range strings.Lines(out) {
			if strings.Contains(line, `"command":"why"`) && strings.Contains(line, `"kind":"answer"`) {
				err = errors.Join(err, json.Unmarshal([]byte(line), &x))
			}
		}
		minutes := int(x.Until.Sub(x.Since).Round(time.Minute).Minutes())
		if err != nil || x.ID != want.id || x.Hosts != want.hosts || minutes != want.minutes {
			t.Errorf("%s: %s, %d hosts, %d minutes, %v, want %v", command, x.ID, x.Hosts, minutes, err, want)
		}
		_, _ = run("hosts mine off", true)
		_, _ = run("hosts train off", true)
	}
	for command, want := range map[string]string{
		"why 4711 hosts=nosuch": "none of the hosts of 4711 is in the subnet: nosuch",
		"why trian":             `did you mean "train"`,
		"why nosuch":            `unknown host set "nosuch"`, "why some hosts=@nosuch": `unknown host set "nosuch"`,
		"counters top hosts=@nosuch": `unknown host set "nosuch"`, "why 4712 since=10m": "hint: name the hosts",
		"trace @nosuch @train": `unknown host set "nosuch"`, "check load pattern=hosts:@nosuch": "unknown host set",
	} {
		if out, err := run(command, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q\n%s", command, err, want, out)
		}
	}
	for command, want := range map[string]string{
		"hosts train": "3 hosts", "trace @train @train": "node-0003", "check load pattern=hosts:@train": "6 paths",
	} {
		if out, err := run(command, false); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %v, no %q in\n%s", command, err, want, out)
		}
	}
}

// TestRecordingOnce refuses to record twice, and warns of hosts that the subnet does not have.
func TestRecordingOnce(t *testing.T) {
	_, run := keeping(t, "sim:fattree:2,4")
	file := filepath.Join(t.TempDir(), "jobs")
	if err := os.WriteFile(file, []byte("job1 node-[0001-0002] nosuch[1-2]\njob2 node-0003\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := run("record start every=100 hosts="+file, false)
	if want := "2 of 4 hosts of job1 are not in the subnet: nosuch1, nosuch2"; err != nil ||
		!strings.Contains(out, want) || strings.Contains(out, "job2") {
		t.Errorf("%v, want %q in\n%s", err, want, out)
	}
	if out, err := run("record start every=1", false); err == nil || !strings.Contains(err.Error(), "record stop") {
		t.Errorf("recorded twice: %v\n%s", err, out)
	}
	out, err = run("record status", false)
	if err != nil || !strings.Contains(out, "every 1m40s") {
		t.Errorf("the first one did not go on: %v\n%s", err, out)
	}
}
