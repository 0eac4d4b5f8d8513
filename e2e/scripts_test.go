// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterruptedScript checks that an interrupted script reports its progress, and ends as shells expect.
func TestInterruptedScript(t *testing.T) {
	cmd := exec.Command(program, "-s", "sim:fattree:2,4", "-c", "summary; watch 60 for=600; sweep; sweep")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1<<12)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond) // into the watch
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if want := exitSignal + int(syscall.SIGTERM); cmd.ProcessState.ExitCode() != want {
		t.Errorf("%v, want exit status %d", cmd.ProcessState, want)
	}
	if got := said.String(); !strings.Contains(got, "watch: interrupted (2 commands not run)") {
		t.Errorf("it prints %q", got)
	}
}

// TestWatchUntilASignal checks that watch as the last command prints until a signal, and that it does not keep a script
// from its next command.
func TestWatchUntilASignal(t *testing.T) {
	t.Parallel()
	ibconsole(t, "-s", "sim:fattree:2,4", "-c", "watch 1; watch off")
	cmd := exec.Command(program, "-s", "sim:fattree:2,4", "-c", "watch 0.1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(out)
		ended <- string(text)
	}()
	select {
	case text := <-ended:
		t.Fatalf("it ended: %q", text)
	case <-time.After(time.Second):
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if text := <-ended; !strings.HasPrefix(text, "events of live until a signal") {
		t.Errorf("it prints %q", text)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v, want exit status 0", err)
	}
}

// TestFirstSweepReadsOnce checks that a script that begins with a sweep reads the subnet once, and one with two sweeps
// twice.
func TestFirstSweepReadsOnce(t *testing.T) {
	sent := func(script string) string {
		return between(ibconsole(t, "-s", "sim:fattree:2,4", "--json", "-c", script+"show targets"), `"sent":`, ",")
	}
	for _, c := range []struct {
		script, like string
		same         bool
	}{
		{"sweep; ", "", true}, {"sweep full; ", "", true}, {"sweep; sweep; ", "", false},
		{"summary; sweep; ", "", false}, {"sweep full sl2vl; ", "summary; sweep full sl2vl; ", false},
	} {
		if a, b := sent(c.script), sent(c.like); (a == b) != c.same {
			t.Errorf("%q sends %s packets and %q %s; the same: want %t", c.script, a, c.like, b, c.same)
		}
	}
}
