// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/umad/umadtest"
)

// killAfterPlan runs a program with its output in a file ($2), and kills it some time ($1) after it has printed what it
// is about to write.
const killAfterPlan = `wait=$1 out=$2; shift 2; "$@" >"$out" 2>&1 & p=$!
while kill -0 $p 2>/dev/null && ! grep -q '^LFT blocks' "$out"; do sleep 0.002; done
sleep "$wait"; kill -9 $p 2>/dev/null; wait $p 2>/dev/null; cat "$out"`

// killed kills drains and undrains of one subnet, each in its own process, and lets the next process go on.
type killed struct {
	t      *testing.T
	run    func(command ...string) string // runs a program that sees the source
	source string
	detach func()
	// counts of processes that were killed while they wrote, after they had written, and before.
	during, after, before int
	reached               int // how often all pairs were found to be connected
}

// console runs commands in a new process. The process may fail.
func (k *killed) console(commands string) string {
	return k.run("sh", "-c", `"$@" 2>&1 || true`, "sh", program, "-s", k.source, "-c", commands)
}

var pairsLost = regexp.MustCompile(`(?m)^  [0-9]+ of [0-9]+ pairs lost`)

// connected fails the test if a pair has no path in the tables that the switches hold.
func (k *killed) connected(when string) {
	k.t.Helper()
	out := k.console("check reach of=live")
	if !strings.Contains(out, "arrive") || pairsLost.MatchString(out) {
		k.t.Fatalf("%s: pairs have no path:\n%s", when, out)
	}
	k.reached++
}

// kill kills a process that runs a command, and then finishes the interrupted commit or rolls it back.
func (k *killed) kill(command string, wait time.Duration, resume bool) {
	k.t.Helper()
	file := filepath.Join(k.t.TempDir(), "out")
	out := k.run("sh", "-c", killAfterPlan, "sh", fmt.Sprintf("%.4f", wait.Seconds()), file, program, "-s", k.source,
		"--window", "1", "-c", "write on; "+command)
	k.detach()
	k.connected("after the kill of " + command + "\n" + out)
	switch found := k.console("summary"); {
	case strings.Contains(found, "was interrupted"):
		k.during++
		then := "rollback yes"
		if resume && !strings.Contains(found, "the rollback of") {
			then = "commit resume yes"
		}
		if out := k.console("write on; " + then); !strings.Contains(out, "written in") &&
			!strings.Contains(out, "nothing to write") {
			k.t.Fatalf("%s after the kill of %s:\n%s", then, command, out)
		}
		k.connected("after " + then)
	case strings.Contains(out, "written in"):
		k.after++
	default:
		k.before++
	}
}

// held returns the tables of the switches.
func (k *killed) held() string {
	k.t.Helper()
	file := filepath.Join(k.t.TempDir(), "tables")
	k.console("dump lfts of=live " + file)
	return read(k.t, file)
}

// inFatTree returns a link or spine of the fat tree.
func inFatTree(rnd *rand.Rand) string {
	if rnd.IntN(2) == 0 {
		return fmt.Sprintf("switch spine-%02d", 1+rnd.IntN(6))
	}
	return fmt.Sprintf("link leaf-%02d %d", 1+rnd.IntN(12), 7+rnd.IntN(6))
}

// inTorus returns a link between switches of the torus. Many of its drains need a spanning tree in between.
func inTorus(rnd *rand.Rand) string {
	return fmt.Sprintf("link sw-%d-%d %d", rnd.IntN(5), rnd.IntN(5), 2+rnd.IntN(4))
}

// rounds kills a drain and an undrain in each round. After the last undrain the switches hold what they held before.
// The function choose returns what to drain. A choice whose drain would be refused does not count.
func (k *killed) rounds(rounds int, choose func(*rand.Rand) string) {
	t, rnd := k.t, testenv.Rand(k.t)
	if out := k.console("write on; engine minhop; route; commit yes force-loop"); !strings.Contains(out, "written in") {
		t.Fatal(out)
	}
	before := k.held()
	for i, refused := 0, 0; i < rounds; {
		what := choose(rnd)
		if plan := k.console("write on; drain " + what); strings.Contains(plan, "would be refused") {
			if refused++; refused > 5*rounds+20 {
				t.Fatalf("too many refused drains, such as %s:\n%s", what, plan)
			}
			continue
		}
		i++
		wait := func() time.Duration { return time.Duration(rnd.Int64N(int64(longestCommit))) }
		k.kill("drain "+what+" yes", wait(), rnd.IntN(2) == 0)
		k.kill("undrain "+what+" yes", wait(), rnd.IntN(2) == 0)
		for try := 0; ; try++ { // a drain may be left
			out := k.console("write on; undrain " + what + " yes")
			if strings.Contains(out, "is not drained") {
				break
			}
			if try == 2 || !strings.Contains(out, "written in") {
				t.Fatalf("round %d: undrain %s:\n%s", i, what, out)
			}
		}
		if k.held() != before {
			t.Fatalf("round %d: %s: the switches hold something else than before", i, what)
		}
	}
	t.Logf("%d killed while they wrote, %d later, %d earlier; all pairs connected %d times", k.during, k.after,
		k.before, k.reached)
	if rounds > 5 && k.during == 0 {
		t.Error("no kill occurred while a process wrote")
	}
}

// newKilled starts an ibsim for killed drains.
func newKilled(t *testing.T, spec string) (*killed, *ibsimtest.Sim) {
	t.Helper()
	testenv.Tool(t, "ibsim")
	stateHome(t)
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:"+spec, "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	return &killed{t: t, source: "ibsim:" + sim.Name, detach: func() { detach(sim) },
		run: func(command ...string) string {
			out, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput()
			if err != nil && len(out) == 0 {
				t.Fatalf("%q: %v", command, err)
			}
			return string(out)
		}}, sim
}

// TestKilledDrains kills the program in the middle of drains and undrains over ibsim. The next process finishes or
// rolls back. No pair loses its path at any time, and at the end the switches hold exactly what they held before.
func TestKilledDrains(t *testing.T) {
	k, _ := newKilled(t, "fattree:2,12")
	k.rounds(testenv.Count(t, 3, 300), inFatTree)
	k, _ = newKilled(t, "torus:5x5")
	k.rounds(testenv.Count(t, 2, 100), inTorus)
}

// TestKilledDrainsOverUmad is [TestKilledDrains] through a umad device.
func TestKilledDrainsOverUmad(t *testing.T) {
	if !testenv.Full() {
		t.Skip("each process mounts the devices; IBCONSOLE_FULL=1 runs it")
	}
	for _, n := range []struct {
		spec   string
		rounds int
		choose func(*rand.Rand) string
	}{{"fattree:2,12", 300, inFatTree}, {"torus:5x5", 100, inTorus}} {
		k, sim := newKilled(t, n.spec)
		k.source, k.detach, k.run = "umad", func() {}, umadtest.Devices(t, sim.Name)
		k.rounds(n.rounds, n.choose)
	}
}
