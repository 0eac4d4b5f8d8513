// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/settings"
)

// openBeside opens a source on a machine whose OpenSM left a guid2lid in its cache folder, with an opensm.conf.
func openBeside(t *testing.T, source, guid2lid string) (s *session.Session, file, conf string) {
	t.Helper()
	dir := t.TempDir()
	file, conf = filepath.Join(dir, "guid2lid"), filepath.Join(dir, "opensm.conf")
	for path, text := range map[string]string{file: guid2lid, conf: "routing_engine minhop\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = sessiontest.OpenWith(t, source, session.Options{Places: session.Places{CacheDir: dir}})
	return s, file, conf
}

// mixedRecords gives ports of a fabric, and others, LIDs at random.
func mixedRecords(r *rand.Rand, f *fabric.Fabric) string {
	var b strings.Builder
	for i, e := range f.EndPorts {
		guid := f.Ports[e].GUID
		if r.IntN(3) == 0 {
			guid = 0x9f0000 + uint64(i)
		}
		if r.IntN(3) > 0 {
			lid := 1 + r.IntN(2*len(f.EndPorts))
			fmt.Fprintf(&b, "0x%016x 0x%04x 0x%04x\n\n", guid, lid, lid)
		}
	}
	return b.String()
}

// TestFoundGUID2LID: a guid2lid that nobody named changes no LID that a port has, also none that it had before it
// failed, and where it contradicts one it is named. That of the option guid2lid changes them, as OpenSM's does.
func TestFoundGUID2LID(t *testing.T) {
	r := testenv.Rand(t)
	whole := sessiontest.Open(t, "sim:fattree:2,4").State().Live.Fabric
	for range testenv.Count(t, 20, 500) {
		s, file, conf := openBeside(t, "sim:fattree:2,4", mixedRecords(r, whole))
		set, err := session.ReadConf(t.Context(), s, conf, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(set.Notes, func(n string) bool { return strings.HasPrefix(n, file) }) {
			t.Errorf("%s is not named: %q", file, set.Notes)
		}
		s.SetSettings(set)
		c, err := s.Calibrate(t.Context())
		if err != nil || c.Differ > 0 {
			t.Errorf("%d of %d entries differ, %v", c.Differ, c.Entries, err)
		}
		if !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.HasPrefix(w, file+" contradicts") }) {
			t.Errorf("no contradiction is named: %q", c.Warnings)
		}
		for _, link := range []string{"leaf-02 1", "leaf-03 2"} {
			if _, err := s.Fail(t.Context(), failures.Named("link", strings.Fields(link), 0)); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if _, err := s.Route(t.Context(), compute.KeepAsOpenSM); err != nil {
				t.Fatal(err)
			}
			f := s.State().Staged.Fabric
			for _, e := range f.EndPorts {
				if was := whole.PortByGUID(f.Ports[e].GUID); was != fabric.None &&
					f.Ports[e].LID != whole.Ports[was].LID {
					t.Errorf("%s has LID %d, on the switches %d", f.PortName(e), f.Ports[e].LID, whole.Ports[was].LID)
				}
			}
			add := failures.NewNode{Type: mad.NodeCA, Name: "new", At: []string{"leaf-02/1"}}
			if _, err := s.Add(t.Context(), failures.Add(add)); err != nil {
				break // there already
			}
		}
		f := s.State().Staged.Fabric
		n := &f.Nodes[f.NodesByDescription("new")[0]]
		if lid := f.Ports[n.FirstPort+1].LID; lid == 0 || whole.PortByLID(lid) != fabric.None {
			t.Errorf("the new port has LID %d, which another one had", lid)
		}
	}
	// A port without a LID gets the one that OpenSM remembers, and a file that is named overrides the LIDs that ports
	// have.
	net, _ := freePorts()
	s, _, conf := openBeside(t, "file:"+sessiontest.NetFile(t, net), "0x0000000000100001 0x0044 0x0044\n\n")
	lid := func(set settings.Settings) uint16 {
		t.Helper()
		s.SetSettings(set)
		if _, err := s.Route(t.Context(), compute.KeepAsOpenSM); err != nil {
			t.Fatal(err)
		}
		f := s.State().Staged.Fabric
		return f.Ports[f.PortByGUID(0x100001)].LID
	}
	set, err := session.ReadConf(t.Context(), s, conf, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := lid(set); got != 0x44 {
		t.Errorf("a port without a LID has LID %d", got)
	}
	s, file, conf := openBeside(t, "sim:fattree:2,4", "0x0000000000100001 0x0044 0x0044\n\n")
	named := settings.Setting{Name: "guid2lid", Value: file}
	if set, err = session.ReadConf(t.Context(), s, conf, nil, []settings.Setting{named}); err != nil {
		t.Fatal(err)
	}
	if got := lid(set); got != 0x44 {
		t.Errorf("guid2lid=FILE: the port has LID %d", got)
	}
}
