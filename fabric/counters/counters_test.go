// SPDX-License-Identifier: Apache-2.0

package counters_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

func routed(t testing.TB, spec string) (*fabric.Fabric, *sim.Sim) {
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
	return f, sim.New(f, sim.Options{Tables: res.Tables, SendBack: true, Active: true})
}

func client(t testing.TB, transport mad.Transport, opts mad.ClientOptions) *mad.Client {
	t.Helper()
	c, err := mad.NewClient(transport, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

func open(t testing.TB, s *sim.Sim, port fabric.PortIndex, opts mad.ClientOptions) *mad.Client {
	t.Helper()
	conn, err := s.Open(port)
	if err != nil {
		t.Fatal(err)
	}
	return client(t, conn, opts)
}

func read(t testing.TB, c *mad.Client, f *fabric.Fabric, ports ...fabric.PortIndex) *counters.Reading {
	t.Helper()
	r, err := counters.Read(t.Context(), c, f, counters.Options{}, ports...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func noise(r *rand.Rand) mad.PortCountersExtended {
	return mad.PortCountersExtended{
		SymbolErrors: r.Uint64N(100), LinkErrorRecovery: r.Uint64N(100), LinkDowned: r.Uint64N(100),
		RcvErrors:         r.Uint64N(100),
		RcvRemotePhysical: r.Uint64N(100), RcvSwitchRelay: r.Uint64N(100), XmitDiscards: r.Uint64N(100),
		XmitConstraintErrors: r.Uint64N(100), RcvConstraintErrors: r.Uint64N(100), LocalLinkIntegrity: r.Uint64N(15),
		BufferOverruns: r.Uint64N(15), VL15Dropped: r.Uint64N(100), XmitWait: r.Uint64N(100),
		QP1Dropped: r.Uint64N(100),
		XmitData:   r.Uint64N(1 << 50), RcvData: r.Uint64N(1 << 50), XmitPackets: r.Uint64N(1 << 40),
		RcvPackets:         r.Uint64N(1 << 40),
		UnicastXmitPackets: r.Uint64N(1 << 40), UnicastRcvPackets: r.Uint64N(1 << 40),
		MulticastXmitPackets: r.Uint64N(1 << 40), MulticastRcvPackets: r.Uint64N(1 << 40),
	}
}

func values(c mad.PortCountersExtended) counters.Values {
	return counters.Values{
		c.SymbolErrors, c.LinkErrorRecovery, c.LinkDowned, c.RcvErrors, c.RcvRemotePhysical, c.RcvSwitchRelay,
		c.XmitDiscards,
		c.XmitConstraintErrors, c.RcvConstraintErrors, c.LocalLinkIntegrity, c.BufferOverruns, c.VL15Dropped,
		c.XmitWait, c.QP1Dropped,
		c.XmitData, c.RcvData, c.XmitPackets, c.RcvPackets,
		c.UnicastXmitPackets, c.UnicastRcvPackets, c.MulticastXmitPackets, c.MulticastRcvPackets,
	}
}

// TestReadAndClear reads random counters of all ports, clears the errors of some, and checks the result.
func TestReadAndClear(t *testing.T) {
	rnd := testenv.Rand(t)
	f, s := routed(t, "fattree:2,8")
	want := map[fabric.PortIndex]counters.Values{}
	ports := counters.AllPorts(f)
	if hosts := 32; len(ports) != hosts+12*8 {
		t.Errorf("%d ports, want %d of switches and %d of hosts", len(ports), 12*8, hosts)
	}
	for _, p := range ports {
		c := noise(rnd)
		s.SetCounters(p, c)
		want[p] = values(c)
	}
	c := open(t, s, f.SMPort, mad.ClientOptions{Timeout: time.Minute, Tries: 1})
	check := func(r *counters.Reading) {
		t.Helper()
		if len(r.Unanswered) > 0 || len(r.Ports) != len(ports) {
			t.Fatalf("%d ports, unanswered %v", len(r.Ports), r.Unanswered)
		}
		for i, p := range r.Ports {
			if p.Port != ports[i] {
				t.Fatalf("port %d comes as number %d", p.Port, i)
			}
			if p.Values != want[p.Port] {
				t.Fatalf("%s: %v, want %v (has %b)", f.PortName(p.Port), p.Values, want[p.Port], p.Has)
			}
		}
	}
	before := c.Stats().Sent
	first := read(t, c, f)
	check(first)
	if sent, agents := int(c.Stats().Sent-before), len(f.Nodes); sent != agents+2*len(ports) {
		t.Errorf("%d MADs, want one of %d agents and two of %d ports", sent, agents, len(ports))
	}
	for _, what := range []counters.Set{counters.Of(counters.SymbolErrors, counters.XmitWait), counters.Errors,
		counters.Data, counters.All} {
		some := ports[:len(ports)/2]
		unanswered, err := counters.Clear(t.Context(), c, f, counters.Options{}, what, some...)
		if err != nil || len(unanswered) > 0 {
			t.Fatal(err, unanswered)
		}
		for _, p := range some {
			v := want[p]
			for x := range what.All() {
				if x != counters.QP1Dropped { // agents without 64-bit errors do not clear it
					v[x] = 0
				}
			}
			want[p] = v
		}
		check(read(t, c, f))
	}
	for _, d := range counters.Deltas(first, read(t, c, f)) {
		if slices.Contains(ports[:len(ports)/2], d.Port) != (d.Cleared != 0) || d.Seconds <= 0 {
			t.Errorf("%s: cleared %b within %g s", f.PortName(d.Port), d.Cleared, d.Seconds)
		}
	}
}

// TestDeltas compares rates with values computed by hand.
func TestDeltas(t *testing.T) {
	f, _ := routed(t, "fattree:2,4")
	port := f.EndPorts[0]
	other := counters.AllPorts(f)[3]
	at := time.Unix(100, 0)
	reading := func(seconds float64, sym, data uint64, stopped counters.Set) *counters.Reading {
		p := counters.Port{
			Port: port, At: at.Add(time.Duration(seconds * 1e9)),
			Has: counters.Of(counters.SymbolErrors, counters.XmitData), Stopped: stopped,
		}
		p.Values[counters.SymbolErrors], p.Values[counters.XmitData] = sym, data
		return &counters.Reading{Fabric: f, Ports: []counters.Port{{Port: other}, p}}
	}
	d := counters.Deltas(reading(0, 10, 1000, 0), reading(2.5, 20, 400, counters.Of(counters.SymbolErrors)))[1]
	if d.Port != port || d.PerSecond(counters.SymbolErrors) != 4 || d.PerSecond(counters.XmitData) != 160 {
		t.Errorf("%+v: %g errors and %g words a second, want 4 and 160", d, d.PerSecond(counters.SymbolErrors),
			d.PerSecond(counters.XmitData))
	}
	if d.Cleared != d.Has || d.Stopped != counters.Of(counters.SymbolErrors) {
		t.Errorf("cleared %b, stopped %b", d.Cleared, d.Stopped)
	}
	if d := counters.Deltas(reading(0, 1, 1, 0), reading(0, 2, 2, 0))[1]; d.PerSecond(counters.SymbolErrors) != 0 {
		t.Error("a rate without time")
	}
}

func TestBeyond(t *testing.T) {
	p := counters.Port{Has: counters.All &^ counters.Of(counters.XmitWait)}
	p.Values[counters.SymbolErrors], p.Values[counters.LinkDowned], p.Values[counters.XmitWait] = 10, 3, 5
	p.Values[counters.QP1Dropped], p.Values[counters.XmitData] = 4, 1000
	var limits counters.Values
	if got := p.Beyond(&limits); got != counters.Of(counters.SymbolErrors, counters.LinkDowned) {
		t.Errorf("beyond 0: %b", got)
	}
	limits[counters.SymbolErrors], limits[counters.LinkDowned] = 10, 2
	if got := p.Beyond(&limits); got != counters.Of(counters.LinkDowned) {
		t.Errorf("beyond 10 and 2: %b", got)
	}
}

// TestUnanswered reads from a silent host, a silent switch and a host without a LID.
func TestUnanswered(t *testing.T) {
	f, s := routed(t, "fattree:2,4")
	silent, sw, without := f.NodesByDescription("node-0008 HCA-1")[0], f.NodesByDescription("spine-01")[0],
		f.NodesByDescription("node-0003 HCA-1")[0]
	s.Silence(silent, true)
	s.Silence(sw, true)
	lids := make([]uint16, len(f.EndPorts))
	for i, e := range f.EndPorts {
		if lids[i] = f.Ports[e].LID; f.Ports[e].Node == without {
			lids[i] = 0
		}
	}
	g, err := f.WithLIDs(lids)
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, s, f.SMPort, mad.ClientOptions{Timeout: time.Minute, Tries: 1})
	ports := append(counters.AllPorts(g), g.Port(without, 1))
	r := read(t, c, g, ports...)
	got := map[string]int{}
	for _, h := range r.Unanswered {
		got[h.String()] = h.Count
		if !errors.Is(h.Err, mad.ErrTimeout) && !errors.Is(h.Err, counters.ErrNoLID) {
			t.Errorf("%v: %v", h, h.Err)
		}
	}
	for name, count := range map[string]int{
		"node-0008 HCA-1/1: counters: no answer after 1 try: sent back by the transport: connection timed out " +
			"(errno 110)": 1,
		"spine-01: counters: no answer after 1 try: sent back by the transport: connection timed out (errno 110)": 4,
		"node-0003 HCA-1/1: counters: no LID": 1,
	} {
		if got[name] != count {
			t.Errorf("unanswered %q of %d ports, want %d; all: %v", name, got[name], count, got)
		}
	}
	if len(r.Unanswered) != 3 || len(r.Ports) != len(ports)-6 {
		t.Errorf("%d unanswered, %d of %d ports", len(r.Unanswered), len(r.Ports), len(ports))
	}
}

// TestLossyCounters checks that lost and repeated packets change no values.
func TestLossyCounters(t *testing.T) {
	rnd := testenv.Rand(t)
	f, s := routed(t, "fattree:2,8")
	for _, p := range counters.AllPorts(f) {
		s.SetCounters(p, noise(rnd))
	}
	want := read(t, open(t, s, f.SMPort, mad.ClientOptions{}), f)
	s.SetFaults(sim.Faults{Loss: 0.1, Repeat: 0.2, Delay: 2 * time.Millisecond, Seed: rnd.Uint64()})
	got := read(t, open(t, s, f.SMPort, mad.ClientOptions{Window: 32, Timeout: 25 * time.Millisecond, Tries: 12}), f)
	if len(got.Ports) != len(want.Ports) {
		t.Fatalf("%d ports, want %d; %v", len(got.Ports), len(want.Ports), got.Unanswered)
	}
	for i := range want.Ports {
		if got.Ports[i].Values != want.Ports[i].Values {
			t.Errorf("%s differs", f.PortName(want.Ports[i].Port))
		}
	}
}

func TestCancel(t *testing.T) {
	f, s := routed(t, "fattree:2,8")
	ctx, cancel := context.WithCancel(t.Context())
	opts := counters.Options{Progress: func(int, int) { cancel() }}
	s.SetFaults(sim.Faults{Delay: time.Minute})
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := counters.Read(ctx, open(t, s, f.SMPort, mad.ClientOptions{}), f, opts); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// TestReadNoMore counts the MADs: known agents are not asked again, and only requested counters are read.
func TestReadNoMore(t *testing.T) {
	f, s := routed(t, "fattree:2,8")
	c := open(t, s, f.SMPort, mad.ClientOptions{Timeout: time.Minute, Tries: 1})
	ports, agents := len(counters.AllPorts(f)), len(f.Nodes)
	var known counters.Known
	for i, step := range []struct {
		what counters.Set
		mads int
	}{{counters.Errors, agents + ports}, {counters.Errors, ports}, {counters.Of(counters.XmitData), ports},
		{0, 2 * ports}} {
		before := c.Stats().Sent
		r, err := counters.Read(t.Context(), c, f, counters.Options{What: step.what, Known: &known})
		if err != nil || len(r.Ports) != ports {
			t.Fatal(len(r.Ports), err)
		}
		if sent := int(c.Stats().Sent - before); sent != step.mads {
			t.Errorf("reading %d: %d MADs, want %d", i, sent, step.mads)
		}
		if has := r.Ports[0].Has; step.what != 0 && has != step.what {
			t.Errorf("reading %d has %b, want %b", i, has, step.what)
		}
	}
	silent := f.NodesByDescription("spine-01")[0]
	s.Silence(silent, true)
	q := open(t, s, f.SMPort, mad.ClientOptions{Timeout: time.Second, Tries: 1})
	opts := counters.Options{What: counters.Errors, Known: &known}
	if r, err := counters.Read(t.Context(), q, f, opts); err != nil || len(r.Unanswered) != 8 ||
		len(r.Ports) != ports-8 {
		t.Errorf("%d unanswered, %v", len(r.Unanswered), err)
	}
	if r, err := counters.Read(t.Context(), q, f, opts); err != nil || len(r.Unanswered) != 1 ||
		!r.Unanswered[0].Whole {
		t.Errorf("then %d, %v", len(r.Unanswered), err)
	}
}
