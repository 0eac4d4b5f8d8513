// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/comparison"
)

// changes holds the changes of a time span.
type changes struct {
	Since      time.Time    `key:"since"`
	Until      time.Time    `key:"until"`
	Before     *seen        `prefix:"before_"` // nil if no state is known
	After      *seen        `prefix:"after_"`
	Difference *difference  `prefix:"difference_"` // nil if the tables were not compared
	Why        answer.Value `key:"why_no_difference" kind:"text"`
	SMLog      answer.Value `key:"sm_log" name:"sm log" kind:"text" help:"whether the log of the SM was followed"`

	f       *fabric.Fabric
	unread  error // why the history could not be read, nil if it was
	moments []timeline.Moment
	subnet  []fabric.Change
}

// seen is a state with the times when it was read first and last.
type seen struct {
	State string    `key:"state" help:"live, or the number of a history entry"`
	Began time.Time `key:"began"`
	Until time.Time `key:"until"`
	Text  string    `name:"text"`
}

// change is a node, link or port that differs between two states.
type change struct {
	What string `key:"what" name:"KIND"`
	Text string `key:"text" name:"CHANGE"`
	answer.Lead
}

const subnetTitle = "nodes, links and ports"

var (
	eventTable  = feature.MomentTable("  {when}\t{what}\t{text}\t[{who}]", "  none")
	subnetTable = answer.Table[change]{
		Key: "nodes_links_ports", Title: subnetTitle, Stream: true, MaxRows: 20, Fields: answer.Fields[change](),
		Row: "  " + subnetTitle + ": {text}",
	}
)

var changesDecl = answer.Decl[*changes]{
	Command: "changes", Help: "the changes of a time span, and their sum",
	Title: "events of {of} from {since} to {until}", Facts: answer.Fields[*changes](),
	Layout: append(append([]answer.Item[*changes]{
		{Table: answer.Show(eventTable, func(c *changes) answer.Rows[feature.Moment] {
			if c.unread != nil && len(c.moments) == 0 {
				return answer.UnreadRows[feature.Moment]()
			}
			return feature.Moments(c.f, c.moments)
		})},
		{Line: "{?sm_log}the subnet manager's log: {sm_log}"},
		{Line: "in all: unknown, {why_no_difference}", When: func(c *changes) bool { return c.Before == nil }},
		{Line: "{?before_text}in all, from {before_text} to {after_text}"},
		{Line: "no difference", When: func(c *changes) bool { return c.Before != nil && c.same() && !c.isUnknown() }},
		{Line: "no difference, as far as was read", When: func(c *changes) bool {
			return c.Before != nil && c.same() && c.isUnknown()
		}},
		{Table: answer.Show(&subnetTable, (*changes).changed)},
	}, items("difference_", func(c *changes) *difference {
		return c.Difference
	}, func(c *changes) bool { return c.Difference != nil && !c.Difference.same() })...),
		answer.Item[*changes]{Line: "{?why_no_difference}{why_no_difference}", When: func(c *changes) bool {
			return c.Before != nil
		}}),
	Verdict: (*changes).verdict, Fails: answer.Asked,
}

func (c *changes) verdict() (answer.Verdict, string) {
	switch {
	case c.unread != nil:
		return answer.Unknown, "the history could not be read: " + c.unread.Error()
	case len(c.moments) > 0 || !c.same():
		return answer.Found, "something changed"
	case c.isUnknown():
		return answer.Unknown, "not everything was read"
	}
	return answer.OK, ""
}

func (c *changes) same() bool {
	return len(c.subnet) == 0 && (c.Difference == nil || c.Difference.same())
}

func (c *changes) isUnknown() bool {
	if c.Difference == nil {
		return false
	}
	v, _ := c.Difference.verdict()
	return v == answer.Unknown
}

func (c *changes) changed() answer.Rows[change] {
	return answer.Lazy(len(c.subnet), func(i int) change {
		x := &c.subnet[i]
		return change{x.Kind.String(), x.String(), answer.Lead{GUID: x.At.GUID, Port: uint8(max(x.At.Port, 0))}}
	})
}

func runChanges(c *feature.Call) error {
	now := time.Now()
	until, err := c.Time("until", "now", now)
	if err != nil {
		return err
	}
	relative := now
	if c.Option("since", "") == "" {
		relative = until
	}
	since, err := c.Time("since", "1h", relative)
	if err != nil {
		return err
	}
	if since.After(until) {
		return c.Misused("since=%s is after until=%s", when.Text(since), when.Text(until))
	}
	line, err := c.Session.Timeline(c.Ctx, since, until)
	if err != nil {
		return err
	}
	st := c.Session.State()
	a := &changes{
		Since: since.Local(), Until: until.Local(), Before: seenOf(line.Before), After: seenOf(line.After),
		f: st.Live.Fabric, moments: line.Moments, unread: line.Unread, SMLog: answer.Optional(line.SMLog),
	}
	if line.Why != nil {
		a.Why = answer.Text(line.Why.Error())
	}
	if line.Before == nil {
		b := st.Basis(st.Live, session.NeedLinks)
		if line.Unread != nil {
			b.Unread = b.Unread.Add(answer.Unread{
				Count: 1, Causes: []answer.Cause{{What: "history", Why: line.Unread.Error(), Count: 1}},
			})
		}
		return c.Answer(changesDecl.Answer(b, a))
	}
	b, err := sum(c, a, line)
	if err != nil {
		return err
	}
	return c.Answer(changesDecl.Answer(b, a))
}

// sum compares the first and the last state of a time span. It returns the basis of the comparison.
func sum(c *feature.Call, a *changes, line *session.Timeline) (answer.Basis, error) {
	st := c.Session.State()
	before, err := st.Of(session.EntryKind(line.Before.Entry))
	if err != nil {
		return answer.Basis{}, err
	}
	after, err := st.Of(session.EntryKind(line.After.Entry))
	if err != nil {
		return answer.Basis{}, err
	}
	a.subnet = fabric.Changes(before.Fabric, after.Fabric)
	if before.Tables == nil || after.Tables == nil || before.Fabric.MaxLID == 0 || after.Fabric.MaxLID == 0 {
		a.Why = answer.Text("forwarding tables are not compared: one of the states has none")
		return st.Basis(after, session.NeedLinks), nil
	}
	x, err := comparison.Diff(c.Ctx, c.Session, session.EntryKind(line.Before.Entry),
		session.EntryKind(line.After.Entry), feature.MaxExamples)
	if err != nil {
		return answer.Basis{}, err
	}
	a.Difference = compareAll(&st, x)
	a.Difference.withNames()
	return a.Difference.basis, nil
}

func seenOf(s *timeline.Seen) *seen {
	if s == nil {
		return nil
	}
	x := &seen{State: string(session.EntryKind(s.Entry)), Began: s.Began.Local(), Until: s.Until.Local()}
	switch {
	case s.Entry == 0:
		x.Text = "live, read " + when.Text(x.Until)
	case s.Until.Equal(s.Began):
		x.Text = fmt.Sprintf("history %d, seen %s", s.Entry, when.Text(x.Began))
	default:
		x.Text = fmt.Sprintf("history %d, seen %s until %s", s.Entry, when.Text(x.Began),
			when.Text(x.Until))
	}
	return x
}
