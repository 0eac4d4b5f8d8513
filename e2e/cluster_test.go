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

// cluster is a subnet on one ibsim with four consoles and sometimes a master OpenSM.
type cluster struct {
	t        *testing.T
	r        *rand.Rand
	sim      *ibsimtest.Sim
	dir      string
	switches []string      // their names for ibsim
	links    []clusterLink // between switches
	down     []int         // the unlinked ones

	hosts    [2]*clusterHost
	consoles []*clusterConsole
	manager  *manager
	dumpFTS  tool
	held     held // the tables of the switches after the previous round
	round    int
	count    tally
	refused  atomic.Int64 // commands that failed
	story
}

// tally counts actions and comparisons.
type tally struct {
	Acts, Commits, Unended, Killed, Flaps, Managers int
	// Exact counts the rounds after which the tables had only one possible content, Among those with several concurrent
	// writers, Unknown those in which OpenSM was ended before it logged its writes.
	Exact, Among, Unknown int
	Shown                 int // compared outputs of consoles
	// commits that another writer overwrote and whose journal records that
	Noted int
}

// story is the list of events, to be printed after a failure.
type story struct {
	mu    sync.Mutex
	begun time.Time
	lines []string
}

// toldLines is the number of events that are printed.
const toldLines = 80

func (s *story) tell(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%9.3f ", time.Since(s.begun).Seconds())+fmt.Sprintf(format, args...))
	s.lines = s.lines[max(0, len(s.lines)-toldLines):]
}

// wrong fails the test and prints the last events.
func (c *cluster) wrong(format string, args ...any) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Fatalf("round %d: %s\nevents before:\n%s", c.round, fmt.Sprintf(format, args...),
		strings.Join(c.lines, "\n"))
}

// clusterKinds are fat-trees of some 20 switches. None has a multiple of 64 as highest LID, which dump_fts leaves out.
var clusterKinds = []string{"fattree 3 4", "fattree 2 12", "fattree 2 14", "fattree 2 16"}

// TestCluster has four consoles, a master OpenSM that starts and ends, flapping links, a packet loss of 2 % and SIGKILL
// on one subnet. After each round the tables that dump_fts prints must be those in the journals, or in OpenSM's dump,
// and the tables that each console shows. Concurrent actions depend on the scheduler. Everything else follows from the
// seed.
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
	for range 1 + r.IntN(mostDown) { // every tree has faults
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

// play makes a random set of actors act concurrently, and waits until all are done.
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

// together runs functions concurrently.
func (c *cluster) together(acts []func()) {
	c.t.Helper()
	var all sync.WaitGroup
	for _, act := range acts {
		all.Go(act)
	}
	all.Wait()
	if c.t.Failed() { // the reason is already logged
		c.t.FailNow()
	}
}

// wait returns a random delay of an action: about as long as a route and a commit take.
func (c *cluster) wait() time.Duration {
	return time.Duration(c.r.Int64N(int64(60 * time.Millisecond)))
}

// tool is a program that runs repeatedly on the ibsim in one folder.
type tool struct {
	path, dir string
	env       []string
}

func newTool(t *testing.T, sim *ibsimtest.Sim, name string, env ...string) tool {
	cmd := sim.Command(t.Context(), name)
	return tool{cmd.Path, cmd.Dir, append(cmd.Env, env...)}
}

// placeLimit is the maximum time to wait for one of ibsim's ten places. Consoles use more places while they have much
// to send, and free them soon afterwards.
const placeLimit = 20 * time.Second

// retry repeats a function until it succeeds, or fails for another reason than a missing place.
func retry(do func() error) error {
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		err := do()
		if err == nil || time.Since(begun) > placeLimit || !strings.Contains(err.Error(), "ten clients") &&
			!strings.Contains(err.Error(), "connect failed") {
			return err
		}
	}
}

// textOf returns the text of a file, "" if it does not exist.
func textOf(file string) string {
	text, _ := os.ReadFile(file)
	return string(text)
}
