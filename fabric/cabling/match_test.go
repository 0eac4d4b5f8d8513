// SPDX-License-Identifier: Apache-2.0

package cabling_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/cabling"
	"example.org/ibconsole/fabric/formats/plans"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// build makes a fabric. Nodes are "s NAME" and "h NAME" with 8 ports and 1 port. Hosts with "*2" behind the name have
// two ports. Labels of the first ports may follow: "s NAME=1/1/1,1/1/2". A cable is NODE/PORT-NODE/PORT, where NODE is
// a number, from 0.
func build(t *testing.T, nodes []string, cables ...string) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	for i, text := range nodes {
		kind, desc, _ := strings.Cut(text, " ")
		n := fabric.Node{GUID: 0x100 * uint64(i+1), Type: mad.NodeCA, NumPorts: 1}
		if kind == "s" {
			n.Type, n.NumPorts = mad.NodeSwitch, 8
		}
		desc, labels, _ := strings.Cut(desc, "=")
		var two bool
		if n.Desc, two = strings.CutSuffix(desc, "*2"); two {
			n.NumPorts = 2
		}
		if _, err := b.AddNode(n); err != nil {
			t.Fatal(err)
		}
		for j, label := range strings.Split(labels, ",") {
			if label != "" {
				b.SetLabel(fabric.NodeIndex(i), j+1, label)
			}
		}
		for p := 1; p <= int(n.NumPorts); p++ {
			port := b.Port(fabric.NodeIndex(i), p)
			port.GUID, port.State, port.Width, port.Speed = n.GUID+uint64(p), mad.PortActive, 4, fabric.HDR
		}
	}
	for _, c := range cables {
		var a, p, d, q int
		if _, err := fmt.Sscanf(c, "%d/%d-%d/%d", &a, &p, &d, &q); err != nil {
			t.Fatal(err)
		}
		if err := b.Connect(fabric.NodeIndex(a), p, fabric.NodeIndex(d), q); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// report returns the result in lines: "KIND DEVICE lines of the plan: cables", "unmatched LINE", and the cost.
func report(f *fabric.Fabric, res *cabling.Result) string {
	var out []string
	for _, fault := range res.Faults {
		text := string(fault.Kind)
		if fault.Device != "" {
			text += " " + fault.Device
		}
		for _, i := range fault.Planned {
			text += fmt.Sprintf(" %d", res.Plan.Cables[i].Line)
		}
		for _, l := range fault.Cables {
			text += fmt.Sprintf(" %s=%s", f.PortName(l.A), f.PortName(l.B))
		}
		out = append(out, text)
	}
	for _, u := range res.Unmatched {
		out = append(out, fmt.Sprintf("unmatched %d: %s", res.Plan.Cables[u.Cable].Line, u.Why))
	}
	return strings.Join(append(out, fmt.Sprint(res.Repair.Cost)), "; ")
}

// TestFaults compares small subnets with plans. The costs are counted by hand.
func TestFaults(t *testing.T) {
	two := []string{"s A", "s B"}
	three := []string{"s A", "s B", "s C"}
	for _, c := range []struct {
		name   string
		nodes  []string
		cables []string
		plan   string
		scope  []string
		want   string
	}{
		{"as planned", two, []string{"0/1-1/1"}, "A,1,B,1", nil, "0"},
		{"from the other end, in any case", two, []string{"0/1-1/1"}, "b,1,a,1\nA,1,B,1", nil, "0"},
		{"missing", two, []string{"0/1-1/1"}, "A,1,B,1\nA,2,B,2", nil, "missing 2; 2"},
		{"extra", two, []string{"0/1-1/1", "0/2-1/2"}, "A,1,B,1", nil, "extra A/2=B/2; 2"},
		{"extra and missing", two, []string{"0/1-1/1", "0/2-1/2"}, "A,1,B,1\nA,3,B,3", nil,
			"missing 2; extra A/2=B/2; 2"},
		{"swapped", two, []string{"0/1-1/2", "0/2-1/1"}, "A,1,B,1\nA,2,B,2", nil, "swapped 1 2 A/1=B/2 A/2=B/1; 2"},
		{"wrong port", two, []string{"0/1-1/3"}, "A,1,B,1", nil, "wrong port 1 A/1=B/3; 1"},
		{"wrong device", three, []string{"0/1-2/1"}, "A,1,B,1\nC,2,B,2", nil, "wrong device 1 A/1=C/1; missing 2; 3"},
		{"a ring of three", three, []string{"0/1-1/2", "0/2-1/3", "0/3-1/1"}, "A,1,B,1\nA,2,B,2\nA,3,B,3\nC,1,A,4", nil,
			"wrong port 1 A/3=B/1; wrong port 2 A/1=B/2; wrong port 3 A/2=B/3; missing 4; 5"},
		{"wrong kind", two, []string{"0/1-1/1", "0/2-1/2"}, "A,1,B,1,NDR\nA,2,B,2,HDR,8x", nil,
			"wrong kind 1 A/1=B/1; wrong kind 2 A/2=B/2; 0"},
		{"faster than planned", two, []string{"0/1-1/1"}, "A,1,B,1,EDR,2x", nil, "0"},
		{"a device that is not there is one fault", two, []string{"0/1-1/1"}, "A,1,B,1\nA,2,C,1\nB,2,C,2", nil,
			"missing device C 2 3; 4"},
		{"a device that is not planned is one fault", three, []string{"0/1-1/1", "0/2-2/1", "1/2-2/2"}, "A,1,B,1", nil,
			"extra device C A/2=C/1 B/2=C/2; 4"},
		{"another name in its place", three, []string{"0/1-1/1", "0/2-2/1"}, "A,1,B,1\nA,2,D,1", nil,
			"unmatched 2: A/2 leads to C/1, which the plan does not name; 0"},
		{"no such port", two, []string{"0/1-1/1"}, "A,1,B,1\nA,9,B,2", nil, "unmatched 2: A has no port 9; 0"},
		{"labels are not known", two, []string{"0/1-1/1"}, "A,1/1/1,B,1", nil,
			"unmatched 1: the labels of A are not known, only an ibdiagnet folder has them; 0"},
		{"labels are not known at both ends: the cables may be the planned ones", three,
			[]string{"0/1-1/1", "0/2-1/2", "0/3-2/1"}, "A,1/1/1,B,1/1/1\nC,2,B,3", nil,
			"missing 2; extra A/3=C/1; unmatched 1: the labels of A are not known, only an ibdiagnet folder has " +
				"them; 2"},
		{"a label of two ports, resolved by the other end", []string{"s A=1/1/1,1/1/1", "s B"},
			[]string{"0/1-1/1", "0/2-1/2"}, "A,1/1/1,B,1\nA,1/1/1,B,2", nil, "0"},
		{"a label of two ports, none certain", []string{"s A=1/1/1,1/1/1", "s B"}, []string{"0/2-1/2"},
			"A,1/1/1,B,1", nil, "unmatched 1: 2 ports of A have the label 1/1/1; 0"},
		{"a label without its ASIC fits two ports", []string{"s A=1/1/1,2/1/1", "s B"}, nil, "A,1/1,B,1", nil,
			"unmatched 1: 2 ports of A have the label 1/1; 0"},
		{"a port twice in the plan", two, []string{"0/1-1/1"}, "A,1,B,2\nA,1,B,1\nA,1,A,1", nil,
			"unmatched 1: line 2 of the plan also uses the port A 1; unmatched 3: both ends are the same port; 0"},
		{"names twice, resolved by the other end", []string{"s A", "h n HCA-1", "h n HCA-1"},
			[]string{"0/1-1/1", "0/2-2/1"}, "A,1,n,1\nA,2,n,1", nil, "0"},
		{"names twice, one missing", []string{"s A", "h n HCA-1", "h n HCA-1"}, []string{"0/1-1/1"},
			"A,1,n,1\nA,2,n,1", nil, "missing 2; 2"},
		{"names twice, none certain", []string{"s A", "h n HCA-1", "h n HCA-1"}, []string{"0/3-1/1"}, "A,1,n,1", nil,
			"unmatched 1: 2 nodes have the name n; 0"},
		{"GUIDs", two, []string{"0/1-1/1"}, "0x100,1,0x200,1\n0x300,1,A,2", nil, "missing device 0x300 2; 2"},
		{"scope", three, []string{"0/1-1/1", "1/2-2/1"}, "A,1,B,1\nB,3,C,3\nA,2,C,2", []string{"a"}, "missing 3; 2"},
		{"a swap across the border of the scope", three, []string{"0/1-2/2", "1/1-2/1", "1/2-2/3"},
			"A,1,C,1\nB,1,C,2\nB,9,C,3", []string{"a"}, "swapped 1 2 A/1=C/2 B/1=C/1; 2"},
		{"adapters by number", []string{"s A", "h n mlx5_0", "h n mlx5_1"}, []string{"0/1-1/1", "0/2-2/1"},
			"A,1,n,1\nA,2,n,2", nil, "0"},
		{"an adapter that is not there", []string{"s A", "h n mlx5_0"}, []string{"0/1-1/1"}, "A,1,n,1\nA,2,n,2", nil,
			"missing device n 2; 2"},
		{"ports of one adapter", []string{"s A", "h n HCA-1*2"}, []string{"0/1-1/1", "0/2-1/2"},
			"A,1,n,1\nA,2,n,2", nil, "0"},
		{"adapters without numbers", []string{"s A", "h n ibp1", "h n ibp2"}, []string{"0/1-1/1", "0/2-2/1"},
			"A,1,n,1\nA,2,n,2", nil, "unmatched 1: the plan does not state which adapter of n has port 1; " +
				"unmatched 2: the plan does not state which adapter of n has port 2; 0"},
		{"adapters by description", []string{"s A", "h n ibp1", "h n ibp2"}, []string{"0/1-1/1", "0/2-2/1"},
			"A,1,n ibp1,1\nA,2,n ibp2,1", nil, "0"},
		{"boards", []string{"s MF0;D:M/L1/U1", "s MF0;D:M/L02/U1", "s A"}, []string{"2/1-0/1", "2/2-1/2", "0/8-1/8"},
			"A,1,D,Blade 01_Port 1/1\nA,2,D,Blade 2_Port 1/2\nA,3,D,Blade 2_Port 2/1", nil,
			"missing device D L2/U2 3; 2"},
		{"aggregation nodes are no hosts", []string{"s A", "s B", "h Mellanox Technologies Aggregation Node"},
			[]string{"0/1-1/1", "0/8-2/1"}, "A,1,B,1", nil, "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := plans.Read(strings.NewReader(c.plan), "plan", nil)
			if err != nil {
				t.Fatal(err)
			}
			f := build(t, c.nodes, c.cables...)
			res, err := cabling.Compare(f, p, cabling.Options{Scope: c.scope})
			if err != nil {
				t.Fatal(err)
			}
			if got := report(f, res); got != c.want {
				t.Errorf("got      %s\nexpected %s", got, c.want)
			}
		})
	}
}

func TestScopeOfNothing(t *testing.T) {
	f := build(t, []string{"s A", "s B"}, "0/1-1/1")
	p := planOf(f, wires(f))
	if _, err := cabling.Compare(f, p, cabling.Options{Scope: []string{"A", "x*"}}); err == nil ||
		!strings.Contains(err.Error(), `"x*"`) {
		t.Error(err)
	}
}

// TestLabels reads labels as NDT, NVOS and P2P tables write them.
func TestLabels(t *testing.T) {
	f := build(t, []string{"s A=1/1/1,1/1/2,1/2/1,1/2/2", "s B"}, "0/1-1/1", "0/2-1/2", "0/3-1/3", "0/4-1/4")
	p, err := plans.Read(strings.NewReader("A,Port 1/1/1,B,1\nA,sw1p2,B,2\nA,2/1,B,3\nA,9/9,B,4"), "plan", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := cabling.Compare(f, p, cabling.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := report(f, res); res.Right != 3 || got != `unmatched 4: A has no port labelled "9/9"; 0` {
		t.Error(res.Right, got)
	}
}

// TestOneEndStaysInTheRack checks that of several repairs with the same cost the one with the shortest moves is chosen:
// the cable A/1=C/1 can become A/1=B/1 or C/1=D/1.
func TestOneEndStaysInTheRack(t *testing.T) {
	f := build(t, []string{"s A", "s B", "s C", "s D"}, "0/1-2/1")
	for racks, want := range map[string]string{
		"R1,1,R2,1,R3,1,R1,1": "A/1 to D/1", // the end at A stays in rack R1
		"R1,1,R3,1,R3,1,R4,1": "C/1 to B/1", // the end at C stays in rack R3
	} {
		r := strings.Split(racks, ",")
		plan := "node,port,node,port,rack,unit,rack,unit\nA,1,B,1," + strings.Join(r[:4], ",") + "\nC,1,D,1," +
			strings.Join(r[4:], ",")
		p, err := plans.Read(strings.NewReader(plan), "plan", nil)
		if err != nil {
			t.Fatal(err)
		}
		res := compare(t, f, p)
		s := res.Repair.Steps[0]
		if got := f.PortName(s.From.Port) + " to " + f.PortName(s.To.Port); s.Action != cabling.Move || got != want ||
			res.Repair.Cost != 3 {
			t.Errorf("racks %s: %s %s, cost %d", racks, s.Action, got, res.Repair.Cost)
		}
	}
}

// TestKindsOfCables makes faults among cables of two kinds. A cable that is too slow for its new place costs more, and
// the cost is marked as an upper bound only if it may not be the minimum.
func TestKindsOfCables(t *testing.T) {
	r := testenv.Rand(t)
	f := switches(t, 4, 4)
	all := ports(f)
	exact, bounds := 0, 0
	for range testenv.Count(t, 200, 1000) {
		planned, real := matching(r, all, 1+r.IntN(6)), matching(r, all, 1+r.IntN(6))
		slow := map[wire]bool{}
		for _, w := range real {
			slow[w] = r.IntN(3) == 0
		}
		p := planOf(f, planned)
		for i := range p.Cables {
			p.Cables[i].Kind = cabling.Kind{Speed: []fabric.Speed{fabric.EDR, fabric.HDR}[r.IntN(2)]}
		}
		res := compare(t, rewire(t, f, real, slow), p)
		res.Faults = slices.DeleteFunc(res.Faults, func(f cabling.Fault) bool { return f.Kind == cabling.WrongKind })
		checkDifference(t, res, planned, real)
		checkSteps(t, res, planned, real)
		least := assignment(res, planned, real, slow)
		switch cost := res.Repair.Cost; {
		case res.Repair.Exact && cost != least:
			t.Fatalf("cost %d is called exact, the minimum is %d", cost, least)
		case cost < least:
			t.Fatalf("cost %d, the minimum is %d", cost, least)
		case res.Repair.Exact:
			exact++
		default:
			bounds++
		}
	}
	if exact == 0 || bounds == 0 {
		t.Errorf("%d exact, %d bounds: the cases test nothing", exact, bounds)
	}
}

// assignment returns the minimum cost by trying every assignment of real to planned cables that differ. A real cable
// that becomes a planned one costs as many moves as ends differ. A slow cable never becomes a planned HDR cable.
func assignment(res *cabling.Result, planned, real []wire, slow map[wire]bool) int {
	var missing []int
	for i, w := range planned {
		if !slices.Contains(real, w) {
			missing = append(missing, i)
		}
	}
	extra := slices.DeleteFunc(slices.Clone(real), func(w wire) bool { return slices.Contains(planned, w) })
	var try func(i int, left []wire) int
	try = func(i int, left []wire) int {
		if i == len(missing) {
			return 2 * len(left)
		}
		p := missing[i]
		best := 2 + try(i+1, left)
		for k, w := range left {
			if slow[w] && res.Plan.Cables[p].Kind.Speed == fabric.HDR {
				continue
			}
			ends := 2
			if w[0] == planned[p][0] || w[0] == planned[p][1] || w[1] == planned[p][0] || w[1] == planned[p][1] {
				ends = 1
			}
			best = min(best, ends+try(i+1, slices.Delete(slices.Clone(left), k, k+1)))
		}
		return best
	}
	return try(0, extra)
}
