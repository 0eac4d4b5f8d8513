// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"math"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

// loaded is a simulated subnet with a clock that the test sets.
type loaded struct {
	t      *testing.T
	f      *fabric.Fabric
	tables *fabric.Tables
	s      *sim.Sim
	now    time.Time
}

func newLoaded(t *testing.T, device uint16, wide bool) *loaded {
	t.Helper()
	f, err := gen.ParseSpecAt("fattree:2,8", fabric.NDR)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	l := &loaded{t: t, f: f, now: time.Unix(1_000_000, 0)}
	res, err := minhop.Engine{}.Route(t.Context(), l.f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l.tables = res.Tables
	l.s = sim.New(l.f, sim.Options{Tables: res.Tables, Active: true, Wide: wide, Vendor: fabric.VendorMellanox,
		Device: device, Now: func() time.Time { return l.now }})
	return l
}

// port returns the port of a switch, or the port of a host with num 0.
func (l *loaded) port(name string, num uint8) fabric.PortIndex {
	l.t.Helper()
	nodes := l.f.NodesByDescription(name)
	if len(nodes) == 0 {
		l.t.Fatalf("no node %s", name)
	}
	return l.f.Port(nodes[0], max(num, 1))
}

func (l *loaded) host(name string) fabric.PortIndex { return l.port(name+" HCA-1", 0) }

// counted returns the increase of the counters of a port in a time.
func (l *loaded) counted(port fabric.PortIndex, long time.Duration) (sent, waited, errors float64) {
	l.t.Helper()
	before := l.s.Counters(port)
	l.now = l.now.Add(long)
	after := l.s.Counters(port)
	return float64(after.XmitData-before.XmitData) * 4, float64(after.XmitWait - before.XmitWait),
		float64(after.SymbolErrors - before.SymbolErrors)
}

const ndr = 50e9 // bytes per second of 4x NDR

// TestLoadCounts compares the counters of a loaded subnet with figures computed by hand: two hosts have data for 80 %
// and 40 % of a link, the receiver takes half of a link.
func TestLoadCounts(t *testing.T) {
	for _, c := range []struct {
		device uint16
		bytes  float64 // of one count of XmitWait
	}{{0xd2f2, 8}, {0xcb20, 32 * 4}, {0, 8}} {
		l := newLoaded(t, c.device, true)
		a, b, dst := l.host("node-0001"), l.host("node-0002"), l.host("node-0003")
		last := l.f.Ports[dst].Peer
		l.s.SetLoad(sim.Load{
			Flows:  []sim.Flow{{a, l.f.Ports[dst].LID, 0.8 * ndr}, {b, l.f.Ports[dst].LID, 0.2 * ndr}},
			Drain:  map[fabric.PortIndex]float64{dst: ndr / 2},
			Errors: map[fabric.PortIndex]float64{dst: 7},
		})
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 0.001*want+2 {
				t.Errorf("device %#x: %s %g, want %g", c.device, what, got, want)
			}
		}
		// b wants less than half of what the receiver takes, so it gets all; a gets the rest: 30 %.
		sent, waited, _ := l.counted(last, 10*time.Second)
		near("sent to the receiver", sent, 10*ndr/2)
		near("waits of the last port", waited, 10*ndr*0.5/c.bytes)
		sent, waited, _ = l.counted(a, 10*time.Second)
		near("sent by a", sent, 10*0.3*ndr)
		near("waits of a", waited, 10*ndr*0.7/8)
		sent, waited, _ = l.counted(b, 10*time.Second)
		near("sent by b", sent, 10*0.2*ndr)
		near("waits of b", waited, 0)
		if _, _, errors := l.counted(dst, 10*time.Second); errors != 70 {
			t.Errorf("%g errors, want 70", errors)
		}
	}
}

// TestNarrowWaits reads XmitWait of a blocked port: with 64-bit counters its value, otherwise the maximum of 32 bits
// after less than a second.
func TestNarrowWaits(t *testing.T) {
	for _, wide := range []bool{true, false} {
		l := newLoaded(t, 0xd2f2, wide)
		a, dst := l.host("node-0001"), l.host("node-0002")
		l.s.SetLoad(sim.Load{Flows: []sim.Flow{{a, l.f.Ports[dst].LID, ndr}},
			Drain: map[fabric.PortIndex]float64{dst: 0}})
		l.now = l.now.Add(time.Second)
		conn, err := l.s.Open(l.f.EndPortOf(l.f.SMPort))
		if err != nil {
			t.Fatal(err)
		}
		client, err := mad.NewClient(conn, mad.ClientOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		last := l.f.Ports[dst].Peer
		r, err := counters.Read(t.Context(), client, l.f, counters.Options{}, last)
		if err != nil {
			t.Fatal(err)
		}
		p := r.Ports[0]
		want := uint64(ndr / 8)
		if !wide {
			want = math.MaxUint32
		}
		if got := p.Values[counters.XmitWait]; got != want || p.Stopped.Has(counters.XmitWait) == wide {
			t.Errorf("wide %v: XmitWait %d, stopped %v; want %d", wide, got, p.Stopped.Has(counters.XmitWait), want)
		}
		ticks, err := counters.Ticks(t.Context(), client, l.f, counters.Options{}, last)
		if err != nil || ticks[last] != 7 {
			t.Errorf("ticks %v, %v; want 7", ticks, err)
		}
	}
}

// TestScheduledFlap breaks a link at a time and repairs it later. Traffic counts as if the changes were in time,
// although the subnet is asked only at the end.
func TestScheduledFlap(t *testing.T) {
	l := newLoaded(t, 0xd2f2, true)
	a, dst := l.host("node-0001"), l.host("node-0002")
	l.s.SetLoad(sim.Load{Flows: []sim.Flow{{a, l.f.Ports[dst].LID, ndr / 2}}})
	began := l.now
	l.s.At(began.Add(10*time.Second), func() {
		if err := l.s.Unlink(dst); err != nil {
			t.Error(err)
		}
	})
	l.s.At(began.Add(15*time.Second), func() {
		if err := l.s.Relink(dst); err != nil {
			t.Error(err)
		}
		l.s.SetTables(l.tables)
	})
	if sent, _, _ := l.counted(a, 20*time.Second); math.Abs(sent-15*ndr/2) > 1000 {
		t.Errorf("sent %g bytes, want those of 15 of 20 s: %g", sent, 15*ndr/2)
	}
}
