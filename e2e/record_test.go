// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

const busy = "sim:fattree:2,8 traffic=30%"

// recorder is a running ibconsole record that has reported that it records.
func recorder(t *testing.T, source string, more ...string) *exec.Cmd {
	t.Helper()
	cmd, _ := recorderSays(t, source, more...)
	return cmd
}

func recorderSays(t *testing.T, source string, more ...string) (cmd *exec.Cmd, line string) {
	t.Helper()
	cmd = exec.Command(program, append([]string{"-s", source, "--json", "record", "every=0.2", "traffic=0.4"},
		more...)...)
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
	line, err = bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(line, `"running":true`) {
		t.Fatalf("it prints %q, %v", line, err)
	}
	return cmd, line
}

// recordStatus returns the status of the recorder as seen by another console.
type recordStatus struct {
	Elsewhere bool
	Since     time.Time
	Until     time.Time
}

func statusOfRecords(t *testing.T, source string) (s recordStatus) {
	t.Helper()
	if err := json.Unmarshal([]byte(ibconsole(t, "-s", source, "--json", "-c", "record status")), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// recordedUntil waits until something was recorded after a time.
func recordedUntil(t *testing.T, source string, after time.Time) recordStatus {
	t.Helper()
	for range 600 {
		if s := statusOfRecords(t, source); s.Until.After(after) {
			return s
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("nothing is recorded")
	return recordStatus{}
}

// TestRecorder checks that a recorder records until SIGTERM, which is success, while other consoles read.
func TestRecorder(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	r := recorder(t, busy)
	s := recordedUntil(t, busy, time.Time{})
	for range 4 {
		s = recordedUntil(t, busy, s.Until)
	}
	if !s.Elsewhere {
		t.Error("another console does not report the recorder")
	}
	if second := try("-s", busy, "record"); second.status != exitFailed ||
		!strings.Contains(second.err, "another ibconsole records this subnet") {
		t.Errorf("a second one: %+v", second)
	}
	if err := r.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	if after := statusOfRecords(t, busy); after.Elsewhere || after.Until.Before(s.Until) {
		t.Errorf("%+v, before its end %+v", after, s)
	}
	worst := answerOf[struct {
		PerHour map[string]float64 `json:"per_hour"`
	}](t, ibconsole(t, "-s", busy, "--json", "-c", "counters worst by=traffic limit=1"), `"kind":"ports"`)
	// 30 % of the 400 Gb/s of an NDR link of a host are 3.75e9 words a second.
	if rate := worst.PerHour["PortXmitData"] / 3600; rate < 3e9 || rate > 4.5e9 {
		t.Errorf("%+v", worst)
	}
	var measured struct {
		Correlation float64
		Links       int
		Deviations  []any
	}
	said := ibconsole(t, "-s", busy, "--json", "-c", "check load measured of=live since=10m")
	// The simulated traffic follows the tables, so no link deviates.
	err := json.Unmarshal([]byte(said), &measured)
	if err != nil || measured.Links != 64 || measured.Deviations == nil || len(measured.Deviations) > 0 {
		t.Errorf("measured and expected: %s (%v)", said, err)
	}
	if out := ibconsole(t, "-s", busy, "-c", "counters history leaf-01/1 since=10m"); !strings.Contains(out,
		"PortXmitData 15 GB/s") && !strings.Contains(out, "PortXmitData 14.") &&
		!strings.Contains(out, "PortXmitData 15.") {
		t.Error(out)
	}
}

// TestRecorderKilled kills recorders at random times. Recorded counters stay, and the next one continues.
func TestRecorderKilled(t *testing.T) {
	rnd := testenv.Rand(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	var last recordStatus
	for range testenv.Count(t, 2, 200) {
		r := recorder(t, busy)
		time.Sleep(time.Duration(rnd.IntN(1000)) * time.Millisecond)
		_ = r.Process.Kill()
		_ = r.Wait()
		s := statusOfRecords(t, busy)
		if !s.Since.Equal(last.Since) && !last.Since.IsZero() || s.Until.Before(last.Until) {
			t.Fatalf("%+v, and before it %+v", s, last)
		}
		last = s
	}
}

// TestMorning records a subnet of ibsim in which links flap, errors rise and a subnet manager reroutes: counters worst
// and report morning must report this in all formats.
func TestMorning(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,4", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	ibsimtest.OpenSM(t, sim)
	source := "ibsim:" + sim.Name
	r := recorder(t, source, "sweep=0.1")
	at := recordedUntil(t, source, time.Time{}).Until
	var leaf string
	for x := range strings.SplitSeq(read(t, net), "\n") {
		if strings.HasPrefix(x, "Switch") && strings.Contains(x, `"leaf-01"`) {
			leaf = strings.Split(x, `"`)[1]
		}
	}
	for _, command := range []string{
		"Unlink %q[1]", "Relink %q[1]", "PerformanceSet %q[1] PortCounters.SymbolErrorCounter=77",
	} {
		sim.Console(fmt.Sprintf(command, leaf))
		for range 2 {
			at = recordedUntil(t, source, at).Until
		}
	}
	ibsimtest.OpenSM(t, sim, "-R", "updn", "-r")
	for range 3 {
		at = recordedUntil(t, source, at).Until
	}
	if err := errors.Join(r.Process.Signal(syscall.SIGTERM), r.Wait()); err != nil {
		t.Error(err)
	}
	worst := ibconsole(t, "-s", source, "-c", "counters worst")
	if !strings.Contains(worst, "leaf-01/1") || !strings.Contains(worst, "SymbolErrorCounter 77") {
		t.Errorf("worst: %s", worst)
	}
	type moved struct{ Pairs, Changed int64 }
	var m struct {
		Worse    []struct{ Port string } `json:"ports_worse"`
		Flaps    []struct{ Link string }
		Reroutes []struct {
			Before, After int64
			Moved         *moved
		}
		Moved *moved
		Hours []struct{ Errors *int64 }
	}
	if err := json.Unmarshal([]byte(ibconsole(t, "-s", source, "--json", "-c", "report morning since=1h")),
		&m); err != nil {
		t.Fatal(err)
	}
	if len(m.Worse) == 0 || m.Worse[0].Port != "leaf-01/1" || len(m.Flaps) == 0 || len(m.Reroutes) == 0 ||
		len(m.Hours) == 0 {
		t.Errorf("%+v", m)
	}
	reroute := m.Reroutes[len(m.Reroutes)-1]
	var d struct {
		Total   int64 `json:"pairs_total"`
		Changed int64 `json:"pairs_changed"`
	}
	said, _, _ := strings.Cut(ibconsole(t, "-s", source, "--json", "-c",
		fmt.Sprintf("diff %d %d", reroute.Before, reroute.After)), "\n")
	if err := json.Unmarshal([]byte(said), &d); err != nil || reroute.Moved == nil || d.Total != 56 ||
		reroute.Moved.Changed != d.Changed || m.Moved == nil || m.Moved.Pairs != d.Total {
		t.Errorf("%+v of %+v, in all %+v; %s, %v", reroute.Moved, reroute, m.Moved, said, err)
	}
	checkPastProblems(t, source)
	var job struct {
		Hosts  int
		Events []struct{ What string }
		Errors []struct {
			Port struct {
				Name string
				Port int
			}
		}
	}
	said = ibconsole(t, "-s", source, "--json", "-c", "job 4711 since=1h hosts=node-0001,node-0003")
	if err := json.Unmarshal([]byte(said), &job); err != nil || job.Hosts != 2 || len(job.Events) == 0 ||
		len(job.Errors) == 0 || job.Errors[0].Port.Name != "leaf-01" || job.Errors[0].Port.Port != 1 {
		t.Errorf("the job: %s, %v", said, err)
	}
	for format, want := range map[string]string{"html": "<td>leaf-01/1</td>", "markdown": `leaf\-01\/1`} {
		if out := ibconsole(t, "-s", source, "-c", "report morning since=1h format="+format); !strings.Contains(out,
			want) {
			t.Errorf("%s: %s", format, out)
		}
	}
}

// checkPastProblems checks the recorded problems of [TestMorning]: a leaf's host link was lost and came back, and its
// errors rise. The second is acknowledged.
func checkPastProblems(t *testing.T, source string) {
	t.Helper()
	type problem struct {
		ID, Problem string
		At          struct{ Name string }
		Closed      *string
		Seconds     *float64
	}
	var past struct{ Problems []problem }
	said := ibconsole(t, "-s", source, "--json", "-c", "problems since=1h")
	if err := json.Unmarshal([]byte(said), &past); err != nil {
		t.Fatal(err)
	}
	lost := slices.IndexFunc(past.Problems, func(p problem) bool {
		return p.Problem == string(problems.LinkMissing) || p.Problem == string(problems.Missing)
	})
	if lost < 0 || past.Problems[lost].Closed == nil || past.Problems[lost].Seconds == nil {
		t.Errorf("no lost link that returned: %s", said)
	}
	rising := slices.IndexFunc(past.Problems, func(p problem) bool { return p.Problem == string(problems.Rising) })
	if rising < 0 || past.Problems[rising].At.Name != "leaf-01" || past.Problems[rising].Closed != nil {
		t.Fatalf("no rising errors that last: %s", said)
	}
	id := past.Problems[rising].ID
	if ids := ibconsole(t, "-s", source, "-c", "ack "+id+
		" reason='cable ordered' until=2d; problems"); !strings.Contains(
		ids, "acknowledged until") || strings.Contains(ids, "error   "+string(problems.Rising)) {
		t.Errorf("after the acknowledgement: %s", ids)
	}
	if ids := ibconsole(t, "-s", source, "-c", "ack "+id+" end; problems"); strings.Contains(ids,
		"acknowledged until") ||
		!strings.Contains(ids, "error   "+string(problems.Rising)) {
		t.Errorf("after the end of the acknowledgement: %s", ids)
	}
	oneLine(t, try("-s", source, "-c", "ack nothing reason=x"), exitFailed, `no problem "nothing"`)
	oneLine(t, try("-s", source, "-c", "ack "+id), exitUsage, "reason= is missing")
}

// TestUnit checks the recorder's unit with systemd.
func TestUnit(t *testing.T) {
	const file = "../packaging/ibconsole-record.service"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"DynamicUser=yes", "NoNewPrivileges=yes", "DevicePolicy=closed", "DeviceAllow=char-infiniband_mad rw",
	} {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("it lacks %s", line)
		}
	}
	for _, setting := range []string{"IPAddressDeny", "PrivateNetwork"} { // metrics= may serve other machines
		if strings.Contains(string(text), "\n"+setting+"=") {
			t.Errorf("it has %s", setting)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	unit := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(unit, []byte(strings.ReplaceAll(string(text), "/usr/bin/ibconsole", program)),
		0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command(analyze, "verify", unit).CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("%v: %s", err, said)
	}
}
