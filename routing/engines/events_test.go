// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
)

// TestEventsEqualOpenSM lets links and hosts fail and come back in a subnet with OpenSM. After a failure it keeps the
// routes that still have the fewest hops; after a return it computes all routes.
func TestEventsEqualOpenSM(t *testing.T) {
	repeat(t, 4, 100, 2, func(t *testing.T, r *rand.Rand, _ int) { liveThrough(t, r) })
}

func liveThrough(t *testing.T, r *rand.Rand) {
	var whole *fabric.Fabric
	what := ""
	for whole == nil || len(between(whole)) < 3 {
		what, whole = randomFabric(t, r)
	}
	c := &trial{chain: randomChain(r), opt: randomOptions(r, whole)}
	if r.IntN(6) == 0 {
		c = nueTrial(uint8(r.IntN(9)), r.IntN(2) == 0)
	}
	if c.chain[len(c.chain)-1] == engines.NoFallback {
		c.chain = c.chain[:1]
	}
	c.opt.LMC = []uint8{0, 0, 1, 3}[r.IntN(4)]
	sim := start(t, whole)
	m := startManager(t, sim, c)
	var lost []fabric.Link
	var events []string
	for step := range 5 {
		if step > 0 {
			var event string
			var back bool
			if event, lost, back = happen(r, whole, lost, step); event == "" {
				return
			}
			events = append(events, event)
			sim.Console(event)
			if back {
				c.opt.Existing = nil
			}
		}
		m.rest(t)
		lft, err := m.compare(t, whole.Without(lost), c)
		if err != nil {
			t.Fatalf("%s, engines %q, options %+v, after %q: %v", what, c.chain, c.opt, events, err)
		}
		c.opt.Existing = lft
	}
}

// happen chooses the next event: a link between switches or of a host fails, or the first lost one comes back. It
// returns the command for ibsim, "" if there is nothing left to fail, and the links that are lost then.
func happen(r *rand.Rand, whole *fabric.Fabric, lost []fabric.Link, step int) (event string, now []fabric.Link,
	back bool) {
	end := func(l fabric.Link) string {
		p := &whole.Ports[l.A]
		if !whole.Nodes[p.Node].IsSwitch() {
			p = &whole.Ports[l.B]
		}
		return fmt.Sprintf("%q[%d]", whole.Nodes[p.Node].Desc, p.Num)
	}
	if len(lost) > 0 && (step == 3 || r.IntN(3) == 0) {
		return "ReLink " + end(lost[0]), lost[1:], true
	}
	links := between(whole.Without(lost))
	if r.IntN(3) == 0 {
		links = hostLinks(whole.Without(lost))
	}
	if len(links) == 0 {
		return "", lost, false
	}
	l := links[r.IntN(len(links))]
	return "Unlink " + end(l), append(slices.Clone(lost), l), false
}

// hostLinks returns the links of hosts of the subnet, except those of the node on which the subnet manager runs.
func hostLinks(f *fabric.Fabric) []fabric.Link {
	sm := f.Ports[f.SMPort].Node
	var links []fabric.Link
	for _, l := range f.Links() {
		a, b := f.Ports[l.A].Node, f.Ports[l.B].Node
		if (!f.Nodes[a].IsSwitch()) != (!f.Nodes[b].IsSwitch()) && f.Nodes[a].InSubnet && a != sm && b != sm {
			links = append(links, l)
		}
	}
	return links
}

// between returns the links between switches of the subnet.
func between(f *fabric.Fabric) []fabric.Link {
	var links []fabric.Link
	for _, l := range f.Links() {
		a, b := f.Nodes[f.Ports[l.A].Node], f.Nodes[f.Ports[l.B].Node]
		if a.IsSwitch() && b.IsSwitch() && a.InSubnet && b.InSubnet {
			links = append(links, l)
		}
	}
	return links
}

// manager is a running OpenSM.
type manager struct {
	dir, log, conf string
	sweeps         int
	// cycles counts those in the compared trees of multicast groups.
	cycles  int
	process *os.Process
	sim     *ibsimtest.Sim
	cmd     *exec.Cmd
}

func startManager(t *testing.T, sim *ibsimtest.Sim, c *trial) *manager {
	t.Helper()
	return startManagerOn(t, sim, "", c)
}

// startManagerOn starts an OpenSM on a node, "" for the first.
func startManagerOn(t *testing.T, sim *ibsimtest.Sim, node string, c *trial) *manager {
	t.Helper()
	m := &manager{dir: t.TempDir(), sim: sim}
	m.log, m.conf = filepath.Join(m.dir, "opensm.log"), c.config(t, m.dir)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := sim.Command(ctx, "opensm", "-F", m.conf, "-R", strings.Join(c.chain, ","), "-s", "0", "-f", m.log,
		"-D", "0x43")
	cmd.Dir = m.dir
	cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+m.dir, "OSM_CACHE_DIR="+m.dir)
	if node != "" {
		cmd.Env = append(cmd.Env, "SIM_HOST="+node)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m.process, m.cmd = cmd.Process, cmd
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	return m
}

// quiet is the time without log lines after which OpenSM's tables count.
const quiet = time.Second

// patience is the time that OpenSM may take to notice an event. Its traps can be lost; it is then made to sweep.
const patience = 5 * time.Second

// rest waits until OpenSM has routed once more and is quiet. Events in the subnet start its sweeps, one or several.
func (m *manager) rest(t *testing.T) {
	t.Helper()
	began := time.Now()
	signalled := false
	for since, last := began, -1; time.Since(began) < 5*time.Minute; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(m.log)
		if err != nil || len(text) != last {
			since, last = time.Now(), len(text)
			continue
		}
		if sweeps := bytes.Count(text, []byte("-> SUBNET UP")); sweeps > m.sweeps && time.Since(since) > quiet {
			m.sweeps = sweeps
			return
		}
		if !signalled && time.Since(began) > patience && time.Since(since) > patience {
			signalled = true
			if err := m.process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
		}
	}
	text, _ := os.ReadFile(m.log)
	t.Fatalf("OpenSM does not sweep after %d times:\n%s", m.sweeps, text[max(0, len(text)-4096):])
}

var topForm = regexp.MustCompile(`^Unicast lids \[0-(\d+)\]`)

// compare routes the fabric and compares the tables with OpenSM's last.
func (m *manager) compare(t *testing.T, f *fabric.Fabric, c *trial) (*fabric.LFT, error) {
	g, err := withLIDs(f, m.dir)
	if err != nil {
		return nil, err
	}
	res, _, err := tryAll(context.Background(), c.chain, g, c.opt)
	if err != nil {
		return nil, err
	}
	m.raiseTops(t, res.Tables)
	return res.Tables.LFT, sameDumps(m.dir, res)
}

// raiseTops sets LinearFDBTop of tables as in OpenSM's, which do not become shorter when ports disappear.
func (m *manager) raiseTops(t *testing.T, tables *fabric.Tables) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, "opensm-lfts.dump"))
	if err != nil {
		t.Fatal(err)
	}
	if found := topForm.FindSubmatch(text); found != nil {
		top, _ := strconv.Atoi(string(found[1]))
		for s := range tables.Top {
			tables.Top[s] = uint16(top)
		}
	}
}

// With too few VLs for lash or dfsssp, a master gives the switches their tables on its first sweep, and on its second
// keeps those of their routes that are among the shortest. Recomputed routes are neither, which is reported.
func TestOpenSMAppliesMaxOpVLsLate(t *testing.T) {
	testenv.Tool(t, "opensm")
	for _, engine := range []string{"lash", "dfsssp"} {
		t.Run(engine, func(t *testing.T) { appliesLate(t, engine) })
	}
}

func appliesLate(t *testing.T, engine string) {
	f := gentest.Fabric(t, "torus:6x5")
	c := &trial{chain: []string{engine}, conf: "max_op_vls 1\nqos TRUE\n"}
	m := startManager(t, start(t, f), c)
	m.rest(t)
	f, err := withLIDs(f, m.dir)
	if err != nil {
		t.Fatal(err)
	}
	first, _, err := tryAll(t.Context(), c.chain, f, c.opt)
	if err != nil || first.Tables.Origin != engine {
		t.Fatal(err)
	}
	if err := sameLFTs(m.dir, first); err != nil {
		t.Fatalf("the first sweep: %v", err)
	}
	if err := m.process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	m.rest(t)
	c.opt.MaxOpVLs, c.opt.Existing = 1, first.Tables.LFT
	second, refusals, err := tryAll(t.Context(), c.chain, f, c.opt)
	if err != nil || second.Tables.Origin != "minhop" || !refusals[0].TooFewVLs {
		t.Fatal(refusals, err)
	}
	if err := sameLFTs(m.dir, second); err != nil {
		t.Errorf("the second sweep: %v", err)
	}
	c.opt.Existing = nil
	chain, err := engines.Chain(c.chain)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := compute.Run(t.Context(), &compute.Job{Fabric: f, Base: f, Engines: chain, Options: c.opt})
	if err != nil {
		t.Fatal(err)
	}
	if sameLFTs(m.dir, &ours.Result) == nil || !strings.HasPrefix(ours.Figures.DiffersFromOpenSM, "NOT OpenSM's") {
		t.Errorf("recomputed: %q", ours.Figures.DiffersFromOpenSM)
	}
}
