// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestMorningOutages records a night in which a host lost its cable, a spine was off and the subnet had no subnet
// manager for some minutes. The morning report has three outages, that of the subnet manager first, with the lengths
// that were put in, and the hosts and jobs that they hit.
func TestMorningOutages(t *testing.T) {
	fakeSacct(t, "exit 1")
	dir := t.TempDir()
	s := sessiontest.OpenWith(t, "sim:fattree:2,4", session.Options{StateDir: dir})
	f := s.State().Live.Fabric
	if text := textOf(t, s, "report morning since=4h"); !strings.Contains(text, "outages unknown") {
		t.Errorf("without a record: %s", text)
	}
	store, err := records.Open(t.Context(), filepath.Join(dir, records.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	leaf, spine := f.NodesByDescription("leaf-01")[0], f.NodesByDescription("spine-01")[0]
	cable := f.PortAt(leaf, 1)
	host := f.Nodes[f.PeerNode(cable)].Desc
	now := time.Now().Truncate(time.Second)
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	noManager := problems.Problem{Kind: problems.NoMaster, At: problems.WholeSubnet, What: "no master subnet manager"}
	off := problems.Problem{Kind: problems.Missing, At: problems.PlaceOfNode(f, spine), What: "spine-01 is missing"}
	var down []records.Outage
	for p := range f.Nodes[spine].Ports() {
		if f.Ports[p].Linked() {
			down = append(down, records.Outage{A: fabric.NamedEnd(f, p), B: fabric.NamedEnd(f, f.Ports[p].Peer),
				WasUp: ago(151), Pairs: 8})
		}
	}
	for at := 240; at >= 0; at-- {
		var found []problems.Problem
		sets := []records.HostSet{{Name: "all", Hosts: "node-[0001-0008]"}}
		var lost []records.Outage
		var changes []records.LinkChange
		if at <= 150 && at > 120 { // the spine is off for half an hour
			found, lost = append(found, off), down
		}
		if at <= 60 && at > 50 {
			found = append(found, noManager)
		}
		if at == 200 || at == 195 { // the cable is out for five minutes
			changes = append(changes, records.LinkChange{When: ago(at), Up: at == 195, A: fabric.NamedEnd(f, cable),
				B: fabric.NamedEnd(f, f.Ports[cable].Peer), WasUp: ago(at + 1), Pairs: 14})
		}
		if at < 180 {
			sets = []records.HostSet{{Name: "some", Hosts: "node-[0001-0002]"}}
		}
		_, _, err := store.Observe(t.Context(), s.Subnet(), ago(at), found,
			func(*problems.Problem) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		isUp := func(_, _ fabric.End) bool { return lost == nil && at != 200 && (at < 196 || at > 199) }
		if err := store.ObserveLinks(t.Context(), s.Subnet(), ago(at), changes, lost, isUp); err != nil {
			t.Fatal(err)
		}
		if err := store.ObserveSets(t.Context(), s.Subnet(), ago(at), sets); err != nil {
			t.Fatal(err)
		}
	}
	var text bytes.Buffer
	if err := shell.New(s).Run(t.Context(), "test", "report morning since=4h", &shell.Output{W: &text,
		Form: answer.FormJSON}); err != nil {
		t.Fatal(err)
	}
	type row struct {
		What    string
		Since   time.Time
		Least   float64  `json:"down_at_least_seconds"`
		Most    *float64 `json:"down_at_most_seconds"`
		Manager bool     `json:"subnet_manager"`
		Pairs   *int64
		Hosts   []string
		Jobs    []string
	}
	var m struct{ Outages []row }
	if err := json.Unmarshal(text.Bytes(), &m); err != nil || len(m.Outages) != 3 {
		t.Fatalf("%v: %d outages: %s", err, len(m.Outages), &text)
	}
	manager, out, missing := m.Outages[0], m.Outages[1], m.Outages[2]
	if !manager.Manager || manager.Least != 9*60 || !manager.Since.Equal(ago(60)) || manager.Pairs != nil ||
		manager.Hosts != nil || manager.Jobs != nil {
		t.Errorf("the subnet manager: %+v", manager)
	}
	if !out.Since.Equal(ago(200)) || out.Least > 300 || out.Most == nil || *out.Most < 300 || out.Pairs == nil ||
		*out.Pairs != 14 || !slices.Equal(out.Hosts, []string{strings.Fields(host)[0]}) ||
		!slices.Equal(out.Jobs, []string{"all"}) {
		t.Errorf("the cable of %s: %+v", host, out)
	}
	// A spine is between all hosts of different leaves. The job of that time has the hosts of one leaf only.
	if !strings.HasPrefix(missing.What, "spine-01 (") || missing.Least != 29*60 || missing.Most == nil ||
		*missing.Most < 30*60 || len(missing.Hosts) != 8 || missing.Pairs == nil || *missing.Pairs == 0 ||
		len(missing.Jobs) != 0 {
		t.Errorf("the spine: %+v", missing)
	}
	for form, want := range map[answer.Form][]string{
		answer.FormMarkdown: {"## Outages\n", "3 outages, ", "| no master subnet manager ", `1\: all |`},
		answer.FormHTML:     {"<h2>Outages</h2>", "<td>1: all</td>"},
	} {
		text.Reset()
		if err := shell.New(s).Run(t.Context(), "test", "report morning since=4h", &shell.Output{W: &text,
			Form: form}); err != nil {
			t.Fatal(err)
		}
		for _, word := range want {
			if !strings.Contains(text.String(), word) {
				t.Errorf("%v lacks %q", form, word)
			}
		}
	}
}
