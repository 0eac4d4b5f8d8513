// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// keeping returns a session on a simulated subnet that keeps all in a history, and a function that runs commands on it.
func keeping(t *testing.T, from string) (*session.Session, func(text string, asJSON bool) (string, error)) {
	t.Helper()
	s := sessiontest.OpenWith(t, from, session.Options{StateDir: t.TempDir(), Record: true})
	sh := shell.New(s)
	return s, func(text string, asJSON bool) (string, error) {
		var out bytes.Buffer
		err := sh.Run(t.Context(), "test", text, &shell.Output{
			W: &out, Notes: &out, Form: prose.When(asJSON, answer.FormJSON, answer.FormText),
		})
		return out.String(), err
	}
}

// newest returns the newest entries of the history.
func newest(t *testing.T, s *session.Session, n int) []history.Entry {
	t.Helper()
	store, err := s.History()
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.List(t.Context(), s.Subnet(), n)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEntryNamesMaker: an entry of the history names the engine that made its tables, not the one that the session has
// chosen since or that refused.
func TestEntryNamesMaker(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tables")
	const force = " force-interrupt force-loop"
	for _, c := range []struct {
		name, commands string
		newest         []string // engine and options of the newest entries, the newest first
		simulated      string   // in the newest entry
	}{
		{"commit after another engine was chosen", "fail switch spine-01; route; engine ftree; write on; commit yes",
			[]string{"minhop ", "live "}, "switch spine-01 failed"},
		{"refused engine", "engine torus-2QoS lmc=1; route", []string{"minhop lmc=1"}, ""},
		{"rollback", "write on; engine minhop lmc=1; route; commit yes" + force + "; engine ftree lmc=0; rollback yes" +
			force,
			[]string{"live ", "minhop lmc=1", "minhop lmc=1", "live "}, ""},
		{"rollback of the second commit", "write on; engine minhop lmc=1; route; commit yes" + force +
			"; engine updn lmc=1; route; commit yes" + force + "; engine ftree; rollback yes" + force,
			[]string{"minhop lmc=1", "updn lmc=1", "updn lmc=1", "minhop lmc=1"}, ""},
		{"loaded tables", "engine updn; route; dump lfts " + file + ".lfts; engine ftree; load lfts " + file + ".lfts",
			[]string{"tables.lfts "}, ""},
		{
			"loaded routing", "engine updn connect_roots=yes; route; dump routing " + file +
				".routing; unstage; engine ftree; load routing " + file + ".routing",
			[]string{"updn connect_roots=yes"}, "",
		},
		{"adapted tables", "engine updn; route; fail link leaf-01 3; engine ftree; route incremental",
			[]string{"incremental "}, "leaf-01/3"},
		{
			"unicast cache", "engine minhop use_ucast_cache=yes; route; fail switch leaf-02; route",
			[]string{"ucast_cache use_ucast_cache=yes"}, "switch leaf-02 failed",
		},
	} {
		s, run := keeping(t, "sim:fattree:2,4")
		if text, err := run(c.commands, false); err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, text)
			continue
		}
		var got []string
		all := newest(t, s, 20)
		if strings.Contains(c.commands, "commit") { // whose entries are wanted, not those of the routes between
			for _, e := range all {
				if e.Kind == history.Commit {
					got = append(got, e.Engine+" "+e.Options)
				}
			}
		} else {
			got = append(got, all[0].Engine+" "+all[0].Options)
		}
		if len(got) < len(c.newest) || strings.Join(got[:len(c.newest)], "; ") != strings.Join(c.newest, "; ") {
			t.Errorf("%s: the history lists %q, want %q first", c.name, got, c.newest)
		}
		if e := all[0]; !strings.Contains(e.Simulated, c.simulated) || (e.Simulated != "") != (c.simulated != "") {
			t.Errorf("%s: %q is simulated, want %q", c.name, e.Simulated, c.simulated)
		}
	}
}

// TestEntryOfWhatIf: every command that reads an entry of a what-if says that it is one, and what was simulated.
func TestEntryOfWhatIf(t *testing.T) {
	s, run := keeping(t, "sim:fattree:2,4")
	if text, err := run("fail switch spine-01; route; restore all; unstage", false); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	const id = "1"
	if all := newest(t, s, 9); len(all) != 1 || all[0].Kind != history.Route {
		t.Fatalf("the history has %+v, expected a route alone", all)
	}
	st := s.State()
	p, err := st.Of(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		st.Title(p), whatIsSaid(t, run, "history", false), whatIsSaid(t, run, "history show "+id, false),
		whatIsSaid(t, run, "history", true),
	} {
		if !strings.Contains(text, "switch spine-01 failed") || !strings.Contains(text, "what-if") &&
			!strings.Contains(text, `"whatif"`) {
			t.Errorf("no what-if is named in %q", text)
		}
	}
	for _, command := range []string{
		"show nodes", "show switches", "show links", "show lft leaf-01", "show structure", "check reach", "check loops",
		"check credits", "check load", "who uses leaf-01", "report text -",
		"hosts j node-[0001-0002]", "trace node-0001 node-0008", "trace all all", "resilience links",
		"paths query node-0001 node-0008",
	} {
		text := whatIsSaid(t, run, command+" of="+id, false)
		if !strings.Contains(text, "what-if: switch spine-01 failed") {
			t.Errorf("%s: no what-if in\n%s", command, text)
		}
		if strings.HasPrefix(command, "report") || strings.HasPrefix(command, "show") ||
			strings.HasPrefix(command, "paths") {
			continue // rows and files, which show it next to them
		}
		var answer struct{ Of any } // of a declared answer an object
		line, _, _ := strings.Cut(whatIsSaid(t, run, command+" of="+id, true), "\n")
		if err := json.Unmarshal([]byte(line), &answer); err != nil ||
			!strings.Contains(fmt.Sprint(answer.Of), "what-if") {
			t.Errorf("%s: %v, no what-if in %s", command, err, line)
		}
	}
	for _, command := range []string{"diff " + id + " live", "trace node-0001 node-0008 of=live against=" + id} {
		if text := whatIsSaid(t, run, command, false); !strings.Contains(text, "what-if") {
			t.Errorf("%s: no what-if in\n%s", command, text)
		}
	}
}

func whatIsSaid(t *testing.T, run func(string, bool) (string, error), command string, asJSON bool) string {
	t.Helper()
	text, err := run(command, asJSON)
	if err != nil {
		t.Errorf("%s: %v", command, err)
	}
	return text
}
