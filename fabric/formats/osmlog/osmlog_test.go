// SPDX-License-Identifier: Apache-2.0

package osmlog

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"example.org/ibconsole/internal/base/plain"
)

// near is a time shortly after the lines of the tests.
var near = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func read(p *Parser, text string) (all []Event) {
	p.Near = func() time.Time { return near }
	for line := range strings.Lines(text) {
		if e, ok := p.Line(strings.TrimSuffix(line, "\n")); ok {
			all = append(all, e)
		}
	}
	return all
}

const verboseLog = `Nov 26 10:05:43 965383 [EC60A740] 0x07 -> OpenSM 3.3.23
Nov 26 10:05:43 966022 [EC60A740] 0x80 -> OpenSM 3.3.23
Nov 26 10:05:44 074057 [EC60A740] 0x80 -> Entering DISCOVERING state
Nov 26 10:05:44 074065 [EC60A740] 0x04 -> osm_report_sm_state: 


******************************************************************
***************** ENTERING SM DISCOVERING STATE ******************
******************************************************************

Nov 26 10:05:45 000001 [E96036C0] 0x04 -> trap_rcv_process_request: Forcing heavy sweep. Received trap:128
Nov 26 10:05:45 079458 [E96036C0] 0x04 -> state_mgr_sweep_hop_0: 


******************************************************************
********************* INITIATING HEAVY SWEEP *********************
******************************************************************


Nov 26 10:05:45 105702 [E96036C0] 0x02 -> SUBNET UP
Nov 26 10:05:46 000000 [E96036C0] 0x01 -> log_trap_info: Received Generic Notice type:1 num:131 ` +
	`(Flow Control Update watchdog timer expired) Producer:2 (Switch) from LID:7 Port 12 TID:0x000000000000002a
Nov 26 10:05:46 000001 [E96036C0] 0x01 -> log_trap_info: Received Vendor Notice ` +
	`type:1 vend:0x0002C9 dev:5 from LID:9 TID:0x000000000000002b
Nov 26 10:05:47 000000 [E96036C0] 0x01 -> sm_mad_ctrl_send_err_cb: ERR 3113: ` +
	`MAD completed in error (IB_TIMEOUT): SubnGet(NodeInfo)
Nov 26 10:05:48 000000 [E96036C0] 0x04 -> state_mgr_send_handover: ` +
	`Handing over mastership. Updating sm_state_mgr master_guid: 0000000000100041 (node b HCA-1)
Nov 26 10:06:04 010323 [EC60A740] 0x80 -> Exiting SM
`

// TestEvents reads each kind of line that the events name, and their numbers.
func TestEvents(t *testing.T) {
	p := &Parser{}
	all := read(p, verboseLog)
	var kinds []string
	for _, e := range all {
		kinds = append(kinds, string(e.Kind))
	}
	want := "start|state|cause|heavy sweep|subnet up|trap|trap|error|handover|end"
	if got := strings.Join(kinds, "|"); got != want {
		t.Fatalf("%s, want %s", got, want)
	}
	if e := all[5]; e.Trap != 131 || e.LID != 7 || e.Port != 12 || e.Level != LevelError {
		t.Errorf("trap: %+v", e)
	}
	if e := all[6]; e.Trap != 0 || e.LID != 9 {
		t.Errorf("vendor's notice: %+v", e)
	}
	if e := all[7]; e.Code != "sm_mad_ctrl_send_err_cb ERR 3113" {
		t.Errorf("error: %+v", e)
	}
	if e := all[8]; e.GUID != 0x100041 {
		t.Errorf("handover: %+v", e)
	}
	if e := all[3]; !e.When.Equal(time.Date(2026, 11, 26, 10, 5, 45, 79458000, time.UTC)) {
		t.Errorf("the box has the time %v, expected that of the line above it", e.When)
	}
	if written, known := p.Verbose(); !written || !known {
		t.Errorf("verbose: %t, %t", written, known)
	}
}

// TestLevels: the first line of an OpenSM states its levels, and without it they are unknown until a verbose line.
func TestLevels(t *testing.T) {
	for text, want := range map[string][2]bool{
		"": {false, false},
		"Nov 26 10:06:06 029558 [97B9B740] 0x03 -> OpenSM 3.3.23\n":                           {false, true},
		"Nov 26 10:06:06 029558 [97B9B740] 0x80 -> OpenSM 3.3.23\n":                           {false, false},
		"Nov 26 10:06:06 029558 [97B9B740] 0x02 -> SUBNET UP\n":                               {false, false},
		"Nov 26 10:06:06 029558 [97B9B740] 0x04 -> a: b\n":                                    {true, true},
		"Nov 26 10:06:06 029558 [97B9B740] 0x07 -> OpenSM 3.3.23\n":                           {true, true},
		"Nov 26 10:06:06 029558 [9] 0x07 -> OpenSM 1\nNov 26 10:06:07 0 [9] 0x03 -> OpenSM 1": {false, true},
	} {
		p := &Parser{}
		read(p, text)
		if written, known := p.Verbose(); [2]bool{written, known} != want {
			t.Errorf("%q: %t %t, want %v", text, written, known, want)
		}
	}
}

// TestTimes: lines have no year and no offset.
func TestTimes(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	line := func(clock string) string { return clock + " 000000 [1] 0x80 -> Exiting SM" }
	for _, k := range []struct{ clock, near, want string }{
		{"Dec 31 23:59:59", "2027-01-01T00:00:10+01:00", "2026-12-31T23:59:59+01:00"},
		{"Jan  1 00:00:01", "2026-12-31T23:59:59+01:00", "2027-01-01T00:00:01+01:00"},
		{"Feb 29 12:00:00", "2028-03-01T00:00:00+01:00", "2028-02-29T12:00:00+01:00"},
		{"Oct 25 02:30:00", "2026-10-25T02:30:05+02:00", "2026-10-25T02:30:00+02:00"},
		{"Oct 25 02:30:00", "2026-10-25T02:30:05+01:00", "2026-10-25T02:30:00+01:00"},
		{"Dec 24 12:00:00", "2026-06-01T12:00:00+02:00", "2025-12-24T12:00:00+01:00"},
		{"Feb 30 12:00:00", "2026-06-01T12:00:00+02:00", ""},
		{"Xyz 30 12:00:00", "2026-06-01T12:00:00+02:00", ""},
	} {
		at, err := time.Parse(time.RFC3339, k.near)
		if err != nil {
			t.Fatal(err)
		}
		p := &Parser{Near: func() time.Time { return at.In(berlin) }}
		e, ok := p.Line(line(k.clock))
		got := ""
		if ok {
			got = e.When.Format(time.RFC3339)
		}
		if got != k.want {
			t.Errorf("%s near %s: %s, want %s", k.clock, k.near, got, k.want)
		}
	}
}

// TestNames: text that a node or a host chose is no mark of OpenSM's.
func TestNames(t *testing.T) {
	const begin = "Nov 26 10:05:44 074057 [EC60A740] 0x04 -> "
	for _, line := range []string{
		begin + "nd_rcv_process_nd: Node 0x1, Description = SUBNET UP",
		begin + "osm_pi_rcv_process: x: Exiting SM",
		"SUBNET UP", "Exiting SM", "*** SUBNET UP ***", "", "->",
	} {
		p := &Parser{Near: func() time.Time { return near }}
		if e, ok := p.Line(line); ok {
			t.Errorf("%q: %v", line, e)
		}
	}
	p := &Parser{Near: func() time.Time { return near }}
	e, ok := p.Line("Nov 26 10:05:44 074057 [EC60A740] 0x01 -> f: ERR 3315: \x1b]0;x\x07 " + strings.Repeat("a", 1000))
	if !ok || strings.ContainsAny(e.Text, "\x1b\x07") || len(e.Text) > 2*maxText {
		t.Errorf("%t %q", ok, e.Text)
	}
}

func FuzzLine(f *testing.F) {
	for line := range strings.Lines(verboseLog) {
		f.Add(line)
	}
	f.Add("Feb 29 23:59:60 999999 [0] 0xff -> x: ERR FFFF")
	f.Fuzz(func(t *testing.T, text string) {
		p := &Parser{}
		for _, e := range read(p, text) {
			if e.When.IsZero() || e.Kind == "" || !plain.Escaped(e.Text) || !plain.Escaped(e.Code) ||
				!utf8.ValidString(e.Text) {
				t.Errorf("%q: %+v", text, e)
			}
			if again, ok := (&Parser{Near: p.Near}).Line(text); ok && again.Kind == "" {
				t.Errorf("%q: an event without a kind", text)
			}
		}
	})
}
