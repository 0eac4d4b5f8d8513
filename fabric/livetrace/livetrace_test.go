// SPDX-License-Identifier: Apache-2.0

package livetrace_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/engines/minhop"
)

// routed returns a simulated subnet with min-hop tables, changed by damage.
func routed(t testing.TB, spec string, damage func(*fabric.Tables)) (*sim.Sim, *fabric.Tables, *mad.Client) {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if damage != nil {
		damage(res.Tables)
	}
	s := sim.New(f, sim.Options{Tables: res.Tables, Active: true})
	return s, res.Tables, connect(t, s, f)
}

func connect(t testing.TB, s *sim.Sim, f *fabric.Fabric) *mad.Client {
	t.Helper()
	conn, err := s.Open(f.EndPortOf(f.SMPort))
	if err != nil {
		t.Fatal(err)
	}
	client, err := mad.NewClient(conn, mad.ClientOptions{Window: 64})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func allPairs(f *fabric.Fabric) []livetrace.Pair {
	var pairs []livetrace.Pair
	for _, src := range f.EndPorts {
		for _, dst := range f.EndPorts {
			pairs = append(pairs, livetrace.Pair{Src: src, LID: f.Ports[dst].LID})
		}
	}
	return pairs
}

// TestAgreesWithTables compares traces over MADs with walks through the tables of the switches, including damaged ones.
func TestAgreesWithTables(t *testing.T) {
	r := testenv.Rand(t)
	for _, spec := range []string{"fattree:2,4", "torus:3x3", "random:9,6,10"} {
		t.Run(spec, func(t *testing.T) {
			_, tables, client := routed(t, spec, func(tb *fabric.Tables) { breakSome(r, tb) })
			f := tables.Fabric
			pairs := allPairs(f)
			seen := map[livetrace.Verdict]int{}
			err := livetrace.New(client, f).All(context.Background(), pairs, func(i int, p *livetrace.Path) {
				if p.Pair != pairs[i] {
					t.Fatalf("pair %d is %+v, want %+v", i, p.Pair, pairs[i])
				}
				seen[p.Verdict]++
				want := walk.Trace(tables, p.Src, p.LID)
				if !agree(f, p, &want) {
					t.Errorf("%s to LID %d: %v, %d hops; by the tables %s, %d hops",
						f.PortName(p.Src), p.LID, p.Verdict, len(p.Hops), want.Explain(f), len(want.Hops))
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if seen[livetrace.Delivered] == 0 || len(seen) < 3 {
				t.Errorf("verdicts %v, want several kinds", seen)
			}
		})
	}
}

func breakSome(r *rand.Rand, tb *fabric.Tables) {
	for range 40 {
		sw := fabric.SwitchIndex(r.IntN(len(tb.Fabric.Switches)))
		row := tb.LFT.Row(sw)
		row[1+r.IntN(int(tb.Fabric.MaxLID))] = []uint8{fabric.NoPath, 0, 1, 2, 3, 77}[r.IntN(6)]
	}
}

// agree reports whether both have the same ports and verdict.
func agree(f *fabric.Fabric, p *livetrace.Path, want *walk.Path) bool {
	verdicts := map[walk.Verdict][]livetrace.Verdict{
		walk.Delivered:    {livetrace.Delivered},
		walk.Loop:         {livetrace.Loop},
		walk.DeadEnd:      {livetrace.NoEntry, livetrace.NoSuchPort, livetrace.LinkDown},
		walk.Misdelivered: {livetrace.Misdelivered},
	}
	fits := false
	for _, v := range verdicts[want.Verdict] {
		fits = fits || v == p.Verdict
	}
	for i, h := range p.Hops {
		if i >= len(want.Hops) {
			break
		}
		if want.Hops[i].Node != h.Node || h.Out != portNum(f, want.Hops[i].Out) && p.Verdict == livetrace.Delivered {
			return false
		}
	}
	return fits && (p.Verdict != livetrace.Delivered || len(p.Hops) == len(want.Hops))
}

func portNum(f *fabric.Fabric, port fabric.PortIndex) int {
	if port == fabric.None || f.Ports[port].Num == 0 {
		return livetrace.NoPort
	}
	return int(f.Ports[port].Num)
}

// TestSeesChanges traces in a subnet that has changed since it was read.
func TestSeesChanges(t *testing.T) {
	s, tables, client := routed(t, "fattree:2,4", nil)
	f := tables.Fabric
	src, dst := f.EndPorts[len(f.EndPorts)-1], f.EndPortOf(f.SMPort)
	tracer := livetrace.New(client, f)
	trace := func() livetrace.Path {
		p, err := traceOne(tracer, livetrace.Pair{Src: dst, LID: f.Ports[src].LID})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := trace(); p.Verdict != livetrace.Delivered {
		t.Fatalf("before: %s", p.Explain(f))
	}
	if err := s.Unlink(src); err != nil {
		t.Fatal(err)
	}
	if p := trace(); p.Verdict != livetrace.LinkDown ||
		!strings.HasSuffix(p.Explain(f), " is in state Down: no packets pass") {
		t.Errorf("with the host unplugged: %s", p.Explain(f))
	}
	s.Silence(f.Ports[f.Ports[src].Peer].Node, true)
	if p := trace(); p.Verdict != livetrace.Silent || p.Err == nil {
		t.Errorf("with its switch silent: %s", p.Explain(f))
	}
}

// TestManyTraces checks that many traces of one session leak nothing.
func TestManyTraces(t *testing.T) {
	_, tables, client := routed(t, "fattree:2,8", nil)
	f := tables.Fabric
	tracer := livetrace.New(client, f)
	r := testenv.Rand(t)
	before := testenv.Resources(t)
	for range testenv.Count(t, 3000, 100000) {
		src, dst := f.EndPorts[r.IntN(len(f.EndPorts))], f.EndPorts[r.IntN(len(f.EndPorts))]
		p, err := traceOne(tracer, livetrace.Pair{Src: src, LID: f.Ports[dst].LID})
		if err != nil || p.Verdict != livetrace.Delivered {
			t.Fatalf("%s to LID %d: %v, %v", f.PortName(src), p.LID, p.Verdict, err)
		}
	}
	before.CheckReleased(t)
}

// TestLinks checks for every speed that a trace reports both ends of each link as in the fabric.
func TestLinks(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,8")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	for i := range f.Nodes {
		f.Nodes[i].VendorID, f.Nodes[i].DeviceID = 0x2c9, 0xc738 // SwitchX, which knows FDR10
	}
	for i, l := range f.Links() {
		for _, p := range []fabric.PortIndex{l.A, l.B} {
			f.Ports[p].Width = []fabric.Width{1, 2, 4, 12}[i%4]
			f.Ports[p].Speed = fabric.SDR + fabric.Speed(i%9)
			f.Ports[p].MTU = uint8(mad.MTU256) + uint8(i%5)
		}
	}
	res, err := minhop.Engine{}.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	client := connect(t, sim.New(f, sim.Options{Tables: res.Tables, Active: true}), f)
	seen := map[string]bool{}
	check := func(h *livetrace.Hop, num int, got livetrace.Link) {
		if num <= 0 {
			return
		}
		p := &f.Ports[f.Port(h.Node, uint8(num))]
		want := p.Width.String() + p.Speed.String()
		if seen[want] = true; got.String() != want || got.State != mad.PortActive {
			t.Errorf("%s/%d runs at %v, %v, want %s, Active", h.Name(f), num, got, got.State, want)
		}
	}
	err = livetrace.New(client, f).All(t.Context(), allPairs(f), func(_ int, p *livetrace.Path) {
		for i := range p.Hops {
			check(&p.Hops[i], p.Hops[i].Out, p.Hops[i].Sends)
			check(&p.Hops[i], p.Hops[i].In, p.Hops[i].Receives)
		}
		gbps, mtu := p.Limits()
		want := walk.Trace(res.Tables, p.Src, p.LID)
		if g, m := want.Limits(f); gbps != g || mtu != m {
			t.Errorf("%s to LID %d: %v Gbit/s, MTU %v, in the tables %v, %v", f.PortName(p.Src), p.LID, gbps, mtu, g, m)
		}
	})
	if err != nil || len(seen) != 36 {
		t.Errorf("%d widths and speeds, %v", len(seen), err)
	}
}

// traceOne traces one pair.
func traceOne(t *livetrace.Tracer, pair livetrace.Pair) (path livetrace.Path, err error) {
	err = t.All(context.Background(), []livetrace.Pair{pair}, func(_ int, p *livetrace.Path) { path = *p })
	return path, err
}
