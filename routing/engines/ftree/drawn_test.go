// SPDX-License-Identifier: Apache-2.0

package ftree_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen/gentest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/engines/ftree"
)

// drawing is the topology that the RFC draws, with L2-1 and L2-2, which it draws twice, as two switches; apart has them
// as four. large are bigger topologies of the same kind.
const (
	drawing = "bull:2,2,hosts=2,services=2"
	apart   = "bull:2,2,hosts=2,rows=2"
)

// before are options without the two upgrades.
var before = routing.Options{NoBullMinHop: true, NoBullSecondary: true}

var large = []string{"bull:3,3,hosts=4,planes=3,up=2", "bull:3,3,hosts=3,planes=3,rows=2"}

func hasName(f *fabric.Fabric, node fabric.NodeIndex, prefix string) bool {
	return strings.HasPrefix(f.Nodes[node].Desc, prefix)
}

func portsNamed(f *fabric.Fabric, prefix string) (ends []fabric.PortIndex) {
	for _, e := range f.EndPorts {
		if hasName(f, f.Ports[e].Node, prefix) {
			ends = append(ends, e)
		}
	}
	return ends
}

// figures are properties of the tables of Bull's topology.
type figures struct {
	// detours counts the paths between compute and service nodes, in both directions, that cross an L3 although a
	// shorter one exists. services counts all such paths, inward the detours to compute nodes.
	detours, services, inward int
	// worst is the largest number of paths between compute nodes over a link between switches.
	worst int64
}

// bullFigures routes with the L3 as roots and the nodes below L0 as compute nodes.
func bullFigures(t *testing.T, f *fabric.Fabric, opt routing.Options) figures {
	t.Helper()
	for _, n := range f.Switches {
		if hasName(f, n, "l3") {
			opt.RootGUIDs = append(opt.RootGUIDs, f.Nodes[n].GUID)
		}
	}
	computes := portsNamed(f, "node")
	for _, e := range computes {
		opt.ComputeNodes = append(opt.ComputeNodes, f.Ports[e].GUID)
	}
	res, err := ftree.Engine{}.Route(t.Context(), f, opt)
	if err != nil {
		t.Fatal(err)
	}
	var x figures
	least := routing.NewDistances(f)
	for _, c := range computes {
		for _, s := range portsNamed(f, "service") {
			x.count(res.Tables, least, c, s)
			out := x.detours
			x.count(res.Tables, least, s, c)
			x.inward += x.detours - out
		}
	}
	m, err := linkload.Measure(t.Context(), res.Tables, linkload.Among(res.Tables.Fabric, computes))
	if err != nil {
		t.Fatal(err)
	}
	x.worst = m.Summary(0).EdgeForwardingIndex
	return x
}

func (x *figures) add(y figures) {
	x.detours, x.services, x.inward, x.worst = x.detours+y.detours, x.services+y.services, x.inward+y.inward,
		x.worst+y.worst
}

func (x *figures) count(t *fabric.Tables, least *routing.Distances, src, dst fabric.PortIndex) {
	f := t.Fabric
	p := walk.Trace(t, src, f.Ports[dst].LID)
	a, _ := f.AttachedSwitch(src)
	b, _ := f.AttachedSwitch(dst)
	x.services++
	over := slices.ContainsFunc(p.Hops, func(h walk.Hop) bool { return hasName(f, h.Node, "l3") })
	if over && p.Links() > int(least.Least(a, b))+2 {
		x.detours++
	}
}

// loss is a fabric without a link or switch, with the levels of these: "L0-L1".
type loss struct {
	what string
	f    *fabric.Fabric
}

// losses returns the losses of each single link between switches and of each switch except L0.
func losses(f *fabric.Fabric) []loss {
	var all []loss
	level := func(n fabric.NodeIndex) string { return strings.ToUpper(f.Nodes[n].Desc[:2]) }
	for _, l := range f.Links() {
		a, b := f.Ports[l.A].Node, f.Ports[l.B].Node
		if f.Nodes[a].IsSwitch() && f.Nodes[b].IsSwitch() {
			x, y := level(a), level(b)
			all = append(all, loss{min(x, y) + "-" + max(x, y) + " link", f.Without([]fabric.Link{l})})
		}
	}
	for _, n := range f.Switches {
		if hasName(f, n, "l0") {
			continue
		}
		var lost []fabric.Link
		for _, l := range f.Links() {
			if f.Ports[l.A].Node == n || f.Ports[l.B].Node == n {
				lost = append(lost, l)
			}
		}
		all = append(all, loss{level(n) + " switch", f.Without(lost)})
	}
	return all
}

// The document of the upgrades says that no path between a compute and a service node crosses an L3 if a shorter one
// exists; before them many did.
func TestServiceNodesWithoutDetour(t *testing.T) {
	for _, spec := range append([]string{drawing, apart}, large...) {
		f := gentest.WithLIDs(t, spec)
		if late := bullFigures(t, f, routing.Options{}); late.detours != 0 || late.services == 0 {
			t.Errorf("%s: %+v, expected no detour", spec, late)
		}
		if early := bullFigures(t, f, before); early.detours == 0 {
			t.Errorf("%s: before the upgrades %+v, want detours", spec, early)
		}
		for _, l := range losses(f) {
			if late := bullFigures(t, l.f, routing.Options{}); late.detours != 0 {
				t.Errorf("%s without an %s: %+v, expected no detour", spec, l.what, late)
			}
		}
	}
}

// The document says that after a failure secondary paths follow the load instead of using the first group for all. On
// the topology that it draws that never makes the worst link worse, and makes it better whenever a cable between L0 and
// L1 fails.
func TestSecondaryLoadAfterFailure(t *testing.T) {
	links := 0
	for _, l := range losses(gentest.WithLIDs(t, drawing)) {
		late, early := bullFigures(t, l.f, routing.Options{}), bullFigures(t, l.f, before)
		if late.worst > early.worst || l.what == "L0-L1 link" && late.worst == early.worst {
			t.Errorf("without an %s: %d paths over the worst link, before the upgrades %d", l.what, late.worst,
				early.worst)
		}
		if l.what == "L0-L1 link" {
			links++
		}
	}
	if links != 8 {
		t.Errorf("%d cables between L0 and L1 were lost, drawn are 8", links)
	}
}

// The document says that routes from compute to service nodes cross an L3. In its drawing all detours are in the other
// direction, as docs/bull.md says, and the first upgrade alone removes them.
func TestDetoursOfTheDrawing(t *testing.T) {
	f := gentest.WithLIDs(t, drawing)
	for _, tt := range []struct {
		opt             routing.Options
		detours, inward int
	}{
		{before, 16, 16},
		{routing.Options{NoBullMinHop: true}, 16, 16},
		{routing.Options{NoBullSecondary: true}, 0, 0},
		{routing.Options{}, 0, 0},
	} {
		if x := bullFigures(t, f, tt.opt); x.detours != tt.detours || x.inward != tt.inward || x.services != 64 {
			t.Errorf("%+v: %+v, want %d detours of 64 paths, %d of them to compute nodes", tt.opt, x,
				tt.detours, tt.inward)
		}
	}
}

// TestBullTable compares the tables in docs/bull.md with the results.
func TestBullTable(t *testing.T) {
	text, err := os.ReadFile("../../../docs/bull.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{bullTable(t), upgradesTable(t)} {
		if !strings.Contains(string(text), table) {
			t.Errorf("docs/bull.md does not have the table\n%s", table)
		}
	}
}

// upgradesTable shows the effect of each upgrade alone, over the complete topology and all single losses.
func upgradesTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| topology | `bull=no` | `bull_secondary=no` | `bull_min_hop=no` | `bull=yes` " +
		"|\n|---|---|---|---|---|\n")
	for _, spec := range append([]string{drawing, apart}, large...) {
		f := gentest.WithLIDs(t, spec)
		all := append([]loss{{"nothing", f}}, losses(f)...)
		fmt.Fprintf(&b, "| `%s` |", spec)
		for _, opt := range []routing.Options{before, {NoBullSecondary: true}, {NoBullMinHop: true}, {}} {
			var sum figures
			for _, l := range all {
				sum.add(bullFigures(t, l.f, opt))
			}
			fmt.Fprintf(&b, " %.0f %%, %.1f |", 100*float64(sum.detours)/float64(sum.services),
				float64(sum.worst)/float64(len(all)))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func bullTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| topology | lost | cases | detours, `bull=no` | detours, `bull=yes` | worst load, `bull=no` | " +
		"worst load, `bull=yes` |\n|---|---|---|---|---|---|---|\n")
	for _, spec := range append([]string{drawing, apart}, large...) {
		f := gentest.WithLIDs(t, spec)
		var order []string
		rows := map[string][]*fabric.Fabric{}
		for _, l := range append([]loss{{"nothing", f}}, losses(f)...) {
			if rows[l.what] == nil {
				order = append(order, l.what)
			}
			rows[l.what] = append(rows[l.what], l.f)
		}
		for i, what := range order {
			name := ""
			if i == 0 {
				name = "`" + spec + "`"
			}
			var sums [2]figures
			for _, g := range rows[what] {
				for k, opt := range []routing.Options{before, {}} {
					sums[k].add(bullFigures(t, g, opt))
				}
			}
			n := float64(len(rows[what]))
			share := func(x figures) string {
				return fmt.Sprintf("%.0f %%", 100*float64(x.detours)/float64(x.services))
			}
			fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %.1f | %.1f |\n", name, what, len(rows[what]), share(sums[0]),
				share(sums[1]), float64(sums[0].worst)/n, float64(sums[1].worst)/n)
		}
	}
	return b.String()
}

// The document says that the upgrades change no path between hosts on a regular fat-tree. (They change entries of upper
// switches that no packet of a host uses.)
func TestUpgradesLeaveTrees(t *testing.T) {
	for _, spec := range []string{"fattree:2,8", "fattree:2,36", "fattree:3,6", "xgft:3,3,2,4,1,2,2,1,2,1",
		"xgft:3,3,3,3,1,3,3", "xgft:4,2,2,2,2,1,2,2,2", "xgft:3,4,4,4,1,4,4"} {
		f := gentest.WithLIDs(t, spec)
		late, err := ftree.Engine{}.Route(t.Context(), f, routing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		early, err := ftree.Engine{}.Route(t.Context(), f, before)
		if err != nil {
			t.Fatal(err)
		}
		hosts := linkload.Hosts(f)
		for _, p := range linkload.Among(f, hosts[:min(len(hosts), 100)]) {
			lid := f.Ports[p.Dst].LID
			a, b := walk.Trace(late.Tables, p.Src, lid), walk.Trace(early.Tables, p.Src, lid)
			if a.Verdict != walk.Delivered || !slices.Equal(a.Hops, b.Hops) {
				t.Fatalf("%s: to LID %d %+v, before the upgrades %+v", spec, lid, a, b)
			}
		}
		for s := range fabric.SwitchIndex(len(f.Switches)) {
			for dst := range fabric.SwitchIndex(len(f.Switches)) {
				if w, g := late.Hops.Least(s, dst), early.Hops.Least(s, dst); w != g {
					t.Fatalf("%s: %d hops, before %d", spec, w, g)
				}
			}
		}
	}
}
