// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestAlternates checks the alternates of a subnet that a master OpenSM has routed with an LMC. They must have the LIDs
// that subnet administration pairs in path records, and use and share the switches that ibtracert prints.
func TestAlternates(t *testing.T) {
	testenv.Tool(t, "saquery")
	stateHome(t)
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,4", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	ibsimtest.Master(t, sim, "-s", "0", "-l", "2")
	var a struct {
		Primary    []alternate
		Alternates []alternate
		Count      int `json:"alternate_count"`
	}
	out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", "paths alternate node-0001 node-0007")
	if err := json.Unmarshal([]byte(lastLine(out)), &a); err != nil || len(a.Primary) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	var got []string
	all := append(a.Primary, a.Alternates...)
	var primary []string
	for i, x := range all {
		got = append(got, fmt.Sprintf("%d to %d", x.SLID, x.DLID))
		record := sim.Output("saquery", "-t", "20000", "PR", "--slid", fmt.Sprint(x.SLID), "--dlid", fmt.Sprint(x.DLID))
		if m := pathRecord.FindStringSubmatch(record); m == nil || m[1] != fmt.Sprint(x.DLID) ||
			m[2] != fmt.Sprint(x.SLID) || m[3] != fmt.Sprintf("0x%x", x.SL) {
			t.Errorf("%d to %d with SL %d, saquery says %s", x.SLID, x.DLID, x.SL, record)
		}
		switches := append(tracerouteOf(sim, x.SLID, x.DLID), tracerouteOf(sim, x.DLID, x.SLID)...)
		if i == 0 {
			primary = switches
			continue
		}
		var shared []string
		for _, s := range switches {
			if slices.Contains(primary, s) && !slices.Contains(shared, s) {
				shared = append(shared, s)
			}
		}
		slices.Sort(shared)
		var said []string
		for _, s := range append(x.EndSwitches, x.Switches...) {
			said = append(said, s.Name)
		}
		slices.Sort(said)
		if !slices.Equal(said, shared) {
			t.Errorf("%d to %d shares %v, by ibtracert %v", x.SLID, x.DLID, said, shared)
		}
	}
	// Of the records for the two GIDs, four with this LMC, saquery prints the first packet over ibsim: each LID of one
	// port is paired with the LID of the other at the same position.
	records := sim.Output("saquery", "-t", "20000", "PR", "--sgid", "fe80::10:1", "--dgid", "fe80::10:d")
	for _, m := range pathRecord.FindAllStringSubmatch(records, 2) {
		if pair := m[2] + " to " + m[1]; !slices.Contains(got, pair) {
			t.Errorf("%v, saquery has %s", got, pair)
		}
	}
	if len(got) != 4 || a.Count != 3 {
		t.Errorf("%v are not the four that an LMC of 2 has", got)
	}
	if first := a.Alternates[0]; first.Disjoint != "ends" || len(first.Links) != 0 {
		t.Errorf("of two spines the best alternate is %+v", first)
	}
}

// alternate is a path of the answer.
type alternate struct {
	SLID, DLID uint16
	SL         uint8
	Disjoint   string
	Links      []struct{ Name string } `json:"shared_links"`
	Switches   []struct{ Name string } `json:"shared_switches"`

	EndSwitches []struct{ Name string } `json:"shared_end_switches"`
}

var pathRecord = regexp.MustCompile(`dlid\.+(\d+)\s+slid\.+(\d+)(?s:.*?)\bsl\.+(0x[0-9A-F]+)`)

var tracedSwitch = regexp.MustCompile(`(?m)^\[\d+\] -> switch port .* "(.*)"$`)

// tracerouteOf returns the switches that ibtracert prints.
func tracerouteOf(sim *ibsimtest.Sim, from, to uint16) (switches []string) {
	for _, m := range tracedSwitch.FindAllStringSubmatch(sim.Output("ibtracert", fmt.Sprint(from), fmt.Sprint(to)),
		-1) {
		switches = append(switches, m[1])
	}
	return switches
}
