// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing/engines"
)

// TestKeptRoutesEqualOpenSM has an OpenSM live through the loss of links, after
// which it keeps the routes that still are of the fewest hops.
func TestKeptRoutesEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for i := range testenv.Count(t, 12, 100) {
		seed := r.Uint64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			keptRoutes(t, rand.New(rand.NewPCG(seed, 2)))
		})
	}
}

func keptRoutes(t *testing.T, r *rand.Rand) {
	var f *fabric.Fabric
	what := ""
	for f == nil || len(between(f)) < 3 {
		what, f = randomFabric(t, r)
	}
	c := &trial{chain: randomChain(r), opt: randomOptions(r, f)}
	if c.chain[len(c.chain)-1] == engines.NoFallback {
		c.chain = c.chain[:1]
	}
	c.opt.LMC = []uint8{0, 0, 1, 3}[r.IntN(4)]
	sim := start(t, f)
	m := startManager(t, sim, c)
	for step := range 4 {
		if step > 0 {
			links := between(f)
			if len(links) == 0 {
				return
			}
			l := links[r.IntN(len(links))]
			f = f.Without([]fabric.Link{l})
			sim.Console(fmt.Sprintf("Unlink %q[%d]", f.Nodes[f.Ports[l.A].Node].Desc, f.Ports[l.A].Num))
		}
		m.rest(t)
		lft, err := m.compare(f, c)
		if err != nil {
			t.Fatalf("%s, engines %q, options %+v, %d links lost: %v", what, c.chain, c.opt, step, err)
		}
		c.opt.Existing = lft
	}
}

// between are the links between switches of the subnet.
func between(f *fabric.Fabric) []fabric.Link {
	var links []fabric.Link
	for _, l := range f.Links() {
		a, b := f.Nodes[f.Ports[l.A].Node], f.Nodes[f.Ports[l.B].Node]
		if a.Switch != fabric.None && b.Switch != fabric.None && a.InSubnet && b.InSubnet {
			links = append(links, l)
		}
	}
	return links
}

// manager is an OpenSM that goes on.
type manager struct {
	dir, log string
	sweeps   int
	process  *os.Process
}

func startManager(t *testing.T, sim *ibsimtest.Sim, c *trial) *manager {
	t.Helper()
	m := &manager{dir: t.TempDir()}
	m.log = filepath.Join(m.dir, "opensm.log")
	ctx, cancel := context.WithCancel(context.Background())
	cmd := sim.Command(ctx, "opensm", "-F", c.config(t, m.dir), "-R", strings.Join(c.chain, ","), "-s", "0", "-f", m.log, "-D", "0x43")
	cmd.Dir = m.dir
	cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+m.dir, "OSM_CACHE_DIR="+m.dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m.process = cmd.Process
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	return m
}

// quiet is how long an OpenSM must have rested before its tables count.
const quiet = 400 * time.Millisecond

// patience is how long an OpenSM may take to hear of what happened. The traps
// that tell it can be lost; it is then told to sweep.
const patience = 5 * time.Second

// rest waits until OpenSM has routed once more and rests. What happens in the
// subnet starts its sweeps, one or several.
func (m *manager) rest(t *testing.T) {
	t.Helper()
	begun := time.Now()
	told := false
	for since, last := begun, -1; time.Since(begun) < time.Minute; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(m.log)
		if err != nil || len(text) != last {
			since, last = time.Now(), len(text)
			continue
		}
		if sweeps := bytes.Count(text, []byte("-> SUBNET UP")); sweeps > m.sweeps && time.Since(since) > quiet {
			m.sweeps = sweeps
			return
		}
		if !told && time.Since(begun) > patience && time.Since(since) > patience {
			told = true
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
func (m *manager) compare(f *fabric.Fabric, c *trial) (*fabric.LFT, error) {
	g, err := withLIDs(f, m.dir)
	if err != nil {
		return nil, err
	}
	res, _, err := engines.Route(context.Background(), c.chain, g, c.opt)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(m.dir, "opensm-lfts.dump"))
	if err != nil {
		return nil, err
	}
	// OpenSM's tables do not become shorter when ports go.
	if found := topForm.FindSubmatch(text); found != nil {
		top, _ := strconv.Atoi(string(found[1]))
		for s := range res.Tables.Top {
			res.Tables.Top[s] = uint16(top)
		}
	}
	return res.Tables.LFT, sameDumps(m.dir, res)
}
