// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestFlaps pulls the cable of a host three times and a cable between switches once, while a recorder runs that is
// restarted in between. The flapping cable is one problem with the true count. The answer of flaps has these outages
// with bounds that contain the time for which the cables were out, the pairs that used them, and the jobs of Slurm. The
// history is deleted before.
func TestFlaps(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,4", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	ibsimtest.OpenSM(t, sim)
	source := "ibsim:" + sim.Name
	r := recorder(t, source, "sweep=0.1")
	at := recordedUntil(t, source, time.Time{}).Until
	guids := map[string]string{}
	for x := range strings.SplitSeq(read(t, net), "\n") {
		if words := strings.Split(x, `"`); strings.HasPrefix(x, "Switch") && len(words) > 3 {
			guids[words[3]] = words[1]
		}
	}
	out := map[string]time.Duration{} // how long the cables were out, at least and at most
	longest := map[string]time.Duration{}
	pull := func(leaf string, port int, key string) {
		t.Helper()
		before := time.Now()
		sim.Console(fmt.Sprintf("Unlink %q[%d]", guids[leaf], port))
		began := time.Now()
		for range 4 {
			at = recordedUntil(t, source, at).Until
		}
		end := time.Now()
		sim.Console(fmt.Sprintf("Relink %q[%d]", guids[leaf], port))
		out[key] += end.Sub(began)
		longest[key] += time.Since(before)
		for range 4 {
			at = recordedUntil(t, source, at).Until
		}
	}
	stop := func() {
		t.Helper()
		if err := errors.Join(r.Process.Signal(syscall.SIGTERM), r.Wait()); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		pull("leaf-01", 1, "leaf-01/1")
		stop()
		r = recorder(t, source, "sweep=0.1")
	}
	pull("leaf-02", 3, "leaf-02/3")
	type problem struct{ Problem, What, Closed string }
	var flapping []problem
	for range 300 {
		said := ibconsole(t, "-s", source, "--json", "-c", "problems since=1h")
		all := answerOf[struct{ Problems []problem }](t, said, `"problems"`).Problems
		flapping = slices.DeleteFunc(all, func(p problem) bool { return p.Problem != "flapping" })
		if len(flapping) > 0 && strings.Contains(flapping[0].What, "was found down 3 times") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if len(flapping) != 1 || !strings.Contains(flapping[0].What, "leaf-01/1") || flapping[0].Closed != "" ||
		!strings.Contains(flapping[0].What, "was found down 3 times") {
		t.Errorf("the flapping cable is not one open problem with three outages: %+v", flapping)
	}
	stop()
	files, err := filepath.Glob(filepath.Join(state, "ibconsole", "history*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
	}
	path := t.TempDir()
	hours := func(n int) string {
		return time.Now().Add(-time.Duration(n) * time.Hour).Format("2006-01-02T15:04:05")
	}
	script := fmt.Sprintf("#!/bin/sh\necho '7|node-0001|%s|Unknown|RUNNING|ada|a'\n"+
		"echo '8|node-0001|%s|%s|COMPLETED|ada|b'\n", hours(1), hours(2), hours(1))
	if err := os.WriteFile(filepath.Join(path, "sacct"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path+string(os.PathListSeparator)+os.Getenv("PATH"))
	type cable struct {
		A, B struct {
			Name string
			Port int
		}
		Flaps, Outages int
		Least          float64  `json:"down_at_least_seconds"`
		Most           *float64 `json:"down_at_most_seconds"`
		Down           bool
		Pairs          *int64
		Jobs           []string
	}
	said := ibconsole(t, "-s", source, "--json", "-c", "flaps since=1h")
	found := map[string]cable{}
	for line := range strings.Lines(said) {
		if strings.Contains(line, `"kind":"links"`) {
			x := answerOf[cable](t, line, `"kind":"links"`)
			found[fmt.Sprintf("%s/%d", x.A.Name, x.A.Port)], found[fmt.Sprintf("%s/%d", x.B.Name, x.B.Port)] = x, x
		}
	}
	if len(found) != 4 {
		t.Errorf("not two cables: %s", said)
	}
	for key, flaps := range map[string]int{"leaf-01/1": 3, "leaf-02/3": 1} {
		x := found[key]
		if x.Flaps != flaps || x.Outages != flaps || x.Down || x.Most == nil || x.Least <= 0 ||
			x.Least > longest[key].Seconds() || *x.Most < out[key].Seconds() || x.Pairs == nil {
			t.Errorf("%s was out %d times for %v to %v: %+v\n%s", key, flaps, out[key], longest[key], x, said)
		}
	}
	// In each of three outages the host lost its paths to and from seven others.
	if x := found["leaf-01/1"]; x.Pairs != nil && *x.Pairs != 3*2*7 || len(x.Jobs) != 1 || x.Jobs[0] != "7" {
		t.Errorf("%+v", x)
	}
	if x := found["leaf-02/3"]; len(x.Jobs) != 0 {
		t.Errorf("%+v", x)
	}
	oneLine(t, try("-s", source, "-c", "flaps since=1h until=30m"), exitFailed, "nothing was recorded from")
}
