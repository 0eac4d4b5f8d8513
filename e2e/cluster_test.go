// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// cluster is a subnet of one ibsim on which four consoles and now and then a master OpenSM work.
type cluster struct {
	t        *testing.T
	r        *rand.Rand
	sim      *ibsimtest.Sim
	dir      string
	switches []string      // their names for ibsim
	links    []clusterLink // between switches
	down     []int         // those that are unlinked

	hosts    [2]*clusterHost
	consoles []*clusterConsole
	manager  *manager
	dumpFTS  tool
	held     held // what the switches held after the round before
	round    int
	count    tally
	refused  atomic.Int64 // commands that failed
	story
}

// tally counts what was done and what was compared.
type tally struct {
	Acts, Commits, Unended, Killed, Flaps, Managers int
	// Exact are the rounds after which there was one thing that switches could hold, Among those with several writers
	// at once, Unknown those in which OpenSM was ended before it said what it wrote.
	Exact, Among, Unknown int
	Shown                 int // pictures of consoles
	// commits that others wrote over, of which the console that made it put so into the journal
	Noted int
}

// story is what happened, to be told where something is wrong.
type story struct {
	mu    sync.Mutex
	begun time.Time
	lines []string
}

// toldLines is how much of a story is told.
const toldLines = 80

func (s *story) tell(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%9.3f ", time.Since(s.begun).Seconds())+fmt.Sprintf(format, args...))
	s.lines = s.lines[max(0, len(s.lines)-toldLines):]
}

// wrong fails the test with the events that led to it.
func (c *cluster) wrong(format string, args ...any) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Fatalf("round %d: %s\nwhat came before:\n%s", c.round, fmt.Sprintf(format, args...),
		strings.Join(c.lines, "\n"))
}

// clusterKinds are fat-trees of some 20 switches; of none is the highest LID a multiple of 64, which dump_fts leaves
// out.
var clusterKinds = []string{"fattree 3 4", "fattree 2 12", "fattree 2 14", "fattree 2 16"}

// TestCluster has four consoles, a master OpenSM that comes and goes, links that flap, a loss of 2 % and SIGKILL on
// one subnet. After each round dump_fts says what the switches hold: what the journals, or OpenSM's dump, say,
// and what each console shows. Those who act at once do so as the scheduler has it; all else follows from the seed.
func TestCluster(t *testing.T) {
	testenv.Tool(t, "opensm")
	testenv.Tool(t, "dump_fts")
	length := testenv.Length(t, 12*time.Second, time.Hour)
	c := newCluster(t, testenv.Rand(t))
	for time.Since(c.begun) < length {
		c.round++
		c.play()
		c.judge()
	}
	t.Logf("%v, %d rounds, %d commands failed: %+v", time.Since(c.begun).Round(time.Second), c.round,
		c.refused.Load(), c.count)
}

func newCluster(t *testing.T, r *rand.Rand) *cluster {
	c := &cluster{t: t, r: r, dir: t.TempDir(), story: story{begun: time.Now()}}
	kind := clusterKinds[r.IntN(len(clusterKinds))]
	c.tell("%s", kind)
	net := filepath.Join(c.dir, "net")
	ibconsole(t, "-c", "gen "+kind+" "+net)
	subnet, err := formats.ReadWith(t.Context(), net, formats.Options{AsIbsim: true})
	if err != nil {
		t.Fatal(err)
	}
	f, text := subnet.Fabric, []byte(read(t, net))
	for _, sw := range f.Switches {
		c.switches = append(c.switches, ibsimID(f, sw, text))
	}
	for _, l := range f.Links() {
		a, b := f.Ports[l.A], f.Ports[l.B]
		if f.Nodes[a.Node].IsSwitch() && f.Nodes[b.Node].IsSwitch() {
			from, to := ibsimID(f, a.Node, text), ibsimID(f, b.Node, text)
			c.links = append(c.links, clusterLink{fmt.Sprintf("%q[%d]", from, a.Num), from, to})
		}
	}
	c.sim = ibsimtest.Start(t, net)
	for range 1 + r.IntN(mostDown) { // no tree is without faults
		c.drawFlap(0)()
	}
	c.dumpFTS = newTool(t, c.sim, "dump_fts")
	c.manager = newManager(c)
	for i := range c.hosts {
		c.hosts[i] = newClusterHost(t)
	}
	for i := range 2 * len(c.hosts) {
		c.consoles = append(c.consoles, newClusterConsole(c, i))
	}
	if _, err := c.consoles[0].say("engine minhop; route; commit yes force-interrupt"); err != nil {
		t.Fatal(err)
	}
	c.held = c.read()
	return c
}

// play has a random part of all do something at once, and waits until all is quiet.
func (c *cluster) play() {
	c.tell("round %d", c.round)
	c.lose(2)
	var acts []func()
	for _, k := range c.consoles {
		if c.r.IntN(2) == 0 {
			acts = append(acts, k.draw())
		}
	}
	if c.r.IntN(4) == 0 {
		acts = append(acts, c.drawFlap(c.wait()))
	}
	if c.r.IntN(5) == 0 {
		acts = append(acts, c.manager.draw(c.wait()))
	}
	c.count.Acts += len(acts)
	c.together(acts)
	c.lose(0)
	c.manager.settle()
}

// together does things at once.
func (c *cluster) together(acts []func()) {
	c.t.Helper()
	var all sync.WaitGroup
	for _, act := range acts {
		all.Go(act)
	}
	all.Wait()
	if c.t.Failed() { // one of them has said so
		c.t.FailNow()
	}
}

// wait is how long something waits for what others do at once: about as long as a route and a commit take.
func (c *cluster) wait() time.Duration {
	return time.Duration(c.r.Int64N(int64(60 * time.Millisecond)))
}

// tool is a program on the ibsim that runs again and again in one folder.
type tool struct {
	path, dir string
	env       []string
}

func newTool(t *testing.T, sim *ibsimtest.Sim, name string, env ...string) tool {
	cmd := sim.Command(t.Context(), name)
	return tool{cmd.Path, cmd.Dir, append(cmd.Env, env...)}
}

// placeLimit is how long something may wait for one of ibsim's ten places. Consoles take some more while they
// have much to carry, and give them back soon after.
const placeLimit = 20 * time.Second

// retry does something until it is done, or fails otherwise than for want of a place.
func retry(do func() error) error {
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := do()
		if err == nil || time.Since(begun) > placeLimit || !strings.Contains(err.Error(), "ten clients") &&
			!strings.Contains(err.Error(), "connect failed") {
			return err
		}
	}
}

// textOf is a file's text, "" while it is not there.
func textOf(file string) string {
	text, _ := os.ReadFile(file)
	return string(text)
}
