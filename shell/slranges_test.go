// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// statedSLs runs commands and returns the stated SLs by pair of LIDs: "0 to 5" for a range. It fails if two answers
// differ.
func statedSLs(t *testing.T, s *session.Session, commands ...string) map[[2]uint16]string {
	t.Helper()
	stated := map[[2]uint16]string{}
	for _, command := range commands {
		var out strings.Builder
		err := shell.New(s).Run(t.Context(), "test", command, &shell.Output{W: &out, Form: answer.FormJSON})
		if err != nil && !strings.Contains(err.Error(), "credit loop") {
			t.Fatalf("%s: %v", command, err)
		}
		for line := range strings.Lines(out.String()) {
			type path struct {
				SL            *int
				SLs           string
				From, To, Src struct{ LID uint16 }
				LID           uint16
			}
			var row struct {
				path
				Ring, Primary []path
			}
			if json.Unmarshal([]byte(line), &row) != nil {
				continue
			}
			for _, p := range slices.Concat([]path{row.path}, row.Ring, row.Primary) {
				pair := [2]uint16{p.From.LID, p.To.LID}
				if p.Src.LID != 0 {
					pair = [2]uint16{p.Src.LID, p.LID}
				}
				if before, ok := stated[pair]; ok && before != p.SLs {
					t.Errorf("%s: %v has SL %s, an earlier answer has %s: %s", command, pair, p.SLs, before, line)
				}
				if p.SL != nil {
					stated[pair] = p.SLs
				}
			}
		}
	}
	return stated
}

// TestDrawnSLsEverywhere checks that all answers have the range from which dfsssp draws an SL, with tables that were
// computed, saved and loaded, or kept in the history, and with a policy for quality of service.
func TestDrawnSLsEverywhere(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	policy := at("policy")
	if err := os.WriteFile(policy, []byte("qos-levels\nqos-level\nname: DEFAULT\nsl: 3\nend-qos-level\n"+
		"end-qos-levels\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := sessiontest.Open(t, "sim:torus:4x4")
	run := func(commands ...string) { t.Helper(); statedSLs(t, s, commands...) }
	pairs := []string{"node-0001 node-0009", "node-0002 node-0016", "node-0016 node-0005"}
	check := func(what string) {
		t.Helper()
		var commands []string
		for _, pair := range pairs {
			commands = append(commands, "show sl "+pair, "trace "+pair, "paths query "+pair, "paths alternate "+pair)
		}
		commands = append(commands, "trace node-0001 all rows", "show sl node-0001 all", "paths query node-0001 all")
		stated := statedSLs(t, s, commands...)
		st := s.State()
		ranges := 0
		for pair, text := range stated {
			want := st.Staged.Tables.SLRange(pair[0], pair[1])
			if want.N > 1 {
				ranges++
			}
			if text != want.String() {
				t.Errorf("%s: LID %d to %d has SL %q, want %s", what, pair[0], pair[1], text, want)
			}
		}
		if len(stated) < 15 || ranges == 0 {
			t.Errorf("%s: %d pairs, %d with a range of SLs", what, len(stated), ranges)
		}
	}
	run("engine dfsssp qos=yes", "route")
	check("computed")
	st := s.State()
	want := st.Staged.Tables
	run("dump routing "+at("routing"), "dump sls "+at("sls"), "dump sl2vl "+at("sl2vl"), "paths build "+at("paths"))
	if stated := statedSLs(t, s, "paths query node-0001 all file="+at("paths")); len(stated) == 0 {
		t.Error("no records")
	} else {
		sameRanges(t, "a path database", want, stated)
	}
	for what, commands := range map[string][]string{
		"a saved routing": {"load routing " + at("routing")},
		"a saved dump":    {"engine minhop", "route", "load sls " + at("sls")},
		"a policy":        {"engine dfsssp qos=yes qos_policy_file=" + policy, "route"},
	} {
		run("unstage")
		run(commands...)
		check(what)
		run("engine dfsssp qos=yes", "route")
		sameRanges(t, what, want, statedSLs(t, s, "show sl node-0001 all"))
	}
	text, err := os.ReadFile(at("sl2vl"))
	if err != nil {
		t.Fatal(err)
	}
	oneVL := regexp.MustCompile(`(?m)^(\d+ +\d+ +:).*$`).ReplaceAll(text, []byte("$1"+strings.Repeat(" 0", 16)))
	if err := os.WriteFile(at("sl2vl"), oneVL, 0o600); err != nil {
		t.Fatal(err)
	}
	run("load sl2vl " + at("sl2vl"))
	stated := statedSLs(t, s, "check credits")
	if len(stated) == 0 {
		t.Error("no credit loop")
	}
	sameRanges(t, "a credit loop", want, stated)
}

func sameRanges(t *testing.T, what string, tables *fabric.Tables, stated map[[2]uint16]string) {
	t.Helper()
	for pair, text := range stated {
		if want := fmt.Sprint(tables.SLRange(pair[0], pair[1])); text != want {
			t.Errorf("%s: LID %d to %d has SL %q, want %s", what, pair[0], pair[1], text, want)
		}
	}
}
