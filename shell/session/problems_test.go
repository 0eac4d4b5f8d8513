// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/internal/test/simtest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/shell/session/survey"
)

// bench is a session on a simulated subnet with a master subnet manager, as a
// session on adapters sees one.
type bench struct {
	*session.Session
	t   *testing.T
	sim *sim.Sim
	f   *fabric.Fabric
	r   *rand.Rand
	// master is the port of the subnet manager.
	master  fabric.PortIndex
	manager func(port fabric.PortIndex, state mad.SMState)
	lft     *fabric.LFT
	// used are the nodes that something was planted at, or next to.
	used map[fabric.NodeIndex]bool
}

// want is a planted problem.
type want struct {
	kind problems.Kind
	// at are the places of which it may name any, none for the whole subnet.
	at []problems.Place
}

func newBench(t *testing.T, r *rand.Rand, spec string, spoil func(*fabric.LFT, *fabric.Fabric)) *bench {
	t.Helper()
	subnet := simtest.New(t, spec, spoil)
	b := &bench{t: t, sim: subnet.Sim, f: subnet.Fabric, r: r, lft: subnet.LFT, master: subnet.Master,
		manager: subnet.Manager, used: map[fabric.NodeIndex]bool{}}
	f := b.f
	b.used[f.Ports[b.master].Node], b.used[f.PeerNode(b.master)] = true, true
	conn := subnet.Open(t)
	s, err := session.Open(t.Context(), source.Source{Kind: source.Ibsim},
		session.Options{StateDir: t.TempDir(), Dial: func(context.Context) (mad.Transport, error) {
			return conn, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b.Session = s
	b.sweep()
	return b
}

func (b *bench) sweep() {
	b.t.Helper()
	if _, err := b.Sweep(context.Background()); err != nil {
		b.t.Fatal(err)
	}
}

// host is the end port of a host that nothing was planted at, and so is its switch.
func (b *bench) host() fabric.PortIndex {
	for {
		e := b.f.EndPorts[b.r.IntN(len(b.f.EndPorts))]
		node := b.f.Ports[e].Node
		if !b.f.Nodes[node].IsSwitch() && !b.used[node] {
			b.used[node], b.used[b.f.PeerNode(e)] = true, true
			return e
		}
	}
}

// cable is a port of a link between switches, of which neither has been used.
func (b *bench) cable() fabric.PortIndex {
	for {
		p := fabric.PortIndex(b.r.IntN(len(b.f.Ports)))
		node := b.f.Ports[p].Node
		if !b.f.Nodes[node].IsSwitch() || b.f.PeerSwitch(p) == fabric.None || b.used[node] || b.used[b.f.PeerNode(p)] {
			continue
		}
		b.used[node], b.used[b.f.PeerNode(p)] = true, true
		return p
	}
}

func (b *bench) ends(port fabric.PortIndex) []problems.Place {
	return []problems.Place{problems.PlaceOfPort(b.f, port), problems.PlaceOfPort(b.f, b.f.Ports[port].Peer)}
}

func (b *bench) save() {
	b.t.Helper()
	if _, err := b.SaveBaseline(context.Background(), ""); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// plants are ways to make a problem that a sweep, counters or a watch shows. Each says
// what must be found.
var plants = map[string]func(*bench) want{
	"narrow": func(b *bench) want {
		p := b.cable()
		b.sim.Degrade(p, []fabric.Width{1, 2}[b.r.IntN(2)], fabric.HDR)
		return want{problems.Narrow, b.ends(p)}
	},
	"slow": func(b *bench) want {
		p := b.cable()
		b.sim.Degrade(p, 4, []fabric.Speed{fabric.SDR, fabric.QDR, fabric.FDR, fabric.EDR}[b.r.IntN(4)])
		return want{problems.Slow, b.ends(p)}
	},
	"narrow host": func(b *bench) want {
		p := b.host()
		b.sim.Degrade(p, 1, fabric.HDR)
		return want{problems.Narrow, b.ends(p)}
	},
	"errors": func(b *bench) want {
		p := b.cable()
		b.count()
		c := b.sim.Counters(p)
		which := []*uint64{&c.SymbolErrors, &c.LinkErrorRecovery, &c.LinkDowned, &c.RcvErrors, &c.XmitDiscards,
			&c.LocalLinkIntegrity, &c.BufferOverruns, &c.VL15Dropped}
		*which[b.r.IntN(len(which))] += 1 + b.r.Uint64N(50)
		b.sim.SetCounters(p, c)
		b.count()
		return want{problems.Rising, []problems.Place{problems.PlaceOfPort(b.f, p)}}
	},
	"flapping": func(b *bench) want {
		p := b.cable()
		for range 2 + b.r.IntN(2) {
			b.must(b.sim.Unlink(p))
			b.sweep()
			b.must(b.sim.Relink(p))
			b.sweep()
		}
		return want{problems.Flapping, b.ends(p)}
	},
	"node GUID": func(b *bench) want {
		p, q := b.host(), b.host()
		b.sim.SetGUID(b.f.Ports[p].Node, b.f.Nodes[b.f.Ports[q].Node].GUID)
		return want{problems.DuplicateGUID, nil}
	},
	"LID": func(b *bench) want {
		p, q := b.host(), b.host()
		b.sim.SetLID(p, b.f.Ports[q].LID)
		return want{problems.DuplicateLID, []problems.Place{problems.PlaceOfPort(b.f, p), problems.PlaceOfPort(b.f, q)}}
	},
	"no master": func(b *bench) want {
		if b.r.IntN(2) == 0 {
			b.sim.SetSM(b.master, nil)
		} else {
			b.manager(b.master, mad.SMStandby)
		}
		return want{problems.NoMaster, nil}
	},
	"two masters": func(b *bench) want {
		b.manager(b.host(), mad.SMMaster)
		return want{problems.TwoMasters, nil}
	},
	"silent host": func(b *bench) want {
		p := b.host()
		b.sim.Silence(b.f.Ports[p].Node, true)
		return want{problems.Silent, []problems.Place{problems.PlaceOfPort(b.f, b.f.Ports[p].Peer)}}
	},
	"silent switch": func(b *bench) want {
		p := b.cable()
		b.sim.Silence(b.f.Ports[p].Node, true)
		n := &b.f.Nodes[b.f.Ports[p].Node]
		var at []problems.Place
		for q := range n.Ports() {
			if peer := b.f.Ports[q].Peer; peer != fabric.None {
				at = append(at, problems.PlaceOfPort(b.f, peer))
			}
		}
		return want{problems.Silent, at}
	},
	"missing host": func(b *bench) want {
		b.save()
		p := b.host()
		b.sim.PowerOff(b.f.Ports[p].Node)
		return want{problems.Missing, []problems.Place{problems.PlaceOfNode(b.f, b.f.Ports[p].Node)}}
	},
	"missing link": func(b *bench) want {
		b.save()
		p := b.cable()
		b.must(b.sim.Unlink(p))
		return want{problems.LinkMissing, b.ends(p)}
	},
	"not active": func(b *bench) want {
		p := b.cable()
		b.must(b.sim.Unlink(p))
		b.must(b.sim.Relink(p))
		return want{problems.NotActive, b.ends(p)}
	},
	"drift": func(b *bench) want {
		set, err := settings.Parse(context.Background(), nil,
			[]settings.Setting{{Name: "port_shifting", Value: "TRUE"}})
		b.must(err)
		b.SetSettings(set)
		c, err := b.Calibrate(context.Background())
		b.must(err)
		if c.Differ == 0 {
			b.t.Fatal("port_shifting changes nothing here")
		}
		return want{problems.TablesDiffer, nil}
	},
}

func (b *bench) count() {
	b.t.Helper()
	_, _, err := b.Counters(context.Background())
	b.must(err)
}

// tablePlants are ways to spoil the tables.
var tablePlants = map[string]struct {
	kind  problems.Kind
	spoil func(*rand.Rand, *fabric.LFT, *fabric.Fabric)
}{
	"paths lost": {problems.PathsLost, func(r *rand.Rand, t *fabric.LFT, f *fabric.Fabric) {
		lid := leafLID(r, f)
		at, _ := f.AttachedSwitch(f.PortByLID(lid))
		t.Row(at)[lid] = fabric.NoPath
	}},
	"loop": {problems.Loops, func(r *rand.Rand, t *fabric.LFT, f *fabric.Fabric) {
		lid := leafLID(r, f)
		at, _ := f.AttachedSwitch(f.PortByLID(lid))
		n := f.SwitchNode(at)
		for p := range n.Ports() { // back to where it comes from
			if other := f.PeerSwitch(p); other != fabric.None {
				t.Row(at)[lid] = f.Ports[p].Num
				return
			}
		}
	}},
	"wrong host": {problems.Misdelivered, func(r *rand.Rand, t *fabric.LFT, f *fabric.Fabric) {
		lid := leafLID(r, f)
		at, port := f.AttachedSwitch(f.PortByLID(lid))
		n := f.SwitchNode(at)
		for p := range n.Ports() {
			if f.Ports[p].Linked() && f.PeerSwitch(p) == fabric.None && f.Ports[p].Num != port {
				t.Row(at)[lid] = f.Ports[p].Num
				return
			}
		}
	}},
}

func leafLID(r *rand.Rand, f *fabric.Fabric) uint16 {
	for {
		e := f.EndPorts[r.IntN(len(f.EndPorts))]
		if !f.Nodes[f.Ports[e].Node].IsSwitch() {
			return f.Ports[e].LID
		}
	}
}

// TestPlantedProblems plants problems of every kind, several at a time, and looks for
// each of them.
func TestPlantedProblems(t *testing.T) {
	r := testenv.Rand(t)
	names := make([]string, 0, len(plants))
	for name := range plants {
		names = append(names, name)
	}
	slices.Sort(names)
	planted, rounds := 0, 0
	for total := testenv.Count(t, 50, 2000); planted < total; { // each kind alone, and together with others
		alone := rounds/len(names)%2 == 0
		for range len(names) {
			b := newBench(t, r, fmt.Sprintf("fattree:2,%d", []int{12, 16}[r.IntN(2)]), nil)
			var wants []want
			name := names[rounds%len(names)]
			rounds++
			what := name
			if !alone { // several at once
				for _, more := range []string{"narrow", "slow", "narrow host"} {
					wants = append(wants, plants[more](b))
					what += ", " + more
				}
				b.sweep()
			}
			wants = append(wants, plants[name](b))
			b.sweepUnless(name)
			rep, err := survey.Problems(t.Context(), b.Session, survey.Options{})
			b.must(err)
			for _, w := range wants {
				planted++
				if !holds(rep, w) {
					t.Errorf("%s: nothing says %q at %v:\n%+v", what, w.kind, w.at, rep.Problems)
				}
			}
			if alone {
				b.only(what, rep, wants[0])
			}
		}
	}
	for name, p := range tablePlants {
		for range testenv.Count(t, 3, 10) {
			b := newBench(t, r, "fattree:2,12", func(lft *fabric.LFT, f *fabric.Fabric) { p.spoil(r, lft, f) })
			rep, err := survey.Problems(t.Context(), b.Session, survey.Options{})
			b.must(err)
			planted++
			if !slices.ContainsFunc(rep.Problems, func(x problems.Problem) bool { return x.Kind == p.kind }) {
				t.Errorf("%s: nothing says %q: %+v", name, p.kind, rep.Problems)
			}
		}
	}
	// rings of more than four switches under min-hop
	for _, spec := range []string{"torus:5", "torus:4x4", "torus:6x5"} {
		planted++
		oneLane := newBench(t, r, spec, func(_ *fabric.LFT, f *fabric.Fabric) {
			for i := range f.Ports {
				f.Ports[i].OperVLs = 1
			}
		})
		oneLane.loops(spec+" with one lane", true)
		b := newBench(t, r, spec, nil)
		b.loops(spec, false)
		_, err := b.Calibrate(t.Context())
		b.must(err)
		b.loops(spec+" calibrated", false)
		_, err = b.SweepFor(t.Context(), session.Reads{SL2VL: true})
		b.must(err)
		b.loops(spec+" calibrated, lanes read", true)
	}
	t.Logf("%d planted", planted)
}

// loops checks that a credit loop is reported, or that it is unknown whether there is one.
func (b *bench) loops(what string, want bool) {
	b.t.Helper()
	rep, err := survey.Problems(b.t.Context(), b.Session, survey.Options{})
	b.must(err)
	told := slices.ContainsFunc(rep.Problems, func(x problems.Problem) bool {
		return x.Kind == problems.CreditLoop && x.Severity == problems.Error
	})
	unknown := slices.ContainsFunc(rep.Unchecked, func(x problems.Unchecked) bool {
		return x.What == "credit loops" && strings.HasPrefix(x.Why, "unknown: ") && x.Try != ""
	})
	if told != want || unknown == want {
		b.t.Errorf("%s: credit loop %v, unknown %v: %+v", what, told, unknown, rep)
	}
}

// sweepUnless sweeps, but for what a sweep would take away or has been read.
func (b *bench) sweepUnless(name string) {
	if name != "drift" && name != "errors" {
		b.sweep()
	}
}

func holds(rep *problems.Report, w want) bool {
	return slices.ContainsFunc(rep.Problems, func(p problems.Problem) bool {
		return p.Kind == w.kind && (w.at == nil || slices.ContainsFunc(w.at, func(at problems.Place) bool {
			return at.GUID == p.At.GUID && at.Port == p.At.Port
		}))
	})
}

// follows are the kinds that a planted one may bring with it: a subnet whose node is
// gone or silent has tables that end there, and a link that came back is not Active,
// as no subnet manager runs.
var follows = map[problems.Kind][]problems.Kind{
	problems.Silent: {problems.Missing, problems.PathsLost, problems.TableUnread, problems.NotActive,
		problems.Misdelivered, problems.Loops, problems.Asymmetric},
	problems.Missing:     {problems.PathsLost, problems.Misdelivered, problems.Asymmetric},
	problems.LinkMissing: {problems.PathsLost, problems.Asymmetric},
	problems.NotActive:   {},
	problems.Flapping:    {problems.NotActive},
	problems.DuplicateGUID: {problems.Missing, problems.PathsLost, problems.Noticed, problems.Misdelivered,
		problems.Asymmetric},
	problems.DuplicateLID: {problems.PathsLost, problems.NoLID, problems.Misdelivered},
}

// only checks that no problems are reported except the planted one and its consequences, and of kinds with ports no
// other port.
func (b *bench) only(what string, rep *problems.Report, w want) {
	b.t.Helper()
	for _, p := range rep.Problems {
		if p.Kind != w.kind && !slices.Contains(follows[w.kind], p.Kind) {
			b.t.Errorf("%s: this was not planted: %+v", what, p)
		}
		if p.Kind == w.kind && w.at != nil && !holds(&problems.Report{Problems: []problems.Problem{p}}, w) {
			b.t.Errorf("%s: this is elsewhere: %+v, expected %v", what, p, w.at)
		}
	}
}

// TestRecabled swaps cables between two pictures, in a file.
func TestRecabled(t *testing.T) {
	r := testenv.Rand(t)
	for range 20 {
		was, err := gen.ParseSpec("fattree:2,8")
		if err != nil {
			t.Fatal(err)
		}
		var hosts []fabric.PortIndex
		for _, e := range was.EndPorts {
			if !was.Nodes[was.Ports[e].Node].IsSwitch() && e != was.SMPort {
				hosts = append(hosts, e)
			}
		}
		r.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
		is := swapped(t, was, hosts[0], hosts[1])
		rep := &problems.Report{}
		rep.Baseline(was, is, nil, "then")
		at := map[string]bool{}
		for _, p := range rep.Problems {
			if p.Kind != problems.Recabled {
				t.Errorf("this was not planted: %+v", p)
			}
			at[p.What] = true
		}
		if len(at) != 2 {
			t.Errorf("%d of 2 cables: %v", len(at), rep.Problems)
		}
	}
}

// swapped is a fabric with the cables of two ports exchanged.
func swapped(t *testing.T, f *fabric.Fabric, x, y fabric.PortIndex) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	for i := range f.Nodes {
		if _, err := b.AddNode(f.Nodes[i]); err != nil {
			t.Fatal(err)
		}
	}
	peer := func(p fabric.PortIndex) fabric.PortIndex {
		switch p {
		case f.Ports[x].Peer:
			return y
		case f.Ports[y].Peer:
			return x
		}
		return f.Ports[p].Peer
	}
	for p := range f.Ports {
		if to := b.Port(f.Ports[p].Node, int(f.Ports[p].Num)); to != nil {
			*to = f.Ports[p]
			to.Peer = fabric.None
		}
	}
	for i := range f.Ports {
		p := fabric.PortIndex(i)
		if !f.Nodes[f.Ports[p].Node].IsSwitch() || f.Ports[p].Peer == fabric.None {
			continue
		}
		q := peer(p)
		if err := b.Connect(f.Ports[p].Node, int(f.Ports[p].Num), f.Ports[q].Node, int(f.Ports[q].Num)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.SetSMPort(f.Ports[f.SMPort].Node, int(f.Ports[f.SMPort].Num)); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestBaselineIsKept saves a baseline, and a later session on the same subnet has it.
func TestBaselineIsKept(t *testing.T) {
	dir := t.TempDir()
	src, err := source.Parse("sim:fattree:2,8")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		s, err := session.Open(t.Context(), src, session.Options{StateDir: filepath.Join(dir, "state")})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if b := s.State().Baseline; (b != nil) != (i == 1) {
			t.Errorf("session %d: baseline %v", i, b)
		}
		if i == 0 {
			if _, err := s.SaveBaseline(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		} else if c := fabric.Changes(s.State().Baseline.Fabric, s.State().Live.Fabric); len(c) > 0 {
			t.Errorf("it differs: %v", c)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func countKinds(t *testing.T, s *session.Session) map[problems.Kind]int {
	t.Helper()
	r, err := survey.Problems(t.Context(), s, survey.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[problems.Kind]int{}
	for _, p := range r.Problems {
		kinds[p.Kind]++
	}
	return kinds
}

// TestNobodyBroughtItUp: links that no subnet manager has seen are one problem.
func TestNobodyBroughtItUp(t *testing.T) {
	s := sessiontest.Open(t, "ibsim:"+sessiontest.Ibsim(t, "sim:fattree:2,12").Name)
	if got := countKinds(t, s); got[problems.NotActive] != 1 || got[problems.NoMaster] != 1 {
		t.Errorf("%v", got)
	}
}

// TestSilenceIsToldOnce: what does not answer is not missing from the baseline as well.
func TestSilenceIsToldOnce(t *testing.T) {
	b := newBench(t, testenv.Rand(t), "fattree:2,12", nil)
	b.save()
	b.sim.Silence(b.f.Ports[b.host()].Node, true)
	b.sweep()
	if got := countKinds(t, b.Session); got[problems.Silent] != 1 || got[problems.Missing]+got[problems.LinkMissing]+
		got[problems.Changed] != 0 {
		t.Errorf("%v", got)
	}
}
