// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
)

// tracedPair is the part of trace's answer about a pair that this test needs.
type tracedPair struct {
	From    tracedPlace `json:"from"`
	To      tracedPlace `json:"to"`
	LID     uint16      `json:"lid"`
	Arrives bool        `json:"arrives"`
	Hops    []struct {
		Node tracedPlace `json:"node"`
	} `json:"hops"`
	Against     string `json:"against_ending"`
	AgainstHops []struct {
		Other *tracedPlace `json:"other"`
	} `json:"against_hops"`
}

type tracedPlace struct {
	Name string `json:"name"`
	GUID string `json:"guid"`
	Port int    `json:"port"`
}

func (p tracedPlace) String() string { return fmt.Sprintf("%s/%d", p.Name, p.Port) }

// TestTraceResolvesInTheStateAsked: a host keeps its name in every state, whoever has its LID there. In what-ifs with
// other LIDs each pair of hosts is traced by name: packets arrive only at the host that was named, and never at one
// outside the subnet; next to it is the path between the same two hosts in the live state, where all are connected.
func TestTraceResolvesInTheStateAsked(t *testing.T) {
	for _, scene := range []string{
		"fail switch leaf-04; engine minhop lmc=1; route", "fail node node-0008; route",
		"fail switch leaf-02; engine minhop reassign_lids=yes; route",
		"fail node node-0003", "route; fail switch leaf-03; route", "engine updn lmc=2; route",
	} {
		s, run := keeping(t, "sim:fattree:2,4")
		if text, err := run(scene, false); err != nil {
			t.Fatalf("%s: %v\n%s", scene, err, text)
		}
		st := s.State()
		p := st.Default()
		now := st.Paper()
		host := func(i int) string { return fmt.Sprintf("node-%04d HCA-1", i) }
		ask := func(command string) (a tracedPair) {
			text, err := run(command, true)
			if line, _, _ := strings.Cut(text, "\n"); json.Unmarshal([]byte(line), &a) != nil {
				t.Fatalf("%s; %s: %v, %s", scene, command, err, text)
			}
			return a
		}
		for src := 1; src <= 8; src++ {
			for dst := 1; dst <= 8; dst++ {
				if src == dst {
					continue
				}
				pair := fmt.Sprintf("'%s' '%s'", host(src), host(dst))
				a := ask("trace " + pair + " against=live")
				connected := inside(now, host(src)) && inside(now, host(dst))
				if a.From.String() != host(src)+"/1" || a.To.String() != host(dst)+"/1" || a.Arrives != connected {
					t.Errorf("%s; trace %s: from %s to %s, arrives: %v, want %v", scene, pair, a.From, a.To,
						a.Arrives, connected)
				}
				if last := a.Hops[len(a.Hops)-1]; connected && last.Node.GUID != guidOf(p.Fabric, host(dst)) {
					t.Errorf("%s; trace %s ends at %s", scene, pair, last.Node.GUID)
				}
				var passed []string
				for _, h := range a.AgainstHops {
					if h.Other != nil {
						passed = append(passed, h.Other.Name)
					}
				}
				if a.Against != "delivered" || !slices.Contains(passed, host(dst)) {
					t.Errorf("%s; trace %s against=live: %s over %v", scene, pair, a.Against, passed)
				}
				live := ask("trace live " + pair)
				if want := lidOf(st.Live.Fabric, host(dst)); live.LID != want || !live.Arrives ||
					live.Hops[len(live.Hops)-1].Node.GUID != guidOf(st.Live.Fabric, host(dst)) {
					t.Errorf("%s; trace live %s: LID %d, arrives: %v, want LID %d", scene, pair, live.LID,
						live.Arrives, want)
				}
			}
		}
	}
}

// inside reports whether packets can get to a host at all: a link leads from it to a switch with other links.
func inside(f *fabric.Fabric, name string) bool {
	n := &f.Nodes[f.NodesByDescription(name)[0]]
	peer := f.Ports[n.FirstPort+1].Peer
	if peer == fabric.None {
		return false
	}
	sw := &f.Nodes[f.Ports[peer].Node]
	links := 0
	for p := range sw.Ports() {
		if f.Ports[p].Linked() {
			links++
		}
	}
	return links > 1
}

func guidOf(f *fabric.Fabric, name string) string {
	return fmt.Sprintf("0x%016x", f.Nodes[f.NodesByDescription(name)[0]].GUID)
}

func lidOf(f *fabric.Fabric, name string) uint16 {
	return f.Ports[f.Nodes[f.NodesByDescription(name)[0]].FirstPort+1].LID
}

// TestLIDOfAnotherPort: no command that needs the LID of a host takes the one that it had, which another host has now.
func TestLIDOfAnotherPort(t *testing.T) {
	s, run := keeping(t, "sim:fattree:2,4")
	if text, err := run("fail switch leaf-04; engine minhop lmc=1; route", false); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	f := s.State().Staged.Fabric
	old := f.Nodes[f.NodesByDescription("node-0007 HCA-1")[0]].FirstPort + 1
	if owner := f.PortByLID(f.Ports[old].LID); owner == fabric.None || owner == old {
		t.Fatalf("LID %d of node-0007 belongs to no other port", f.Ports[old].LID)
	}
	if text, _ := run("show sl node-0003 node-0007", false); strings.Contains(text, "node-0006") ||
		strings.Contains(text, "13") {
		t.Errorf("show sl takes the LID of another host:\n%s", text)
	}
	for _, command := range []string{"paths query node-0003 node-0007", "paths alternate node-0003 node-0007",
		"trace node-0003 node-0007 format=ibtracert", "report svg - path=node-0003,node-0007"} {
		if text, err := run(command, false); err == nil {
			t.Errorf("%s answers:\n%s", command, text)
		}
	}
	for _, command := range []string{"trace node-0003 node-0007 back lids", "trace node-0007 node-0003 back",
		"trace all node-0007", "show nodes"} {
		text, err := run(command, false)
		if err != nil && !strings.Contains(command, "trace") {
			t.Errorf("%s: %v", command, err)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "node-0007") && (strings.Contains(line, "delivered") ||
				strings.Contains(line, "LID 13") || strings.HasPrefix(line, "13 ")) ||
				strings.Contains(line, "11 arrive") {
				t.Errorf("%s: %s", command, line)
			}
		}
	}
}

// TestLivePathsOfOtherLIDs: paths between the same ports are compared although a routing gives the ports other LIDs.
func TestLivePathsOfOtherLIDs(t *testing.T) {
	_, run := keeping(t, "sim:mesh:3,hosts=2") // a chain of switches, so that no path can change
	text, err := run("engine minhop lmc=1; route; trace live all all", false)
	if err != nil || !strings.Contains(text, "all paths are those of") {
		t.Errorf("%v\n%s", err, text)
	}
}
