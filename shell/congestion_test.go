// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim/fluid"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
)

// scene is a subnet with traffic in which congestion is planted. It knows the paths and the demand of each flow, and
// the sums over each port. Only planted ports are overloaded.
type scene struct {
	r       *rand.Rand
	spec    string
	tables  *fabric.Tables
	hosts   []fabric.PortIndex
	flows   []sceneFlow
	used    map[fabric.PortIndex]float64 // sum of demands by port, as a share of its rate
	cut     map[fabric.PortIndex]float64 // capacities below the rate, as a share of it
	drain   map[fabric.PortIndex]float64 // what hosts take, by the port of the switch
	options []string
	want    map[string]string         // planted causes by the name of the port
	busy    map[fabric.PortIndex]bool // hosts of flows
}

type sceneFlow struct {
	src, dst fabric.PortIndex
	demand   float64 // share of the rate
	path     []fabric.PortIndex
}

// fits is the largest sum of demands over a port without planted congestion.
const fits = 0.85

func newScene(t testing.TB, r *rand.Rand, spec string) *scene {
	t.Helper()
	f, err := gen.ParseSpecAt(spec, fabric.NDR)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	s := &scene{r: r, spec: spec, tables: routedBy(t, f), used: map[fabric.PortIndex]float64{},
		cut: map[fabric.PortIndex]float64{}, drain: map[fabric.PortIndex]float64{}, want: map[string]string{},
		busy: map[fabric.PortIndex]bool{}}
	for _, e := range f.EndPorts {
		if !f.Nodes[f.Ports[e].Node].IsSwitch() {
			s.hosts = append(s.hosts, e)
		}
	}
	return s
}

// routedBy returns the tables of the default engine.
func routedBy(t testing.TB, f *fabric.Fabric) *fabric.Tables {
	t.Helper()
	engine, err := engines.ByName(engines.Default)
	if err != nil {
		t.Fatal(err)
	}
	res, err := routing.Route(t.Context(), engine, f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tables
}

// pathOf walks the tables from host to host.
func pathOf(tables *fabric.Tables, src, dst fabric.PortIndex) (path []fabric.PortIndex) {
	f := tables.Fabric
	for at := src; ; {
		path = append(path, at)
		peer := f.Ports[at].Peer
		if peer == dst || peer == fabric.None || len(path) > 20 {
			return path
		}
		sw := &f.Nodes[f.Ports[peer].Node]
		at = sw.FirstPort + fabric.PortIndex(tables.Port(sw.Switch, f.Ports[dst].LID))
	}
}

// add adds a flow unless it overloads a port other than root.
func (s *scene) add(src, dst fabric.PortIndex, demand float64, root fabric.PortIndex) bool {
	path := pathOf(s.tables, src, dst)
	for _, p := range path {
		limit := fits
		if c, isCut := s.cut[p]; isCut {
			limit = min(limit, 0.8*c)
		}
		if p != root && s.used[p]+demand > limit {
			return false
		}
	}
	for _, p := range path {
		s.used[p] += demand
	}
	s.flows = append(s.flows, sceneFlow{src, dst, demand, path})
	s.busy[src], s.busy[dst] = true, true
	return true
}

func (s *scene) host() fabric.PortIndex { return s.hosts[s.r.IntN(len(s.hosts))] }

func (s *scene) between(low, high float64) float64 { return low + (high-low)*s.r.Float64() }

// background adds light flows.
func (s *scene) background(n int) {
	for range n {
		if src, dst := s.host(), s.host(); src != dst {
			s.add(src, dst, s.between(0.02, 0.2), fabric.None)
		}
	}
}

// overload adds flows over a port until it is overloaded by a factor. It reports whether it succeeded.
func (s *scene) overload(root fabric.PortIndex, capacity, factor float64) bool {
	for range 400 {
		if s.used[root] >= factor*capacity {
			return true
		}
		src, dst := s.host(), s.host()
		if src == dst || s.busy[src] || !slices.Contains(pathOf(s.tables, src, dst), root) {
			continue
		}
		s.add(src, dst, s.between(0.3, 0.8)*min(1, 2*capacity), root)
	}
	return false
}

func (s *scene) name(p fabric.PortIndex) string { return s.tables.Fabric.PortName(p) }

func (s *scene) hostName(e fabric.PortIndex) string {
	return strings.Fields(s.tables.Fabric.Nodes[s.tables.Fabric.Ports[e].Node].Desc)[0]
}

// portWord returns the port in a form of the options of sim:.
func (s *scene) portWord(p fabric.PortIndex) string {
	f := s.tables.Fabric
	return fmt.Sprintf("%s/%d", strings.Fields(f.Nodes[f.Ports[p].Node].Desc)[0], f.Ports[p].Num)
}

// uplink returns a port between switches, on a path of two random hosts.
func (s *scene) uplink() fabric.PortIndex {
	f := s.tables.Fabric
	for range 1000 {
		src, dst := s.host(), s.host()
		if src == dst {
			continue
		}
		path := pathOf(s.tables, src, dst)
		p := path[s.r.IntN(len(path))]
		if f.Nodes[f.Ports[p].Node].IsSwitch() && f.PeerSwitch(p) != fabric.None && s.used[p] == 0 {
			return p
		}
	}
	return fabric.None
}

// plant plants a cause. It reports whether it succeeded.
func (s *scene) plant(cause string) bool {
	f := s.tables.Fabric
	switch cause {
	case "incast":
		dst := s.host()
		root := f.Ports[dst].Peer
		s.want[s.name(root)] = "oversubscribed link"
		return !s.busy[dst] && s.overload(root, 1, s.between(1.2, 2))
	case "uplink":
		root := s.uplink()
		if root == fabric.None {
			return false
		}
		s.want[s.name(root)] = "oversubscribed link"
		return s.overload(root, 1, s.between(1.2, 1.6))
	case "receiver":
		dst := s.host()
		root := f.Ports[dst].Peer
		share := s.between(0.2, 0.7)
		s.options = append(s.options, fmt.Sprintf("drain=%s:%.1f%%", s.hostName(dst), 100*share))
		s.want[s.name(root)] = "slow receiver"
		s.drain[root] = share
		return !s.busy[dst] && s.overload(root, share, s.between(1.3, 2))
	case "cable":
		root, share := s.uplink(), 0.25
		if root == fabric.None || s.used[f.Ports[root].Peer] > 0 {
			return false
		}
		if s.r.IntN(2) == 0 {
			s.options = append(s.options, fmt.Sprintf("width=%s:1x", s.portWord(root)))
		} else {
			share = s.between(0.2, 0.7)
			s.options = append(s.options, fmt.Sprintf("capacity=%s:%.1f%%", s.portWord(root), 100*share),
				fmt.Sprintf("errors=%s:%d", s.portWord(root), 50+s.r.IntN(1000)))
		}
		s.cut[root], s.cut[f.Ports[root].Peer] = share, 0.25
		s.want[s.name(root)] = "bad cable"
		return s.overload(root, share, s.between(1.3, 2))
	case "ring":
		n := len(s.hosts)
		for i, src := range s.hosts {
			path := pathOf(s.tables, src, s.hosts[(i+n/2)%n])
			s.flows = append(s.flows, sceneFlow{src, s.hosts[(i+n/2)%n], s.between(0.7, 0.9), path})
		}
		s.want["ring"] = "ring"
	}
	return true
}

// source returns the source of the scene for the program.
func (s *scene) source() string {
	words := []string{"sim:" + s.spec}
	for _, x := range s.flows {
		words = append(words, fmt.Sprintf("flow=%s:%s:%.2f%%", s.hostName(x.src), s.hostName(x.dst), 100*x.demand))
	}
	return strings.Join(append(words, s.options...), " ")
}

// works reports whether each planted cause limits its port, so that others wait for it. One cause may hide another.
func (s *scene) works() bool {
	f, rates := s.tables.Fabric, s.rates()
	for p := range f.NumPorts() {
		_, isPlanted := s.want[s.name(p)]
		most := min(1, s.drainOf(p))
		if c, isCut := s.cut[p]; isCut {
			most = min(most, c)
		}
		if isPlanted && rates.Load[p] < 0.99*most {
			return false
		}
	}
	return true
}

// drainOf returns what the far end of a port takes, as a share of its rate.
func (s *scene) drainOf(p fabric.PortIndex) float64 {
	if d, isSlow := s.drain[p]; isSlow {
		return d
	}
	return math.Inf(1)
}

// rates returns the rates of the scene, as shares of the rates of links.
func (s *scene) rates() *fluid.Rates {
	f := s.tables.Fabric
	n := fluid.Net{Capacity: make([]float64, len(f.Ports)), Drain: make([]float64, len(f.Ports))}
	for p := range f.NumPorts() {
		n.Capacity[p], n.Drain[p] = 1, s.drainOf(p)
		if c, isCut := s.cut[p]; isCut {
			n.Capacity[p] = c
		}
	}
	for _, x := range s.flows {
		var path []int
		for _, p := range x.path {
			path = append(path, int(p))
		}
		n.Flows = append(n.Flows, fluid.Flow{Path: path, Demand: x.demand})
	}
	return fluid.Solve(&n)
}

// planted returns a random scene with the given causes.
func planted(t testing.TB, r *rand.Rand, causes ...string) *scene {
	t.Helper()
	for range 200 {
		spec := []string{"fattree:2,8", "fattree:2,12", "fattree:3,4", "torus:4x4,hosts=2"}[r.IntN(4)]
		if slices.Contains(causes, "ring") {
			spec = []string{"torus:7", "torus:9"}[r.IntN(2)]
		}
		s := newScene(t, r, spec)
		good := true
		for _, cause := range causes {
			good = good && s.plant(cause)
		}
		if good && len(s.want) == len(causes) && s.works() {
			if !slices.Contains(causes, "ring") {
				s.background(r.IntN(8))
			}
			return s
		}
	}
	t.Fatalf("no scene with %v", causes)
	return nil
}

// sceneCauses are the causes of scenes: none, one, or two at once.
var sceneCauses = [][]string{
	{"uplink"}, {"receiver"}, {"cable"}, {"ring"}, {"incast"}, {}, {"uplink", "receiver"}, {"incast", "cable"},
	{"receiver", "receiver"}, {"uplink", "uplink"}, {"cable", "receiver"}, {"incast", "incast", "receiver"},
}

// congestionAnswer is the answer of the command congestion.
type congestionAnswer struct {
	Waiting  int
	RootList []struct {
		Cause string
		Port  struct {
			Name string
			Port int
		}
	} `json:"root_list"`
	Ports []struct {
		Port struct {
			Name string
			Port int
		}
		Load, Wait *float64
	}
}

// TestCongestionScenes plants congestion in random subnets: an oversubscribed link between switches or to a host, a
// slow receiver, a bad cable, a ring, several of these at once, or none. The command must name the places and causes in
// 95 of 100 scenes, and no others.
func TestCongestionScenes(t *testing.T) {
	r := testenv.Rand(t)
	n := testenv.Count(t, 6, 100)
	failed := make([]string, n)
	t.Run("scenes", func(t *testing.T) {
		for i := range n {
			s := planted(t, r, sceneCauses[i%len(sceneCauses)]...)
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				if got := s.found(t); !maps.Equal(got, s.want) {
					failed[i] = fmt.Sprintf("%s: found %v, planted %v", s.source(), got, s.want)
				}
			})
		}
	})
	failed = slices.DeleteFunc(failed, func(text string) bool { return text == "" })
	for _, text := range failed {
		t.Log(text)
	}
	if len(failed) > max(1, n/20) {
		t.Errorf("%d of %d scenes failed", len(failed), n)
	}
}

// found returns the causes that the command names, by port.
func (s *scene) found(t *testing.T) map[string]string {
	t.Helper()
	_, run := keeping(t, s.source())
	out, err := run("congestion", true)
	if err != nil {
		t.Fatal(err)
	}
	var a congestionAnswer
	if err := json.Unmarshal([]byte(strings.SplitN(out, "\n", 2)[0]), &a); err != nil {
		t.Fatal(err)
	}
	s.compare(t, &a)
	got := map[string]string{}
	for _, x := range a.RootList {
		name := fmt.Sprintf("%s/%d", x.Port.Name, x.Port.Port)
		if x.Cause == "ring" {
			name = "ring"
		}
		got[name] = x.Cause
	}
	return got
}

// compare compares the loads and waits of all waiting ports with those of the scene.
func (s *scene) compare(t *testing.T, a *congestionAnswer) {
	t.Helper()
	f, rates := s.tables.Fabric, s.rates()
	for _, x := range a.Ports {
		p := f.Port(f.NodesByDescription(x.Port.Name)[0], uint8(x.Port.Port))
		if _, isCut := s.cut[p]; isCut { // a narrow link has another rate
			continue
		}
		// The readings of ports are not at the same time, so both rates may be off by the same factor.
		factor := 1.0
		if x.Load != nil && x.Wait != nil {
			factor = (*x.Load + *x.Wait) / (rates.Load[p] + rates.Wait[p])
		}
		if x.Load == nil || x.Wait == nil || math.Abs(factor-1) > 0.3 ||
			math.Abs(*x.Load/factor-rates.Load[p]) > 0.05 || math.Abs(*x.Wait/factor-rates.Wait[p]) > 0.05 {
			t.Errorf("%s: load %v and wait %v, want %.3f and %.3f", f.PortName(p), deref(x.Load), deref(x.Wait),
				rates.Load[p], rates.Wait[p])
		}
	}
}

func deref(x *float64) any {
	if x == nil {
		return "not read"
	}
	return *x
}

// TestSaturatedWaits: a PortXmitWait of 32 bits is full after 0.7 s. It is shown as saturated, and no figure is given.
func TestSaturatedWaits(t *testing.T) {
	const source = "sim:fattree:2,4 flow=node-[0001-0002]:node-0005:80% drain=node-0005:10%"
	for _, width := range []string{"64", "32"} {
		_, run := keeping(t, source+" counters="+width)
		text, err := run("congestion", false)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text, "saturated"); got != (width == "32") {
			t.Errorf("%s bits: saturated is %v:\n%s", width, got, text)
		}
		out, err := run("congestion", true)
		if err != nil {
			t.Fatal(err)
		}
		var a congestionAnswer
		if err := json.Unmarshal([]byte(strings.SplitN(out, "\n", 2)[0]), &a); err != nil {
			t.Fatal(err)
		}
		for _, x := range a.Ports {
			if (x.Wait == nil) != (width == "32") {
				t.Errorf("%s bits: wait of %s is %v", width, x.Port.Name, deref(x.Wait))
			}
		}
	}
}
