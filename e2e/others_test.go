// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestRollbackBesideAnother commits from a console of another host after ours. Our rollback must stop, report the
// changed entries, and overwrite them only when told to.
func TestRollbackBesideAnother(t *testing.T) {
	testenv.Tool(t, "ibsim")
	ours, theirs := t.TempDir(), t.TempDir()
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,8", "-c", "dump topology "+net)
	source := "ibsim:" + ibsimtest.Start(t, net).Name
	at := func(name string) string { return filepath.Join(ours, name) }
	t.Setenv("XDG_STATE_HOME", ours)
	ibconsole(t, "-s", source, "-c", "engine minhop; route; write on; commit yes; dump lfts of=live "+at("first"))
	ibconsole(t, "-s", source, "-c", "engine minhop port_shifting=TRUE; route; write on; commit yes")
	t.Setenv("XDG_STATE_HOME", theirs)
	ibconsole(t, "-s", source, "-c", "engine minhop scatter_ports=3; route; write on; commit yes; dump lfts of=live "+
		at("theirs"))
	t.Setenv("XDG_STATE_HOME", ours)
	r := try("-s", source, "-c", "write on; rollback yes")
	if r.status != exitFailed || !strings.Contains(r.err, "'rollback yes force-overwrite'") ||
		!strings.Contains(r.err, "by unknown") ||
		!strings.Contains(r.out, "CHANGED SINCE") || strings.Contains(r.out, "written in") {
		t.Fatalf("status %d\n%s%s", r.status, r.out, r.err)
	}
	ibconsole(t, "-s", source, "-c", "dump lfts of=live "+at("still"))
	sameFile(t, at("theirs"), at("still"))
	out := ibconsole(t, "--json", "-s", source, "-c", "write on; rollback yes force-overwrite; dump lfts of=live "+
		at("back"))
	sameFile(t, at("first"), at("back"))
	var written struct {
		Count  int `json:"others_count"`
		Others []struct{ Node, GUID, What, Was, Is, Would string }
	}
	for line := range strings.Lines(out) {
		if err := json.Unmarshal([]byte(line), &written); err == nil && written.Count > 0 {
			break
		}
	}
	if o := written.Others; written.Count == 0 || len(o) != written.Count || !strings.HasPrefix(o[0].What, "LID ") ||
		o[0].Was == o[0].Is || o[0].Is == o[0].Would {
		t.Errorf("JSON has %+v", written)
	}
	if out := ibconsole(t, "-s", source, "-c", "history"); !strings.Contains(out, "others wrote ") {
		t.Errorf("the history has\n%s", out)
	}
}
