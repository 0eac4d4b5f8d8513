// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// TestFileChanges checks that a session that is kept current reads its file again after a change.
func TestFileChanges(t *testing.T) {
	const one = "Switch 4 \"S1\"\n[1] \"H1\"[1]\n\nCa 1 \"H1\"\n[1] \"S1\"[1]\n"
	path := filepath.Join(t.TempDir(), "file")
	write := func(text string) {
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write(one)
	s, err := session.Open(t.Context(), source.Source{Kind: source.File, Arg: path}, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepCurrent(10 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	write(strings.Replace(one, "\n\nCa", "\n[2] \"H2\"[1]\n\nCa", 1) + "\nCa 1 \"H2\"\n[1] \"S1\"[2]\n")
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		st := s.State()
		if len(st.Live.Fabric.Links()) == 2 && len(st.Events) > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d links, events %v", len(st.Live.Fabric.Links()), st.Events)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !strings.Contains(s.State().WatchFailed, "no such file"); {
		if time.Sleep(10 * time.Millisecond); time.Now().After(end) {
			t.Fatalf("the file is gone, and watching reports %q", s.State().WatchFailed)
		}
	}
}
