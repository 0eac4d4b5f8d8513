// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/base/audit"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestWritesAreTold: a commit over ibsim, and one that is refused, each make one record; hashes tell tables apart.
func TestWritesAreTold(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "s")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	script := func(source, text string, log audit.Log) (status int, said string) {
		var both strings.Builder
		status = run([]string{"-s", source, "-c", text}, streams{out: &both, err: &both, log: &log})
		return status, both.String()
	}
	log := audit.Log{Journal: path}
	file := filepath.Join(t.TempDir(), "net")
	script("sim:fattree:2,4", "dump topology "+file+"; route; write on; commit yes", log)
	sim := ibsimtest.Start(t, file)
	source := "ibsim:" + sim.Name
	if status, said := script(source, "route; commit yes", log); status != exitFailed {
		t.Errorf("read-only: %d, %s", status, said)
	}
	if status, said := script(source, "route; write on; commit yes", log); status != exitDone {
		t.Errorf("commit: %d, %s", status, said)
	}
	if status, said := script(source, "engine updn; route; write on; commit yes force-loop force-interrupt",
		audit.Log{}); status != exitDone || strings.Count(said, "writes are in no log") != 1 ||
		strings.Contains(said, `\x0a`) {
		t.Errorf("without a log: %d, %s", status, said)
	}
	var told []string
	for range 2 {
		b := make([]byte, 1<<16)
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, string(b[:n]))
	}
	hashes := regexp.MustCompile(`(?m)^IBCONSOLE_(?:BEFORE|AFTER)=([0-9a-f]{64})$`)
	first, second := hashes.FindAllStringSubmatch(told[0], -1), hashes.FindAllStringSubmatch(told[1], -1)
	if !strings.Contains(told[0], "RESULT=the session is read-only") || len(first) != 2 || first[0][1] != first[1][1] {
		t.Errorf("refused: %s", told[0])
	}
	if !strings.Contains(told[1], "RESULT=done\n") || len(second) != 2 || second[0][1] == second[1][1] ||
		second[0][1] != first[0][1] {
		t.Errorf("done: %s", told[1])
	}
}
