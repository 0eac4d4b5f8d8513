// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	simulated "example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/dumps"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/shell/session/source"
)

// TestDumpedGUID2LIDEqualsOpenSM compares the guid2lid of the live subnet, and of a what-if without a host, with
// OpenSM's, which contains the removed host.
func TestDumpedGUID2LIDEqualsOpenSM(t *testing.T) {
	repeat(t, 4, 40, 7, func(t *testing.T, r *rand.Rand, _ int) {
		l := newLife(t, r, []string{"minhop"}, false)
		l.run(t)
		s := sessionOn(t, l)
		file := filepath.Join(l.manager.dir, "guid2lid")
		same := func(what string, of session.Kind) {
			t.Helper()
			var b bytes.Buffer
			if _, err := dumps.Write(t.Context(), s, "guid2lid", of, &b); err != nil {
				t.Fatal(err)
			}
			if err := differsFrom(file, b.Bytes()); err != nil {
				t.Errorf("%s: %s: %v", l, what, err)
			}
		}
		same("live", session.Live)
		before := l.lost
		if !l.loseLink(r, hostLinks(l.whole)) {
			return
		}
		l.run(t)
		simulateEvents(t, s, l.whole, before, l.lost)
		if _, err := s.Route(t.Context(), compute.KeepAsOpenSM); err != nil {
			t.Fatal(err)
		}
		same("a simulated host failure", session.Staged)
		if _, err := s.Restore(t.Context(), nil, simulated.Failure{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		set, err := settings.Parse(t.Context(), nil, []settings.Setting{{Name: "guid2lid", Value: file}})
		if err != nil {
			t.Fatal(err)
		}
		s.SetSettings(set)
		var b bytes.Buffer
		if _, err := dumps.Write(t.Context(), s, "guid2lid", session.Live, &b); err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// An OpenSM that reads its file reverses the lines of a bin of its table.
		if !slices.Equal(sortedLines(b.Bytes()), sortedLines(theirs)) {
			t.Errorf("%s: without a host:\n%s\nOpenSM:\n%s", l, b.Bytes(), theirs)
		}
	})
}

// TestGUID2LIDWithBadRecords checks that OpenSM drops bad records of a guid2lid, and writes back the others, with those
// of ports that are not in the subnet. Our dump of the file must be equal.
func TestGUID2LIDWithBadRecords(t *testing.T) {
	r := testenv.Rand(t)
	for i := range testenv.Count(t, 12, 200) {
		f := gentest.Fabric(t, []string{"fattree:2,4", "torus:3x3", "random:6,4,12"}[i%3])
		lmc := r.IntN(3)
		remembered := randomRecords(r, f, lmc)
		net, file, cache := filepath.Join(t.TempDir(), "net"), filepath.Join(t.TempDir(), "guid2lid"), t.TempDir()
		write(t, file, remembered)
		write(t, filepath.Join(cache, "guid2lid"), remembered)
		var text bytes.Buffer
		if err := gen.WriteNet(&text, f); err != nil {
			t.Fatal(err)
		}
		write(t, net, text.String())
		cmd := ibsimtest.Start(t, net).Command(t.Context(), "opensm", "-o", "-l", fmt.Sprint(lmc), "-f",
			filepath.Join(cache, "log"))
		cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+cache, "OSM_CACHE_DIR="+cache)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("opensm: %v\n%s", err, out)
		}
		src, err := source.Parse("net:" + net)
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.Open(t.Context(), src, session.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		set, err := settings.Parse(t.Context(), nil, []settings.Setting{{Name: "lmc", Value: fmt.Sprint(lmc)},
			{Name: "guid2lid", Value: file}})
		if err != nil {
			t.Fatal(err)
		}
		s.SetSettings(set)
		var ours bytes.Buffer
		if _, err = s.Route(t.Context(), compute.KeepAsOpenSM); err == nil {
			_, err = dumps.Write(t.Context(), s, "guid2lid", session.Staged, &ours)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := differsFrom(filepath.Join(cache, "guid2lid"), ours.Bytes()); err != nil {
			t.Errorf("LMC %d, of\n%s%v", lmc, remembered, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// randomRecords returns a guid2lid of ports of a subnet and of others, with records of all kinds that OpenSM drops:
// invalid ranges of unicast LIDs, misaligned ones, LIDs of another record, too few for the LMC, and no LIDs at all.
func randomRecords(r *rand.Rand, f *fabric.Fabric, lmc int) string {
	var b strings.Builder
	for i := range 4 + r.IntN(len(f.EndPorts)) {
		guid := f.Ports[f.EndPorts[r.IntN(len(f.EndPorts))]].GUID
		if r.IntN(3) == 0 {
			guid = 0x9f0000 + uint64(i)
		}
		first := (1 + r.IntN(2*len(f.EndPorts))) << lmc
		last := first + 1<<lmc - 1
		value := fmt.Sprintf("0x%04x 0x%04x", first, last)
		switch r.IntN(10) {
		case 0:
			value = fmt.Sprintf("0x%04x 0x%04x", last+1, first)
		case 1:
			value = fmt.Sprintf("0x%04x 0x%04x", first+1, last+1)
		case 2:
			value = fmt.Sprintf("0x%04x 0x%04x", first, first)
		case 3:
			value = []string{"0x0000 0x0003", "0xc000 0xc000", "none"}[r.IntN(3)]
		}
		fmt.Fprintf(&b, "0x%016x %s\n\n", guid, value)
	}
	return b.String()
}

func sortedLines(text []byte) []string { return slices.Sorted(strings.Lines(string(text))) }
