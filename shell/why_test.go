// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sim/fluid"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session"
)

// past is a job of an hour on a subnet whose traffic was recorded: without a cause first, then with one, then without.
type past struct {
	*scene
	job     map[fabric.PortIndex]bool
	began   time.Time
	from    int // minutes from begin to end of the cause
	until   int
	tables2 *fabric.Tables // with the cause
	load2   sim.Load       // with the cause
	widths  map[fabric.PortIndex]fabric.Width
	down    *fabric.Link
	sacct   []string
	reasons map[string]bool
	hidden  bool // the cause lasted all the time
	causes  int  // number of planted causes
}

const jobMinutes = 60

// newPast returns a job with traffic that fits.
func newPast(t testing.TB, s *scene) *past {
	p := &past{scene: s, job: map[fabric.PortIndex]bool{}, widths: map[fabric.PortIndex]fabric.Width{},
		reasons: map[string]bool{}, from: 20, until: 40}
	if s.r.IntN(2) == 0 {
		p.from, p.until = 15+s.r.IntN(6), 40+s.r.IntN(6)
	}
	for i := range s.tables.Fabric.Nodes { // as in the simulated subnet
		if n := &s.tables.Fabric.Nodes[i]; n.IsSwitch() {
			n.VendorID, n.DeviceID = fabric.VendorMellanox, 0xd2f2
		}
	}
	order := s.r.Perm(len(s.hosts))
	n := min(4+s.r.IntN(5), len(order))
	for i := range n {
		p.job[s.hosts[order[i]]] = true
	}
	for i := range n {
		for _, step := range []int{1, 2} {
			src, dst := s.hosts[order[i]], s.hosts[order[(i+step)%n]]
			if step == 1 || s.r.IntN(2) == 0 {
				s.add(src, dst, s.between(0.25, 0.7), fabric.None)
			}
		}
	}
	for range s.r.IntN(6) { // light traffic of others
		src, dst := s.host(), s.host()
		if src != dst && !p.job[src] && !p.job[dst] {
			s.add(src, dst, s.between(0.02, 0.1), fabric.None)
		}
	}
	return p
}

// isOwn reports whether a flow is one of the job.
func (p *past) isOwn(x *sceneFlow) bool { return p.job[x.src] }

// simLoad returns the flows for the simulated subnet.
func (p *past) simLoad() sim.Load {
	l := sim.Load{Capacity: map[fabric.PortIndex]float64{}, Drain: map[fabric.PortIndex]float64{},
		Errors: map[fabric.PortIndex]float64{}}
	f := p.tables.Fabric
	for _, x := range p.flows {
		l.Flows = append(l.Flows, sim.Flow{Src: x.src, DLID: f.Ports[x.dst].LID,
			Demand: x.demand * f.Ports[x.src].DataRate()})
	}
	return l
}

// sums returns the demands over each port with other tables.
func (p *past) sums(t *fabric.Tables) (all, own map[fabric.PortIndex]float64) {
	all, own = map[fabric.PortIndex]float64{}, map[fabric.PortIndex]float64{}
	for i := range p.flows {
		x := &p.flows[i]
		for _, at := range pathOf(t, x.src, x.dst) {
			if all[at] += x.demand; p.isOwn(x) {
				own[at] += x.demand
			}
		}
	}
	return all, own
}

// overloaded reports whether the job has flows over an overloaded port.
func (p *past) overloaded(t *fabric.Tables) bool {
	all, own := p.sums(t)
	for at := range own {
		if all[at] > 1.15 {
			return true
		}
	}
	return false
}

// ownPort returns a random port of the paths of the job: to a host, or between switches.
func (p *past) ownPort(toHost bool) fabric.PortIndex {
	f := p.tables.Fabric
	var ports []fabric.PortIndex
	for i := range p.flows {
		x := &p.flows[i]
		for k, at := range x.path {
			if p.isOwn(x) && k > 0 && toHost == (k == len(x.path)-1) && f.Nodes[f.Ports[at].Node].IsSwitch() &&
				!slices.Contains(ports, at) {
				ports = append(ports, at)
			}
		}
	}
	if len(ports) == 0 {
		return fabric.None
	}
	return ports[p.r.IntN(len(ports))]
}

// decoy adds the flap of a link after which the traffic still fits.
func (p *past) decoy(t testing.TB) {
	f := p.tables.Fabric
	at := p.ownPort(false)
	if at == fabric.None || p.tables2 != nil {
		return
	}
	link, _ := f.LinkOf(at)
	without := routedBy(t, f.Without([]fabric.Link{link}))
	all, _ := p.sums(without)
	for i := range p.load2.Flows {
		x := &p.load2.Flows[i]
		for _, at := range pathOf(without, x.Src, f.PortByLID(x.DLID)) {
			all[at] += x.Demand / f.Ports[x.Src].DataRate()
		}
	}
	for at, sum := range all {
		if p.used[at] < 1 && sum > 0.9 || p.cutDown(at) {
			return
		}
	}
	p.down, p.tables2 = &link, without
}

// cutDown reports whether a cause limits a port to less than its rate.
func (p *past) cutDown(at fabric.PortIndex) bool {
	_, isCut := p.load2.Capacity[at]
	return isCut || p.widths[at] > 0
}

// plantReason adds a cause to the second load. It reports whether it succeeded.
func (p *past) plantReason(t testing.TB, reason string) bool {
	f := p.tables.Fabric
	p.reasons[reason] = true
	rate := f.Ports[p.hosts[0]].DataRate()
	switch reason {
	case "flap":
		for range 40 {
			at := p.ownPort(false)
			if at == fabric.None || p.tables2 != nil {
				return false
			}
			link, _ := f.LinkOf(at)
			without := routedBy(t, f.Without([]fabric.Link{link}))
			if p.overloaded(without) {
				p.down, p.tables2 = &link, without
				return true
			}
		}
		return false
	case "route":
		if p.tables2 != nil {
			return false
		}
		bad := *p.tables
		lft := fabric.NewLFT(len(f.Switches), p.tables.LFT.MaxLID)
		for sw := range f.NumSwitches() {
			copy(lft.Row(sw), p.tables.LFT.Row(sw))
		}
		bad.LFT = lft
		at := p.ownPort(false)
		if at == fabric.None {
			return false
		}
		sw := f.Nodes[f.Ports[at].Node].Switch
		for e := range p.job { // all hosts of the job that are reached over similar ports
			if out := f.SwitchNode(sw).FirstPort + fabric.PortIndex(p.tables.Port(sw, f.Ports[e].LID)); f.PeerSwitch(
				out) != fabric.None {
				lft.Row(sw)[f.Ports[e].LID] = f.Ports[at].Num
			}
		}
		p.tables2 = &bad
		for _, x := range p.flows {
			if len(pathOf(&bad, x.src, x.dst)) > len(x.path)+2 {
				return false // a loop
			}
		}
		_, own := p.sums(&bad)
		return own[at] > 1.15
	case "cable":
		at := p.ownPort(false)
		if at == fabric.None || p.used[at] < 0.35 {
			return false
		}
		if peer := f.Ports[at].Peer; p.r.IntN(2) == 0 && p.used[peer] < 0.2 {
			p.widths[at] = 1
		} else {
			p.load2.Capacity[at] = p.between(0.4, 0.8) * p.used[at] * rate
			p.load2.Errors[f.Ports[at].Peer] = 100
		}
	case "slow receiver":
		at := p.ownPort(true)
		if at == fabric.None {
			return false
		}
		p.load2.Drain[f.Ports[at].Peer] = p.between(0.4, 0.8) * p.used[at] * rate
	case "other job":
		at := p.ownPort(p.r.IntN(3) == 0)
		if at == fabric.None {
			return false
		}
		hosts := map[string]bool{}
		for range 300 {
			if p.used[at] > 1.2 {
				break
			}
			src, dst := p.host(), p.host()
			if src == dst || p.job[src] || p.job[dst] && f.Ports[dst].Peer != at || p.busy[src] ||
				!slices.Contains(pathOf(p.tables, src, dst), at) {
				continue
			}
			demand := p.between(0.4, 0.8)
			if p.addLater(src, dst, demand, at) {
				hosts[p.hostName(src)], hosts[p.hostName(dst)] = true, true
			}
		}
		p.sacct = append(p.sacct, p.sacctLine("200", hosts, p.from, p.until))
		return p.used[at] > 1.2
	case "oversubscription":
		at := p.ownPort(true)
		if at == fabric.None {
			return false
		}
		dst := f.Ports[at].Peer
		for src := range p.job {
			if src != dst && p.used[at] < 1.3 && p.used[src] < 0.5 {
				p.addLater(src, dst, 0.35, at)
			}
		}
		return p.used[at] > 1.2
	case "ring": // of all hosts, those of another job among them
		rest := map[string]bool{}
		for i, src := range p.hosts {
			dst := p.hosts[(i+len(p.hosts)/2)%len(p.hosts)]
			p.load2.Flows = append(p.load2.Flows, sim.Flow{Src: src, DLID: f.Ports[dst].LID,
				Demand: p.between(0.7, 0.9) * rate})
			if !p.job[src] {
				rest[p.hostName(src)] = true
			}
		}
		if len(rest) > 0 && p.r.IntN(2) == 0 {
			p.sacct = append(p.sacct, p.sacctLine("200", rest, p.from, p.until))
		}
	}
	return true
}

// works reports whether each planted cause limits a port of the job, so that others wait for it. One cause may hide
// another.
func (p *past) works() bool {
	f, tables := p.tables.Fabric, p.tables
	if p.tables2 != nil {
		tables = p.tables2
	}
	n := fluid.Net{Capacity: make([]float64, len(f.Ports)), Drain: make([]float64, len(f.Ports))}
	for i := range f.NumPorts() {
		rate := f.Ports[i].DataRate()
		n.Capacity[i], n.Drain[i] = rate, math.Inf(1)
		w, isNarrow := p.widths[i]
		if peer := f.Ports[i].Peer; !isNarrow && peer != fabric.None {
			w, isNarrow = p.widths[peer]
		}
		if isNarrow {
			n.Capacity[i] = rate * float64(w) / 4
		}
		if limit, isCut := p.load2.Capacity[i]; isCut {
			n.Capacity[i] = limit
		}
		if f.Ports[i].Linked() {
			if limit, isSlow := p.load2.Drain[f.Ports[i].Peer]; isSlow {
				n.Drain[i] = limit
			}
		}
	}
	demand := make([]float64, len(f.Ports))
	for _, x := range slices.Concat(p.simLoad().Flows, p.load2.Flows) {
		var path []int
		for _, at := range pathOf(tables, x.Src, f.PortByLID(x.DLID)) {
			path = append(path, int(at))
			demand[at] += x.Demand
		}
		n.Flows = append(n.Flows, fluid.Flow{Path: path, Demand: x.Demand})
	}
	rates, limited := fluid.Solve(&n), 0
	if p.reasons["ring"] { // it moves nothing
		return slices.Contains(rates.Stuck, true)
	}
	for i := range f.NumPorts() {
		most := min(n.Capacity[i], n.Drain[i])
		if _, isBack := p.widths[f.Ports[i].Peer]; isBack && demand[i] > most {
			return false // the other direction of a narrow link
		}
		if demand[i] > 1.05*most && rates.Load[i] > 0.99*most {
			limited++
		} else if demand[i] > 1.05*most && most < 0.95*f.Ports[i].DataRate() {
			return false // a slow receiver or cable that nothing waits for
		}
	}
	return limited >= p.causes
}

// addLater is [scene.add] for a flow that only the second load has.
func (p *past) addLater(src, dst fabric.PortIndex, demand float64, root fabric.PortIndex) bool {
	if !p.add(src, dst, demand, root) {
		return false
	}
	p.flows = p.flows[:len(p.flows)-1]
	f := p.tables.Fabric
	p.load2.Flows = append(p.load2.Flows, sim.Flow{Src: src, DLID: f.Ports[dst].LID,
		Demand: demand * f.Ports[src].DataRate()})
	return true
}

func (p *past) at(minute int) time.Time { return p.began.Add(time.Duration(minute) * time.Minute) }

func (p *past) sacctLine(id string, hosts map[string]bool, from, until int) string {
	var names []string
	for h := range hosts {
		names = append(names, h)
	}
	slices.Sort(names)
	text := func(minute int) string { return p.at(minute).Format("2006-01-02T15:04:05") }
	return fmt.Sprintf("%s|%s|%s|%s|COMPLETED|ada|a job", id, strings.Join(names, ","), text(from), text(until))
}

// record simulates the hour, and stores counters, states and outages as a recorder does.
func (p *past) record(t *testing.T, s *session.Session) {
	t.Helper()
	f := p.tables.Fabric
	now := p.began
	simulated := sim.New(f, sim.Options{Tables: p.tables, Active: true, Wide: true, Vendor: fabric.VendorMellanox,
		Device: 0xd2f2, Now: func() time.Time { return now }})
	store, err := records.Open(t.Context(), s.Recorded().File())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	first := p.simLoad()
	for minute := range jobMinutes {
		if minute == 0 || minute == p.until && !p.hidden {
			simulated.SetLoad(first)
			for at := range p.widths {
				simulated.Degrade(at, 4, fabric.NDR)
			}
			if minute > 0 {
				p.repair(t, simulated)
			}
		}
		if minute == p.from && !p.hidden || minute == 0 && p.hidden {
			p.breakIt(t, simulated, first)
		}
		before := make([]mad.PortCountersExtended, len(f.Ports))
		for i := range f.Ports {
			before[i] = simulated.Counters(fabric.PortIndex(i))
		}
		now = p.at(minute + 1)
		for _, what := range []counters.Set{records.Traffic, counters.Errors} {
			round := records.Round{Subnet: s.Subnet(), What: what, Every: time.Minute}
			for i := range f.Ports {
				if !f.Ports[i].Linked() {
					continue
				}
				was, is := before[i], simulated.Counters(fabric.PortIndex(i))
				d := records.Sample{Key: counters.KeyOf(f, fabric.PortIndex(i)), Name: f.PortName(fabric.PortIndex(i)),
					Until: now}
				d.Seconds, d.Has = 60, what
				for c, x := range map[counters.Counter][2]uint64{counters.XmitData: {was.XmitData, is.XmitData},
					counters.RcvData: {was.RcvData, is.RcvData}, counters.XmitWait: {was.XmitWait, is.XmitWait},
					counters.SymbolErrors: {was.SymbolErrors, is.SymbolErrors}} {
					if what.Has(c) {
						d.Increase[c] = x[1] - x[0]
					}
				}
				round.Samples = append(round.Samples, d)
			}
			if err := store.Keep(t.Context(), round); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.keepStates(t, s, store)
}

// breakIt begins the cause.
func (p *past) breakIt(t *testing.T, simulated *sim.Sim, first sim.Load) {
	t.Helper()
	l := p.load2
	l.Flows = slices.Concat(first.Flows, l.Flows)
	simulated.SetLoad(l)
	for at, w := range p.widths {
		simulated.Degrade(at, w, fabric.NDR)
	}
	if p.down != nil {
		if err := simulated.Unlink(p.down.A); err != nil {
			t.Fatal(err)
		}
	}
	if p.tables2 != nil {
		simulated.SetTables(p.tables2)
	}
}

// repair ends the cause.
func (p *past) repair(t *testing.T, simulated *sim.Sim) {
	t.Helper()
	if p.down != nil {
		if err := simulated.Relink(p.down.A); err != nil {
			t.Fatal(err)
		}
	}
	simulated.SetTables(p.tables)
}

// keepStates stores the states of the hour, and the outage of a flap.
func (p *past) keepStates(t *testing.T, s *session.Session, store *records.Store) {
	t.Helper()
	states, err := s.History()
	if err != nil {
		t.Fatal(err)
	}
	add := func(from, to int, tables *fabric.Tables) {
		if _, err := states.Add(t.Context(), history.Entry{Kind: history.Sweep, Subnet: s.Subnet(), Began: p.at(from),
			Until: p.at(to)}, tables.Fabric, tables); err != nil {
			t.Fatal(err)
		}
	}
	broken := p.tables2
	if broken == nil {
		broken = p.tables
	}
	if len(p.widths) > 0 {
		narrow := *broken.Fabric
		narrow.Ports = slices.Clone(narrow.Ports)
		for at, w := range p.widths {
			narrow.Ports[at].Width, narrow.Ports[narrow.Ports[at].Peer].Width = w, w
		}
		tables := *broken
		tables.Fabric = &narrow
		broken = &tables
	}
	if p.hidden {
		add(-10, jobMinutes, broken)
		return
	}
	add(-10, p.from, p.tables)
	add(p.from, p.until, broken)
	add(p.until, jobMinutes, p.tables)
	if p.down == nil {
		return
	}
	f := p.tables.Fabric
	a, b := fabric.NamedEnd(f, p.down.A), fabric.NamedEnd(f, p.down.B)
	for _, up := range []bool{false, true} {
		when := p.at(p.from)
		if up {
			when = p.at(p.until)
		}
		if err := store.ObserveLinks(t.Context(), s.Subnet(), when, []records.LinkChange{{When: when, Up: up, A: a,
			B: b, Pairs: -1}}, nil, func(fabric.End, fabric.End) bool { return up }); err != nil {
			t.Fatal(err)
		}
	}
}

// whyAnswer is the answer of why.
type whyAnswer struct {
	Kind, Reason, Certainty, Proof string
	With                           *float64 `json:"load_with"`
	Without                        *float64 `json:"load_without"`
	OtherJobs                      []string `json:"other_jobs"`
	Port                           *struct {
		Name string
		Port int
	}
}

// explained runs why for the job of a scene.
func (p *past) explained(t *testing.T) []whyAnswer {
	t.Helper()
	spec := p.spec
	p.began = time.Now().Add(-(jobMinutes + 5) * time.Minute).Truncate(time.Second)
	s, run := keeping(t, "sim:"+spec+" flow=node-0001:node-0002:0%")
	p.record(t, s)
	job := map[string]bool{}
	for e := range p.job {
		job[p.hostName(e)] = true
	}
	lines := append([]string{p.sacctLine("100", job, 0, jobMinutes)}, p.sacct...)
	text := func(minute int) string { return p.at(minute).Format("2006-01-02T15:04:05") }
	fakeSacct(t, "cat <<'E'\n"+strings.Join(lines, "\n")+"\nE")
	var names []string
	for h := range job {
		names = append(names, h)
	}
	slices.Sort(names)
	if testing.Verbose() {
		text, _ := run("why 100 hosts="+strings.Join(names, ",")+" since="+text(0)+" until="+text(jobMinutes), false)
		t.Logf("%d..%d %v\n%s", p.from, p.until, p.reasons, text)
	}
	out, err := run(fmt.Sprintf("why 100 hosts=%s since=%s until=%s", strings.Join(names, ","), text(0),
		text(jobMinutes)), true)
	if err != nil {
		t.Fatal(err)
	}
	var rows []whyAnswer
	for line := range strings.Lines(out) {
		var a whyAnswer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		if a.Kind == "links" {
			rows = append(rows, a)
		}
	}
	return rows
}

// pastReasons are the causes of the scenes of why.
var pastReasons = [][]string{
	{"flap"}, {"cable"}, {"slow receiver"}, {"other job"}, {"oversubscription"}, {"ring"}, {"route"},
	{}, {"flap", "slow receiver"}, {"other job", "cable"}, {"slow receiver", "slow receiver"},
}

// plantedPast returns a random job with the given causes.
func plantedPast(t testing.TB, r *rand.Rand, i int) *past {
	t.Helper()
	reasons := pastReasons[i%len(pastReasons)]
	specs := []string{"fattree:2,8", "fattree:2,12", "fattree:3,4"}
	if slices.Contains(reasons, "ring") {
		specs = []string{"torus:7", "torus:9"}
	}
	for range 500 {
		p := newPast(t, newScene(t, r, specs[r.IntN(len(specs))]))
		p.load2 = sim.Load{Capacity: map[fabric.PortIndex]float64{}, Drain: map[fabric.PortIndex]float64{},
			Errors: map[fabric.PortIndex]float64{}}
		p.began = time.Now().Add(-(jobMinutes + 5) * time.Minute).Truncate(time.Second)
		good := len(p.flows) > 2
		for _, reason := range reasons {
			good = good && p.plantReason(t, reason)
		}
		if p.causes = len(reasons); !good {
			continue
		}
		if p.r.IntN(3) == 0 {
			p.decoy(t)
		}
		if !p.works() {
			continue
		}
		p.hidden = i/len(pastReasons)%4 == 3 && p.tables2 == nil && len(p.sacct) == 0
		return p
	}
	t.Fatalf("no scene with %v", reasons)
	return nil
}

// TestWhyScenes plants causes in the records of random jobs: a flap, a bad cable, a slow receiver, another job, more
// traffic of the job itself, bad tables, a ring, two at once, or none. The first rows must name the causes in 95 of 100
// scenes. A cause that is marked as proved must be a planted one in all.
func TestWhyScenes(t *testing.T) {
	r := testenv.Rand(t)
	n := testenv.Count(t, 6, 100)
	var failed []string
	proved, rows := 0, 0
	for i := range n {
		p := plantedPast(t, r, i)
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			got := p.explained(t)
			named, wrong := map[string]bool{}, ""
			for _, x := range got {
				rows++
				if x.Certainty == "proved" {
					proved++
					if !p.reasons[x.Reason] {
						t.Errorf("proved %s, planted %v: %s", x.Reason, p.reasons, x.Proof)
					}
				}
				if x.With != nil && x.Without != nil && (math.IsNaN(*x.With) || *x.Without < 0) {
					t.Errorf("loads %v and %v", *x.With, *x.Without)
				}
				if len(named) < len(p.reasons) && x.Certainty != "unknown" {
					named[x.Reason] = true
				}
			}
			for reason := range p.reasons {
				if !named[reason] {
					wrong = fmt.Sprintf("%s is not named", reason)
				}
			}
			if len(p.reasons) == 0 && len(got) > 0 {
				wrong = "nothing was planted"
			}
			if wrong != "" {
				failed = append(failed, fmt.Sprintf("%d %s: %s; planted %v, found %+v", i, p.spec, wrong, p.reasons,
					got))
			}
		})
	}
	for _, text := range failed {
		t.Log(text)
	}
	t.Logf("%d of %d rows are proved", proved, rows)
	if len(failed) > max(1, n/20) {
		t.Errorf("%d of %d scenes failed", len(failed), n)
	}
}
