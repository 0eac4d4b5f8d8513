// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/testenv"
)

const busy = "sim:fattree:2,8 traffic=30%"

// recorder is ibconsole record, which has said that it records.
func recorder(t *testing.T, more ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program, append([]string{"-s", busy, "--json", "record", "every=0.2", "traffic=0.4"}, more...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(line, `"running":true`) {
		t.Fatalf("it says %q, %v", line, err)
	}
	return cmd
}

// recordStatus is what another console says of the recorder.
type recordStatus struct {
	Elsewhere bool
	Since     time.Time
	Until     time.Time
}

func statusOfRecords(t *testing.T) (s recordStatus) {
	t.Helper()
	if err := json.Unmarshal([]byte(ibconsole(t, "-s", busy, "--json", "-c", "record status")), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// recordedUntil waits until something was recorded after a time.
func recordedUntil(t *testing.T, after time.Time) recordStatus {
	t.Helper()
	for range 600 {
		if s := statusOfRecords(t); s.Until.After(after) {
			return s
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("nothing is recorded")
	return recordStatus{}
}

// TestRecorder: a recorder records until SIGTERM, which is a good end, while other consoles read.
func TestRecorder(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	r := recorder(t)
	s := recordedUntil(t, time.Time{})
	if !s.Elsewhere {
		t.Error("no console sees that another records")
	}
	if second := try("-s", busy, "record"); second.status != exitFailed || !strings.Contains(second.err, "another ibconsole records this subnet") {
		t.Errorf("a second one: %+v", second)
	}
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	if after := statusOfRecords(t); after.Elsewhere || after.Until.Before(s.Until) {
		t.Errorf("%+v, before its end %+v", after, s)
	}
}

// TestRecorderKilled kills recorders at random times: what was recorded stays, and the next one goes on.
func TestRecorderKilled(t *testing.T) {
	rnd := testenv.Rand(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	var last recordStatus
	for range testenv.Count(t, 2, 200) {
		r := recorder(t)
		time.Sleep(time.Duration(rnd.IntN(1000)) * time.Millisecond)
		_ = r.Process.Kill()
		_ = r.Wait()
		s := statusOfRecords(t)
		if !s.Since.Equal(last.Since) && !last.Since.IsZero() || s.Until.Before(last.Until) {
			t.Fatalf("%+v, and before it %+v", s, last)
		}
		last = s
	}
}

// TestUnit has systemd look at the recorder's unit.
func TestUnit(t *testing.T) {
	const file = "../packaging/ibconsole-record.service"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"DynamicUser=yes", "NoNewPrivileges=yes", "DevicePolicy=closed", "DeviceAllow=char-infiniband_mad rw"} {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("it lacks %s", line)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	unit := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(unit, []byte(strings.ReplaceAll(string(text), "/usr/bin/ibconsole", program)), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command(analyze, "verify", unit).CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("%v: %s", err, said)
	}
}
