// SPDX-License-Identifier: Apache-2.0

package engines_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	simulated "example.org/ibconsole/fabric/failures"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/loading"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/shell/session/source"
)

// TestAdditionsEqualOpenSM adds cables, switches and adapters to a what-if, moves adapters, and makes the same changes
// in a subnet with OpenSM: LIDs and forwarding tables are OpenSM's after each of them.
func TestAdditionsEqualOpenSM(t *testing.T) {
	repeat(t, 4, 100, 3, addTo)
}

// growing are fabrics with free ports, for engines that still route them after additions.
var growing = []struct{ engine, spec string }{
	{"minhop", "random:%d,4,18"}, {"updn", "random:%d,4,18"}, {"ftree", "fattree:2,%d"}, {"dnup", "fattree:2,%d"},
	{"minhop", "fattree:2,%d"}, {"updn", "fattree:2,%d"}, {"dor", "random:%d,4,18"}, {"sssp", "random:%d,4,18"},
	{"dfsssp", "random:%d,4,18"}, {"lash", "random:%d,4,18"}, {"nue", "random:%d,4,18"},
}

// addition is one step of the what-if, with the commands for ibsim.
type addition struct {
	console []string
	tables  *fabric.Tables
	whatIf  *fabric.Fabric
}

func addTo(t *testing.T, r *rand.Rand, i int) {
	g := growing[i%len(growing)]
	f := gentest.Fabric(t, fmt.Sprintf(g.spec, []int{6, 8}[r.IntN(2)]))
	f = withFreePorts(t, f, r)
	s, steps := growSimulated(t, r, f, g.engine)
	if len(steps) == 1 {
		return
	}
	compareLoaded(t, f, g.engine, steps[1])
	st := s.State()
	begin, err := f.With(nil, newNodes(f, st.Whole()), nil)
	if err != nil {
		t.Fatal(err)
	}
	sim := start(t, begin)
	c := &trial{chain: []string{g.engine}, opt: routing.Options{}}
	m := startManager(t, sim, c)
	var output []string
	for _, step := range steps {
		for _, command := range step.console {
			output = append(output, command+sim.Console(command))
		}
		m.rest(t)
		m.raiseTops(t, step.tables)
		if err := sameLFTs(m.dir, &routing.Result{Tables: step.tables}); err != nil {
			t.Fatalf("%s on %s, after %q: %v", g.engine, g.spec, output, err)
		}
	}
}

// growSimulated routes a fabric, adds to it at random, and routes after each step.
func growSimulated(t *testing.T, r *rand.Rand, f *fabric.Fabric, engine string) (*session.Session, []addition) {
	t.Helper()
	ctx, s := t.Context(), offline(t, f, engine)
	steps := []addition{{tables: routed(ctx, t, s)}}
	for range 3 {
		console := grow(ctx, t, r, s)
		st := s.State()
		tables := routed(ctx, t, s)
		if tables == nil {
			break
		}
		steps = append(steps, addition{console, tables, st.Paper()})
	}
	return s, steps
}

// compareLoaded loads the fabric after an addition as a file, and compares the result with that of the addition.
func compareLoaded(t *testing.T, f *fabric.Fabric, engine string, after addition) {
	t.Helper()
	ctx, s := t.Context(), offline(t, f, engine)
	routed(ctx, t, s)
	options := session.LoadOptions{AsIbsim: true}
	if _, err := loading.Load(ctx, s, "topology", netFile(t, after.whatIf), options); err != nil {
		t.Fatal(err)
	}
	var ours, theirs bytes.Buffer
	if err := osm.WriteLFTs(&ours, routed(ctx, t, s)); err != nil {
		t.Fatal(err)
	}
	if err := osm.WriteLFTs(&theirs, after.tables); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(ours.Bytes(), theirs.Bytes()) {
		t.Fatalf("%s: after %q the file gives different tables from the addition", engine, after.console)
	}
}

func netFile(t *testing.T, f *fabric.Fabric) string {
	t.Helper()
	var b bytes.Buffer
	if err := gen.WriteNet(&b, f); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fabric.net")
	write(t, path, b.String())
	return path
}

// offline opens a session on a fabric by ibsim's rules, with an engine.
func offline(t *testing.T, f *fabric.Fabric, engine string) *session.Session {
	t.Helper()
	src, err := source.Parse("net:" + netFile(t, f))
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	s, err := session.Open(ctx, src, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	set, err := settings.Parse(t.Context(), []string{engine}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.SetSettings(set)
	return s
}

// routed returns the tables of the what-if. They are nil if OpenSM's change from run to run: ftree orders adapters by
// addresses in its memory if leaf switches are cabled to each other, and warns of it.
func routed(ctx context.Context, t *testing.T, s *session.Session) *fabric.Tables {
	t.Helper()
	figures, err := s.Route(ctx, compute.KeepAsOpenSM)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(figures.Warnings, func(w string) bool {
		return strings.Contains(w, "addresses in its memory")
	}) {
		return nil
	}
	tables := *s.State().Staged.Tables
	return &tables
}

// grow makes a random addition, and returns the commands for ibsim.
func grow(ctx context.Context, t *testing.T, r *rand.Rand, s *session.Session) (console []string) {
	t.Helper()
	st := s.State()
	f := st.Paper()
	free := freePorts(f)
	r.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	var find simulated.Finder
	name := fmt.Sprintf("new-%d", r.Uint32())
	switch r.IntN(4) {
	case 0:
		a, b := free[0], free[1]
		for _, p := range free[1:] {
			if f.Ports[p].Node != f.Ports[a].Node {
				b = p
			}
		}
		find = simulated.AddLink(f.PortName(a), f.PortName(b))
	case 1:
		find = simulated.Add(simulated.NewNode{Type: mad.NodeCA, Name: name, At: []string{f.PortName(free[0])}})
	case 2:
		n := simulated.NewNode{
			Type: mad.NodeSwitch, Name: name, GUID: r.Uint64() >> 1, At: []string{f.PortName(free[0])},
		}
		for _, p := range free[1:4] {
			if f.Ports[p].Node != f.Ports[free[0]].Node {
				n.At = append(n.At, f.PortName(p))
			}
		}
		find = simulated.Add(n)
	default:
		hosts := hostLinks(f)
		l := hosts[r.IntN(len(hosts))]
		host := l.A
		if f.Nodes[f.Ports[host].Node].IsSwitch() {
			host = l.B
		}
		console = append(console, fmt.Sprintf("Unlink %q[%d]", f.Nodes[f.Ports[host].Node].Desc, f.Ports[host].Num))
		find = simulated.Move(f.PortName(host), f.PortName(free[0]))
	}
	added, err := s.Add(ctx, find)
	if err != nil {
		t.Fatal(err)
	}
	st = s.State()
	f = st.Paper()
	for _, l := range added[0].Links {
		a, b := &f.Ports[l.A], &f.Ports[l.B]
		console = append(console, fmt.Sprintf("Link %q[%d] %q[%d]", f.Nodes[a.Node].Desc, a.Num,
			f.Nodes[b.Node].Desc, b.Num))
	}
	return console
}

// freePorts returns the ports of switches of the subnet without a cable.
func freePorts(f *fabric.Fabric) (free []fabric.PortIndex) {
	for _, n := range f.Switches {
		for p := range f.Nodes[n].Ports() {
			if f.Nodes[n].InSubnet && !f.Ports[p].Linked() {
				free = append(free, p)
			}
		}
	}
	return free
}

// withFreePorts returns a fabric in which every switch has some free ports.
func withFreePorts(t *testing.T, f *fabric.Fabric, r *rand.Rand) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	for i := range f.Nodes {
		n := f.Nodes[i]
		n.Desc = strings.ReplaceAll(n.Desc, " ", "-") // as in ibsim
		if n.IsSwitch() {
			n.NumPorts += uint8(2 + r.IntN(3))
		}
		if _, err := b.AddNode(n); err != nil {
			t.Fatal(err)
		}
	}
	for i := range f.NumPorts() {
		p := f.Ports[i]
		q := b.Port(p.Node, int(p.Num))
		if q == nil {
			continue
		}
		q.GUID = p.GUID
		if p.Peer > i {
			if err := b.Connect(p.Node, int(p.Num), f.Ports[p.Peer].Node, int(f.Ports[p.Peer].Num)); err != nil {
				t.Fatal(err)
			}
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// newNodes returns the nodes of whole that f does not have.
func newNodes(f, whole *fabric.Fabric) []fabric.Node { return whole.Nodes[len(f.Nodes):] }
