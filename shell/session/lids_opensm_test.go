// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/settings"
)

// freePorts is two switches with hosts and free ports. No port has a LID.
func freePorts() (net string, links []string) {
	var b strings.Builder
	for sw := 1; sw <= 2; sw++ {
		fmt.Fprintf(&b, "Switch 12 \"S%d\"\n", sw)
		for port := 1; port <= 5; port++ {
			fmt.Fprintf(&b, "[%d] \"H%d%d\"[1]\n", port, sw, port)
			links = append(links, fmt.Sprintf("S%d %d", sw, port))
		}
		fmt.Fprintf(&b, "[8] \"S%d\"[8]\n\n", 3-sw)
	}
	for sw := 1; sw <= 2; sw++ {
		for port := 1; port <= 5; port++ {
			fmt.Fprintf(&b, "Hca 1 \"H%d%d\"\n[1] \"S%d\"[%d]\n\n", sw, port, sw, port)
		}
	}
	return b.String(), append(links, "S1 8")
}

// sweeps waits until an OpenSM that was told to sweep has done so and rests.
func (m *manager) sweeps(t *testing.T) {
	t.Helper()
	done := func() (sweeps, size int) {
		text, _ := os.ReadFile(m.log)
		return bytes.Count(text, []byte("SUBNET UP")), len(text)
	}
	before, _ := done()
	if err := m.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	since, last := time.Now(), -1
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		sweeps, size := done()
		if size != last {
			since, last = time.Now(), size
		}
		if sweeps > before && time.Since(since) > time.Second {
			return
		}
	}
	t.Fatal("OpenSM does not sweep")
}

// remembered are the LIDs in OpenSM's file guid2lid, by port GUID.
func (m *manager) remembered(t *testing.T) map[uint64]uint16 {
	t.Helper()
	path := filepath.Join(filepath.Dir(m.log), "guid2lid")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := osm.ReadGUID2LID(bytes.NewReader(text), path)
	if err != nil {
		t.Fatal(err)
	}
	lids := map[uint64]uint16{}
	for r := range file.Table.Records() {
		lids[r.GUID] = r.LIDs.Min
	}
	return lids
}

// TestLIDsThroughEventsEqualOpenSM: a source without LIDs gets those that an OpenSM gives which runs meanwhile: several
// links fail and return between two routes, in any order, also before the first route.
func TestLIDsThroughEventsEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for i := range testenv.Count(t, 4, 60) {
		seed := r.Uint64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			lidsThroughEvents(t, rand.New(rand.NewPCG(seed, 1)), i%2)
		})
	}
}

func lidsThroughEvents(t *testing.T, r *rand.Rand, lmc int) {
	net, links := freePorts()
	file := sessiontest.NetFile(t, net)
	sim := ibsimtest.Start(t, file)
	s := sessiontest.Open(t, "net:"+file)
	s.SetSettings(parsed(t, "minhop", settings.Setting{Name: "lmc", Value: fmt.Sprint(lmc)}))
	down := map[string]bool{}
	var events []string
	turn := func(link string) {
		t.Helper()
		sw, port, _ := strings.Cut(link, " ")
		var err error
		if down[link] {
			sim.Console(fmt.Sprintf("ReLink %q[%s]", sw, port))
			st := s.State()
			match, repair, lost := failures.ToRestore(st.Whole(), "link", []string{sw, port})
			if lost != nil {
				t.Fatal(lost)
			}
			_, err = s.Restore(t.Context(), match, repair)
		} else {
			sim.Console(fmt.Sprintf("Unlink %q[%s]", sw, port))
			_, err = s.Fail(t.Context(), failures.Named("link", []string{sw, port}, 0))
		}
		if err != nil {
			t.Fatal(err)
		}
		down[link] = !down[link]
		events = append(events, link)
	}
	for range r.IntN(4) { // before anything is routed
		turn(links[r.IntN(len(links))])
	}
	m := startManager(t, sim, "S1", fmt.Sprintf("lmc %d\n", lmc))
	if !m.said("SUBNET UP", 1) {
		t.Fatal("OpenSM does not start")
	}
	for step := range 6 {
		for range step { // none before the first route
			failed := slices.DeleteFunc(slices.Sorted(maps.Keys(down)), func(l string) bool { return !down[l] })
			if r.IntN(2) == 0 && len(failed) > 0 {
				turn(failed[r.IntN(len(failed))])
			} else {
				turn(links[r.IntN(len(links))])
			}
		}
		m.sweeps(t)
		if _, err := s.Route(t.Context(), compute.KeepAsOpenSM); err != nil {
			t.Fatal(err)
		}
		want := m.remembered(t)
		f := s.State().Staged.Fabric
		for _, e := range f.EndPorts {
			if p := &f.Ports[e]; p.LID != want[p.GUID] || p.LID == 0 || p.LMC != uint8(lmc) && p.Num != 0 {
				t.Fatalf("after %q %s has LID %d, of OpenSM %d", events, f.PortName(e), p.LID, want[p.GUID])
			}
		}
		events = append(events, "route")
	}
}

// TestLIDsOfAFile: a file without LIDs gets the same ones, and the same tables to compare with, as a simulated subnet
// of that file has, through failures, repairs and what undoes them.
func TestLIDsOfAFile(t *testing.T) {
	net, links := freePorts()
	file := sessiontest.NetFile(t, net)
	r := testenv.Rand(t)
	for range testenv.Count(t, 40, 1000) {
		simulated, offline := sessiontest.Open(t, "sim:"+file), sessiontest.Open(t, "file:"+file)
		for _, s := range []*session.Session{simulated, offline} { // a simulated subnet has LIDs before it is routed
			if _, err := s.Route(t.Context(), compute.KeepAsOpenSM); err != nil {
				t.Fatal(err)
			}
		}
		down := map[string]bool{}
		var events []string
		for range 8 {
			link := links[r.IntN(len(links))]
			words := strings.Fields(link)
			what := "turn " + link
			switch {
			case r.IntN(8) == 0 && len(down) > 0:
				what = "restore all"
			case r.IntN(8) == 0 && len(down) > 0:
				what = "undo"
			}
			events = append(events, what)
			for _, s := range []*session.Session{simulated, offline} {
				var err error
				switch {
				case what == "restore all":
					_, err = s.Restore(t.Context(), nil, failures.Failure{})
				case what == "undo":
					_, err = s.Undo(t.Context(), 0)
				case down[link]:
					st := s.State()
					match, repair, lost := failures.ToRestore(st.Whole(), "link", words)
					if lost != nil {
						t.Fatal(lost)
					}
					_, err = s.Restore(t.Context(), match, repair)
				default:
					_, err = s.Fail(t.Context(), failures.Named("link", words, 0))
				}
				if err != nil {
					t.Fatalf("after %q: %v", events, err)
				}
			}
			clear(down)
			st := simulated.State()
			for _, l := range links {
				words := strings.Fields(l)
				match, _, err := failures.ToRestore(st.Whole(), "link", words)
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(st.Failures, match) {
					down[l] = true
				}
			}
			if r.IntN(3) == 0 {
				continue
			}
			events = append(events, "route")
			for _, s := range []*session.Session{simulated, offline} {
				if _, err := s.Route(t.Context(), compute.KeepAsOpenSM); err != nil {
					t.Fatal(err)
				}
			}
			a, b := simulated.State(), offline.State()
			for _, e := range a.Staged.Fabric.EndPorts {
				p := &a.Staged.Fabric.Ports[e]
				if q := b.Staged.Fabric.PortByGUID(p.GUID); b.Staged.Fabric.Ports[q].LID != p.LID {
					t.Fatalf("after %q %s has LID %d, of the simulated subnet %d", events, a.Staged.Fabric.PortName(e),
						b.Staged.Fabric.Ports[q].LID, p.LID)
				}
			}
			if (b.Base == nil) != (a.Base == nil) || b.Base != nil &&
				(b.Base.Tables == nil || !sameRows(b.Base.Tables, a.Base.Tables)) {
				t.Fatalf("after %q the base has no tables, or other ones than that of the simulated subnet", events)
			}
			if !sameRows(b.Staged.Tables, a.Staged.Tables) {
				t.Fatalf("after %q the tables differ from those of the simulated subnet", events)
			}
		}
	}
}
