// SPDX-License-Identifier: Apache-2.0

package ibsimtest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Config returns the beginning of an opensm.conf. It names files that do not exist, so that OpenSM does not read the
// files of this machine. Later lines of the file can name other files.
func Config(dir string) string {
	var b strings.Builder
	for _, option := range []string{
		"partition_config_file", "qos_policy_file", "prefix_routes_file", "per_module_logging_file", "torus_config",
	} {
		b.WriteString(option + " " + filepath.Join(dir, "no-"+option) + "\n")
	}
	return b.String()
}

// withConfig returns the arguments for an OpenSM that uses a configuration file. The file contains [Config] and the
// last configuration file that args name.
func withConfig(t testing.TB, dir string, args []string) []string {
	text := Config(dir)
	last := -1
	for i, a := range args {
		if a == "-F" {
			last = i + 1
		}
	}
	if last > 0 {
		given, err := os.ReadFile(args[last])
		if err != nil {
			t.Fatal(err)
		}
		text += string(given)
	}
	own := filepath.Join(dir, "test-opensm.conf")
	if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return append(slices.Clone(args), "-F", own)
}

// OpenSM runs OpenSM once on the subnet of s with the given arguments. It returns the directory of dumps, log
// (opensm.log) and cache files. The test fails if OpenSM fails. A crash after OpenSM has left the subnet is ignored,
// because its threads then still use freed memory.
func OpenSM(t testing.TB, s *Sim, args ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	log := filepath.Join(dir, "opensm.log")
	cmd := s.Command(context.Background(), "opensm", append([]string{"-o", "-f", log, "-D", "0x43"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		text, _ := os.ReadFile(log)
		if bytes.Contains(text, []byte("SUBNET UP")) && bytes.Contains(text, []byte("Exiting SM")) &&
			crashed(cmd.ProcessState) {
			t.Logf("opensm %q crashed at its end: %v", args, err)
			return dir
		}
		t.Fatalf("opensm %q: %v\n%s\n%s", args, err, out, text[max(0, len(text)-4096):])
	}
	return dir
}

func crashed(p *os.ProcessState) bool {
	status, ok := p.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGSEGV
}
