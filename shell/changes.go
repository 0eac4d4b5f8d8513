// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func changesCommand() Spec {
	return Spec{
		Name: "changes", Summary: "what changed from one time to another: what, when, who probably, and the sum of it",
		Help: strings.ToUpper(when.Help[:1]) + when.Help[1:] + ". The sum is the difference between what was seen last by the one time and by the other.",
		Options: []lang.Option{
			{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "from when on; an hour ago"},
			{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "until when; now"},
		}, Run: runChanges,
	}
}

func runChanges(c *call) error {
	now := time.Now()
	until, err := c.feature().Time("until", "now", now)
	if err != nil {
		return err
	}
	since, err := c.feature().Time("since", "1h", prevailing(c, now, until))
	if err != nil {
		return err
	}
	if since.After(until) {
		return c.Misused("since=%s is after until=%s", since.Format(time.DateTime), until.Format(time.DateTime))
	}
	line, err := c.session.Timeline(c.ctx, since, until)
	if err != nil {
		return err
	}
	a := changesAnswer{Since: since, Until: until, Events: []momentRow{}, Before: line.Before, After: line.After}
	for _, m := range line.Moments {
		a.Events = append(a.Events, newMomentRow(m))
	}
	if line.Why != nil {
		a.Why = line.Why.Error()
	}
	if a.Before != nil {
		if err := c.sum(&a); err != nil {
			return err
		}
	}
	return c.out.Answer(a)
}

// prevailing is what since= is relative to: now, and where it is not given the end.
func prevailing(c *call, now, until time.Time) time.Time {
	if c.Option("since", "") == "" {
		return until
	}
	return now
}

// sum finds what is other in all.
func (c *call) sum(a *changesAnswer) error {
	st := c.session.State()
	before, err := st.Of(a.Before.Picture)
	if err != nil {
		return err
	}
	after, err := st.Of(a.After.Picture)
	if err != nil {
		return err
	}
	for _, x := range fabric.Changes(before.Fabric, after.Fabric) {
		a.Subnet = append(a.Subnet, changeRow{leads{Lead{GUID: x.At.GUID, Port: uint8(max(x.At.Port, 0))}}, x.Kind.String(), x.String()})
	}
	if before.Tables == nil || after.Tables == nil || before.Fabric.MaxLID == 0 || after.Fabric.MaxLID == 0 {
		a.Why = "the forwarding tables are not compared: there are none in one of the two"
		return nil
	}
	res, err := c.session.Diff(c.ctx, a.Before.Picture, a.After.Picture, c.named())
	if err != nil {
		return err
	}
	a.Difference = newDiffAnswer(res, comparedNames, notComparedData)
	a.Difference.compare(before, after)
	return nil
}

// changesAnswer is what changed in some time.
type changesAnswer struct {
	Since  time.Time     `json:"since"`
	Until  time.Time     `json:"until"`
	Events []momentRow   `json:"events"`
	Before *session.Seen `json:"before,omitempty"`
	After  *session.Seen `json:"after,omitempty"`
	Subnet []changeRow   `json:"nodes_links_ports"`
	// Difference is that of the tables, and of what follows from them.
	Difference *diffAnswer `json:"difference,omitempty"`
	Why        string      `json:"why_no_difference,omitempty"`
}

const (
	eventsTitle = "events"
	subnetTitle = "nodes, links and ports"
)

// Text is the events, and the sum of them.
func (a changesAnswer) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s from %s to %s\n", eventsTitle, a.Since.Local().Format(time.DateTime), a.Until.Local().Format(time.DateTime))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range a.Events {
		_, _ = fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", e.When.Local().Format(time.DateTime), orDash(e.What), e.Text, e.Who)
	}
	_ = tw.Flush()
	if len(a.Events) == 0 {
		_, _ = fmt.Fprintln(w, "  none")
	}
	if a.Before == nil {
		_, _ = fmt.Fprintf(w, "in all: not known, %s\n", a.Why)
		return
	}
	_, _ = fmt.Fprintf(w, "in all, from %s to %s\n", seenText(a.Before), seenText(a.After))
	if a.same() {
		_, _ = fmt.Fprintln(w, "no difference"+prose.When(a.Difference != nil && a.Difference.Verdict == verdict.Unknown, ", as far as was read", ""))
	}
	list(w, subnetTitle, textsOf(a.Subnet))
	if d := a.Difference; d != nil && !d.same() {
		d.body(w)
	}
	if a.Why != "" {
		_, _ = fmt.Fprintln(w, a.Why)
	}
}

func (a *changesAnswer) same() bool {
	d := a.Difference
	return len(a.Subnet) == 0 && (d == nil || d.same())
}

func seenText(s *session.Seen) string {
	if s.Picture == session.Live {
		return "live, read " + s.Until.Local().Format(time.DateTime)
	}
	text := fmt.Sprintf("history %s, seen %s", s.Picture, s.Began.Local().Format(time.DateTime))
	if !s.Until.Equal(s.Began) {
		text += " until " + s.Until.Local().Format(time.DateTime)
	}
	return text
}

// Tables are the events, and the sum of them in full.
func (a changesAnswer) Tables() []Table {
	all := []Table{{Title: eventsTitle, Columns: []string{"WHEN", "WHAT", "EVENT", "WHO", "BEFORE", "AFTER"}, Rows: rowsOf(a.Events)},
		{Title: subnetTitle, Columns: []string{"WHAT", "CHANGE"}, Rows: rowsOf(a.Subnet)}}
	if a.Difference != nil {
		all = append(all, a.Difference.Tables()...)
	}
	return all
}

func rowsOf[R Row](rows []R) []Row {
	out := make([]Row, len(rows))
	for i, r := range rows {
		out[i] = r
	}
	return out
}

func textsOf(rows []changeRow) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Text)
	}
	return out
}

// changeRow is a node, link or port that is other.
type changeRow struct {
	leads
	What string `json:"what"`
	Text string `json:"text"`
}

func (r changeRow) Cells() []any { return []any{r.What, r.Text} }

// momentRow is an event; it leads to what is other behind it, else to where it happened.
type momentRow struct {
	leads
	When   time.Time `json:"when"`
	What   string    `json:"what,omitempty"`
	Text   string    `json:"text"`
	Who    string    `json:"who,omitempty"`
	GUID   string    `json:"guid,omitempty"`
	Port   int       `json:"port,omitempty"`
	Before int64     `json:"before,omitempty"`
	After  int64     `json:"after,omitempty"`
}

func newMomentRow(m session.Moment) momentRow {
	r := momentRow{leads{Lead{GUID: m.GUID, Port: uint8(m.Port)}}, m.When, m.What, m.Text, m.Who, "", m.Port, m.Before, m.After}
	if m.GUID != 0 {
		r.GUID = fmt.Sprintf("0x%016x", m.GUID)
	}
	if m.Pictures() {
		r.leads = leads{toCommand("diff %d %d", m.Before, m.After)}
	}
	return r
}

func (r momentRow) Cells() []any {
	return []any{r.When.Local().Format(time.DateTime), r.What, r.Text, r.Who, entryWord(r.Before), entryWord(r.After)}
}

func entryWord(id int64) string {
	if id == 0 {
		return "-"
	}
	return fmt.Sprint(id)
}
