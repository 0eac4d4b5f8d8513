// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestLossLeavesNothingUnanswered checks that requests that failed by chance are repeated: at 10 % loss in each
// direction one in 150 fails despite three tries. The result is that of a subnet without loss.
func TestLossLeavesNothingUnanswered(t *testing.T) {
	rnd := testenv.Rand(t)
	f, tables, s := routed(t, "fattree:3,8")
	want := full(t, client(t, open(t, s, f.SMPort), mad.ClientOptions{}), sweep.Options{})
	for _, loss := range []float64{0.001, 0.01, 0.10} {
		t.Run(fmt.Sprint(loss), func(t *testing.T) {
			s.SetFaults(sim.Faults{Loss: loss, Repeat: 0.05, Seed: rnd.Uint64()})
			c := client(t, open(t, s, f.SMPort), mad.ClientOptions{Window: 64, Timeout: 25 * time.Millisecond,
				Backoff: 1})
			got := again(t, func() (*sweep.Result, error) { return sweep.Full(t.Context(), c, sweep.Options{}) })
			clean(t, got)
			same(t, "fabric", describe(want.Fabric), describe(got.Fabric))
			same(t, "tables", describeTables(tables), describeTables(got.Tables))
			if !fabric.Same(want.Fabric, got.Fabric) {
				t.Error("the nodes are in another order")
			}
			if failed := c.Stats().TimedOut; loss == 0.10 && failed == 0 {
				t.Error("no request failed")
			}
			res := again(t, func() (*sweep.Result, error) {
				return sweep.Light(t.Context(), c, want.Fabric, sweep.LightOptions{})
			})
			clean(t, res)
			alike(t, want, res)
		})
	}
}

// again sweeps until the local port answers, whose packets may also be lost.
func again(t *testing.T, sweep func() (*sweep.Result, error)) *sweep.Result {
	t.Helper()
	for range 5 {
		res, err := sweep()
		if err == nil {
			return res
		}
		if !errors.Is(err, mad.ErrTimeout) {
			t.Fatal(err)
		}
	}
	t.Fatal("the local port does not answer")
	return nil
}

// TestLateAnswers delays answers by up to 200 ms, the timeout of a try.
func TestLateAnswers(t *testing.T) {
	f, tables, s := routed(t, "torus:3x2,1")
	s.SetFaults(sim.Faults{Delay: 200 * time.Millisecond, Seed: testenv.Rand(t).Uint64()})
	got := full(t, client(t, open(t, s, f.SMPort), mad.ClientOptions{Window: 64}), sweep.Options{})
	clean(t, got)
	same(t, "fabric", describe(f), describe(got.Fabric))
	same(t, "tables", describeTables(tables), describeTables(got.Tables))
}

// TestSilenceIsNotAskedTwice checks that in a subnet without loss a dead node costs the tries of one request for each
// link, and one further read of the port that leads to it.
func TestSilenceIsNotAskedTwice(t *testing.T) {
	f, _, s := routed(t, "fattree:2,8")
	s.Silence(f.NodesByDescription("node-0008 HCA-1")[0], true)
	c := client(t, open(t, s, f.SMPort), mad.ClientOptions{Timeout: time.Minute})
	res := full(t, c, sweep.Options{})
	if got := c.Stats(); got.TimedOut != 1 || len(res.Unanswered) != 1 {
		t.Errorf("%d requests failed, unanswered %v", got.TimedOut, res.Unanswered)
	}
}

// TestLossOfIbsim lets the hosts' ports of an ibsim and some of its switches lose packets. ibsim does so at every hop,
// in both directions.
func TestLossOfIbsim(t *testing.T) {
	f := generate(t, "fattree:2,12")
	s := ibsimOf(t, f)
	ibsimtest.OpenSM(t, s)
	c := dialIbsim(t, s)
	want := full(t, c, sweep.Options{})
	clean(t, want)
	for i := range f.Nodes {
		n := &f.Nodes[i]
		for p := range n.Slots() {
			if f.Ports[p].Linked() && (!n.IsSwitch() && p != f.SMPort || f.Ports[p].Num == 7) {
				s.Console(fmt.Sprintf("Error %q[%d] 10", strings.TrimSuffix(n.Desc, " HCA-1"), f.Ports[p].Num))
			}
		}
	}
	before := c.Stats().Retried
	got := full(t, c, sweep.Options{})
	clean(t, got)
	same(t, "fabric", describe(want.Fabric), describe(got.Fabric))
	same(t, "tables", describeTables(want.Tables), describeTables(got.Tables))
	if c.Stats().Retried < before+20 {
		t.Errorf("%d tries, nothing was lost", c.Stats().Retried-before)
	}
}

// unrest returns a transport that calls each at every packet, to change the subnet during a sweep.
func unrest(t *testing.T, s *sim.Sim, f *fabric.Fabric, each func(packet int)) mad.Transport {
	t.Helper()
	packets := 0
	return &dropper{Transport: open(t, s, f.SMPort), drop: func(*mad.SMP) bool {
		packets++
		each(packets)
		return false
	}}
}

// plausible checks that the result of a changing subnet is possible: links have two ends that are up and agree; a port
// that is up without a peer is unanswered; known tables are those of the switches.
func plausible(t *testing.T, f *fabric.Fabric, tables *fabric.Tables, res *sweep.Result) {
	t.Helper()
	g := res.Fabric
	unanswered := map[string]bool{}
	for _, h := range res.Unanswered {
		unanswered[fmt.Sprintf("%x/%d", h.GUID, h.Port)], unanswered[fmt.Sprintf("%x", h.GUID)] = true, true
		for num := range uint8(64) { // that of several ports names the first
			if h.Count > 1 && h.Attr == mad.AttrPortInfo {
				unanswered[fmt.Sprintf("%x/%d", h.GUID, num)] = true
			}
		}
	}
	for _, l := range g.Links() {
		a, b := &g.Ports[l.A], &g.Ports[l.B]
		if !linked(f, guidPort(g, l.A), guidPort(g, l.B)) {
			t.Errorf("%s and %s were never linked", g.PortName(l.A), g.PortName(l.B))
		}
		bad := a.State <= mad.PortDown || b.State <= mad.PortDown || a.State != b.State || a.Width != b.Width ||
			a.Speed != b.Speed
		if bad && !unanswered[fmt.Sprintf("%x/%d", g.Nodes[a.Node].GUID, a.Num)] &&
			!unanswered[fmt.Sprintf("%x/%d", g.Nodes[b.Node].GUID, b.Num)] {
			t.Errorf("link of %s (%v) and %s (%v), unanswered %v", g.PortName(l.A), a.State, g.PortName(l.B), b.State,
				res.Unanswered)
		}
	}
	for i := range g.NumPorts() {
		p := &g.Ports[i]
		n := &g.Nodes[p.Node]
		if !n.IsSwitch() || p.Num == 0 || p.Linked() || p.State <= mad.PortDown || !n.InSubnet {
			continue
		}
		if !unanswered[fmt.Sprintf("%x", n.GUID)] && len(res.Warnings) == 0 {
			t.Errorf("%s is up without a peer, which is not reported", g.PortName(i))
		}
	}
	if res.Tables == nil {
		return
	}
	for sw := range g.NumSwitches() {
		was := f.SwitchByGUID(g.SwitchNode(sw).GUID)
		for lid := uint16(0); res.Tables.Known[sw] && lid <= tables.Top[was]; lid++ {
			if got, want := res.Tables.Port(sw, lid), tables.Port(was, lid); got != want {
				t.Fatalf("%s: LID %d by port %d, want %d", g.NodeName(g.Switches[sw]), lid, got, want)
			}
		}
	}
}

// TestFlappingLinks breaks and restores links during sweeps.
func TestFlappingLinks(t *testing.T) {
	rnd := testenv.Rand(t)
	for round := range testenv.Count(t, 20, 400) {
		f, tables, s := routed(t, []string{"fattree:3,4", "torus:4x3,2", "fattree:2,8"}[round%3])
		before := full(t, client(t, open(t, s, f.SMPort), mad.ClientOptions{}), sweep.Options{})
		links := f.Links()
		flap := func(packet int) {
			if l := links[rnd.IntN(len(links))]; packet%40 == 0 && l.A != f.SMPort && l.B != f.SMPort {
				toggle(t, s, l, rnd)
			}
		}
		opts := mad.ClientOptions{Window: 1 + rnd.IntN(16), Timeout: time.Minute, Tries: 2}
		plausible(t, f, tables, full(t, client(t, unrest(t, s, f, flap), opts), sweep.Options{}))
		plausible(t, f, tables, light(t, client(t, unrest(t, s, f, flap), opts), before.Fabric, sweep.LightOptions{}))
		quiet := full(t, client(t, open(t, s, f.SMPort), mad.ClientOptions{}), sweep.Options{NoTables: true})
		alike(t, quiet, light(t, client(t, open(t, s, f.SMPort), mad.ClientOptions{}), before.Fabric,
			sweep.LightOptions{}))
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

func toggle(t *testing.T, s *sim.Sim, l fabric.Link, rnd *rand.Rand) {
	t.Helper()
	err := s.Unlink(l.A)
	if rnd.IntN(2) == 0 {
		err = s.Relink(l.A)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestSwitchComesAndGoes enables or breaks all links of a switch at some packet of a sweep.
func TestSwitchComesAndGoes(t *testing.T) {
	rnd := testenv.Rand(t)
	for round := range testenv.Count(t, 30, 600) {
		f, tables, s := routed(t, []string{"fattree:3,4", "torus:4x3,2"}[round%2])
		sw := f.Switches[rnd.IntN(len(f.Switches))]
		if f.PeerNode(f.SMPort) == sw {
			continue
		}
		cables := func(move func(fabric.PortIndex) error) {
			n := &f.Nodes[sw]
			for p := range n.Ports() {
				if f.Ports[p].Linked() {
					if err := move(p); err != nil {
						t.Error(err)
					}
				}
			}
		}
		comes, at := round%4 < 2, 1+rnd.IntN(400)
		if comes {
			cables(s.Unlink)
		}
		conn := unrest(t, s, f, func(packet int) {
			if packet == at && comes {
				cables(s.Relink)
			} else if packet == at {
				cables(s.Unlink)
			}
		})
		res := full(t, client(t, conn, mad.ClientOptions{Window: 1 + rnd.IntN(16), Timeout: time.Minute, Tries: 2}),
			sweep.Options{})
		plausible(t, f, tables, res)
		if i := res.Fabric.SwitchByGUID(f.Nodes[sw].GUID); i != fabric.None && !comes && !res.Tables.Known[i] &&
			len(res.Unanswered) == 0 {
			t.Error("the switch is gone, which is not reported")
		}
		if t.Failed() {
			t.Fatalf("round %d: %s at packet %d, comes: %v; unanswered %v", round, f.NodeName(sw), at, comes,
				res.Unanswered)
		}
	}
}
