// SPDX-License-Identifier: Apache-2.0

package ibsimtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// OpenSM runs OpenSM once over the subnet of s, with the arguments given, and returns the folder of its
// dumps, its log (opensm.log) and its cache files. The test fails if OpenSM does.
func OpenSM(t testing.TB, s *Sim, args ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	log := filepath.Join(dir, "opensm.log")
	cmd := s.Command(context.Background(), "opensm", append([]string{"-o", "-f", log, "-D", "0x43"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		text, _ := os.ReadFile(log)
		t.Fatalf("opensm %q: %v\n%s\n%s", args, err, out, text[max(0, len(text)-4096):])
	}
	return dir
}
