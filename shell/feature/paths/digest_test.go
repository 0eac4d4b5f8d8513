// SPDX-License-Identifier: Apache-2.0

package paths_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session/sessiontest"
)

type digestAnswer struct {
	Verdict string `json:"verdict"`
	Stale   int    `json:"stale"`
	Missing int    `json:"missing"`
	Listed  []struct {
		Host   json.RawMessage `json:"host"`
		Digest string          `json:"digest"`
		InFile string          `json:"in_file"`
		State  string          `json:"state"`
	} `json:"listed"`
}

// TestDigest writes files for ibacm, loses a host, and expects that exactly the hosts with other lines in a file
// written afterwards are stale.
func TestDigest(t *testing.T) {
	s := sessiontest.Open(t, "sim:torus:5x5")
	dir := t.TempDir()
	run := func(command string) (string, error) {
		t.Helper()
		var out strings.Builder
		err := shell.New(s).Run(t.Context(), "test", command, &shell.Output{W: &out, Form: answer.FormJSON})
		return out.String(), err
	}
	old, fresh := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	ask := func(command string) (x digestAnswer) {
		t.Helper()
		out, err := run(command)
		if jsonErr := json.Unmarshal([]byte(out), &x); jsonErr != nil {
			t.Fatalf("%s: %v, %v: %s", command, err, jsonErr, out)
		}
		return x
	}
	must := func(command string) {
		t.Helper()
		if out, err := run(command); err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
	}
	must("engine minhop; route; paths acm of=staged " + old)
	same := ask("paths digest of=staged " + old)
	if same.Stale != 0 || len(same.Listed) != 50 { // 25 hosts and 25 switches
		t.Fatalf("%d of %d stale, want 0 of 50", same.Stale, len(same.Listed))
	}
	must("engine lash; route; paths acm of=staged " + fresh)
	was, is := sectionsOf(t, old), sectionsOf(t, fresh)
	got, changed := ask("paths digest of=staged "+old), 0
	for guid, text := range was {
		want := "current"
		if is[guid] != text {
			want = "stale"
			changed++
		}
		for i := range got.Listed {
			if r := &got.Listed[i]; strings.Contains(string(r.Host), `"`+guid+`"`) && r.State != want {
				t.Errorf("%s is %s, want %s", guid, r.State, want)
			}
		}
	}
	if got.Stale != changed || changed == 0 {
		t.Errorf("%d stale, %d of the files differ", got.Stale, changed)
	}
	if x := ask("paths digest of=staged " + fresh); x.Stale != 0 || x.Missing != 0 {
		t.Errorf("%d stale and %d missing in the new file", x.Stale, x.Missing)
	}
	b, err := os.ReadFile(fresh)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut") // between two sections
	four := strings.Join(strings.SplitAfter(string(b), "\n\n")[:4], "")
	if err := os.WriteFile(cut, []byte(four), 0o600); err != nil {
		t.Fatal(err)
	}
	if x := ask("paths digest of=staged " + cut); x.Missing != 50-4 || x.Verdict != "found" {
		t.Errorf("%d missing in a truncated file, verdict %s", x.Missing, x.Verdict)
	}
}

// sectionsOf returns the text of each section of a file for ibacm, by GUID.
func sectionsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for text := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n\n") {
		at := strings.Index(text, "0x")
		all[text[at:at+18]] = text
	}
	return all
}
