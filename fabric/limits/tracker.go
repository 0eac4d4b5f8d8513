// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/problems"
)

// Figures are the increases of a counter, scaled to the period of its rule. The increases of ports that are not in Read
// are unknown.
type Figures struct {
	Of   map[counters.Key]float64
	Read map[counters.Key]bool
}

// Condition is a fault of the recorder itself. What is a sentence without a full stop.
type Condition struct {
	Kind problems.Kind
	Bad  bool
	What string
}

// Alert is an active alert.
type Alert struct {
	problems.Problem
	Rule  *Rule      // nil for a condition of the recorder
	Peer  fabric.End // the other end of a link
	Value float64    // the increase, or the number of links of a node, when it was last above the limit
	above time.Time  // when the increase was last above Clear
}

// Tracker follows alerts over time. It is not safe for concurrent use.
type Tracker struct {
	rules  []Rule
	active []*Alert
	peers  map[counters.Key]fabric.End // the last known other end of each linked port
	links  map[uint64]int              // the number of linked ports of each node
	names  map[uint64]string           // the last known name of each node
	of     *fabric.Fabric
}

// Open is an alert of the record that has not ended, and when it was last active.
type Open struct {
	problems.Problem
	Seen time.Time
}

// NewTracker returns a tracker with rules. The open alerts of the record continue: they do not start again.
func NewTracker(rules []Rule, open []Open) *Tracker {
	t := &Tracker{rules: rules, peers: map[counters.Key]fabric.End{}, names: map[uint64]string{}}
	for _, x := range open {
		t.active = append(t.active, &Alert{Problem: x.Problem, Rule: t.ruleOf(x.Kind), above: x.Seen})
	}
	return t
}

func (t *Tracker) ruleOf(k problems.Kind) *Rule {
	for i := range t.rules {
		if kindOf(&t.rules[i]) == k {
			return &t.rules[i]
		}
	}
	return nil
}

func kindOf(r *Rule) problems.Kind { return problems.AlertKind(r.Counter.String()) }

// Active returns the active alerts.
func (t *Tracker) Active() []*Alert { return slices.Clone(t.active) }

// Rules returns the rules.
func (t *Tracker) Rules() []Rule { return t.rules }

// Update takes the figures of each rule, in the order of the rules, and the conditions of the recorder, as of now. It
// returns the alerts that started and those that ended. O(ports with an increase), and O(ports) for another fabric.
func (t *Tracker) Update(now time.Time, f *fabric.Fabric, figures []Figures,
	conditions []Condition) (started, ended []*Alert) {
	t.connect(f)
	n := len(t.active)
	var kept []*Alert
	high := make([]map[counters.Key]bool, len(t.rules))
	for i := range t.rules {
		high[i] = map[counters.Key]bool{}
		for k, v := range figures[i].Of {
			if v > float64(t.rules[i].Limit) {
				high[i][k] = true
			}
		}
	}
	for _, a := range t.active[:n] {
		if t.continues(a, now, f, figures, conditions, high) {
			kept = append(kept, a)
		} else {
			ended = append(ended, a)
		}
	}
	for i := range t.rules {
		started = append(started, t.start(now, f, &t.rules[i], &figures[i], high[i])...)
	}
	for _, c := range conditions {
		if c.Bad && !slices.ContainsFunc(kept, func(a *Alert) bool { return a.Kind == c.Kind }) {
			started = append(started, &Alert{Problem: problems.Problem{Severity: problems.Error, Kind: c.Kind,
				At: problems.WholeSubnet, What: c.What, Try: tryRecorder, Since: now}, above: now})
		}
	}
	t.active = append(kept, started...)
	return started, ended
}

const (
	tryRecorder = "record status; doctor"
	tryPort     = "counters history; jobs on"
)

// connect notes the links of a fabric. The links that it lacks stay known.
func (t *Tracker) connect(f *fabric.Fabric) {
	if f == t.of {
		return
	}
	t.of = f
	for n := range f.NumNodes() {
		t.names[f.Nodes[n].GUID] = f.NodeName(n)
	}
	for p := range f.NumPorts() {
		if f.Ports[p].Linked() {
			t.peers[counters.KeyOf(f, p)] = fabric.NamedEnd(f, f.Ports[p].Peer)
		}
	}
	t.links = map[uint64]int{}
	for k := range t.peers {
		t.links[k.GUID]++
	}
}

// covers reports whether an alert is about the link of a port.
func (t *Tracker) covers(a *Alert, k counters.Key) bool {
	peer := t.peers[k]
	is := func(guid uint64, port int) bool {
		return guid == a.At.GUID && (a.At.Port < 0 || port == a.At.Port)
	}
	return is(k.GUID, int(k.Num)) || is(peer.GUID, peer.Port)
}

// continues updates an alert, and reports whether it is still active. It removes the ports of the alert from high.
func (t *Tracker) continues(a *Alert, now time.Time, f *fabric.Fabric, figures []Figures, conditions []Condition,
	high []map[counters.Key]bool) bool {
	if a.Rule == nil {
		at := slices.IndexFunc(conditions, func(c Condition) bool { return c.Kind == a.Kind })
		if at < 0 || !conditions[at].Bad {
			return false
		}
		a.What = conditions[at].What
		return true
	}
	if a.At.Port >= 0 {
		a.Peer = cmp.Or(t.peers[counters.Key{GUID: a.At.GUID, Num: uint8(a.At.Port)}], a.Peer)
	}
	i := slices.IndexFunc(t.rules, func(r Rule) bool { return r.Counter == a.Rule.Counter })
	for k, v := range figures[i].Of {
		if v <= float64(a.Rule.Clear) || !t.covers(a, k) {
			continue
		}
		a.above = now
		if high[i][k] && a.At.Port >= 0 {
			a.Value = max(a.Value, v)
		}
		delete(high[i], k)
	}
	if now.Sub(a.above) < Hold {
		return true
	}
	gone := f.NodeByGUID(a.At.GUID) == fabric.None
	return !gone && !t.wasRead(a, figures[i].Read)
}

// wasRead reports whether a port of an alert was read. Without a reading, the alert does not end.
func (t *Tracker) wasRead(a *Alert, read map[counters.Key]bool) bool {
	if a.At.Port >= 0 {
		k := counters.Key{GUID: a.At.GUID, Num: uint8(a.At.Port)}
		return read[k] || read[counters.KeyOfEnd(t.peers[k])]
	}
	for k := range t.peers {
		if read[k] && t.covers(a, k) {
			return true
		}
	}
	return false
}

// many is the number of links of a node, and half of them, from which their alerts become one of the node.
const many = 3

// start returns the new alerts of a rule: one for each link, or one for a node if at least half of its links exceed the
// limit.
func (t *Tracker) start(now time.Time, f *fabric.Fabric, r *Rule, figures *Figures,
	high map[counters.Key]bool) (started []*Alert) {
	type link struct {
		key   counters.Key
		value float64
	}
	var all []link
	for k := range high {
		peer := counters.KeyOfEnd(t.peers[k])
		if v := figures.Of[k]; !high[peer] || v > figures.Of[peer] || v == figures.Of[peer] && k.Compare(peer) < 0 {
			all = append(all, link{k, v})
		}
	}
	slices.SortFunc(all, func(a, b link) int {
		return a.key.Compare(b.key)
	})
	of := map[uint64]int{}
	for _, x := range all {
		of[x.key.GUID]++
		if peer := t.peers[x.key]; peer.GUID != x.key.GUID {
			of[peer.GUID]++
		}
	}
	whole := func(guid uint64) int {
		if n := of[guid]; guid != 0 && n >= many && 2*n >= t.links[guid] {
			return n
		}
		return 0
	}
	nodes := map[uint64]*Alert{}
	for _, x := range all {
		own, peer := x.key.GUID, t.peers[x.key]
		a := &Alert{Rule: r, Value: x.value, above: now, Peer: peer,
			Problem: problems.Problem{Severity: r.Severity, Kind: kindOf(r), Since: now, Try: tryPort}}
		switch {
		case whole(own) > 0 || whole(peer.GUID) > 0:
			guid := own
			if whole(peer.GUID) > whole(own) {
				guid = peer.GUID
			}
			if nodes[guid] != nil {
				continue
			}
			name := t.names[guid]
			a.At, a.Peer, a.Value = problems.Place{GUID: guid, Port: -1, Name: name}, fabric.End{}, float64(of[guid])
			a.What = fmt.Sprintf("%s: %v increased by %s at %d of its links", name, r.Counter, r.Limits(), of[guid])
			nodes[guid] = a
		default:
			a.At = problems.Place{GUID: own, Port: int(x.key.Num), Name: portName(f, x.key)}
			a.What = a.At.Name
			if peer.GUID != 0 {
				a.What += " to " + peer.Name
			}
			a.What += fmt.Sprintf(": %v +%.4g in %s, limit %d", r.Counter, x.value, PeriodText(r.Period), r.Limit)
		}
		started = append(started, a)
	}
	return started
}

func portName(f *fabric.Fabric, k counters.Key) string {
	if p := k.In(f); p != fabric.None {
		return f.PortName(p)
	}
	return fmt.Sprintf("0x%016x/%d", k.GUID, k.Num)
}
