// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/torus"
)

// trialsPerFabric is the number of trials with one ibsim.
const trialsPerFabric = 4

// TestRandomTrialsEqualOpenSM compares all engines with OpenSM on random fabrics with random options and failures, and
// logs how many tables of each engine were equal. IBCONSOLE_TRIALS=N makes N comparisons, and IBCONSOLE_SEED=S repeats
// those of an earlier run. IBCONSOLE_OPENSM=FILE compares with another OpenSM than the installed one.
func TestRandomTrialsEqualOpenSM(t *testing.T) {
	t.Log(testenv.Tool(t, "opensm"))
	r := testenv.Rand(t)
	trials, err := strconv.Atoi(os.Getenv("IBCONSOLE_TRIALS"))
	if err != nil {
		trials = testenv.Count(t, 40, 3000)
	}
	var made tally
	t.Cleanup(func() { made.log(t) })
	for i := range trials / trialsPerFabric {
		seed := r.Uint64()
		all := t
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			if all.Failed() {
				t.Skip("a difference was found")
			}
			r := rand.New(rand.NewPCG(seed, 1))
			switch n := i % 10; {
			case n < 4:
				familyTrials(t, r, &made)
			case n < 6:
				vlTrials(t, r, &made)
			case n < 7:
				nueTrials(t, r, &made)
			case n < 9:
				treeTrials(t, r, r.IntN(1000), &made)
			default:
				torusTrials(t, r, &made)
			}
		})
	}
}

// repeat runs comparisons with OpenSM in parallel, each with random numbers of its own. sample and full are their
// numbers as in [testenv.Count].
func repeat(t *testing.T, sample, full int, stream uint64, run func(t *testing.T, r *rand.Rand, i int)) {
	t.Helper()
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for i := range testenv.Count(t, sample, full) {
		seed := r.Uint64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			run(t, rand.New(rand.NewPCG(seed, stream)), i)
		})
	}
}

// tally counts comparisons by the engine that routed, or that refused. It is safe for concurrent use, and nil counts
// nothing.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (y *tally) add(engine string) {
	if y == nil {
		return
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.counts == nil {
		y.counts = map[string]int{}
	}
	y.counts[engine]++
}

func (y *tally) log(t *testing.T) {
	sum := 0
	for _, n := range y.counts {
		sum += n
	}
	t.Logf("%d comparisons without a difference, by the engine that routed: %v", sum, y.counts)
}

// familyTrials compares the engines that need no VLs.
func familyTrials(t *testing.T, r *rand.Rand, made *tally) {
	what, f := randomFabric(t, r)
	for len(f.Switches) == 0 || !f.SwitchNode(0).InSubnet && len(f.EndPorts) < 3 {
		what, f = randomFabric(t, r)
	}
	lmc, esp0 := []uint8{0, 0, 1, 2, 3, 7}[r.IntN(6)], r.IntN(2) == 0
	if len(f.EndPorts)<<lmc > fabric.MaxUnicastLID/2 {
		lmc = 0
	}
	sim := start(t, f)
	for range trialsPerFabric {
		c := &trial{chain: randomChain(r), lmcESP0: esp0, opt: randomOptions(r, f), made: made}
		c.opt.LMC = lmc
		if err := differs(t, sim, f, c); err != nil {
			t.Logf("%s, engines %q: %v; shrinking", what, c.chain, err)
			dir, problem := shrink(t, f, c, err)
			t.Fatalf("%s, engines %q: %v\nshrunk, in %s: %v", what, c.chain, err, dir, problem)
		}
	}
}

// torusTrials compares torus-2QoS, with the configuration that we recognise, on a torus and on damaged copies. The
// tests of its package compare VLs, SLs and trees.
func torusTrials(t *testing.T, r *rand.Rand, made *tally) {
	specs := []string{
		"torus:5x4", "torus:6x5", "torus:4x4x4", "torus:3x3x4", "torus:5x5,links=2", "torus:3x5x4,hosts=2", "mesh:5x4",
		"mesh:4x3x3",
	}
	spec := specs[r.IntN(len(specs))]
	whole := gentest.Fabric(t, spec)
	conf, err := torus.Recognise(t.Context(), whole)
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	var text bytes.Buffer
	if err := osm.WriteTorusConf(&text, conf); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "torus.conf")
	write(t, path, text.String())
	for i := range trialsPerFabric {
		f := whole
		if i > 0 {
			f = damaged(r, whole)
		}
		c := &trial{
			chain: []string{torus.Name}, own: []routing.Engine{torus.Engine{Conf: conf, Strict: true}}, made: made,
			conf: fmt.Sprintf("qos TRUE\ntorus_config %s\n", path),
		}
		c.opt.LMC = []uint8{0, 0, 1, 2}[r.IntN(4)]
		if err := differs(t, start(t, f), f, c); err != nil {
			dir, problem := shrink(t, f, c, err)
			t.Fatalf("%s, LMC %d: %v\nshrunk, in %s: %v", spec, c.opt.LMC, err, dir, problem)
		}
	}
}

func randomFabric(t *testing.T, r *rand.Rand) (string, *fabric.Fabric) {
	var f *fabric.Fabric
	what := "irregular"
	if r.IntN(2) == 0 {
		f = irregular(t, r)
	} else {
		specs := []string{
			"fattree:2,%d", "fattree:3,4", "fattree:3,6", "fattree:3,8", "xgft:2,3,4,1,3,1,2",
			"xgft:3,2,3,4,1,2,2,1,2,1",
			"torus:%dx4", "torus:3x3x%d", "mesh:%dx3", "mesh:5x2,links=2", "hypercube:%d", "dragonfly:4,2,2",
			"dragonfly:2,2,1",
			"random:%d,5,60", "random:20,6,%d",
		}
		what = specs[r.IntN(len(specs))]
		for _, spec := range []string{fmt.Sprintf(what, 2+2*r.IntN(3)), fmt.Sprintf(what, 6+2*r.IntN(3)), what} {
			var err error
			if f, err = gen.ParseSpec(spec); err == nil {
				what = spec
				break
			}
		}
		if f == nil {
			t.Fatalf("no fabric of %s", what)
		}
	}
	if r.IntN(2) == 0 {
		return what, f
	}
	return what + " damaged", damaged(r, f)
}

// damaged returns a fabric without some links, or without a switch.
func damaged(r *rand.Rand, f *fabric.Fabric) *fabric.Fabric {
	sm, _ := f.LinkOf(f.EndPortOf(f.SMPort))
	victim := f.Switches[r.IntN(len(f.Switches))]
	every := 2 + r.IntN(30)
	killSwitch := r.IntN(3) == 0
	var cut []fabric.Link
	for _, l := range f.Links() {
		dead := r.IntN(every) == 0
		if killSwitch {
			dead = f.Ports[l.A].Node == victim || f.Ports[l.B].Node == victim
		}
		if dead && l != sm {
			cut = append(cut, l)
		}
	}
	return f.Without(cut)
}

// maxListed is the number of ports on a line of 255 characters, the longest that OpenSM reads.
const maxListed = 50

func randomChain(r *rand.Rand) []string {
	chains := [][]string{
		{"minhop"}, {"updn"}, {"dnup"}, {"dor"}, {"updn"}, {"dnup"}, {"updn", "dnup"}, {"dnup", "updn", "no_fallback"},
		{"updn", "dor"}, {"minhop", "no_fallback"}, {"sssp"}, {"sssp"}, {"dfsssp"}, {"dfsssp", "sssp"},
		{"updn", "dfsssp", "no_fallback"},
	}
	if r.IntN(10) == 0 {
		return []string{"updn", "no_fallback"}
	}
	return chains[r.IntN(len(chains))]
}

// randomOptions returns random options: none at all, one or many.
func randomOptions(r *rand.Rand, f *fabric.Fabric) routing.Options {
	var o routing.Options
	rarely := []int{1000, 8, 3}[r.IntN(3)]
	sometimes := func() bool { return r.IntN(rarely) == 0 }
	aSwitch := func() *fabric.Node { return f.SwitchNode(fabric.SwitchIndex(r.IntN(len(f.Switches)))) }
	aPort := func() routing.SwitchPort {
		n := aSwitch()
		return routing.SwitchPort{GUID: n.GUID, Port: uint8(1 + r.IntN(int(n.NumPorts)))}
	}
	if r.IntN(2) == 0 {
		o.RootGUIDs = []uint64{}
		for range r.IntN(5) {
			o.RootGUIDs = append(o.RootGUIDs, aSwitch().GUID)
		}
		if r.IntN(5) == 0 {
			o.RootGUIDs = append(o.RootGUIDs, f.Ports[f.EndPorts[r.IntN(len(f.EndPorts))]].GUID, 0x1234)
		}
		o.DetectRoots = r.IntN(8) == 0
	}
	o.ConnectRoots = r.IntN(3) == 0
	if sometimes() {
		o.IDs = map[uint64]uint64{0x99: 1}
		for range r.IntN(2 * len(f.Switches)) {
			o.IDs[aSwitch().GUID] = r.Uint64N(5)
		}
	}
	if sometimes() {
		o.RoutingOrder = append(o.RoutingOrder, 0x1234)
		for range r.IntN(2 * len(f.EndPorts)) {
			o.RoutingOrder = append(o.RoutingOrder, f.Ports[f.EndPorts[r.IntN(len(f.EndPorts))]].GUID)
		}
	}
	if sometimes() {
		o.IgnoredPorts = map[routing.SwitchPort]bool{{GUID: 0x77, Port: 1}: true}
		for range r.IntN(3 * len(f.Switches)) {
			o.IgnoredPorts[aPort()] = true
		}
	}
	if sometimes() {
		o.HopWeights = map[routing.SwitchPort]uint8{}
		for range r.IntN(6 * len(f.Switches)) {
			o.HopWeights[aPort()] = []uint8{1, 2, 2, 3, 5, 40, 200, 255}[r.IntN(8)]
		}
	}
	if sometimes() {
		for range r.IntN(2 * len(f.Switches)) {
			n := aSwitch()
			order := routing.PortOrder{GUID: n.GUID}
			for _, p := range r.Perm(int(n.NumPorts) + 1)[:1+r.IntN(min(int(n.NumPorts), maxListed))] {
				if p > 0 || r.IntN(4) == 0 {
					order.Ports = append(order.Ports, uint8(p))
				}
			}
			o.PortSearchOrder = append(o.PortSearchOrder, order)
		}
	}
	o.ProfileSwitchNodes = sometimes()
	o.PortShifting = sometimes()
	if sometimes() {
		o.ScatterPorts = []uint32{1, 8, 256, r.Uint32() | 1}[r.IntN(4)]
	}
	o.RoutingOrderNoScatter = sometimes()
	return o
}

// shrinkSteps limits the runs of OpenSM to find a smaller example.
const shrinkSteps = 150

// shrink removes options, links and switches as long as a difference remains, and leaves the example in a directory.
func shrink(t *testing.T, f *fabric.Fabric, c *trial, problem error) (string, error) {
	return shrinkWith(t, f, c, problem, differs)
}

func shrinkWith(t *testing.T, f *fabric.Fabric, c *trial, problem error,
	differs func(*testing.T, *ibsimtest.Sim, *fabric.Fabric, *trial) error) (string, error) {
	steps := 0
	try := func(g *fabric.Fabric, d trial) bool {
		if steps++; steps > shrinkSteps || len(g.Switches) == 0 {
			return false
		}
		sim := start(t, g)
		defer sim.Stop()
		err := differs(t, sim, g, &d)
		if err != nil {
			problem, f, *c = err, g, d
		}
		return err != nil
	}
	for _, drop := range []func(*trial){
		func(c *trial) {
			c.opt = routing.Options{
				LMC: c.opt.LMC, NueMaxVLs: c.opt.NueMaxVLs, NueIncludeSwitches: c.opt.NueIncludeSwitches,
				NoQoS: c.opt.NoQoS,
			}
		},
		func(c *trial) { c.opt.LMC = 0 }, func(c *trial) { c.opt.LMC = min(c.opt.LMC, 1) },
		func(c *trial) { c.opt.RootGUIDs = nil }, func(c *trial) { c.opt.DetectRoots = false },
		func(c *trial) { c.opt.IDs = nil }, func(c *trial) { c.opt.ConnectRoots = false },
		func(c *trial) { c.opt.RoutingOrder = nil }, func(c *trial) { c.opt.RoutingOrderNoScatter = false },
		func(c *trial) { c.opt.IgnoredPorts = nil }, func(c *trial) { c.opt.ProfileSwitchNodes = false },
		func(c *trial) { c.opt.ScatterPorts = 0 }, func(c *trial) { c.opt.PortShifting = false },
		func(c *trial) { c.opt.HopWeights = nil }, func(c *trial) { c.opt.PortSearchOrder = nil },
		func(c *trial) { c.lmcESP0 = false },
		func(c *trial) {
			c.opt.ComputeNodes = nil
		}, func(c *trial) { c.opt.IONodes = nil }, func(c *trial) { c.opt.BrokenNodeFile = "" },
		func(c *trial) {
			c.opt.MaxReverseHops = 0
		}, func(c *trial) { c.opt.MaxReverseHops = min(c.opt.MaxReverseHops, 1) },
		func(c *trial) { c.opt.QuasiFtreeIndexing = false },
	} {
		d := *c
		drop(&d)
		try(f, d)
	}
	for size := len(f.Links()) / 2; size > 0; size /= 2 {
		for i := 0; i < len(f.Links()); i += size {
			var cut []fabric.Link
			for _, l := range f.Links()[i:min(i+size, len(f.Links()))] {
				if l.A != f.SMPort && l.B != f.SMPort {
					cut = append(cut, l)
				}
			}
			if try(f.Without(cut), *c) {
				i -= size
			}
		}
	}
	dir, err := os.MkdirTemp("", "ibconsole-trial-")
	if err != nil {
		t.Fatal(err)
	}
	w, err := os.Create(filepath.Join(dir, "fabric.net"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := gen.WriteNet(w, f); err != nil {
		t.Fatal(err)
	}
	c.config(t, dir)
	return dir, fmt.Errorf("engines %q, options %+v: %w", c.chain, c.opt, problem)
}
