// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// lossAnswers holds the parts of the answers of problems, sources and report morning that this test needs.
type lossAnswers struct {
	problems []foundProblem
	down     int
	morning  struct {
		New  []foundProblem `json:"problems_new"`
		Open []foundProblem `json:"errors_still"`
		Down int            `json:"links_down"`
	}
}

type foundProblem struct {
	Severity, What string
	Kind           string `json:"problem"`
	Since          time.Time
}

func answersOf(t *testing.T, source string) (a lossAnswers) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(ibconsole(t, "-s", source, "--json", "-c", "problems; sources")), "\n")
	var p struct{ Problems []foundProblem }
	var s struct{ Subnets []struct{ Down int } }
	said := ibconsole(t, "-s", source, "--json", "-c", "report morning since=1h")
	if len(lines) != 2 || json.Unmarshal([]byte(lines[0]), &p) != nil || json.Unmarshal([]byte(lines[1]), &s) != nil ||
		len(s.Subnets) != 1 || json.Unmarshal([]byte(said), &a.morning) != nil {
		t.Fatalf("%q\n%s", lines, said)
	}
	a.problems, a.down = p.Problems, s.Subnets[0].Down
	return a
}

// lost returns the problems that report losses.
func lost(all []foundProblem) (n int) {
	for _, p := range all {
		if (p.Kind == "missing" || p.Kind == "link missing") && p.Severity == "error" && !p.Since.IsZero() {
			n++
		}
	}
	return n
}

// TestLostBeforeStart removes a link, a host and the subnet manager while no console runs. Every later console, even
// after one that has seen nothing else, must report them with the same count, in problems, sources and the morning
// report, until they return or the present subnet is saved as the baseline.
func TestLostBeforeStart(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,4", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	source := "ibsim:" + sim.Name
	record := func() {
		r := recorder(t, source, "sweep=0.1")
		recordedUntil(t, source, recordedUntil(t, source, time.Time{}).Until)
		if err := errors.Join(r.Process.Signal(syscall.SIGTERM), r.Wait()); err != nil {
			t.Error(err)
		}
	}
	t.Run("whole", func(t *testing.T) { // the manager stops at its end
		ibsimtest.Master(t, sim)
		record()
		if a := answersOf(t, source); a.down != 0 || lost(a.problems)+lost(a.morning.New) > 0 || a.morning.Down != 0 {
			t.Errorf("nothing is lost: %+v", a)
		}
	})
	guid := map[string]string{}
	for x := range strings.SplitSeq(read(t, net), "\n") {
		if f := strings.Split(x, `"`); strings.HasPrefix(x, "Switch") {
			guid[f[3]] = f[1]
		}
	}
	sim.Console(fmt.Sprintf("Unlink %q[3]", guid["leaf-02"]))
	sim.Console(fmt.Sprintf("Unlink %q[2]", guid["leaf-03"]))
	for i, before := range []func(){func() {}, record, func() {}} {
		before()
		a := answersOf(t, source)
		if a.down != 2 || lost(a.problems) != 2 || a.morning.Down != 2 || lost(a.morning.New)+
			lost(a.morning.Open) != 2 {
			t.Errorf("console %d: %+v", i, a)
		}
		managers := 0
		for _, p := range append(a.morning.New, a.morning.Open...) {
			if p.Kind == "no subnet manager" {
				managers++
			}
		}
		if managers != 1 {
			t.Errorf("console %d: the subnet manager is lost %d times: %+v", i, managers, a.morning)
		}
	}
	sim.Console(fmt.Sprintf("Relink %q[3]", guid["leaf-02"]))
	if a := answersOf(t, source); a.down != 1 || lost(a.problems) != 1 || a.morning.Down != 1 {
		t.Errorf("after a link returned: %+v", a)
	}
	ibconsole(t, "-s", source, "-c", "baseline save")
	if a := answersOf(t, source); a.down != 0 || lost(a.problems) != 0 || a.morning.Down != 0 {
		t.Errorf("saved as the baseline: %+v", a)
	}
}

// TestMorningNamesLostManager checks that a subnet manager that ends while a recorder runs is a new problem in the
// morning report.
func TestMorningNamesLostManager(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,4", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	source := "ibsim:" + sim.Name
	var r *exec.Cmd
	whole, at := t, time.Time{}
	record := func(rounds int) {
		for range rounds {
			at = recordedUntil(whole, source, at).Until
		}
	}
	t.Run("managed", func(t *testing.T) { // the manager stops at its end
		ibsimtest.Master(t, sim)
		r = recorder(whole, source, "sweep=0.1")
		record(3)
	})
	record(6)
	if err := errors.Join(r.Process.Signal(syscall.SIGTERM), r.Wait()); err != nil {
		t.Error(err)
	}
	var m struct {
		New  []foundProblem `json:"problems_new"`
		Gone []foundProblem `json:"problems_gone"`
	}
	said := ibconsole(t, "-s", source, "--json", "-c", "report morning since=1h")
	if err := json.Unmarshal([]byte(said), &m); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(m.New, func(p foundProblem) bool {
		return p.Kind == "no subnet manager" && p.Severity == "error"
	}) {
		t.Errorf("the subnet manager is not mentioned: %s", said)
	}
}
