// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
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

// TestHalfWrittenFile looks at a file while another program writes it: line by line, with a line that is cut, and
// finished. Only the finished file is used. A file that stays unreadable in part is used at the second look.
func TestHalfWrittenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	const one = "Switch 4 \"S1\"\n[1] \"H1\"[1]\n\nCa 1 \"H1\"\n[1] \"S1\"[1]\n"
	two := strings.Replace(one, "\n\nCa", "\n[2] \"H2\"[1]\n\nCa", 1) + "\nCa 1 \"H2\"\n[1] \"S1\"[2]\n"
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(one)
	s := sessiontest.Open(t, "file:"+path)
	look := func() (links, unread int) {
		t.Helper()
		if _, err := s.SweepLight(t.Context()); err != nil {
			t.Fatal(err)
		}
		st := s.State()
		return len(st.Live.Fabric.Links()), st.Unread.Count
	}
	for at := len(two) - 1; at > len(two)/2; at-- {
		write(two[:at])
		if links, unread := look(); links != 1 || unread != 0 {
			t.Errorf("half of the file is used: %d links, %d parts unread: %q", links, unread, two[:at])
		}
	}
	if st := s.State(); len(st.Events) > 0 {
		t.Errorf("events: %+v", st.Events)
	}
	write(two)
	if links, unread := look(); links != 2 || unread != 0 {
		t.Errorf("the whole file is not used: %d links, %d unread", links, unread)
	}
	write(one + "\nSwitch x \"S9\"\n")
	if links, _ := look(); links != 2 {
		t.Error("the damaged file is used at once")
	}
	if links, unread := look(); links != 1 || unread != 1 {
		t.Errorf("the damaged file is not used at the second look: %d links, %d unread", links, unread)
	}
}

// TestReplacedFile replaces a file by another one of the same size and time, by its name and in place.
func TestReplacedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	at := time.Now().Add(-time.Hour)
	write := func(path, name string) {
		t.Helper()
		text := "Switch 4 \"S1\" # \"" + name + "\"\n[1] \"H1\"[1]\n\nCa 1 \"H1\"\n[1] \"S1\"[1]\n"
		err := os.WriteFile(path, []byte(text), 0o600)
		if err := errors.Join(err, os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	write(path, "one")
	s := sessiontest.Open(t, "file:"+path)
	expect := func(name string) {
		t.Helper()
		if _, err := s.SweepLight(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(s.State().Live.Fabric.NodesByDescription(name)) != 1 {
			t.Errorf("the file with %s is not read", name)
		}
	}
	write(path+".new", "two")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	expect("two")
	time.Sleep(20 * time.Millisecond) // longer than the resolution of the kernel's clock
	write(path, "six")
	expect("six")
}
