// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/umad/umadtest"
)

// doctored runs doctor on a source. Its output must contain each of the words once, and it must fail if it reports a
// fault.
func doctored(t *testing.T, r result, words ...string) {
	t.Helper()
	out := r.out
	if faults := strings.Count("\n"+out, "\nfault  "); faults > 0 {
		oneLine(t, r, exitFailed, "doctor: ", prose.Count(faults, "fault"))
	} else if r.status != exitDone || r.err != "" {
		t.Errorf("exit status %d without a fault: %s", r.status, r.err)
	}
	for _, w := range words {
		if n := strings.Count(out, w); n != 1 {
			t.Errorf("%q occurs %d times in\n%s", w, n, out)
		}
	}
}

// TestDoctorOfASource checks the report of doctor for each kind of source: what is there, or what is missing and what
// to do.
func TestDoctorOfASource(t *testing.T) {
	stateHome(t)
	dir := t.TempDir()
	net, text := filepath.Join(dir, "net"), filepath.Join(dir, "text")
	ibconsole(t, "-s", "sim:fattree:2,12", "-c", "dump topology "+net)
	for _, c := range []struct {
		source string
		status int
		words  []string
	}{
		{"sim:fattree:2,12", exitDone, []string{"18 switches, 72 adapters", "uses port node-0001 HCA-1/1"}},
		{"file:" + net, exitDone, []string{"18 switches, 72 adapters"}},
		{"net:" + net, exitDone, []string{"18 switches, 72 adapters"}},
		{"net:" + text, exitFailed, []string{"no such file", "name an existing file"}},
		{"file:" + text, exitFailed, []string{"no such file", "name an existing file"}},
		{
			"ibsim:nobody-", exitFailed, []string{
				"no ibsim listens on this", "start one: IBSIM_SOCKNAME=nobody- ibsim -s FILE",
			},
		},
		{"umad:nosuch0", exitFailed, []string{"open umad:nosuch0"}},
	} {
		r := try("-s", c.source, "doctor")
		if doctored(t, r, c.words...); r.status != c.status {
			t.Errorf("%s: exit status %d, want %d", c.source, r.status, c.status)
		}
	}
	if r := try("-s", "nosuch:1", "doctor"); r.status != exitUsage {
		t.Errorf("exit status %d", r.status)
	}

	sim := ibsimtest.Start(t, net)
	source := "ibsim:" + sim.Name
	doctored(t, try("-s", source, "-c", "doctor"),
		"no master subnet manager", "144 links are in Initialize", "start a subnet manager")
	sim.Pause()
	doctored(t, try("-s", source, "doctor"), "no answer within 2s", "kill -CONT")
	sim.Resume()
	ibsimtest.Master(t, sim, "-s", "0")
	const answers = "the subnet administration responds"
	doctored(t, try("-s", source, "-c", "doctor"), "the subnet manager on ", answers)
	sim.Console(`Error "H-0000000000100010" 100`)
	doctored(t, try("-s", source, "--window", "64", "doctor"), "no answer: ", answers)
	t.Run("devices", func(t *testing.T) {
		run := umadtest.Devices(t, sim.Name)
		out, after, _ := strings.Cut(run("sh", "-c", `"$0" "$@" 2>said; echo "status $?"; cat said`, program, "-s",
			"umad", "doctor"), "status ")
		status, said, _ := strings.Cut(after, "\n")
		n, err := strconv.Atoi(status)
		if err != nil {
			t.Fatal(err)
		}
		doctored(t, result{n, out, said}, "the module ib_umad is loaded", "InfiniBand, ", "the subnet manager on ",
			answers)
	})
	testenv.Tool(t, "opensm")
}
