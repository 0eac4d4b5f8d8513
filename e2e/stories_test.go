// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/internal/test/tmuxtest"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// mostKeys is the maximum number of keys for a question, without names and files that are typed.
const mostKeys = 15

// storySubnet has 14 leaves of 7 hosts each below 7 spines.
const storySubnet = "fattree:2,14"

// step is a sequence of keys or a typed name, and the expected screen after it.
type step struct {
	keys  []string
	name  string
	shows []string
}

func press(keys ...string) step         { return step{keys: keys} }
func word(text string) step             { return step{keys: strings.Split(text, "")} }
func name(text string) step             { return step{name: text} }
func (s step) see(texts ...string) step { s.shows = texts; return s }

// question is a question of an operator on call.
type question struct {
	ask   string
	live  func(*liveStory) // causes the event on ibsim; nil for a simulated subnet
	steps []step
}

func questions() []question {
	return []question{
		{"a slow job's hosts and the links they share", nil, []step{
			press(":"), word("hosts "), name("job node-[0001-0003,0050-0053]"),
			press("Enter").see("job of live: 7 hosts on 2 switches"),
			press("b").see("node-0053 HCA-1/1", "leaf-08/4"), press("b").see("spine-01/1", "leaf-01/8", "of others"),
			press("p").see("Answer who uses spine-01 1"), press("b").see("node-0008 HCA-1/1", "leaf-02/1"),
		}},
		{"who loses what if spine-07 is drained", nil, []step{
			press("2", "/"), name("spine-07"), press("Enter", "f").see("WHAT-IF 1 failure"),
			press("5").see("lost", "1,274"), press("j", "j", "j", "j", "Enter").see("pairs lost", "node-0014 HCA-1/1",
				"leaf-02/7", "node-0007 HCA-1/1", "leaf-01/7"),
		}},
		{"the busiest link and who fills it", nil, []step{
			press("6").see("leaf-01/8", "spine-01/1"), press("p").see("Answer who uses leaf-01 8",
				"from: node-0001 HCA-1/1"), press("b").see("node-0002 HCA-1"),
		}},
		{"updn against ftree", nil, []step{
			press(":"), word("comp"), press("Tab"), word("e"), press("Tab"), name("updn ftree"),
			press("Enter").see("updn", "ftree", "bisection"),
			press("b").see("updn", "ftree", "spine-01/1", "leaf-01/8"),
		}},
		{"cabled as planned?", nil, []step{
			press(":"), word("bas"), press("Tab"), word("l"), press("Tab"), name("plan.net"),
			press("Enter").see("baseline of"),
			press("1").see("2 problems"), press("z").see("re-cabled", "led to spine-01/13"),
			press("Enter").see("p8   ─ spine-01/12"),
		}},
		{
			"what is on leaf-12 port 5", nil, []step{
				press("/"), name("leaf-12/5"), press("Enter").see("p5   node-0082 HCA-1"),
			},
		},
		{"who else uses this link", nil, []step{
			press("/"), name("leaf-12/8"), press("Enter").see("p8   ─ spine-01/12"),
			press("p").see("Answer who uses leaf-12 8", "from: node-0078 HCA-1/1"),
			press("b", "b").see("node-0001 HCA-1/1"),
		}},
		{"what another console just changed", (*liveStory).rerouted, []step{
			press("R").see("sweep of live"), press("7", "b").see("commit, done", "1 event"),
			press("i").see("probable cause", "console of", "before"), press("Escape").see("Enter show it"),
			press("Enter").see("HISTORY, after"), press("d").see("42 on 7 switches", "spine-01/1 -> leaf-01/8", "14"),
		}},
		{"what a console of another machine just changed", (*liveStory).reroutedElsewhere, []step{
			press("R").see("sweep of live"), press("7", "b").see("tables   forwarding"),
			press("i").see("probable cause", "unknown (there is no", "before"), press("Escape").see("Enter show it"),
			press("Enter").see("HISTORY, after"), press("d").see("42 on 7 switches", "spine-01/1 -> leaf-01/8"),
		}},
		{"what a subnet manager just changed", (*liveStory).managed, []step{
			press("R").see("sweep of live"), press("7", "b").see("tables   forwarding"),
			press("i").see("probable cause", "master subnet manager", "before"), press("Escape").see("Enter show it"),
			press("Enter").see("HISTORY, after"), press("d").see("42 on 7 switches", "spine-01/1 -> leaf-01/8"),
		}},
		{"yesterday's routes", (*liveStory).rerouted,
			[]step{press("R").see("sweep of live"), press("7").see("commit, before"),
				press("j", "j", "Enter").see("HISTORY 3"),
				press("d").see("from history 3 to live", "spine-01/1 -> leaf-01/8"),
				press("b").see("LFT entries", "spine-07"),
			}},
		{"where do errors rise and since when", (*liveStory).erring, []step{
			press("K").see("spine-01/8", "leaf-08/8", "symbol 77"), press("Enter").see("SymbolErrorCounter 77"),
			press("K", "p").see("Answer who uses leaf-08 8"),
		}},
		{"what happened to job 4711", (*liveStory).erring, []step{
			press(":"), word("job "), name("4711 hosts=node-[0001-0003,0050] since=1h"),
			press("Enter").see("4 hosts", "events on its paths"), press("2", "/"), name("@job-4711"),
			press("Enter").see("node-0050 HCA-1"),
		}},
		{
			"the morning report", (*liveStory).erring, []step{
				press(":"), word("report mor"),
				press("Tab", "Enter").see("1 outage, 0 links down, 1 port with more errors;"),
			},
		},
		{"how was it at a time", (*liveStory).rerouted, []step{
			press("R").see("sweep of live"), press("(").see("HISTORY", "( and ) step"), press("B").see("LIVE"),
			press(":"), word("at 1h"), press("Enter").see("the history of this subnet begins at"),
		}},
		{"why can A not reach B", (*liveStory).unplugged, []step{
			press("R").see("sweep of live"), press("2", "/"), name("node-0001"), press("Enter", "t", "/"),
			name("node-0050"), press("Enter", "T").see("node-0001 HCA-1 → node-0050 HCA-1",
				"dead end: the link of spine-01/8 is down"),
		}},
	}
}

// TestQuestions answers questions of a night on call on a terminal, only with keys, from the start to the names of
// hosts and links.
func TestQuestions(t *testing.T) {
	for _, q := range questions() {
		t.Run(q.ask, func(t *testing.T) {
			t.Parallel()
			live, source := newLiveStory(t), "sim:"+storySubnet
			if q.live != nil {
				live.start()
				source = "ibsim:" + live.sim.Name
			}
			s := tmuxtest.Start(t, 120, 36, strings.Join([]string{
				"exec env -u CI -u NO_COLOR -u COLORTERM LANG=C.UTF-8 LC_ALL=C.UTF-8", "XDG_STATE_HOME=" + live.state,
				program, "-s", source,
			}, " "))
			planned(t, s.Dir)
			s.Awaits("21 switches, 98 hosts", "LFT of", "read the subnet: done") // before that, R is refused
			if q.live != nil {
				q.live(live)
			}
			keys := 0
			for _, step := range q.steps {
				s.Types(step.name)
				s.Types(step.keys...)
				s.Awaits(step.shows...)
				keys += len(step.keys)
			}
			if keys > mostKeys {
				t.Errorf("%d keys, want %d at most", keys, mostKeys)
			}
		})
	}
}

// planned writes a plan in which two cables of the subnet are swapped.
func planned(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(dir, "plan.net")
	ibconsole(t, "-s", "sim:"+storySubnet, "-c", "fail link leaf-12 8; fail link leaf-13 8; add link leaf-12/8 "+
		"spine-01/13; add link leaf-13/8 spine-01/12; dump topology "+file+" of=whatif")
}

// liveStory is a subnet on ibsim that OpenSM has routed, with a history.
type liveStory struct {
	t     *testing.T
	state string
	sim   *ibsimtest.Sim
}

func newLiveStory(t *testing.T) *liveStory { return &liveStory{t: t, state: t.TempDir()} }

func (l *liveStory) start() {
	testenv.Tool(l.t, "opensm")
	net := filepath.Join(l.t.TempDir(), "net")
	ibconsole(l.t, "-s", "sim:"+storySubnet, "-c", "dump topology "+net)
	l.sim = ibsimtest.Start(l.t, net)
	ibsimtest.OpenSM(l.t, l.sim)
}

// other runs another ibconsole on the subnet, with a folder for its state.
func (l *liveStory) other(state, script string) {
	l.t.Helper()
	cmd := exec.CommandContext(l.t.Context(), program, "-s", "ibsim:"+l.sim.Name, "-c", script)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

const reroute = "engine updn; route keep=no; write on; commit yes"

func (l *liveStory) rerouted()          { l.other(l.state, reroute) }
func (l *liveStory) reroutedElsewhere() { l.other(l.t.TempDir(), reroute) }
func (l *liveStory) managed()           { ibsimtest.Master(l.t, l.sim, "-R", "updn") }

// erring makes a recorder see symbol errors on a port.
func (l *liveStory) erring() {
	l.t.Helper()
	run := func(args ...string) string {
		cmd := exec.CommandContext(l.t.Context(), program, append([]string{"-s", "ibsim:" + l.sim.Name}, args...)...)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+l.state)
		out, err := cmd.CombinedOutput()
		if err != nil {
			l.t.Logf("%v: %v", args, err)
		}
		return string(out)
	}
	r := exec.CommandContext(l.t.Context(), program, "-s", "ibsim:"+l.sim.Name, "record", "every=0.5", "traffic=0.5")
	r.Env = append(os.Environ(), "XDG_STATE_HOME="+l.state)
	if err := r.Start(); err != nil {
		l.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = r.Wait() }()
	l.t.Cleanup(func() {
		_ = r.Process.Kill()
		<-ended
	})
	until := func(said, command string) {
		l.t.Helper()
		for range 600 {
			if strings.Contains(run("-c", command), said) {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		l.t.Fatalf("%s never prints %q", command, said)
	}
	until("PortXmit", "counters worst by=traffic; counters history spine-01/8 all")
	l.sim.Console(`PerformanceSet "S-0000000000200007"[8] PortCounters.SymbolErrorCounter=77`)
	until("SymbolErrorCounter 77", "counters worst")
}

func (l *liveStory) unplugged() { l.sim.Console(`Unlink "S-0000000000200007"[8]`) }
