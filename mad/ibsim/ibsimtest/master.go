// SPDX-License-Identifier: Apache-2.0

package ibsimtest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// masterLimit is the maximum time that OpenSM may take to bring the subnet up.
const masterLimit = 5 * time.Minute

// Master runs OpenSM with the given arguments on the subnet of s until the test ends. It returns when OpenSM is master
// and the subnet is up. If the arguments name a configuration file (-F), the file must contain force_log_flush TRUE.
// Master returns the directory of the log (opensm.log), dumps and cache files.
func Master(t testing.TB, s *Sim, args ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	log := filepath.Join(dir, "opensm.log")
	config := filepath.Join(dir, "opensm.conf")
	if err := os.WriteFile(config, []byte("force_log_flush TRUE\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := s.Command(context.Background(), "opensm", append([]string{"-F", config, "-f", log, "-D", "0x43"},
		args...)...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatalf("opensm %q: %v", args, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { stop(t, cmd, ended) })
	timeout := time.NewTimer(masterLimit)
	defer timeout.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		text, _ := os.ReadFile(log) // it may not be there yet
		if strings.Contains(string(text), "SUBNET UP") {
			return dir
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("opensm %q ended: %v\n%s\n%s", args, err, &out, text)
		case <-timeout.C:
			t.Fatalf("opensm %q: no subnet within %v\n%s", args, masterLimit, text)
		case <-look.C:
		}
	}
}

// stop ends a process. The result of the process's Wait arrives at the channel ended.
func stop(t testing.TB, cmd *exec.Cmd, ended chan error) {
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("end %s: %v", cmd.Path, err)
	}
	if err := <-ended; err != nil {
		t.Logf("%s: %v", cmd.Path, err)
	}
}
