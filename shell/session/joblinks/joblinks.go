// SPDX-License-Identifier: Apache-2.0

// Package joblinks finds the jobs whose hosts used a link, a switch or a host, by the tables of that time.
package joblinks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/uses"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/jobs"
)

// Jobs are the jobs that ran in a period.
type Jobs struct {
	Runs []*Run
	// NoSlurm is the reason why the jobs are sets of hosts, nil if Slurm listed them.
	NoSlurm error

	session *session.Session
	users   map[use]*users
}

// Run is a job, or a set of hosts.
type Run struct {
	jobs.Job
	// IsSet is set for a set of hosts. Undated is set in addition if no recorder observed it: it counts for the whole
	// period.
	IsSet, Undated bool
}

// During reports whether a job ran at some time from since to until.
func (r *Run) During(since, until time.Time) bool {
	return r.From.Before(until) && (r.Until.IsZero() || r.Until.After(since))
}

// End returns the end of the job, or the time now while it runs.
func (r *Run) End(now time.Time) time.Time {
	if r.Until.IsZero() {
		return now
	}
	return r.Until
}

// Outage reports whether a job ran while a link was found down. An outage without an end lasts until the time in the
// argument until.
func (r *Run) Outage(o *records.Outage, until time.Time) bool { return r.During(o.Down, o.End(until)) }

// Use is a job that used a place.
type Use struct {
	*Run
	// Hosts are the hosts of the job in the subnet, Missing is the number of the others.
	Hosts, Missing int
	// Pairs is the number of pairs of end ports of the job whose paths use the place, the largest of all states.
	// AtLeast is set if there may be more.
	Pairs   int64
	AtLeast bool
	// Attached is set if the place is a host of the job, or its link.
	Attached bool
	// States are the states in which it used the place, and Assumed is set if the tables of a part of its time are not
	// known, so that those of another time were used.
	States  []timeline.Seen
	Assumed bool
}

// Found are the jobs that used a place in a period.
type Found struct {
	Uses []Use
	// States are the states whose tables were used.
	States []timeline.Seen
	// Assumed are the IDs of jobs in whose time the tables are not known for a part, and Why is the reason if the
	// history could not be read. Elsewhere is the number of jobs without a host in the subnet.
	Assumed   []string
	Elsewhere int
	Why       error
	// NoTables is the number of states without tables, and Older that of states that were not used, because there are
	// too many.
	NoTables, Older int
}

// maxStates is the maximum number of states whose tables are used for one place.
const maxStates = 100

// maxPairs is the maximum number of pairs of a job that are followed in one state.
const maxPairs = 25_000_000

// List lists the jobs that ran at some time from since to until, as sacct knows them. Without sacct, the sets of hosts
// are the jobs: the recorded ones for the time in which they were defined, and the others of the session for the whole
// period. If there are none either, it returns the error of sacct, and Jobs without runs.
func List(ctx context.Context, s *session.Session, since, until time.Time) (*Jobs, error) {
	all, err := jobs.Between(ctx, since, until)
	out := &Jobs{session: s, NoSlurm: err, users: map[use]*users{}}
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	for i := range all {
		out.Runs = append(out.Runs, &Run{Job: all[i]})
	}
	if err == nil {
		return out, nil
	}
	observed, rerr := recordedSets(ctx, s, since, until)
	if rerr != nil {
		return out, rerr
	}
	out.Runs = append(out.Runs, observed...)
	st := s.State()
	for i := range st.Sets {
		job := jobs.Job{ID: st.Sets[i].Name, Hosts: st.Sets[i].List(), From: since, Until: until}
		if !slices.ContainsFunc(out.Runs, func(r *Run) bool { return r.ID == job.ID && r.Hosts == job.Hosts }) {
			out.Runs = append(out.Runs, &Run{job, true, true})
		}
	}
	if len(out.Runs) == 0 {
		return out, fmt.Errorf("list the jobs: %w; hint: 'hosts NAME WHO' names the hosts of a job", err)
	}
	return out, nil
}

// Source returns the source of the jobs, and a warning if it is not Slurm, otherwise "".
func (j *Jobs) Source() (name, warning string) {
	if j.NoSlurm == nil {
		return "sacct", ""
	}
	warning = fmt.Sprintf("list the jobs: %v; the sets of hosts are listed", j.NoSlurm)
	if slices.ContainsFunc(j.Runs, func(r *Run) bool { return r.Undated }) {
		warning += ", those that were not recorded for the whole period"
	}
	return "sets of hosts", warning
}

// Ends returns the end ports of a job in a fabric, and the number of hosts that the fabric does not have.
func (r *Run) Ends(f *fabric.Fabric, finder *places.HostFinder) ([]fabric.PortIndex, int, error) {
	ends, missing, err := finder.JobEnds(r.Hosts)
	if err != nil {
		return nil, 0, fmt.Errorf("job %s: %w", fabric.Escape(r.ID), err)
	}
	return ends, len(missing), nil
}

// use is a place in a state.
type use struct {
	place problems.Place
	entry int64
}

// users are the end ports whose paths use a place in a state.
type users struct {
	place    problems.Place
	f        *fabric.Fabric
	finder   *places.HostFinder
	from, to map[fabric.PortIndex]bool
	ports    map[fabric.PortIndex]bool // packets that use the place leave by one of them, or enter
	paths    int64                     // that use the place
	unknown  bool                      // some paths use tables that were not read
	tables   *fabric.Tables
}

// Of returns the jobs of each end port of a fabric, by their IDs.
func (j *Jobs) Of(f *fabric.Fabric) (map[fabric.PortIndex][]string, error) {
	of, finder := map[fabric.PortIndex][]string{}, &places.HostFinder{Fabric: f}
	for _, r := range j.Runs {
		ends, _, err := r.Ends(f, finder)
		if err != nil {
			return nil, err
		}
		for _, e := range ends {
			of[e] = append(of[e], r.ID)
		}
	}
	return of, nil
}

// together is the weight of pairs of hosts of one job in an estimate of flows. Most traffic is within jobs.
const together = 100

// Prefer returns a function for estimates of flows, by the jobs of each end port: it prefers pairs within a job.
func Prefer(of map[fabric.PortIndex][]string) func(linkload.Pair, []fabric.PortIndex) float64 {
	return func(p linkload.Pair, _ []fabric.PortIndex) float64 {
		for _, id := range of[p.Src] {
			if slices.Contains(of[p.Dst], id) {
				return together
			}
		}
		return 1
	}
}

// On returns the jobs that used a place at some time from since to until. A port means its link.
func (j *Jobs) On(ctx context.Context, place problems.Place, since, until time.Time) (*Found, error) {
	states, why := j.session.States(ctx, since, until)
	found := &Found{Why: why}
	if more := len(states) - maxStates; more > 0 {
		found.Older, states = more, states[more:]
	}
	of := map[*Run]*Use{}
	for i := range states {
		from, to := time.Time{}, until
		if i > 0 {
			from = states[i].Began
		}
		if i+1 < len(states) {
			to = states[i+1].Began
		}
		from = when.Later(from, since)
		running := slices.DeleteFunc(slices.Clone(j.Runs), func(r *Run) bool { return !r.During(from, to) })
		if len(running) == 0 {
			continue
		}
		found.States = append(found.States, states[i])
		u, err := j.usersOf(ctx, place, states[i])
		if err != nil {
			return nil, err
		}
		for _, r := range running {
			x := of[r]
			if x == nil {
				x = &Use{Run: r, AtLeast: found.Older > 0}
				of[r] = x
			}
			x.Assumed = x.Assumed || !wasRead(states[i], when.Later(r.From, from), when.Earlier(r.End(to), to))
			if err := u.add(ctx, x, states[i]); err != nil {
				return nil, err
			}
		}
		if u.tables == nil {
			found.NoTables++
		}
	}
	for _, r := range j.Runs {
		x := of[r]
		switch {
		case x == nil:
			continue
		case x.Hosts == 0:
			found.Elsewhere++
		case x.Assumed:
			found.Assumed = append(found.Assumed, r.ID)
		}
		if x.Pairs > 0 || x.Attached {
			found.Uses = append(found.Uses, *x)
		}
	}
	return found, nil
}

// Pairs returns the number of pairs of end ports whose paths use a place, by the last tables of the period in which it
// has a link. It returns false if there are none.
func (j *Jobs) Pairs(ctx context.Context, place problems.Place, since, until time.Time) (int64, bool, error) {
	u, err := j.lastUsers(ctx, place, since, until)
	if u == nil {
		return 0, false, err
	}
	return u.paths, !u.unknown, nil
}

// lastUsers returns the users of a place by the last tables of the period in which it has a link. It returns nil if
// there are none.
func (j *Jobs) lastUsers(ctx context.Context, place problems.Place, since, until time.Time) (*users, error) {
	states, _ := j.session.States(ctx, since, until)
	for _, seen := range slices.Backward(states[max(0, len(states)-maxStates):]) {
		u, err := j.usersOf(ctx, place, seen)
		if err != nil || len(u.ports) > 0 && u.tables != nil {
			return u, err
		}
	}
	return nil, nil
}

// Hit is what an outage hit, by the tables of the time before it.
type Hit struct {
	// Pairs is the number of pairs of end ports whose paths used the place. Hosts are the names of the hosts that are
	// attached to the place. If there are none, they are those of the end ports. They are unknown unless Known is set.
	Pairs int64
	Hosts []string
	Known bool
	// Jobs are the IDs of the jobs that used it before and ran during the outage. Assumed is set if the tables of that
	// time are not known, so that those of another time were used.
	Jobs    []string
	Assumed bool
}

// Hit returns what an outage of a place hit. The outage lasted from down to end, and wasUp is the last time before at
// which the place was found up, zero if unknown.
func (j *Jobs) Hit(ctx context.Context, place problems.Place, wasUp, down, end time.Time) (*Hit, error) {
	before := down.Add(-time.Millisecond)
	if wasUp.IsZero() || wasUp.After(before) {
		wasUp = before.Add(-time.Millisecond)
	}
	h := &Hit{Jobs: []string{}}
	if slices.ContainsFunc(j.Runs, func(r *Run) bool { return r.During(down, end) }) {
		found, err := j.On(ctx, place, wasUp, before)
		if err != nil {
			return nil, err
		}
		h.Assumed = len(found.Assumed) > 0
		for i := range found.Uses {
			if x := &found.Uses[i]; x.During(down, end) && !slices.Contains(h.Jobs, x.ID) {
				h.Jobs = append(h.Jobs, x.ID)
			}
		}
	}
	u, err := j.lastUsers(ctx, place, wasUp, before)
	if err != nil || u == nil {
		return h, err
	}
	h.Pairs, h.Known = u.paths, !u.unknown
	h.Hosts = u.hosts()
	return h, nil
}

// hosts returns the names of the hosts that are attached to the place, sorted. If there are none, it returns those
// whose paths use the place.
func (u *users) hosts() []string {
	names := map[string]bool{}
	add := func(p fabric.PortIndex) {
		if p == fabric.None {
			return
		}
		if n := &u.f.Nodes[u.f.Ports[p].Node]; !n.IsSwitch() {
			names[places.HostName(n)] = true
		}
	}
	for p := range u.ports {
		add(p)
		add(u.f.Ports[p].Peer)
	}
	if len(names) == 0 {
		for _, ends := range []map[fabric.PortIndex]bool{u.from, u.to} {
			for e := range ends {
				add(e)
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// wasRead reports whether a state was in force from begin to end: it was read then, or shortly before and after.
func wasRead(s timeline.Seen, begin, end time.Time) bool {
	return !begin.Before(s.Began.Add(-records.Unobserved)) && !end.After(s.Until.Add(records.Unobserved))
}

// usersOf returns the users of a place in a state. It keeps the last result of each place.
func (j *Jobs) usersOf(ctx context.Context, place problems.Place, seen timeline.Seen) (*users, error) {
	key := use{problems.Place{GUID: place.GUID, Port: place.Port}, seen.Entry}
	if u := j.users[key]; u != nil {
		return u, nil
	}
	p, err := j.session.Recall(seen)
	if err != nil {
		return nil, err
	}
	f := p.Fabric
	u := &users{place: place, f: f, finder: &places.HostFinder{Fabric: f}, tables: p.Tables,
		ports: map[fabric.PortIndex]bool{}}
	target := u.target(place)
	if p.Tables != nil && len(u.ports) > 0 {
		r, err := uses.Find(ctx, p.Tables, target, uses.Options{Examples: 1})
		if err != nil {
			return nil, err
		}
		u.from, u.to = setOf(r.Sources), setOf(r.Destinations)
		u.paths, u.unknown = r.Paths, r.Unknown > 0
	}
	clear(j.users) // a state may take much memory
	j.users[key] = u
	return u, nil
}

// target returns the links and switches of a place, and notes their ports.
func (u *users) target(place problems.Place) (t uses.Target) {
	f := u.f
	node, port := place.In(f)
	add := func(p fabric.PortIndex) {
		if l, linked := f.LinkOf(p); linked {
			t.Links = append(t.Links, l)
			u.ports[l.A], u.ports[l.B] = true, true
		}
	}
	switch {
	case node == fabric.None:
	case place.Port >= 0:
		if port != fabric.None {
			add(port)
		}
	case f.Nodes[node].IsSwitch():
		t.Switches = []fabric.SwitchIndex{f.Nodes[node].Switch}
		for p := range f.Nodes[node].Ports() {
			u.ports[p] = true
		}
	default:
		for p := range f.Nodes[node].Ports() {
			add(p)
		}
	}
	return t
}

// add adds the use of the place by a job in the state.
func (u *users) add(ctx context.Context, x *Use, seen timeline.Seen) error {
	ends, missing, err := x.Ends(u.f, u.finder)
	if err != nil {
		return err
	}
	x.Hosts, x.Missing = max(x.Hosts, len(ends)), max(x.Missing, missing)
	x.AtLeast = x.AtLeast || missing > 0 || u.unknown || u.tables == nil
	var from, to []fabric.PortIndex
	attached := false
	for _, e := range ends {
		k, peer := counters.KeyOf(u.f, e), u.f.Ports[e].Peer
		attached = attached || peer != fabric.None && u.ports[peer] ||
			k.GUID == u.place.GUID && (u.place.Port < 0 || u.place.Port == int(k.Num))
		if u.from[e] {
			from = append(from, e)
		}
		if u.to[e] {
			to = append(to, e)
		}
	}
	var n int64
	if most := maxPairs / max(1, len(from)); len(to) > most {
		x.AtLeast, to = true, to[:most]
	}
	if len(from) > 0 && len(to) > 0 {
		if n, err = linkload.Over(ctx, u.tables, from, to, u.ports); err != nil {
			return err
		}
	}
	if n > 0 || attached {
		x.States = append(x.States, seen)
	}
	x.Pairs, x.Attached = max(x.Pairs, n), x.Attached || attached
	return nil
}

func setOf(list []uses.Use) map[fabric.PortIndex]bool {
	set := make(map[fabric.PortIndex]bool, len(list))
	for _, u := range list {
		set[u.Port] = true
	}
	return set
}
