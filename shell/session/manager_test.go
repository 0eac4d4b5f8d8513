// SPDX-License-Identifier: Apache-2.0

package session

import (
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session/calibration"
	"example.org/ibconsole/shell/session/managers"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/shell/session/source"
)

// calibrated is a state in which calibrate has just agreed with a master's tables.
func calibrated(t *testing.T) State {
	t.Helper()
	set, err := settings.Parse(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	master := managers.SM{GUID: 1, State: "master", ActCount: 100}
	tables := &fabric.Tables{}
	c := &calibration.Calibration{Entries: 7, Of: tables, Master: master}
	c.Settings[0], c.Settings[1] = set.Words()
	return State{
		Source: source.Source{Kind: source.Ibsim}, Settings: set, Pictures: Pictures{Live: &Picture{Tables: tables}},
		Reading: Reading{SMs: []managers.SM{master}}, Evidence: Evidence{Calibrated: c},
	}
}

// TestWhatTakesAProofBack: only another or restarted subnet manager and changed tables refute a proof.
func TestWhatTakesAProofBack(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*State)
		want   string
	}{
		"nothing":     {func(*State) {}, ""},
		"it goes on":  {func(st *State) { st.SMs[0].ActCount++ }, ""},
		"restarted":   {func(st *State) { st.SMs[0].ActCount = 99 }, "was restarted"},
		"another one": {func(st *State) { st.SMs[0].GUID = 2 }, "another subnet manager"},
		"other tables": {func(st *State) {
			st.Live = &Picture{Tables: &fabric.Tables{}}
		}, "tables on the switches have changed"},
		"entries other": {func(st *State) { st.Calibrated.Differ = 1 }, "1 of 7 entries differ"},
	} {
		st := calibrated(t)
		c.change(&st)
		p := st.Proof()
		if !p.Asked || p.Proved != (c.want == "") || !strings.Contains(p.Why, c.want) ||
			p.Proved != (p.When != nil && p.Entries == 7) {
			t.Errorf("%s: %+v, want %q", name, p, c.want)
		}
	}
	for name, none := range map[string]func(*State){"none is there": func(st *State) {
		st.SMs = nil
	}, "simulated": func(st *State) { st.Source.Kind = source.Sim }} {
		st := calibrated(t)
		none(&st)
		if p := st.Proof(); p.Asked {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestSigns: the capabilities of 3.3.23 are as saquery -c prints them, those of 3.3.20 as its osm_sa_class_port_info.c
// has them.
func TestSigns(t *testing.T) {
	for _, c := range []struct {
		mask   uint16
		mask2  uint32
		within bool
		want   string
	}{
		{0x2602, 0xb5e0, false, "3.3.21 to 3.3.24"},
		{0x2402, 0xb5ea, false, "3.3.21 to 3.3.24"},
		{0x2602, 0x05e0, false, "which differ from those of OpenSM 3.3.23"},
		{0x2602, 0x2b5e0, false, "which differ from those of OpenSM 3.3.23"},
		{0x2602, 0xb5e0, true, "runs in a switch"},
	} {
		st := calibrated(t)
		st.SMs[0].InSwitch = c.within
		st.manager = managers.Info{
			Of: st.SMs[0], Capabilities: &mad.ClassPortInfo{CapabilityMask: c.mask, CapabilityMask2: c.mask2},
		}
		if got := st.ManagerSigns(); !strings.Contains(got, c.want) {
			t.Errorf("0x%x, 0x%x: %q, want %q", c.mask, c.mask2, got, c.want)
		}
		st.SMs[0].ActCount = 0
		if got := st.ManagerSigns(); strings.Contains(got, "capabilities") {
			t.Errorf("restarted: %q", got)
		}
	}
}
