// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/shell/session/analysis"
	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/source"
)

// ProblemOptions say how far [Session.Problems] looks.
type ProblemOptions struct {
	Quick bool // looks at no packets' paths unless that was done already: microseconds a node
	// Thorough looks also where that takes long: for credit loops with SLs of paths on large subnets.
	Thorough bool
	Progress func(done, total int) // told how far following packets is, where that is done; nil for nobody
	// Recorded is what was recorded of errors of late, nil where nothing was: [Session.Problems] reads it.
	Recorded *records.Recorded
}

// Problems says what is wrong with the live subnet, the worst first, and what it could not look at. It asks
// the subnet nothing and does not wait for an operation that runs. What it finds by following packets it
// remembers for as long as the tables stay the same. It fails where ctx ends.
func (s *Session) Problems(ctx context.Context, opt ProblemOptions) (*problems.Report, error) {
	st := s.State()
	if !opt.Quick && opt.Recorded == nil && !st.Source.Offline() {
		opt.Recorded = s.Recorded().Lately(ctx)
	}
	return st.Problems(ctx, &s.analysis, opt)
}

// Problems is [Session.Problems] of this state; memo finds what follows from its tables.
func (st *State) Problems(ctx context.Context, memo *analysis.Memo, opt ProblemOptions) (*problems.Report, error) {
	r := &survey{&problems.Report{Problems: []problems.Problem{}, Unchecked: []problems.Unchecked{}}, st, memo, opt}
	if len(st.Live.Fabric.Nodes) == 0 {
		r.Skip("the subnet", "sweep", "nothing has been read of it yet")
		return r.Report, nil
	}
	r.sweep()
	oddities(r.Report, memo.Structure(st.Live.Fabric))
	r.counters()
	r.past()
	r.calibration()
	if err := r.routes(ctx); err != nil {
		return nil, err
	}
	r.Sort()
	return r.Report, nil
}

// PastProblems returns what is wrong with the subnet in an entry of the history. Counters and unanswered requests are
// not in an entry. What could not be checked is unknown. Memo finds what follows from the tables.
func (st *State) PastProblems(ctx context.Context, memo *analysis.Memo, p *Picture,
	opt ProblemOptions) (*problems.Report, error) {
	r := &survey{st.Shown(p, memo), st, memo, opt}
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
	st   *State
	memo *analysis.Memo
	opt  ProblemOptions
}

// oddities are what is not as its like in the structure of the subnet.
func oddities(r *problems.Report, s *classify.Structure) {
	for _, o := range s.Anomalies {
		at, name := problems.WholeSubnet, ""
		if o.Node != fabric.None {
			at, name = problems.PlaceOfNode(s.Fabric, o.Node), s.Fabric.NodeName(o.Node)+": "
		}
		r.Add(problems.Asymmetric, at, "show structure; hints FILE", "%s%s", name, o.What)
	}
}

// sweep are what the last sweep, or the file, shows.
func (r *survey) sweep() {
	f := r.st.Live.Fabric
	r.Unread(&r.st.Unread)
	if r.st.Base != nil {
		r.Unread(&r.st.drawn.unread)
	}
	if r.st.Lost != "" {
		r.Add(problems.Disconnected, problems.WholeSubnet, "sweep; doctor",
			"the subnet is as it was before the connection was lost: %s", r.st.Lost)
	}
	if r.st.Interrupted != "" {
		r.Add(problems.CommitInterrupted, problems.WholeSubnet, "commit resume, or rollback", "%s", r.st.Interrupted)
	}
	r.Answers(r.st.unansweredAt, r.st.Duplicates)
	r.Links(f, r.st.Live.Limits)
	r.NoLIDs(f)
	r.Alone(f)
	r.Adaptive(r.st.Live.Tables)
	r.warnings()
	r.Health(f, r.st.Live.Health)
	switch {
	case r.st.Source.Offline() && !r.st.stated:
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
	r.Managers(f, r.st.managers())
}

// warnings are those that are not told as something else.
func (r *survey) warnings() {
	told := map[string]bool{}
	for _, d := range r.st.Duplicates {
		told[d.Text] = true
	}
	for _, w := range r.st.Warnings {
		if !told[w] {
			r.Add(problems.Noticed, problems.WholeSubnet, "sweep", "%s", w)
		}
	}
}

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
		last := r.st.lastCounted()
		r.Counted(last.Reading.Fabric, last.Deltas)
		for _, h := range last.Reading.Unanswered {
			r.Skip("counters", "", "%v", h)
		}
	}
}

// lastCounted is the later of what commands and a recorder counted last, nil for neither.
func (n *Counts) lastCounted() *Counted {
	if n.Counted == nil || n.Rising != nil && n.Rising.When.After(n.Counted.When) {
		return n.Rising
	}
	return n.Counted
}

// recorded are those of what was recorded, and of what was counted last of ports that were not.
func (r *survey) recorded() {
	f := r.st.Live.Fabric
	got := r.opt.Recorded
	r.Counted(f, recorded.Deltas(f, got))
	if last := r.st.lastCounted(); last != nil {
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

// read are those of the counters that a file holds.
func (r *survey) read() {
	r.Totals(r.st.Live.Fabric, r.st.Read)
	if r.st.Counted == nil {
		r.Skip("rising error counters", "", "the file holds one reading of them")
		return
	}
	r.Counted(r.st.Live.Fabric, r.st.Counted.Deltas)
}

// past are what is other than it was.
func (r *survey) past() {
	r.Lost(r.st.Losses, r.st.Live.Fabric, r.st.unansweredAt)
	if b := r.st.Baseline; b != nil {
		n := len(r.Problems)
		r.Baseline(b.Fabric, r.st.Live.Fabric, r.st.unansweredAt, "the baseline of "+b.When.Format("2006-01-02 15:04"))
		r.DropLost(n, r.st.Losses)
	} else {
		r.Skip("what is missing or re-cabled", "baseline save", "there is no baseline")
	}
	var seen []problems.Seen
	for _, e := range r.st.Events {
		if e.Change != nil {
			seen = append(seen, problems.Seen{When: e.When, Change: *e.Change})
		}
	}
	r.Flapping(r.st.Live.Fabric, seen)
	if !r.st.Source.Offline() && r.st.Every == 0 && len(seen) == 0 {
		r.Skip("flapping links", "watch 10", "nobody watches the subnet")
	}
	if r.st.Drift > 0 {
		r.Add(problems.Drifted, problems.WholeSubnet, "who writes? show sms; diff",
			"%s no longer what the last commit wrote%s",
			prose.Verb(r.st.Drift, "entry", "is", "are"), diff.NotCompared(r.st.Unchecked))
	}
}

func (r *survey) calibration() {
	c := r.st.Calibrated
	switch {
	case c != nil && c.of == r.st.Live.Tables && c.of != nil:
		r.otherTables(c)
		if c.SL2VLDiffer > 0 {
			r.Add(problems.TablesDiffer, problems.WholeSubnet, "are the settings others? calibrate",
				"%d of %d SL2VL tables are not what %s gives with the settings", c.SL2VLDiffer, c.SL2VLs, c.Engine)
		}
	case c != nil || r.st.Settings.Conf() != "":
		r.Skip("tables against the subnet manager's settings", "calibrate",
			"they were not computed for the tables as they are now")
	default:
		r.Skip("tables against the subnet manager's settings", "engine from=/etc/opensm/opensm.conf",
			"its settings are not known")
	}
}

// otherTables names the switches whose tables are not what a calibration gave. That one
// missed a sweep is likely only where most have what the subnet manager's own settings give.
func (r *survey) otherTables(c *Calibration) {
	if c.Explained() {
		return
	}
	f, try := r.st.Live.Fabric, "are the settings others? engine from=FILE; calibrate"
	if c.own && 2*len(c.Switches) < len(f.Switches) {
		try = "did it miss a sweep, or are the settings others? calibrate"
	}
	for _, sw := range c.Switches {
		at := problems.Place{GUID: sw.GUID, Port: -1, Name: sw.Name}
		if n := f.NodeByGUID(sw.GUID); n != fabric.None {
			at = problems.PlaceOfNode(f, n)
		}
		r.Add(problems.TablesDiffer, at, try,
			"%s: %d of %d entries are not what %s gives with the settings", sw.Name, sw.Differ, sw.Entries, c.Engine)
	}
}

// routes are what the tables of the switches do to packets.
func (r *survey) routes(ctx context.Context) error {
	t := r.st.Live.Tables
	if t == nil || t.Fabric.MaxLID == 0 {
		try := prose.When(r.st.Source.Offline(), "route; check", "is there a subnet manager? show sms")
		r.Unknown("lost paths, credit loops", try, "no forwarding tables are known")
		return nil
	}
	return r.tables(ctx, t, len(r.st.Unanswered))
}

// tables adds what tables do to packets, in a subnet of whose sweep so many questions were left open.
func (r *survey) tables(ctx context.Context, t *fabric.Tables, holes int) error {
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
		reachProblems(f, holes, known, r.Report)
	} else {
		r.Skip("lost paths", "problems", "packets were not followed")
	}
	return r.credits(ctx, t)
}

// quickCredits is how many paths of a packet, as [credits.Work] counts them, are looked
// at for credit loops where nobody asked for thoroughness.
const quickCredits = 50_000_000

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

// reachProblems are packets that do not arrive, in a subnet of whose sweep so many questions were left open.
func reachProblems(f *fabric.Fabric, holes int, res *reach.Result, r *problems.Report) {
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
		if k.verdict == walk.DeadEnd && holes > 0 {
			example += "; parts of the subnet did not answer the sweep, and some may lead there"
		}
		r.Add(k.kind, at, "check reach; trace; does the subnet manager sweep?", "%d %s%s", k.n, k.what, example)
	}
	if res.Unknown > 0 {
		r.Skip("some paths", "sweep", "%d paths meet a table that was not read", res.Unknown)
	}
}
