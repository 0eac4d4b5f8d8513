// SPDX-License-Identifier: Apache-2.0

package commit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	fabricwrite "example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session/commits"
	"example.org/ibconsole/shell/session/journal"
)

// Change is the plan of a commit or a rollback, together with the report of the writes.
type Change struct {
	*commits.Report
	live     *fabric.Fabric
	switches []plan.Switch // those with the most changed entries first
	loops    answer.Value
	undo     string            // the command that undoes it
	note     string            // the commit that is rolled back or finished
	next     string            // how to write a plan that was only shown
	texts    map[string]string // for people, by [label.id]
	rebuild  rebuilds
}

// change returns the answer with the plan and the writes of rep.
func (r *run) change(rep *commits.Report, note string) *Change {
	x := &Change{Report: rep, live: r.live, note: note, switches: slices.Clone(rep.Plan.Switches)}
	slices.SortStableFunc(x.switches, func(a, b plan.Switch) int { return cmp.Compare(b.Entries, a.Entries) })
	st := r.Session.State()
	why, try := "", ""
	if l := rep.Credits; l != nil && slices.Contains([]credits.Verdict{l.Loop, l.Old, l.New}, credits.Unknown) {
		why, try = st.UnknownLoop(l.Unread, !l.Unread.Any())
	}
	x.loops = x.loopsOf(rep.Credits, why, try)
	x.texts = planTexts(rep)
	x.addTexts(why, try)
	x.addPortTexts(r.jobsText(rep))
	x.rebuild = r.rebuild
	x.rebuild.addTo(r, rep, x.texts)
	switch {
	case rep.Journal != 0:
		x.undo = fmt.Sprintf("rollback %d%s undoes it", rep.Journal, journal.Option(r.Session.Journal().OtherFile()))
	case rep.Written != nil:
		x.undo = "no entry in the journal: rollback cannot undo it"
	}
	return x
}

// Empty reports whether there is nothing to write.
func (x *Change) Empty() bool { return x.Plan.Empty() }

// Outcome returns the command that undoes a commit, and a summary of the writes.
func (x *Change) Outcome() string {
	text := fmt.Sprintf("written in %v: %v; read back: %v", answer.Duration(x.elapsed()), x.Written.Written,
		x.Written.ReadBack)
	if x.undo != "" {
		text = x.undo + "; " + text
	}
	return text
}

// basis adds the warnings of the plan.
func (x *Change) basis(b answer.Basis) answer.Basis {
	b.Warnings = slices.Concat(b.Warnings, x.Plan.Warnings)
	if x.Unlike != "" {
		b.Warnings = append(b.Warnings, x.Unlike)
	}
	if x.Adaptive > 0 {
		b.Warnings = append(b.Warnings, prose.When(x.Adaptive == 1, "1 switch routes",
			fmt.Sprintf("%d switches route", x.Adaptive))+
			" adaptively by groups, which no commit writes: adaptive packets keep using them")
	}
	return b
}

// written returns the basis of the answer about a plan that was written. It refers to the switches, not to a state.
func (x *Change) written(b answer.Basis) answer.Basis {
	return answer.Basis{Source: b.Source, Warnings: b.Warnings, Unread: b.Unread}
}

// totals returns the counts of a plan as a map for programs.
func (x *Change) totals() answer.Value {
	t := x.Plan.Totals()
	return answer.Map([]answer.Named{
		{Name: "writes", Value: answer.Int(t.Writes)}, {Name: "lids", Value: answer.Int(t.LIDs)},
		{Name: "linear_fdb_tops", Value: answer.Int(t.Tops)},
		{Name: "blocks", Value: answer.Int(t.Blocks)}, {Name: "sl2vl_tables", Value: answer.Int(t.SL2VLs)},
		{Name: "mft_blocks", Value: answer.Int(t.MFTs)},
		{Name: "ports", Value: answer.Int(t.Ports)}, {Name: "port_controls", Value: answer.Int(len(x.Plan.Controls))},
		{Name: "switches", Value: answer.Int(t.Switches)},
		{Name: "entries", Value: answer.Int(t.Entries)},
		{Name: "steps", Value: answer.Int(t.Steps)}, {Name: "extra_blocks", Value: answer.Int(t.Extra)},
		{Name: "pairs_interrupted", Value: answer.Int(t.Hit)},
		{Name: "pairs_to_moved_lids", Value: answer.Int(x.Plan.Hit.Moved)},
		{Name: "pairs_over_links_down", Value: answer.Int(x.Plan.Hit.Down)},
		{Name: "groups_interrupted", Value: answer.Int(t.Groups)},
		{Name: "unreachable", Value: answer.Int(t.Unreachable)},
		{Name: "kept", Value: answer.Int(t.Kept)},
		{Name: "unread", Value: answer.Int(t.Unread)},
	})
}

func (x *Change) loopsOf(l *plan.Credits, why, try string) answer.Value {
	if l == nil {
		return answer.None()
	}
	loop := func(v credits.Verdict) answer.Value {
		if v == credits.Unknown || l.Unchecked {
			return answer.NotRead()
		}
		return answer.Bool(v == credits.Loop)
	}
	entries := []answer.Named{{Name: "loop", Value: loop(l.Loop)}, {Name: "loop_of_old", Value: loop(l.Old)},
		{Name: "loop_of_new", Value: loop(l.New)}}
	if why != "" {
		entries = append(entries, answer.Named{Name: "why", Value: answer.Text(why)},
			answer.Named{Name: "try", Value: answer.Text(try)})
	}
	if x.Avoidance != nil && x.Avoidance.Taken {
		entries = append(entries, answer.Named{Name: "avoided", Value: answer.Bool(true)})
	}
	if l.Unchecked {
		entries = append(entries, answer.Named{Name: "unchecked", Value: answer.Bool(true)})
	}
	return answer.Map(entries)
}

// transition returns the steps that avoid a credit loop, or None if there is no such loop or no steps were computed.
func (x *Change) transition() answer.Value {
	a := x.Avoidance
	if a == nil || a.Transition == nil {
		return answer.None()
	}
	t := a.Transition
	entries := []answer.Named{
		{Name: "method", Value: answer.Text(t.Method.String())}, {Name: "order", Value: answer.Text(t.Order.String())},
		{Name: "taken", Value: answer.Bool(a.Taken)}, {Name: "waits", Value: answer.Int(len(x.Plan.Settles))},
		{Name: "seconds_of_each", Value: answer.Duration(x.Plan.SettleTime)},
		{Name: "drained_lids", Value: answer.Ints(t.Drained)},
	}
	if a.NoSettleTime != nil {
		entries = append(entries, answer.Named{Name: "no_time", Value: answer.Text(a.NoSettleTime.Error())})
	}
	return answer.Map(entries)
}

func (x *Change) levels() answer.Value {
	l := x.SLs
	if l == nil {
		return answer.None()
	}
	entries := []answer.Named{
		{Name: "asked", Value: answer.Int(l.Asked)}, {Name: "granted", Value: answer.Int(l.Granted)},
		{Name: "pairs", Value: answer.Int(l.Pairs)},
		{Name: "safe_with_sl_0", Value: answer.Bool(l.Plain)},
	}
	if l.Refused != "" {
		entries = append(entries, answer.Named{Name: "refused", Value: answer.Text(l.Refused)})
	}
	return answer.Map(entries)
}

// drainedRow is a port that has no path during the writes.
type drainedRow struct {
	Port answer.Value `key:"port" name:"PORT" kind:"place"`
	LID  uint16       `key:"lid" name:"LID"`
}

// drainedRows returns the ports that the steps drain, or would drain if that were permitted.
func (x *Change) drainedRows() answer.Rows[drainedRow] {
	if x.Avoidance == nil || !x.Avoidance.Drains() {
		return answer.Slice[drainedRow](nil)
	}
	f, lids := x.Credits.Fabric, x.Avoidance.Transition.Drained
	return answer.Lazy(len(lids), func(i int) drainedRow {
		return drainedRow{answer.Port(f, f.PortByLID(lids[i])), lids[i]}
	})
}

// ring returns the links of a credit loop that the old and the new routes form together.
func (x *Change) ring() answer.Rows[hop] {
	if x.Credits == nil || x.Credits.Loop != credits.Loop && x.Avoidance == nil ||
		x.Avoidance != nil && x.Avoidance.Taken {
		return answer.Rows[hop]{At: func(int) hop { return hop{} }}
	}
	f, ring := x.Credits.Fabric, x.Ring()
	return answer.Lazy(len(ring), func(i int) hop {
		from := ring[i].Port
		return hop{answer.Port(f, from), answer.Port(f, f.Ports[from].Peer), feature.ToPort(f, from)}
	})
}

// others returns what others wrote.
func (x *Change) others() answer.Rows[fabricwrite.Conflict] {
	if x.Others == nil {
		return answer.Slice[fabricwrite.Conflict](nil)
	}
	rows := answer.Slice(x.Others.List)
	rows.More = int64(x.Others.Count - len(x.Others.List))
	return rows
}

// addTexts adds those texts for people that cannot be derived from the plan alone.
func (x *Change) addTexts(why, try string) {
	const most = 5
	var names []string
	for _, s := range x.switches {
		names = append(names, fmt.Sprintf("%s (%d)", x.live.NodeName(x.live.Switches[s.Switch]), s.Entries))
	}
	if len(names) > 0 {
		x.texts["changed entries"] = prose.List(names, most)
	}
	if x.Others != nil {
		x.texts["CHANGED SINCE"] = fmt.Sprintf("%s since the tables were computed, by %s",
			prose.Count(x.Others.Count, "entry"), x.Others.Who)
	}
	x.addLoopText(why, try)
	if x.SLs != nil {
		x.texts["service levels"] = "needed from the subnet administration: " + x.SLs.Why() + plainLevels(x)
	}
	if x.Lost > 0 {
		x.texts["PAIRS LOST"] = fmt.Sprintf("%d that are connected now have no path %s", x.Lost,
			prose.When(len(x.Plan.Controls) > 0, "while the link is down", "in the new routes"))
	}
	if x.Unknown > 0 {
		x.texts["unknown lost"] = fmt.Sprintf("%d that may lose their path, over tables that were not read", x.Unknown)
	}
	if m := x.Master; m != nil {
		x.texts["master SM"] = fmt.Sprintf("0x%016x %s priority %d on %s", m.GUID, m.State, m.Priority, m.Port)
	}
	var left []string
	if x.LIDsLeft > 0 {
		left = append(left, prose.Count(x.LIDsLeft, "LID"))
	}
	if x.PortsLeft > 0 {
		left = append(left, prose.Count(x.PortsLeft, "port state"))
	}
	if left != nil {
		x.texts["not put back"] = strings.Join(left, " and ") + ": ports keep their LIDs and stay active"
	}
}

func plainLevels(x *Change) string {
	switch {
	case x.SLs.AllGranted():
		return ""
	case x.SLs.Plain:
		return "; with SL 0 everywhere: no credit loop"
	}
	return "; with SL 0 everywhere: CREDIT LOOPS"
}

func (x *Change) addLoopText(why, try string) {
	l := x.Credits
	switch {
	case l == nil:
	case l.Unchecked:
		x.texts["loops"] = "not checked, because LIDs and links change together"
	case x.Avoidance != nil && x.Avoidance.Taken:
		x.texts["loops"] = fmt.Sprintf("old and new routes together: no credit loop in these steps beyond those of "+
			"the old or the new routes; in another order, one over %s", prose.Count(len(x.Ring()), "link")) +
			x.ownLoops()
	case x.Avoidance != nil && l.Loop != credits.Unknown:
		x.texts["CREDIT LOOP"] = fmt.Sprintf("old and new routes together, over %s, which neither has alone",
			prose.Count(len(x.Ring()), "link"))
		if l.Old == credits.Loop || l.New == credits.Loop {
			x.texts["CREDIT LOOP"] += "; other loops: " + aloneText(l)
		}
	case l.Loop == credits.None:
		x.texts["loops"] = "old and new routes together: no credit loop"
	case l.Loop == credits.Unknown:
		x.texts["loops"] = fmt.Sprintf("old and new routes together: %s; %s", feature.UnknownLoopText(why, try),
			aloneText(l))
	default:
		x.texts["CREDIT LOOP"] = fmt.Sprintf("old and new routes together, over %s; %s",
			prose.Count(len(x.Ring()), "link"), aloneText(l))
	}
}

// ownLoops returns a text with the loops that the old and the new routes have alone. The steps do not avoid these.
func (x *Change) ownLoops() (text string) {
	t := x.Avoidance.Transition
	for _, own := range []struct {
		of   string
		ring []credits.Channel
		none bool
	}{{"old", t.Old, x.Credits.Old == credits.None}, {"new", t.New, x.Credits.New == credits.None}} {
		if len(own.ring) > 0 {
			text += fmt.Sprintf("; the %s routes%s alone have one over %s (through %s)", own.of,
				prose.When(own.none, " with the service levels of the others", ""),
				prose.Count(len(own.ring), "link"), x.Credits.Fabric.PortName(own.ring[0].Port))
		}
	}
	return text
}

// aloneText returns a text that states whether the old routes alone, and the new routes alone, have a credit loop.
func aloneText(l *plan.Credits) string {
	switch {
	case l.Old == credits.Loop && l.New == credits.Loop:
		return "the old and the new routes alone have one"
	case l.Old == credits.None && l.New == credits.None:
		return "neither the old nor the new routes alone have one"
	case l.Old == credits.Unknown && l.New == credits.Unknown:
		return "unknown of the old and the new routes alone"
	}
	of := [...]string{
		credits.None: "the %s routes do not", credits.Loop: "the %s routes alone have one",
		credits.Unknown: "unknown of the %s routes",
	}
	first, second := fmt.Sprintf(of[l.Old], "old"), fmt.Sprintf(of[l.New], "new")
	if l.New == credits.Loop {
		first, second = second, first
	}
	return first + ", " + second
}

// hop is a link of a credit loop.
type hop struct {
	From answer.Value `key:"from" name:"FROM" kind:"place"`
	To   answer.Value `key:"to" name:"TO" kind:"place"`
	lead answer.Lead
}

// pairRow is a pair of end ports.
type pairRow struct {
	Src answer.Value `key:"src" name:"FROM" kind:"place"`
	Dst answer.Value `key:"dst" name:"TO" kind:"place"`
}

// pairsOf returns pairs as places of a fabric. The argument all is the number of pairs of which these are examples.
func pairsOf(f *fabric.Fabric, pairs []diff.Pair, all int64) answer.Rows[pairRow] {
	place := func(p *diff.Port) answer.Value {
		if port := f.PortByGUID(uint64(p.GUID)); port != fabric.None {
			return answer.Port(f, port)
		}
		return answer.At(answer.Place{Name: p.Name, GUID: uint64(p.GUID), LID: p.LID, Port: -1})
	}
	rows := answer.Lazy(len(pairs), func(i int) pairRow { return pairRow{place(&pairs[i].Src), place(&pairs[i].Dst)} })
	rows.More = max(all-int64(len(pairs)), 0)
	return rows
}

// switchRow is a switch that the plan writes to.
type switchRow struct {
	Switch  answer.Value `key:"switch" name:"SWITCH" kind:"place"`
	Blocks  int          `key:"blocks" name:"BLOCKS" help:"blocks of 64 entries that are written"`
	Entries int          `key:"entries" name:"ENTRIES" help:"entries that change"`
	lead    answer.Lead
}

// elapsed returns how long writing took.
func (x *Change) elapsed() time.Duration {
	if x.Written == nil {
		return 0
	}
	return x.Written.Elapsed
}
