// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/settings"
)

// twoSwitches is a subnet in which names are prefixes of one another, hold
// slashes, numbers and control characters, or occur twice.
const twoSwitches = `
Hca	2 "H1"		# "node-1"
[1] "S1"[1]
[2] "S2"[1]

Hca	1 "H2"		# "node-11"
[1] "S1"[2]

Hca	1 "H3"		# "rack/7"
[1] "S2"[2]

Hca	1 "H4"		# "twin"
[1] "S2"[3]

Hca	1 "H5"		# "twin"
[1] "S2"[4]

Switch	8 "S1"		# "edge/7"
[1] "H1"[1]
[2] "H2"[1]
[8] "S2"[8]

Switch	8 "S2"		# "core"
[1] "H1"[2]
[2] "H3"[1]
[3] "H4"[1]
[4] "H5"[1]
[8] "S1"[8]
`

func openFile(t *testing.T, text string) *session.Session {
	t.Helper()
	return sessiontest.Open(t, "file:"+sessiontest.NetFile(t, text))
}

func TestResolve(t *testing.T) {
	s := openFile(t, twoSwitches)
	if _, err := s.Route(context.Background(), compute.KeepAsOpenSM); err != nil {
		t.Fatal(err)
	}
	f := s.State().Staged.Fabric
	// LIDs by hand: the SM's port first, then port GUIDs by their reversed bytes.
	// H1 is node 0x100000 with ports 0x100001 and 0x100002, H2 port 0x100004, H3
	// 0x100006, H4 0x100008, H5 0x10000a; S1 0x200000, S2 0x200001.
	for _, tc := range []struct {
		text, want string
		lid        uint16
	}{
		{"node-1", "node-1/1", 1},
		{"node-1/2", "node-1/2", 4},
		{"node-11", "node-11/1", 5},
		{"rack/7", "rack/7/1", 6},
		{"edge/7", "edge/7/0", 2},
		{"edge/7/8", "edge/7/8", 2},
		{"ed/8", "edge/7/8", 2},
		{"co", "core/0", 3},
		{"lid:1", "node-1/1", 1},
		{"4", "node-1/2", 4},
		{"guid:0x100002", "node-1/2", 4},
		{"0x200001", "core/0", 3},
		{"0x100000", "node-1/1", 1},
	} {
		p, err := places.Resolve(f, tc.text)
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if got := f.PortName(p.Port); got != tc.want || p.LID != tc.lid {
			t.Errorf("%s is %s with LID %d, want %s with LID %d", tc.text, got, p.LID, tc.want, tc.lid)
		}
	}
	for text, want := range map[string]string{
		"node":      "ambiguous: node-1, node-11",
		"twin":      "ambiguous: twin (0x0000000000100007), twin (0x0000000000100009)",
		"nobody":    `no node is called "nobody"`,
		"core/9":    "core has no port 9",
		"lid:99":    "no port has LID 99",
		"lid:65535": "is not a unicast LID",
		"lid:x":     "is not a unicast LID",
		"0x7":       "nothing has GUID 0x0000000000000007",
		"guid:z":    "is not a GUID",
		"":          "ambiguous",
	} {
		if p, err := places.Resolve(f, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %+v with error %v, want an error with %q", text, p, err, want)
		}
	}
}

func TestPicturesOfAFailure(t *testing.T) {
	ctx := context.Background()
	s := sessiontest.Open(t, "sim:fattree:2,4")
	if _, err := s.Route(ctx, compute.KeepAsOpenSM); err != nil {
		t.Fatal(err)
	}
	f := s.State().Live.Fabric
	var link fabric.Link
	for _, l := range f.Links() {
		if f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None {
			link = l
		}
	}
	if _, err := s.Fail(ctx, failures.Link(link.A)); err != nil {
		t.Fatal(err)
	}
	st := s.State()
	switch {
	case !st.Stale:
		t.Error("the staged tables are not stale after a failure")
	case !st.Live.Fabric.Ports[link.A].Linked() || !st.Base.Fabric.Ports[link.A].Linked():
		t.Error("the failure reached the live picture or the base")
	case st.WhatIf.Fabric.Ports[link.A].Linked() || st.WhatIf.Fabric.Ports[link.B].Linked():
		t.Error("the link is up in the what-if")
	case st.WhatIf.Tables == nil || st.WhatIf.Tables.Fabric != st.WhatIf.Fabric:
		t.Error("the what-if does not lay the live tables over the broken fabric")
	}
	if _, err := s.Fail(ctx, failures.Link(link.A)); err == nil {
		t.Error("a link fails twice")
	}
	rep, err := s.Route(ctx, compute.KeepAsOpenSM)
	if err != nil {
		t.Fatal(err)
	}
	if st = s.State(); st.Stale || rep.Changed == 0 || rep.Against != string(session.Base) {
		t.Errorf("stale %v, %d entries changed against %q; want fresh tables with changes against the base", st.Stale,
			rep.Changed, rep.Against)
	}
	if _, err := s.Restore(ctx, func(x failures.Failure) bool {
		return x.InvolvesLink(link)
	}, failures.Failure{}); err != nil {
		t.Fatal(err)
	}
	if st = s.State(); st.WhatIf != nil || st.Base != nil || !st.Stale {
		t.Error("the paper is not empty after its only failure was restored, or the tables for it are not stale")
	}
	if _, err := s.Restore(ctx, func(failures.Failure) bool {
		return true
	}, failures.Failure{}); !errors.Is(err, session.ErrNotFailed) {
		t.Errorf("nothing to restore gives %v", err)
	}
}

func TestLiveOfASimulationIsRouted(t *testing.T) {
	s := sessiontest.Open(t, "sim:torus:3x3")
	rep, err := s.Route(context.Background(), compute.KeepAsOpenSM)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Changed != 0 || rep.Against != string(session.Live) || rep.Entries == 0 {
		t.Errorf("%d of %d entries differ from %q, want none of some from live", rep.Changed, rep.Entries, rep.Against)
	}
}

func TestCancelledRouteStagesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := sessiontest.Open(t, "sim:fattree:2,4")
	cancel()
	if _, err := s.Route(ctx, compute.KeepAsOpenSM); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if s.State().Staged != nil {
		t.Error("something is staged")
	}
}

func TestWatcherPutsChangesTogether(t *testing.T) {
	s := sessiontest.Open(t, "sim:fattree:2,4")
	w := s.Watch()
	defer w.Stop()
	if _, err := s.Route(context.Background(), compute.KeepAsOpenSM); err != nil {
		t.Fatal(err)
	}
	s.SetSettings(s.State().Settings)
	<-w.C
	if got, want := w.Take(), session.ChangeStaged|session.ChangeBusy|session.ChangeSettings; got != want {
		t.Errorf("changes %b, want %b", got, want)
	}
	if got := w.Take(); got != 0 {
		t.Errorf("changes %b are taken twice", got)
	}
}

func parsed(t *testing.T, chain string, given ...settings.Setting) settings.Settings {
	t.Helper()
	set, err := settings.Parse(t.Context(), strings.Split(chain, ","), given)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
