// SPDX-License-Identifier: Apache-2.0

// Package slowdown finds the links that held back the traffic of a job, and the reasons, with their proof.
//
// The period of the job is divided into windows in which the tables, the failed links and the running jobs were the
// same. A window without waits shows how much the hosts of the job send if nothing holds them back. This demand is
// replayed: over the tables of a window in which they waited, and over the same without the suspected reason. A reason
// is proved only if the replay overloads the link that was congested, and without the reason overloads no link, for all
// traffic between hosts that agrees with the counters.
package slowdown

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/congestion"
	"example.org/ibconsole/routing/checks/flows"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/joblinks"
	"example.org/ibconsole/shell/session/traffic"
)

// Reason is why a link held back a job.
type Reason string

// The reasons.
const (
	Flap             Reason = "flap"             // another link was down
	Cable            Reason = "cable"            // the link has a reduced rate or errors
	Receiver         Reason = "slow receiver"    // a host takes less than its link carries
	OtherJob         Reason = "other job"        // traffic of other hosts
	Oversubscription Reason = "oversubscription" // the job sends more than the links carry
	Route            Reason = "route"            // other tables would spread the same traffic better
	Ring             Reason = "ring"             // ports wait for each other
	Unknown          Reason = "unknown"
)

// Certainty says how far a reason is certain.
type Certainty string

// The certainties.
const (
	Proved   Certainty = "proved" // by a replay
	Likely   Certainty = "likely"
	NotKnown Certainty = "unknown"
)

// None is a load that is not known.
const None = -1

// Finding is a link that held back the job.
type Finding struct {
	From, Until time.Time
	// Waited is the mean time in which the ports of the job's hosts waited.
	Waited    time.Duration
	Window    *Window          // that of the proof
	Link      fabric.PortIndex // the port that sends; None if the traffic has no path
	Root      *congestion.Root // nil if another link held the job back more
	Reason    Reason
	Certainty Certainty
	// With is the load of the link if the job had sent all that it has, and Without the load of the busiest link of the
	// job's paths without the reason, both as a share of the data rate or None. Busiest is that link.
	With, Without float64
	Busiest       fabric.PortIndex
	Outage        *records.Outage
	Jobs          []string // other jobs over the link
	Lost          float64  // share of the job's traffic without a path, because of the outage
}

// Window is a part of the period.
type Window struct {
	*traffic.Window
	Tree    *congestion.Tree
	Outages []records.Outage // links that were down
	// Held is the mean share of time in which the ports of the job's hosts waited.
	Held float64
	// Bytes is what the job's hosts send, in bytes per second.
	Bytes float64

	own    map[fabric.PortIndex]bool // end ports of the job
	others map[fabric.PortIndex][]string
}

// Report is the result of [Explain].
type Report struct {
	Windows  []*Window
	Findings []Finding
	Hosts    int
	Missing  int
	// NotRecorded are parts of the period without recorded counters or tables, with the reason.
	NotRecorded []Gap
	NoJobs      error // why other jobs are not known, nil if they are
	History     error // why the states of the period are not known, nil if they are
}

// Gap is a part of a period of which something is not known.
type Gap struct {
	From, Until time.Time
	Why         string
}

// maxWindows is the maximum number of windows. The last ones are used.
const maxWindows = 100

const (
	// shortest is the shortest window.
	shortest = time.Second
	// slot and slots limit the length of windows, so that traffic that changes at other times is seen: a window is at
	// most the longer one of slot, the default interval at which traffic is recorded, and of the period divided by
	// slots.
	slot  = 10 * time.Minute
	slots = 12
)

// Explain finds what held back a job in a period.
func Explain(ctx context.Context, s *session.Session, run *joblinks.Run, since, until time.Time) (*Report, error) {
	r := &Report{}
	states, why := s.States(ctx, since, until)
	r.History = why
	outages, err := outagesOf(ctx, s, since, until)
	if err != nil {
		return nil, err
	}
	others, err := joblinks.List(ctx, s, since, until)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	r.NoJobs = err
	edges := boundaries(states, outages, others, since, until)
	if more := len(edges) - 1 - maxWindows; more > 0 {
		r.NotRecorded = append(r.NotRecorded, Gap{edges[0], edges[more], "the period has too many changes"})
		edges = edges[more:]
	}
	for i := range len(edges) - 1 {
		w, err := r.window(ctx, s, run, others, stateAt(states, edges[i]), edges[i], edges[i+1])
		if err != nil {
			return nil, err
		}
		if w == nil {
			continue
		}
		for k := range outages {
			if o := &outages[k]; o.Down.Before(w.Until) && (o.Up.IsZero() || o.Up.After(w.From)) {
				w.Outages = append(w.Outages, *o)
			}
		}
		r.Windows = append(r.Windows, w)
	}
	for _, w := range r.Windows {
		if err := r.explain(ctx, w); err != nil {
			return nil, err
		}
	}
	r.merge()
	return r, nil
}

// merge combines findings of the same link and reason in windows that follow each other, and sorts them by the time
// that the job waited, the longest first. The proof of a combined finding is that of the most certain one.
func (r *Report) merge() {
	rank := []Certainty{NotKnown, Likely, Proved}
	var all []Finding
	for _, x := range r.Findings {
		x.From, x.Until = x.Window.From, x.Window.Until
		x.Waited = time.Duration(x.Window.Held * float64(x.Until.Sub(x.From)))
		at := slices.IndexFunc(all, func(y Finding) bool {
			return y.Reason == x.Reason && y.port() == x.port() && y.Until.Equal(x.From)
		})
		if at < 0 {
			all = append(all, x)
			continue
		}
		y := &all[at]
		x.From, x.Waited = y.From, y.Waited+x.Waited
		if slices.Index(rank, x.Certainty) <= slices.Index(rank, y.Certainty) {
			y.Until, y.Waited = x.Until, x.Waited
		} else {
			*y = x
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(b.Waited, a.Waited) })
	r.Findings = all
}

// port returns the key of the link of a finding.
func (x *Finding) port() counters.Key {
	if x.Link == fabric.None {
		return counters.Key{}
	}
	return counters.KeyOf(x.Window.Picture.Fabric, x.Link)
}

func outagesOf(ctx context.Context, s *session.Session, since, until time.Time) ([]records.Outage, error) {
	store, err := s.Recorded().Store(ctx)
	if traffic.IsNone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return store.Outages(ctx, s.Subnet(), since, until)
}

// boundaries returns the times between which nothing is known to have changed.
func boundaries(states []timeline.Seen, outages []records.Outage, others *joblinks.Jobs, since,
	until time.Time) []time.Time {
	all := []time.Time{since, until}
	for i := range states {
		if i > 0 {
			all = append(all, states[i].Began)
		}
	}
	for i := range outages {
		all = append(all, outages[i].Down, outages[i].Up)
	}
	for _, run := range others.Runs {
		all = append(all, run.From, run.Until)
	}
	for t := since; t.Before(until); t = t.Add(max(slot, until.Sub(since)/slots)) {
		all = append(all, t)
	}
	all = slices.DeleteFunc(all, func(t time.Time) bool { return t.Before(since) || t.After(until) })
	slices.SortFunc(all, time.Time.Compare)
	edges := all[:1]
	for _, t := range all[1:] {
		if t.Sub(edges[len(edges)-1]) >= shortest {
			edges = append(edges, t)
		}
	}
	edges[len(edges)-1] = when.Later(edges[len(edges)-1], until)
	return edges
}

// stateAt returns the last state that began by a time, or the first one.
func stateAt(states []timeline.Seen, at time.Time) timeline.Seen {
	state := states[0]
	for _, x := range states[1:] {
		if !x.Began.After(at) {
			state = x
		}
	}
	return state
}

// window reads a window. It returns nil if the window is not known, which it notes.
func (r *Report) window(ctx context.Context, s *session.Session, run *joblinks.Run, others *joblinks.Jobs,
	seen timeline.Seen, from, until time.Time) (*Window, error) {
	p, err := s.Recall(seen)
	if err != nil {
		return nil, err
	}
	read, err := traffic.Recorded(ctx, s, p, from, until)
	if traffic.IsNone(err) {
		r.NotRecorded = append(r.NotRecorded, Gap{from, until, "no counters were recorded"})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w := &Window{Window: read, own: map[fabric.PortIndex]bool{}}
	ends, missing, err := run.Ends(p.Fabric, &places.HostFinder{Fabric: p.Fabric})
	if err != nil {
		return nil, err
	}
	r.Hosts, r.Missing = max(r.Hosts, len(ends)), max(r.Missing, missing)
	for _, e := range ends {
		w.own[e] = true
		w.Held += max(0, w.Ports[e].Wait) / float64(len(ends))
		w.Bytes += max(0, w.Ports[e].Sent)
	}
	running := *others
	running.Runs = slices.DeleteFunc(slices.Clone(others.Runs), func(x *joblinks.Run) bool {
		return x.ID == run.ID || !x.During(from, until)
	})
	if w.others, err = running.Of(p.Fabric); err != nil {
		return nil, err
	}
	if w.Tree, err = read.Congestion(ctx, joblinks.Prefer(w.jobs())); errors.Is(err, traffic.ErrNoTables) {
		r.NotRecorded = append(r.NotRecorded, Gap{from, until, err.Error()})
		return nil, nil
	}
	return w, err
}

// jobs returns all jobs of each end port.
func (w *Window) jobs() map[fabric.PortIndex][]string {
	all := maps.Clone(w.others)
	for e := range w.own {
		all[e] = append(slices.Clone(all[e]), "") // the job itself
	}
	return all
}

// isOwn reports whether a flow is one of the job: a host of the job sends it, or receives it from a host without a job.
func (w *Window) isOwn(x *flows.Flow) bool {
	return w.own[x.Src] || w.own[x.Dst] && len(w.others[x.Src]) == 0
}

// holds reports whether a root held back flows of the job.
func (w *Window) holds(root *congestion.Root) bool {
	own := func(list []int) bool {
		return slices.ContainsFunc(list, func(i int) bool { return w.isOwn(&w.Tree.Flows.All[i]) })
	}
	if own(root.Through) || own(root.Victims) {
		return true
	}
	return slices.ContainsFunc(slices.Concat(root.Ports, root.Tree), func(p fabric.PortIndex) bool { return w.own[p] })
}

// isFree reports whether nothing held back the job, although it sent.
func (w *Window) isFree() bool {
	return w.Bytes > 0 && !slices.ContainsFunc(w.Tree.Roots, func(x congestion.Root) bool { return w.holds(&x) })
}

// reference returns the window that shows the demand of the job best: the last free one before a window, otherwise the
// first one after it, nil if there is none.
func (r *Report) reference(w *Window) *Window {
	at := slices.Index(r.Windows, w)
	for _, x := range slices.Backward(r.Windows[:at]) {
		if x.isFree() {
			return x
		}
	}
	for _, x := range r.Windows[at+1:] {
		if x.isFree() {
			return x
		}
	}
	return nil
}

// grown is the relative increase from which on a host sends more than in another window.
const grown = 1.1

// agrees reports whether no host of the job sent more than in the reference. Otherwise the job had more to send.
func (w *Window) agrees(free *Window) bool {
	for e := range w.own {
		was := counters.KeyOf(w.Picture.Fabric, e).In(free.Picture.Fabric)
		if was == fabric.None {
			return false
		}
		most := max(0, free.Ports[was].Sent)*grown + 0.001*w.Picture.Fabric.Ports[e].DataRate()
		if w.Ports[e].Sent > most {
			return false
		}
	}
	return true
}

// explain adds the findings of a window.
func (r *Report) explain(ctx context.Context, w *Window) error {
	free := r.reference(w)
	if free != nil && !w.agrees(free) {
		free = nil
	}
	if free != nil && free != w {
		if err := r.explainLoss(w, free); err != nil {
			return err
		}
	}
	for i := range w.Tree.Roots {
		root := &w.Tree.Roots[i]
		if !w.holds(root) {
			continue
		}
		c := &clue{ctx: ctx, r: r, w: w, free: free, root: root}
		if free != nil {
			c.d = &replay{ctx: ctx, own: free, others: w}
		}
		x := Finding{Window: w, Link: root.Ports[0], Root: root, Reason: Unknown, Certainty: NotKnown, With: None,
			Without: None, Busiest: fabric.None}
		if err := c.find(&x); err != nil {
			return err
		}
		r.Findings = append(r.Findings, x)
	}
	r.explainOutage(ctx, w, free)
	return nil
}

// explainOutage adds a finding for an outage that would overload a link of the job, if another link did not hold the
// job back already.
func (r *Report) explainOutage(ctx context.Context, w, free *Window) {
	isFlap := func(x Finding) bool { return x.Window == w && x.Reason == Flap }
	if free == nil || slices.ContainsFunc(r.Findings, isFlap) {
		return
	}
	c := &clue{ctx: ctx, r: r, w: w, free: free}
	o := c.missing(free.Picture.Fabric)
	if o < 0 {
		return
	}
	d := &replay{ctx: ctx, own: free, others: w}
	link, with := d.busiest(w.Picture.Tables, nil)
	busiest, without := d.busiest(free.Picture.Tables, nil)
	if with >= over && without <= under {
		r.Findings = append(r.Findings, Finding{Window: w, Link: link, Reason: Flap, Certainty: Likely, With: with,
			Without: without, Busiest: busiest, Outage: &w.Outages[o]})
	}
}

// noticed is the smallest share of lost traffic that is reported.
const noticed = 0.01

// explainLoss adds a finding if an outage left traffic of the job without a path.
func (r *Report) explainLoss(w, free *Window) error {
	if len(w.Outages) == 0 {
		return nil
	}
	sum := 0.0
	for i := range free.Tree.Flows.All {
		if x := &free.Tree.Flows.All[i]; free.isOwn(x) {
			sum += x.Bytes
		}
	}
	_, lost := free.Tree.Flows.Over(w.Picture.Tables, free.ownOnly)
	if sum <= 0 || lost < noticed*sum {
		return nil
	}
	r.Findings = append(r.Findings, Finding{Window: w, Link: fabric.None, Reason: Flap, Certainty: Likely, With: None,
		Without: None, Busiest: fabric.None, Outage: &w.Outages[0], Lost: lost / sum})
	return nil
}

// ownOnly is the weight of a flow of the job.
func (w *Window) ownOnly(i int) float64 {
	if w.isOwn(&w.Tree.Flows.All[i]) {
		return 1
	}
	return 0
}

// othersOnly is the weight of a flow of other hosts.
func (w *Window) othersOnly(i int) float64 { return 1 - w.ownOnly(i) }

// Text describes the proof of a finding, such as "without the flap of A at 03:07 its busiest link would have carried
// 61 %, not 143 %".
func (x *Finding) Text(what string) string {
	switch {
	case x.Lost > 0:
		return fmt.Sprintf("%.0f %% of its traffic had no path", 100*x.Lost)
	case x.Without < 0 || x.Without > under: // there is another reason
		return ""
	case x.With < 0:
		return fmt.Sprintf("without %s its busiest link would have carried %.0f %%", what, 100*x.Without)
	}
	return fmt.Sprintf("without %s its busiest link would have carried %.0f %%, not %.0f %%", what, 100*x.Without,
		100*x.With)
}

// defaultTables returns the tables of the default engine for the fabric of a window, nil if it cannot route it.
func defaultTables(ctx context.Context, w *Window) (*fabric.Tables, error) {
	engine, err := engines.ByName(engines.Default)
	if err != nil {
		return nil, err
	}
	res, err := routing.Route(ctx, engine, w.Picture.Fabric, routing.Options{})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil //nolint:nilerr // without tables there is no comparison
	}
	return res.Tables, nil
}
