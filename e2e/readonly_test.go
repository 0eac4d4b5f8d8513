// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// TestReadOnlySession checks that no command except queries to subnet administration sends a Set before write on, while
// the same commands do afterwards.
func TestReadOnlySession(t *testing.T) {
	t.Parallel() // there is no subnet administration, for which some commands wait
	for _, on := range []bool{false, true} {
		dir := t.TempDir()
		src, err := source.Parse("sim:fattree:2,4")
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.Open(t.Context(), src, session.Options{StateDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		sh := shell.New(s)
		text := strings.ReplaceAll(strings.ReplaceAll(writes, "D/", dir+"/"), " sm=0x100001", "")
		for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' }) {
			line = strings.TrimSpace(line)
			if line == "write on" && !on || strings.HasPrefix(line, "sa ") || line == "sweep full sl" ||
				strings.HasPrefix(line, "paths verify") {
				continue
			}
			var out bytes.Buffer
			_ = sh.Run(t.Context(), "writes", line, &shell.Output{W: &out, Notes: &out}) // some fail
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		packets := mustRead(t, filepath.Join(dir, "cap.pcap"))
		// base version, directed-route class, class version, method
		sets := bytes.Count(packets, []byte{1, 0x81, 1, 2})
		if gets := bytes.Count(packets, []byte{1, 0x81, 1, 1}); gets < 100 || sets > 0 != on {
			t.Errorf("writing %v: %d Gets and %d Sets", on, gets, sets)
		}
	}
}
