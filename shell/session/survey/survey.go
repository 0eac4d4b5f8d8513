// SPDX-License-Identifier: Apache-2.0

// Package survey lists the problems of a subnet, either in the live state or in a state of the history.
package survey

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/analysis"
	"example.org/ibconsole/shell/session/calibration"
	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/smlog"
	"example.org/ibconsole/shell/session/source"
)

// Options controls how much is checked.
type Options struct {
	Quick    bool                  // follow no packets unless the results are known: microseconds per node
	Thorough bool                  // also check what takes long: credit loops with SLs of paths on large subnets
	Progress func(done, total int) // progress of following packets, nil for none
	Recorded *records.Recorded     // recent errors from the record, nil for none; [Problems] reads it
	Outages  []records.Outage      // recorded outages of links in the last day; [Problems] reads them
	// Commits returns the commits of the subnet, see [history.TookDown]. [Problems] sets it.
	Commits func() ([]history.JournalEntry, error)
	// Unfiltered lists acknowledged problems as all others.
	Unfiltered bool
}

// Problems returns the problems of the live subnet, the worst first, and the properties that could not be checked. It
// sends no packets and does not wait for a running operation. Results about paths are cached as long as the tables stay
// the same. The record has the beginnings of problems and the acknowledgements. It returns an error if ctx ends.
func Problems(ctx context.Context, s *session.Session, opt Options) (*problems.Report, error) {
	st := s.State()
	if !opt.Quick && opt.Recorded == nil && !st.Source.Offline() {
		opt.Recorded = s.Recorded().Lately(ctx)
	}
	var open recorded.Ledger
	var unread error
	if !st.Source.Offline() {
		open, unread = s.Recorded().Ledger(ctx)
		opt.Outages = open.Outages
		opt.Commits = func() ([]history.JournalEntry, error) { return s.Journal().Known(ctx) }
	}
	r, err := Of(ctx, &st, s.Analysis(), opt)
	if err != nil || st.Source.Offline() {
		return r, err
	}
	if unread != nil {
		r.Skip("when problems began, acknowledged problems", "", "%v", unread)
	}
	r.Problems = append(r.Problems, open.Alerts...)
	r.Sort()
	for i := range r.Problems {
		if p := &r.Problems[i]; p.Since.IsZero() {
			p.Since = open.Began[p.ID()]
		}
	}
	r.DropRising(open.Alerts)
	if !opt.Unfiltered {
		r.Acknowledge(func(id string) (problems.Acknowledged, bool) {
			a, ok := open.Acknowledged[id]
			return problems.Acknowledged{Who: a.Who, Reason: a.Reason, Until: a.Until}, ok
		})
	}
	return r, nil
}

// Of is [Problems] for the live subnet in the state st. The argument memo provides the results about its tables.
func Of(ctx context.Context, st *session.State, memo *analysis.Memo, opt Options) (*problems.Report, error) {
	r := &survey{&problems.Report{Problems: []problems.Problem{}, Unchecked: []problems.Unchecked{}}, st, memo, opt}
	if len(st.Live.Fabric.Nodes) == 0 {
		r.Skip("the subnet", "sweep", "nothing has been read of it yet")
		return r.Report, nil
	}
	r.sweep()
	addAnomalies(r.Report, memo.Structure(st.Live.Fabric))
	r.counters()
	r.past()
	r.calibration()
	if err := r.routes(ctx); err != nil {
		return nil, err
	}
	r.Sort()
	return r.Report, nil
}

// Past returns the problems of a history entry. Entries have no counters and no unanswered requests, so properties that
// depend on these are unknown. The argument memo provides the results about its tables.
func Past(ctx context.Context, st *session.State, memo *analysis.Memo, p *session.Picture,
	opt Options) (*problems.Report, error) {
	r := &survey{Shown(st, p, memo), st, memo, opt}
	shown := len(r.Unchecked)
	if t := p.Tables; t == nil || t.Fabric.MaxLID == 0 {
		r.Skip("lost paths, credit loops", "", "the entry of the history has no forwarding tables")
	} else if err := r.tables(ctx, t, 0); err != nil {
		return nil, err
	}
	for i := range r.Unchecked[shown:] {
		u := &r.Unchecked[shown+i]
		u.Try, u.Unknown = "", true // commands read the subnet of today
	}
	r.Sort()
	return r.Report, nil
}

// survey collects the problems of a state.
type survey struct {
	*problems.Report
	st   *session.State
	memo *analysis.Memo
	opt  Options
}

// addAnomalies adds the nodes that differ from their peers in the structure of the subnet.
func addAnomalies(r *problems.Report, s *classify.Structure) {
	for _, o := range s.Anomalies {
		at, name := problems.WholeSubnet, ""
		if o.Node != fabric.None {
			at, name = problems.PlaceOfNode(s.Fabric, o.Node), s.Fabric.NodeName(o.Node)+": "
		}
		r.Add(problems.Asymmetric, at, "show structure; hints FILE", "%s%s", name, o.What)
	}
}

// sweep adds the problems that the last sweep, or the file, reports.
func (r *survey) sweep() {
	f := r.st.Live.Fabric
	r.Unread(&r.st.Unread)
	if r.st.Base != nil {
		r.Unread(r.st.TopologyUnread())
	}
	if r.st.Lost != "" {
		r.Add(problems.Disconnected, problems.WholeSubnet, "sweep; doctor",
			"the subnet is shown as before the connection was lost: %s", r.st.Lost)
	}
	if r.st.Interrupted != "" {
		r.Add(problems.CommitInterrupted, problems.WholeSubnet, "commit resume, or rollback", "%s", r.st.Interrupted)
	}
	r.Answers(r.st.UnansweredAt(), r.st.Duplicates)
	r.Links(f, r.st.Live.Limits)
	r.NoLIDs(f)
	r.Alone(f)
	r.Adaptive(r.st.Live.Tables)
	r.warnings()
	r.Health(f, r.st.Live.Health)
	r.Hardware(f, r.st.Live.Health)
	r.Parts(f, problems.PartsOf(f, r.st.Live.Health, r.st.Read))
	r.GenericNames(f)
	defer r.managerLog()
	switch {
	case r.st.Source.Offline() && !r.st.HasStates:
		r.Skip("subnet managers, link states, what does not answer", "", "the subnet is a file")
		return
	case r.st.Source.Offline():
		r.NotActive(f)
		r.Skip("what does not answer", "", "the subnet is a file")
		if len(r.st.SMs) == 0 {
			r.Skip("subnet managers", "", "the file names none")
			return
		}
	default:
		r.NotActive(f)
	}
	if r.st.Source.Kind == source.Sim && len(r.st.SMs) == 0 {
		r.Skip("subnet managers", "", "a simulated subnet has none")
		return
	}
	r.Managers(f, r.st.Managers())
}

// managerLog adds the problems in the log of the subnet manager, if the session follows it.
func (r *survey) managerLog() {
	l := smlog.Of(r.st)
	switch {
	case l == nil:
		return
	case l.Failed != nil:
		r.Skip("the log of the subnet manager", "", "%v", l.Failed)
	case !l.Log.Marks:
		r.Skip("causes of heavy sweeps, a second master in the log", "", "the log of the subnet manager lacks verbose "+
			"lines (opensm -D 0x07): %s", smlog.NotLogged)
	}
	r.Manager(r.st.Live.Fabric, &l.Log, time.Now())
}

// warnings adds the warnings of the sweep, except for those that are also reported as duplicates.
func (r *survey) warnings() {
	isReported := map[string]bool{}
	for _, d := range r.st.Duplicates {
		isReported[d.Text] = true
	}
	for _, w := range r.st.Warnings {
		if !isReported[w] {
			r.Add(problems.Noticed, problems.WholeSubnet, "sweep", "%s", w)
		}
	}
}

// counters adds the ports whose error counters increase.
func (r *survey) counters() {
	const what = "rising error counters"
	switch {
	case r.opt.Recorded != nil:
		r.recorded()
	case r.st.Source.Offline() && r.st.Read == nil && r.st.Counted == nil:
		r.Skip(what, "", "the subnet is a file")
	case r.st.Source.Offline():
		r.read()
	case r.st.Uncounted != nil:
		first := r.st.Uncounted[0]
		r.Unknown(what, "", "the last reading got the counters of no port: %s: %v", first.Name, first.Why())
	case r.st.Counted == nil && r.st.Rising == nil:
		r.Skip(what, "show counters", "all counters have to be read twice")
	default:
		last := lastCounted(&r.st.Counts)
		r.Counted(last.Reading.Fabric, last.Deltas)
		for _, h := range last.Reading.Unanswered {
			r.Skip("counters", "", "%v", h)
		}
	}
}

// lastCounted returns the last reading by a command or by a recorder, whichever is later. It returns nil if there is
// none.
func lastCounted(n *session.Counts) *session.Counted {
	if n.Counted == nil || n.Rising != nil && n.Rising.When.After(n.Counted.When) {
		return n.Rising
	}
	return n.Counted
}

// recorded adds the errors that were recorded. For ports that were not recorded, it adds the errors of the last
// readings.
func (r *survey) recorded() {
	f := r.st.Live.Fabric
	got := r.opt.Recorded
	r.Counted(f, recorded.Deltas(f, got))
	if last := lastCounted(&r.st.Counts); last != nil {
		g := last.Reading.Fabric
		r.Counted(g, slices.DeleteFunc(slices.Clone(last.Deltas), func(d counters.Delta) bool {
			return got.Read[counters.KeyOf(g, d.Port)]
		}))
	}
	if took, of := records.TotalTime(got.Spans), got.Until.Sub(got.Since); took < of*99/100 {
		r.Skip("rising error counters", "", "of the last %v only %v were recorded", of.Round(time.Second),
			took.Round(time.Second))
	}
	if n := len(recorded.NotRead(r.st.Live.Fabric, got)); n > 0 {
		r.Skip("counters", "counters worst", "%s not read", prose.Verb(n, "port", "was", "were"))
	}
}

// read adds the errors that the counters in a file show.
func (r *survey) read() {
	r.Totals(r.st.Live.Fabric, r.st.Read)
	if r.st.Counted == nil {
		r.Skip("rising error counters", "", "the file holds one reading of them")
		return
	}
	r.Counted(r.st.Live.Fabric, r.st.Counted.Deltas)
}

// The method past adds the differences from earlier states: losses, and differences from the baseline.
func (r *survey) past() {
	r.Lost(r.st.Losses, r.st.Live.Fabric, r.st.UnansweredAt())
	if b := r.st.Baseline; b != nil {
		n := len(r.Problems)
		r.Baseline(b.Fabric, r.st.Live.Fabric, r.st.UnansweredAt(), "the baseline of "+
			when.Format(b.When, "2006-01-02 15:04"))
		r.DropLost(n, r.st.Losses)
	} else {
		r.Skip("what is missing or re-cabled", "baseline save", "there is no baseline")
	}
	r.flapping()
	if !r.st.Source.Offline() && r.st.Every == 0 && len(r.st.Events) == 0 && r.opt.Recorded == nil {
		r.Skip("flapping links", "watch 10", "the subnet is not watched")
	}
	if r.st.Drift > 0 {
		r.Add(problems.Drifted, problems.WholeSubnet, "who writes? show sms; diff",
			"%s no longer what the last commit wrote%s",
			prose.Verb(r.st.Drift, "entry", "is", "are"), diff.NotCompared(r.st.Unchecked))
	}
}

// flapping adds the links that went down more than once without a commit.
func (r *survey) flapping() {
	seen := r.linkLosses(time.Now().Add(-recorded.Flaps))
	if len(seen) > 1 && r.opt.Commits != nil {
		journal, err := r.opt.Commits()
		if err != nil {
			r.Skip("links that commits took down", "", "%v", err)
		}
		seen = slices.DeleteFunc(seen, func(x problems.LinkLoss) bool {
			return history.TookDown(journal, x.A, x.B, x.WasUp, x.When) != nil
		})
	}
	r.Flapping(seen)
}

// linkLosses returns the losses of links since a time, from the record and from the events of this session. An event
// during a recorded outage is of that outage.
func (r *survey) linkLosses(since time.Time) []problems.LinkLoss {
	var all []problems.LinkLoss
	for i := range r.opt.Outages {
		if o := &r.opt.Outages[i]; !o.Down.Before(since) {
			all = append(all, problems.LinkLoss{WasUp: o.WasUp, When: o.Down, A: o.A, B: o.B})
		}
	}
	for i := range r.st.Events {
		e := &r.st.Events[i]
		if e.Change == nil || e.Change.Kind != fabric.LinkDown || e.When.Before(since) {
			continue
		}
		x := records.Outage{A: e.Change.At, B: e.Change.Peer}
		isRecorded := slices.ContainsFunc(r.opt.Outages, func(o records.Outage) bool {
			return o.SameLink(&x) && o.Contains(e.When)
		})
		if !isRecorded {
			all = append(all, problems.LinkLoss{When: e.When, A: x.A, B: x.B})
		}
	}
	return all
}

// calibration adds the switches whose tables differ from the computed tables.
func (r *survey) calibration() {
	c := r.st.Calibrated
	switch {
	case c != nil && c.IsOf(r.st.Live.Tables):
		r.differentTables(c)
		if c.SL2VLDiffer > 0 {
			r.Add(problems.TablesDiffer, problems.WholeSubnet, "do the settings differ? calibrate",
				"%d of %d SL2VL tables differ from those of %s with the settings", c.SL2VLDiffer, c.SL2VLs, c.Engine)
		}
	case c != nil || r.st.Settings.Conf() != "":
		r.Skip("tables against the subnet manager's settings", "calibrate",
			"the settings were not compared with the present tables")
	default:
		r.Skip("tables against the subnet manager's settings", "engine from=/etc/opensm/opensm.conf",
			"its settings are not known")
	}
}

// differentTables adds the switches whose tables differ from the tables of a calibration. If the settings are the
// subnet manager's own and give the tables of most switches, the other switches may have missed a sweep of the subnet
// manager. Otherwise the settings probably differ.
func (r *survey) differentTables(c *calibration.Calibration) {
	if c.Explained() {
		return
	}
	f, try := r.st.Live.Fabric, "compare the settings: 'engine from=FILE; calibrate'"
	if c.Own && 2*len(c.Switches) < len(f.Switches) {
		try = "did it miss a sweep, or do the settings differ? calibrate"
	}
	for _, sw := range c.Switches {
		at := problems.Place{GUID: sw.GUID, Port: -1, Name: sw.Name}
		if n := f.NodeByGUID(sw.GUID); n != fabric.None {
			at = problems.PlaceOfNode(f, n)
		}
		r.Add(problems.TablesDiffer, at, try,
			"%s: %d of %d entries differ from those of %s with the settings", sw.Name, sw.Differ, sw.Entries, c.Engine)
	}
}

// routes adds the problems of paths through the live tables.
func (r *survey) routes(ctx context.Context) error {
	t := r.st.Live.Tables
	if t == nil || t.Fabric.MaxLID == 0 {
		try := prose.When(r.st.Source.Offline(), "route; check", "is there a subnet manager? show sms")
		r.Unknown("lost paths, credit loops", try, "no forwarding tables are known")
		return nil
	}
	return r.tables(ctx, t, len(r.st.Unanswered))
}

// tables adds the problems of paths through tables. The argument unanswered is the number of requests of the sweep that
// got no response.
func (r *survey) tables(ctx context.Context, t *fabric.Tables, unanswered int) error {
	f := t.Fabric
	for sw, known := range t.Known {
		if n := f.Switches[sw]; !known && f.Nodes[n].InSubnet {
			r.Add(problems.TableUnread, problems.PlaceOfNode(f, n), "sweep; show targets",
				"the forwarding table of %s was not read", f.NodeName(n))
		}
	}
	known := r.memo.KnownReach(t)
	if known == nil && !r.opt.Quick {
		var err error
		if known, err = r.memo.Reach(ctx, t, reach.Options{Progress: r.opt.Progress}); err != nil {
			return err
		}
	}
	if known != nil {
		addLostPaths(f, unanswered, known, r.Report)
	} else {
		r.Skip("lost paths", "problems", "packets were not followed")
	}
	return r.credits(ctx, t)
}

// quickCredits limits the search for credit loops without [Options.Thorough]. It is the maximum work, as counted by
// [credits.Work].
const quickCredits = 50_000_000

// credits adds credit loops.
func (r *survey) credits(ctx context.Context, t *fabric.Tables) error {
	const what = "credit loops"
	known := r.memo.KnownCredits(t)
	switch {
	case known != nil:
	case r.opt.Quick:
		r.Skip(what, "problems", "packets were not followed")
		return nil
	case credits.Work(t) > quickCredits && !r.opt.Thorough:
		r.Skip(what, "problems thorough", "it takes long on a subnet of this size")
		return nil
	default:
		var err error
		if known, err = r.memo.Credits(ctx, t, credits.Options{GroupSL: r.st.GroupSL(t)}); err != nil {
			return err
		}
	}
	switch known.Verdict {
	case credits.Loop:
		at := problems.PlaceOfPort(t.Fabric, known.Ring[0].From.Port)
		r.Add(problems.CreditLoop, at, "another engine: suggest, compare engines; check credits shows the ring",
			"%d links wait for one another in a ring through %s", len(known.Ring), at.Name)
	case credits.Unknown:
		why, try := r.st.UnknownLoop(known.Unread, known.Partial)
		r.Unknown(what, try, "%s", why)
	}
	return nil
}

// addLostPaths adds the paths that do not arrive. The argument unanswered is the number of requests of the sweep that
// got no response.
func addLostPaths(f *fabric.Fabric, unanswered int, res *reach.Result, r *problems.Report) {
	for _, k := range []struct {
		n       int64
		verdict walk.Verdict
		kind    problems.Kind
		what    string
	}{
		{res.Unreachable, walk.DeadEnd, problems.PathsLost, "paths end before they arrive"},
		{res.Loops, walk.Loop, problems.Loops, "paths come back to a switch"},
		{res.Misdelivered, walk.Misdelivered, problems.Misdelivered, "paths end at a port that does not have the LID"},
		{res.TooLong, walk.TooLong, problems.TooLong, fmt.Sprintf("paths are longer than %d links", walk.MaxHops)},
	} {
		if k.n == 0 {
			continue
		}
		at, example := problems.WholeSubnet, ""
		i := slices.IndexFunc(res.Troubles, func(p reach.Path) bool {
			return p.Verdict == k.verdict && p.Dst != fabric.None
		})
		if i >= 0 {
			t := &res.Troubles[i]
			at = problems.PlaceOfPort(f, t.Dst)
			example = fmt.Sprintf(": %s to %s", f.PortName(t.Src), f.PortName(t.Dst))
		}
		if k.verdict == walk.DeadEnd && unanswered > 0 {
			example += "; parts of the subnet did not respond to the sweep, and may be on the path"
		}
		r.Add(k.kind, at, "check reach; trace; does the subnet manager sweep?", "%d %s%s", k.n, k.what, example)
	}
	if res.Unknown > 0 {
		r.Skip("some paths", "sweep", "%d paths meet a table that was not read", res.Unknown)
	}
}

// Shown returns the problems that the data of a state shows at any time: links, LIDs, groups and structure. If they
// were recorded, it includes losses and subnet managers. It does not follow paths and does not use counters.
func Shown(st *session.State, p *session.Picture, memo *analysis.Memo) *problems.Report {
	r := &problems.Report{}
	r.Links(p.Fabric, p.Limits)
	r.NoLIDs(p.Fabric)
	r.Alone(p.Fabric)
	r.NotActive(p.Fabric)
	if p.Tables != nil {
		r.Adaptive(p.Tables)
	}
	addAnomalies(r, memo.Structure(p.Fabric))
	switch seen := st.Seen(p); {
	case seen == nil:
		r.Skip("subnet managers, what was lost before", "", "the history does not have it")
	case (st.Source.Kind == source.Sim || st.Source.Offline()) && len(seen.Managers) == 0:
		r.Lost(seen.Lost, p.Fabric, nil)
	default:
		r.Lost(seen.Lost, p.Fabric, nil)
		r.Managers(p.Fabric, seen.Managers)
	}
	r.Sort()
	return r
}

// Missing returns a problem for everything that the earlier state has and the state p lacks, or has in another form.
func Missing(p, earlier *session.Picture) *problems.Report {
	r := &problems.Report{}
	r.Baseline(earlier.Fabric, p.Fabric, nil, "the subnet at "+when.Text(earlier.When))
	r.Sort()
	return r
}
