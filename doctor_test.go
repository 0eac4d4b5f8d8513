// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/umad/umadtest"
)

// doctored is what doctor says of a source. It has to say all the words, each once.
func doctored(t *testing.T, out string, words ...string) {
	t.Helper()
	for _, w := range words {
		if n := strings.Count(out, w); n != 1 {
			t.Errorf("%q is told %d times in\n%s", w, n, out)
		}
	}
}

// TestDoctorOfASource: of each kind of source doctor says what is there, or what is
// missing and what to do.
func TestDoctorOfASource(t *testing.T) {
	stateHome(t)
	dir := t.TempDir()
	net, text := filepath.Join(dir, "net"), filepath.Join(dir, "text")
	ibconsole(t, "-s", "sim:fattree:2,12", "-c", "dump topology "+net)
	for source, words := range map[string][]string{
		"sim:fattree:2,12": {"18 switches, 72 adapters", "sits on node-0001 HCA-1/1"},
		"file:" + net:      {"18 switches, 72 adapters"},
		"file:" + text:     {"no such file", "name a file that is there"},
		"ibsim:nobody-":    {"nobody listens there", "start one: IBSIM_SOCKNAME=nobody- ibsim -s FILE"},
		"umad:nosuch0":     {"open umad:nosuch0"},
	} {
		doctored(t, ibconsole(t, "-s", source, "doctor"), words...)
	}
	if r := try("-s", "nosuch:1", "doctor"); r.status != exitUsage {
		t.Errorf("exit status %d", r.status)
	}

	sim := ibsimtest.Start(t, net)
	source := "ibsim:" + sim.Name
	doctored(t, ibconsole(t, "-s", source, "doctor"),
		"no subnet manager is in charge", "144 links are in Initialize", "start a subnet manager")
	sim.Pause()
	doctored(t, ibconsole(t, "-s", source, "doctor"), "no answer within 2s", "kill -CONT")
	sim.Resume()
	ibsimtest.Master(t, sim, "-s", "0")
	const answers = "the subnet administration answers"
	doctored(t, ibconsole(t, "-s", source, "-c", "doctor"), "the subnet manager on ", answers)
	sim.Console(`Error "H-0000000000100010" 100`)
	doctored(t, ibconsole(t, "-s", source, "--window", "64", "doctor"), "no answer: ", answers)
	t.Run("devices", func(t *testing.T) {
		run := umadtest.Devices(t, sim.Name)
		doctored(t, run(umadtest.Build(t, ".", false), "-s", "umad", "doctor"), "the module ib_umad is loaded", "InfiniBand, ", "the subnet manager on ", answers)
	})
	testenv.Tool(t, "opensm")
}
