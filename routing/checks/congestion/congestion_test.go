// SPDX-License-Identifier: Apache-2.0

package congestion_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/congestion"
	"example.org/ibconsole/routing/checks/flows"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/engines/minhop"
)

// routed returns a subnet with its tables.
func routed(t *testing.T, spec string) *fabric.Tables {
	t.Helper()
	f, err := gen.ParseSpecAt(spec, fabric.NDR)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tables
}

// measured is the values of the ports of a subnet, of which most are 0.
type measured struct {
	t      *testing.T
	tables *fabric.Tables
	ports  []congestion.Port
}

func newMeasured(t *testing.T, tables *fabric.Tables) *measured {
	return &measured{t, tables, make([]congestion.Port, len(tables.Fabric.Ports))}
}

func (m *measured) host(name string) fabric.PortIndex {
	m.t.Helper()
	nodes := m.tables.Fabric.NodesByDescription(name + " HCA-1")
	if len(nodes) != 1 {
		m.t.Fatalf("no host %s", name)
	}
	return m.tables.Fabric.Port(nodes[0], 1)
}

// send adds a flow with a share of the rate of the links of its path, and returns the path.
func (m *measured) send(src, dst string, share float64) (path []fabric.PortIndex) {
	m.t.Helper()
	f := m.tables.Fabric
	from, to := m.host(src), m.host(dst)
	for at := from; ; {
		path = append(path, at)
		m.ports[at].Sent += share * f.Ports[at].DataRate()
		m.ports[at].Load += share
		peer := f.Ports[at].Peer
		if peer == to {
			return path
		}
		sw := &f.Nodes[f.Ports[peer].Node]
		at = sw.FirstPort + fabric.PortIndex(m.tables.Port(sw.Switch, f.Ports[to].LID))
	}
}

func (m *measured) find() *congestion.Tree {
	m.t.Helper()
	sent := make([]float64, len(m.ports))
	for i := range m.ports {
		sent[i] = m.ports[i].Sent
	}
	all, err := flows.Estimate(m.t.Context(), m.tables, sent, flows.Options{})
	if err != nil {
		m.t.Fatal(err)
	}
	return congestion.Find(all, m.ports, congestion.Possible(m.tables))
}

// TestTreeByHand has two slow receivers. One blocks a flow of 30 % that waits over two ports. A flow of the same source
// to another host is its victim. The other receiver blocks a flow whose port waits half as long.
func TestTreeByHand(t *testing.T) {
	m := newMeasured(t, routed(t, "fattree:2,8"))
	first := m.send("node-0001", "node-0009", 0.3)
	victim := m.send("node-0001", "node-0030", 0.1)
	second := m.send("node-0005", "node-0020", 0.6)
	for _, p := range first {
		m.ports[p].Wait = 0.6
	}
	for _, p := range second {
		m.ports[p].Wait = 0.3
	}
	tree := m.find()
	if len(tree.Roots) != 2 {
		t.Fatalf("%d roots: %+v", len(tree.Roots), tree.Roots)
	}
	a, b := tree.Roots[0], tree.Roots[1]
	if a.Cause != congestion.SlowReceiver || a.Ports[0] != first[len(first)-1] || b.Cause != congestion.SlowReceiver ||
		b.Ports[0] != second[len(second)-1] {
		t.Errorf("roots %+v and %+v", a, b)
	}
	want := 0.6 * float64(len(first)) / (0.6*float64(len(first)) + 0.3*float64(len(second)))
	if math.Abs(a.Share-want) > 1e-9 || math.Abs(a.Share+b.Share-1) > 1e-9 {
		t.Errorf("shares %g and %g, want %g and the rest", a.Share, b.Share, want)
	}
	wait := slices.Sorted(slices.Values(first[:len(first)-1]))
	if !slices.Equal(a.Tree, wait) {
		t.Errorf("tree %v, want %v", a.Tree, wait)
	}
	if len(a.Through) != 1 || len(a.Victims) != 1 || tree.Flows.All[a.Victims[0]].Dst != m.host("node-0030") ||
		len(b.Victims) != 0 {
		t.Errorf("through %v, victims %v and %v (%v)", a.Through, a.Victims, b.Victims, victim)
	}
}

// TestCauses changes one value at a time of a port for which another one waits.
func TestCauses(t *testing.T) {
	for _, c := range []struct {
		want congestion.Cause
		set  func(up, last *congestion.Port)
	}{
		{congestion.SlowReceiver, func(_, last *congestion.Port) { last.Wait = 0.5 }},
		{congestion.Oversubscribed, func(_, last *congestion.Port) { last.Load = 1 }},
		{congestion.BadCable, func(_, last *congestion.Port) { last.Load, last.Reduced = 1, true }},
		{congestion.BadCable, func(_, last *congestion.Port) { last.Wait, last.Faulty = 0.5, true }},
		{congestion.Oversubscribed, func(up, _ *congestion.Port) { up.Load = 0.97 }},
		{congestion.Unknown, func(up, _ *congestion.Port) { up.Wait = 0.5 }},
		{congestion.Unknown, func(*congestion.Port, *congestion.Port) {}}, // only the host waits
	} {
		m := newMeasured(t, routed(t, "fattree:2,8"))
		path := m.send("node-0001", "node-0009", 0.3)
		m.ports[path[0]].Wait = 0.6
		if c.want != congestion.Unknown && c.want != congestion.Oversubscribed {
			for _, p := range path[:len(path)-1] {
				m.ports[p].Wait = 0.6
			}
		}
		up, last := &m.ports[path[1]], &m.ports[path[len(path)-1]]
		if c.set(up, last); c.want == congestion.Oversubscribed && last.IsFull() {
			m.ports[path[1]].Wait, m.ports[path[2]].Wait = 0.6, 0.6
		}
		tree := m.find()
		if len(tree.Roots) != 1 || tree.Roots[0].Cause != c.want {
			t.Errorf("roots %+v, want %s", tree.Roots, c.want)
		}
	}
}

// TestRingThatSendsNothing: the ports of a deadlock send nothing, so that the tables alone show where they lead.
// Nothing waits without data in the other direction.
func TestRingThatSendsNothing(t *testing.T) {
	m := newMeasured(t, routed(t, "torus:7"))
	f := m.tables.Fabric
	for sw := range f.NumSwitches() {
		n := f.SwitchNode(sw)
		m.ports[n.FirstPort+2].Wait = 1 // ports of a switch: host, clockwise, counter-clockwise
	}
	tree := m.find()
	if len(tree.Roots) != 1 || tree.Roots[0].Cause != congestion.Ring || len(tree.Roots[0].Ports) != 7 {
		t.Errorf("roots %+v, want a ring of 7 ports", tree.Roots)
	}
}

// TestFlowsByHand estimates flows that the counters determine, and bounds of two flows that they do not.
func TestFlowsByHand(t *testing.T) {
	m := newMeasured(t, routed(t, "fattree:2,8"))
	m.send("node-0001", "node-0009", 0.3)
	m.send("node-0002", "node-0009", 0.2)
	m.send("node-0002", "node-0013", 0.05)
	const rate = 50e9
	for _, x := range m.find().Flows.All {
		from, to := x.Src == m.host("node-0001"), x.Dst == m.host("node-0009")
		// Either source may send the 5 % to node-0013: the flows to node-0009 are known up to these.
		least, most := 0.0, 0.05
		switch {
		case from && to:
			least, most = 0.25, 0.3
		case to:
			least, most = 0.2, 0.25
		}
		if x.Bytes < (least-0.01)*rate || x.Bytes > (most+0.01)*rate || x.Least > least*rate+1 ||
			x.Least < (least-0.03)*rate || x.Most < most*rate*0.99 || x.Most > (most+0.03)*rate {
			t.Errorf("%+v, want from %g to %g", x, least*rate, most*rate)
		}
	}
}

// TestPartialFlows keeps only the pairs over a waiting port. Their flows are those of the estimate with all pairs.
func TestPartialFlows(t *testing.T) {
	m := newMeasured(t, routed(t, "fattree:2,8"))
	path := m.send("node-0001", "node-0009", 0.3)
	m.send("node-0002", "node-0013", 0.2)
	m.send("node-0017", "node-0022", 0.4)
	sent := make([]float64, len(m.ports))
	for i := range m.ports {
		sent[i] = m.ports[i].Sent
	}
	over := path[len(path)-1]
	some, err := flows.Estimate(t.Context(), m.tables, sent, flows.Options{MaxPairs: 3,
		Keep: func(_ linkload.Pair, path []fabric.PortIndex) bool { return slices.Contains(path, over) }})
	if err != nil || !some.Partial {
		t.Fatal(some, err)
	}
	sum := 0.0
	for _, x := range some.All {
		if sum += x.Bytes; x.Dst != m.host("node-0009") {
			t.Errorf("%+v is kept", x)
		}
	}
	if math.Abs(sum-0.3*50e9) > 1e7 {
		t.Errorf("%g bytes per second, want 30 %%", sum)
	}
	if _, err := flows.Estimate(t.Context(), m.tables, sent, flows.Options{MaxPairs: 1}); !errors.Is(err,
		flows.ErrTooMany) {
		t.Errorf("error %v, want %v", err, flows.ErrTooMany)
	}
}
