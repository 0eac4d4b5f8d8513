// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRecordSeveralSubnets checks that ibconsole record over several subnets records each of them and serves all at one
// address, each metric once with a label for the subnet. It must report at once a subnet that it does not record, and
// then end with status 1.
func TestRecordSeveralSubnets(t *testing.T) {
	for _, missing := range []bool{false, true} {
		t.Setenv("XDG_STATE_HOME", t.TempDir())
		args := []string{"--json"}
		if missing {
			args = append(args, "-s", "gone=ibsim:127.0.0.1:1")
		}
		for rail := range 3 {
			args = append(args, "-s", fmt.Sprintf("rail-%d=sim:fattree:2,4,rail=%d", rail+1, rail+1))
		}
		cmd := exec.Command(program, append(args, "record", "every=0.2", "traffic=0.4", "metrics=0")...)
		var faults bytes.Buffer
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		lines := bufio.NewReader(out)
		var status struct {
			Of      struct{ Subnet string }
			Metrics string
		}
		for rail := range 3 {
			line, err := lines.ReadString('\n')
			if err != nil || json.Unmarshal([]byte(line), &status) != nil || status.Of.Subnet != fmt.Sprintf("rail-%d",
				rail+1) || status.Metrics == "" {
				t.Fatalf("it prints %q, %v", line, err)
			}
		}
		if missing { // while it records
			line, err := bufio.NewReader(io.TeeReader(stderr, &faults)).ReadString('\n')
			if err != nil || !strings.Contains(line, "gone: ") {
				t.Errorf("the missing subnet: %q, %v", line, err)
			}
		}
		go func() { _, _ = io.Copy(io.Discard, lines) }()
		text := ""
		eventually(t, "traffic of all is served", func() bool {
			text, _, _ = ask(t, "http://"+status.Metrics+"/metrics", "")
			for rail := range 3 {
				if !strings.Contains(text,
					fmt.Sprintf("infiniband_hca_port_transmit_data_bytes_total{subnet=\"rail-%d\",", rail+1)) {
					return false
				}
			}
			return true
		})
		families, last := map[string]bool{}, ""
		for line := range strings.Lines(text) {
			if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
				last, _, _ = strings.Cut(name, " ")
				if families[last] {
					t.Errorf("the metric %s occurs twice", last)
				}
				families[last] = true
			} else if !strings.HasPrefix(line, "#") &&
				(!strings.HasPrefix(line, last+"{") || !strings.Contains(line, `subnet="rail-`)) {
				t.Errorf("in the metric %s: %s", last, line)
			}
		}
		for rail := range 3 {
			recordedUntil(t, fmt.Sprintf("sim:fattree:2,4,rail=%d", rail+1), time.Time{})
		}
		go func() { _, _ = io.Copy(&faults, stderr) }()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		err = cmd.Wait()
		exit, _ := errors.AsType[*exec.ExitError](err)
		if missing && (exit == nil || exit.ExitCode() != 1) || !missing && err != nil {
			t.Errorf("a subnet is missing: %v; it ends with %v", missing, err)
		}
	}
}
