// SPDX-License-Identifier: Apache-2.0

package cabling_test

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/cabling"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// wire is a cable between two ports, the first one lower.
type wire [2]fabric.PortIndex

func wireOf(a, b fabric.PortIndex) wire { return wire{min(a, b), max(a, b)} }

func wires(f *fabric.Fabric) []wire {
	var all []wire
	for _, l := range f.Links() {
		all = append(all, wireOf(l.A, l.B))
	}
	return all
}

// rewire returns a fabric with the nodes of f and other cables. Port indexes stay the same.
func rewire(t testing.TB, f *fabric.Fabric, cables []wire, slow map[wire]bool) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	for i := range f.Nodes {
		n := f.Nodes[i]
		if _, err := b.AddNode(n); err != nil {
			t.Fatal(err)
		}
		for p := 1; p <= int(n.NumPorts); p++ {
			port := b.Port(fabric.NodeIndex(i), p)
			port.GUID, port.State, port.Width, port.Speed = n.GUID+uint64(p), mad.PortActive, 4, fabric.HDR
		}
	}
	for _, w := range cables {
		x, y := f.Ports[w[0]], f.Ports[w[1]]
		if slow[w] {
			b.Port(x.Node, int(x.Num)).Speed, b.Port(y.Node, int(y.Num)).Speed = fabric.EDR, fabric.EDR
		}
		if err := b.Connect(x.Node, int(x.Num), y.Node, int(y.Num)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func planOf(f *fabric.Fabric, cables []wire) *cabling.Plan {
	r := cabling.NewResolver(f)
	p := &cabling.Plan{File: "plan"}
	for i, w := range cables {
		p.Cables = append(p.Cables, cabling.Cable{Line: i + 1, Ends: [2]cabling.End{r.EndOf(w[0]), r.EndOf(w[1])}})
	}
	return p
}

// switches returns a fabric of n switches without cables.
func switches(t testing.TB, n, ports int) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	for i := range n {
		node := fabric.Node{GUID: 0x10 * uint64(i+1), Desc: fmt.Sprintf("sw%d", i+1), Type: mad.NodeSwitch,
			NumPorts: uint8(ports)}
		if _, err := b.AddNode(node); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func ports(f *fabric.Fabric) []fabric.PortIndex {
	var all []fabric.PortIndex
	for i := range f.Ports {
		if f.Ports[i].Num > 0 {
			all = append(all, fabric.PortIndex(i))
		}
	}
	return all
}

// matching returns n random cables between the ports.
func matching(r *rand.Rand, ports []fabric.PortIndex, n int) (all []wire) {
	order := r.Perm(len(ports))
	for i := range min(n, len(ports)/2) {
		all = append(all, wireOf(ports[order[2*i]], ports[order[2*i+1]]))
	}
	return all
}

func compare(t testing.TB, f *fabric.Fabric, p *cabling.Plan) *cabling.Result {
	t.Helper()
	res, err := cabling.Compare(f, p, cabling.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// checkDifference compares the faults with the difference of the sets of cables.
func checkDifference(t testing.TB, res *cabling.Result, planned, real []wire) {
	t.Helper()
	missing, extra := map[wire]int{}, map[wire]int{}
	for _, f := range res.Faults {
		for _, i := range f.Planned {
			missing[planned[i]]++
		}
		for _, l := range f.Cables {
			extra[wireOf(l.A, l.B)]++
		}
	}
	want := func(of, without []wire) map[wire]int {
		m := map[wire]int{}
		for _, w := range of {
			if !slices.Contains(without, w) {
				m[w] = 1
			}
		}
		return m
	}
	if w := want(planned, real); !maps.Equal(missing, w) {
		t.Errorf("missing: %v, expected %v", missing, w)
	}
	if w := want(real, planned); !maps.Equal(extra, w) {
		t.Errorf("extra: %v, expected %v", extra, w)
	}
	if len(res.Unmatched) > 0 {
		t.Errorf("unmatched: %+v", res.Unmatched)
	}
}

// checkSteps carries out the steps and compares the cables afterwards with the plan. Every port must be free when a
// cable is plugged in.
func checkSteps(t testing.TB, res *cabling.Result, planned, real []wire) {
	t.Helper()
	at := map[fabric.PortIndex]fabric.PortIndex{}
	connect := func(a, b fabric.PortIndex) {
		for _, p := range []fabric.PortIndex{a, b} {
			if _, used := at[p]; used {
				t.Errorf("port %d is not free", p)
			}
		}
		at[a], at[b] = b, a
	}
	unplug := func(a, b fabric.PortIndex) {
		if at[a] != b {
			t.Errorf("no cable between %d and %d", a, b)
		}
		delete(at, a)
		delete(at, b)
	}
	for _, w := range real {
		connect(w[0], w[1])
	}
	var hanging *cabling.Step
	lifted, cost := 0, 0
	for i := range res.Repair.Steps {
		s := &res.Repair.Steps[i]
		if hanging != nil && (s.Action != cabling.Move || s.Hanging) {
			connect(hanging.Keep.Port, hanging.To.Port)
			hanging = nil
		}
		switch s.Action {
		case cabling.Move:
			unplug(s.Keep.Port, s.From.Port)
			cost++
			if s.Hanging {
				hanging = s
				break
			}
			_, used := at[s.To.Port]
			if used && hanging != nil { // the ring of the hanging end is complete
				connect(hanging.Keep.Port, hanging.To.Port)
				hanging = nil
			}
			connect(s.Keep.Port, s.To.Port)
		case cabling.Remove, cabling.Lift:
			unplug(s.Keep.Port, s.From.Port)
			cost += 2
			if s.Action == cabling.Lift {
				lifted++
			}
		case cabling.Add:
			connect(s.Keep.Port, s.To.Port)
			cost += 2
		case cabling.Reuse:
			lifted--
			connect(s.Keep.Port, s.To.Port)
		}
	}
	if hanging != nil {
		connect(hanging.Keep.Port, hanging.To.Port)
	}
	got := map[wire]bool{}
	for a, b := range at {
		got[wireOf(a, b)] = true
	}
	for _, w := range planned {
		if !got[w] {
			t.Errorf("after the repair %v is missing", w)
		}
	}
	if len(got) != len(planned) || lifted != 0 || cost != res.Repair.Cost {
		t.Errorf("after the repair: %d cables, expected %d; %d in hand; cost %d, expected %d", len(got), len(planned),
			lifted, cost, res.Repair.Cost)
	}
}

// TestCostIsTheMinimum compares the cost with that of a search over all sequences of moves.
func TestCostIsTheMinimum(t *testing.T) {
	r := testenv.Rand(t)
	f := switches(t, 3, 3)
	all := ports(f)
	for range testenv.Count(t, 150, 1000) {
		few := all[:4+r.IntN(4)]
		planned, real := matching(r, few, r.IntN(4)), matching(r, few, r.IntN(4))
		res := compare(t, rewire(t, f, real, nil), planOf(f, planned))
		checkDifference(t, res, planned, real)
		checkSteps(t, res, planned, real)
		if want := search(few, planned, real); res.Repair.Cost != want || !res.Repair.Exact {
			t.Fatalf("plan %v, cables %v: cost %d (exact %v), expected %d", planned, real, res.Repair.Cost,
				res.Repair.Exact, want)
		}
	}
}

// state is a set of cables. An end is the index of a port, or inHand for an end that is not plugged in.
type state [][2]int

const inHand = 99

func (s state) key() string {
	c := slices.Clone(s)
	for i := range c {
		slices.Sort(c[i][:])
	}
	slices.SortFunc(c, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	return fmt.Sprint(c)
}

type visit struct {
	s    state
	cost int
}

type queue []visit

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].cost < q[j].cost }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(visit)) }
func (q *queue) Pop() any          { old := *q; x := old[len(old)-1]; *q = old[:len(old)-1]; return x }

// search returns the least cost of a sequence of moves (Dijkstra). To unplug an end is free, to plug it in costs 1, to
// remove or add a whole cable costs 2.
func search(ports []fabric.PortIndex, planned, real []wire) int {
	encode := func(cables []wire) (s state) {
		for _, w := range cables {
			s = append(s, [2]int{slices.Index(ports, w[0]), slices.Index(ports, w[1])})
		}
		return s
	}
	goal, q := encode(planned).key(), &queue{{encode(real), 0}}
	done := map[string]bool{}
	for q.Len() > 0 {
		v := heap.Pop(q).(visit)
		key := v.s.key()
		if key == goal {
			return v.cost
		}
		if done[key] {
			continue
		}
		done[key] = true
		used := map[int]bool{}
		for _, c := range v.s {
			used[c[0]], used[c[1]] = true, true
		}
		with := func(i, end, to, cost int) {
			s := slices.Clone(v.s)
			s[i][end] = to
			heap.Push(q, visit{s, v.cost + cost})
		}
		for i := range v.s {
			for end := range 2 {
				if v.s[i][end] != inHand {
					with(i, end, inHand, 0)
					continue
				}
				for p := range ports {
					if !used[p] {
						with(i, end, p, 1)
					}
				}
			}
			heap.Push(q, visit{slices.Delete(slices.Clone(v.s), i, i+1), v.cost + 2})
		}
		for a := range ports {
			for b := range a {
				if !used[a] && !used[b] && len(v.s) < len(planned) {
					heap.Push(q, visit{append(slices.Clone(v.s), [2]int{a, b}), v.cost + 2})
				}
			}
		}
	}
	return -1
}

// faulty makes a random wiring fault and returns what undoing it costs at most.
func faulty(r *rand.Rand, cables []wire, free []fabric.PortIndex) ([]wire, []fabric.PortIndex, int) {
	cables, free = slices.Clone(cables), slices.Clone(free)
	i, j := r.IntN(len(cables)), r.IntN(len(cables))
	switch kind := r.IntN(4); {
	case kind == 0 && i != j: // exchange two ends
		a, b := cables[i], cables[j]
		x, y := r.IntN(2), r.IntN(2)
		cables[i], cables[j] = wireOf(a[1-x], b[y]), wireOf(b[1-y], a[x])
		return cables, free, 2
	case kind == 1 && len(free) > 0: // move an end to a free port
		k, x := r.IntN(len(free)), r.IntN(2)
		a := cables[i]
		cables[i], free[k] = wireOf(a[1-x], free[k]), a[x]
		return cables, free, 1
	case kind == 2 && len(free) > 1: // add a cable
		k := r.Perm(len(free))
		a, b := free[k[0]], free[k[1]]
		free = slices.DeleteFunc(free, func(p fabric.PortIndex) bool { return p == a || p == b })
		return append(cables, wireOf(a, b)), free, 2
	}
	free = append(free, cables[i][0], cables[i][1])
	return slices.Delete(cables, i, i+1), free, 2
}

var shapes = []string{
	"fattree:2,8", "fattree:3,4", "torus:3x3,hosts=2", "dragonfly:2,1,2", "railtree:32", "random:8,3,16",
	"director:2,2",
}

// TestRandomFaults makes up to five wiring faults in subnets that were built by plan. Faults may cancel each other.
func TestRandomFaults(t *testing.T) {
	r := testenv.Rand(t)
	fabrics := map[string]*fabric.Fabric{}
	for _, shape := range shapes {
		f, err := gen.ParseSpec(shape)
		if err != nil {
			t.Fatal(err)
		}
		fabrics[shape] = f
	}
	for range testenv.Count(t, 150, 1000) {
		f := fabrics[shapes[r.IntN(len(shapes))]]
		planned := wires(f)
		var free []fabric.PortIndex
		for _, p := range ports(f) {
			if !f.Ports[p].Linked() {
				free = append(free, p)
			}
		}
		real, most := planned, 0
		for range 1 + r.IntN(5) {
			var cost int
			real, free, cost = faulty(r, real, free)
			most += cost
		}
		res := compare(t, rewire(t, f, real, nil), planOf(f, planned))
		checkDifference(t, res, planned, real)
		checkSteps(t, res, planned, real)
		if res.Repair.Cost > most || !res.Repair.Exact {
			t.Errorf("cost %d (exact %v), the faults can be undone for %d", res.Repair.Cost, res.Repair.Exact, most)
		}
		if t.Failed() {
			t.Fatalf("%s: %v", f.Nodes[0].Desc, res.Faults)
		}
	}
}
