// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/survey"
)

// past is the answer of problems of a time or of a period.
type past struct {
	f        *fabric.Fabric
	Since    time.Time     `key:"since" help:"the beginning of the period"`
	Until    time.Time     `key:"until" help:"the end of the period"`
	Count    int           `key:"count" help:"problems in the period; one that returned counts again"`
	Open     int           `key:"open" help:"problems that were open at the end of the period"`
	Observed time.Duration `key:"observed_seconds" help:"the part of the period in which problems were looked for"`
	PeriodIs string        `name:"period"`
	episodes []records.Episode
	spans    []records.Span
}

// episode is a row: a problem from its beginning to its end.
type episode struct {
	ID       string       `key:"id" name:"ID" help:"the identifier of the problem"`
	Severity string       `key:"severity" name:"SEVERITY"`
	Kind     string       `key:"problem" name:"PROBLEM"`
	At       answer.Value `key:"at" kind:"place" name:"OBJECT" help:"the node or port"`
	Since    time.Time    `key:"since" name:"SINCE" help:"when the problem began, or was first found"`
	Seen     time.Time    `key:"last_seen" name:"LAST SEEN" help:"when the problem was last found"`
	Closed   answer.Value `key:"closed" kind:"time" name:"CLOSED" help:"when the problem was no longer found"`
	Lasted   answer.Value `key:"seconds" kind:"duration" help:"the length of a closed problem"`
	AtLeast  bool         `key:"at_least" help:"the length is a lower bound: no recorder saw the end"`
	LastedIs string       `name:"LASTED"`
	What     string       `key:"what" name:"EVIDENCE" help:"the last evidence, or that of the given time"`
	lead     answer.Lead
}

// evidence is a row: the evidence of a problem from a time on.
type evidence struct {
	ID       string    `key:"id" name:"ID"`
	When     time.Time `key:"when" name:"SINCE"`
	Severity string    `key:"severity" name:"SEVERITY"`
	What     string    `key:"what" name:"EVIDENCE"`
}

// mostEvidence is the number of rows of evidence that are shown to people.
const mostEvidence = 40

var pastDecl = answer.Decl[*past]{
	Command: "problems", Help: "the problems that were recorded at a time, or in a period",
	Title: "recorded problems {period}: {count|problem}, {open} open at the end",
	Facts: answer.Fields[*past](),
	Layout: []answer.Item[*past]{
		{Table: answer.Show(&answer.Table[episode]{
			Key: "problems", Title: "problems", Fields: answer.Fields[episode](), Empty: "no problem was recorded",
			Lead: func(e episode) answer.Lead { return e.lead },
		}, func(p *past) answer.Rows[episode] {
			return answer.Lazy(len(p.episodes), func(i int) episode { return p.row(p.episodes[i]) })
		})},
		{Table: answer.Show(&answer.Table[evidence]{
			Key: "evidence", Title: "changes of the evidence", Fields: answer.Fields[evidence](), MaxRows: mostEvidence,
		}, (*past).evidence), When: func(p *past) bool { return p.evidence().N > 0 }},
	},
	Verdict: (*past).verdict, Fails: answer.Asked, Warns: (*past).warns,
}

func (p *past) verdict() (answer.Verdict, string) {
	missing := p.Until.Sub(p.Since) - p.Observed
	switch {
	case slices.ContainsFunc(p.episodes, func(e records.Episode) bool { return e.Severity <= problems.Warning }):
		return answer.Found, prose.Count(p.Count, "problem")
	case len(p.spans) == 0:
		return answer.Unknown, "no recorder looked for problems at that time"
	case missing > records.Unobserved:
		return answer.Unknown, fmt.Sprintf("no recorder looked for problems for %v of the period",
			missing.Round(time.Second))
	}
	return answer.OK, ""
}

// warns reports whether no problem of the period is an error.
func (p *past) warns() bool {
	return !slices.ContainsFunc(p.episodes, func(e records.Episode) bool { return e.Severity == problems.Error })
}

func (p *past) row(e records.Episode) episode {
	now := e.Evidence[0]
	for _, x := range e.Evidence {
		if !x.When.After(p.Until) {
			now = x
		}
	}
	x := episode{
		ID: e.ID(), Severity: now.Severity.String(), Kind: string(e.Kind), At: feature.PlaceOf(p.f, e.At),
		Since: e.Since, Seen: e.Seen, Closed: answer.None(), Lasted: answer.None(), What: now.What,
		lead: answer.Lead{GUID: e.At.GUID, Port: uint8(max(e.At.Port, 0))},
	}
	if !e.Closed.IsZero() {
		lasted := e.Closed.Sub(e.Since)
		if x.AtLeast = e.Closed.Sub(e.Seen) > records.Unobserved; x.AtLeast {
			lasted = e.Seen.Sub(e.Since)
		}
		x.Closed, x.Lasted = answer.Time(e.Closed), answer.Duration(lasted)
		x.LastedIs = prose.When(x.AtLeast, "at least ", "") + lasted.Round(time.Second).String()
	}
	return x
}

// evidence returns the evidence of the problems whose evidence changed, up to the end of the period.
func (p *past) evidence() answer.Rows[evidence] {
	var all []evidence
	for i := range p.episodes {
		e := &p.episodes[i]
		if len(e.Evidence) < 2 {
			continue
		}
		for _, x := range e.Evidence {
			if !x.When.After(p.Until) {
				all = append(all, evidence{e.ID(), x.When, x.Severity.String(), x.What})
			}
		}
	}
	return answer.Slice(all)
}

// runPast answers problems with of=, since= or until=.
func runPast(c *feature.Call) error {
	var since, until time.Time
	var err error
	if c.Option("of", "") != "" {
		if c.Option("since", "")+c.Option("until", "") != "" {
			return c.Misused("of= is a time, since= and until= are a period: they exclude each other")
		}
		since, err = c.Time("of", "", time.Now())
		until = since
	} else {
		since, until, err = c.Span("1d")
	}
	if err != nil {
		return err
	}
	store, err := c.Session.Recorded().Store(c.Ctx)
	if err != nil {
		return err
	}
	p := &past{Since: since, Until: until, PeriodIs: "of " + when.Text(since)}
	if until != since {
		p.PeriodIs = fmt.Sprintf("from %s to %s", when.Text(since),
			when.Text(until))
	}
	// A time between two observations of one period is observed.
	p.episodes, p.spans, err = store.Problems(c.Ctx, c.Session.Subnet(), since, until)
	if err != nil {
		return err
	}
	st := c.Session.State()
	p.f, p.Count, p.Observed = st.Live.Fabric, len(p.episodes), records.TotalTime(p.spans)
	for i := range p.episodes {
		if e := &p.episodes[i]; e.Closed.IsZero() || e.Closed.After(until) {
			p.Open++
		}
	}
	b := st.Basis(st.Live, 0)
	if why, text := p.verdict(); why == answer.Unknown {
		b.Warnings = append(b.Warnings, text)
	}
	return c.Answer(pastDecl.Answer(b, p))
}

// isKnown reports whether a problem is present, or was recorded.
func isKnown(c *feature.Call, id string, now time.Time) (bool, error) {
	found, err := survey.Problems(c.Ctx, c.Session, survey.Options{Quick: true, Unfiltered: true})
	if err != nil || slices.ContainsFunc(found.Problems, func(p problems.Problem) bool { return p.ID() == id }) {
		return err == nil, err
	}
	store, err := c.Session.Recorded().Store(c.Ctx)
	if errors.Is(err, recorded.ErrNone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	all, _, err := store.Problems(c.Ctx, c.Session.Subnet(), time.Time{}, now)
	return slices.ContainsFunc(all, func(e records.Episode) bool { return e.ID() == id }), err
}

var ackCommand = feature.Command{
	Path: "ack", Group: feature.GroupHistory, Summary: "Acknowledge a problem, so that it is not reported again",
	Args: []lang.Arg{{Name: "ID", Kind: lang.KindText, Optional: true}, {
		Kind: lang.KindWord, Words: []string{endWord}, Optional: true,
	}},
	Help: "ID is the identifier that problems shows. An acknowledged problem is listed apart, and changes no verdict " +
		"and no exit\nstatus until the given time. 'ack ID end' ends the acknowledgement before that time. Without " +
		"ID, ack lists the\nacknowledgements in force.\nAcknowledgements are stored in the record, with the user.",
	Options: []lang.Option{
		{Name: "reason", Kind: lang.KindText, Value: "TEXT", Summary: "why the problem is known; required"},
		{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "the end of the acknowledgement", Default: "1d"},
	},
	Examples: []string{"ack", "problems; ack"},
	Answers:  []answer.Declared{&ackDecl},
	Run:      ack,
}

const endWord = "end"

// acknowledgements is the answer of ack.
type acknowledgements struct {
	Count int `key:"count"`
	all   []acknowledged
}

// acknowledged is a row: an acknowledgement in force.
type acknowledged struct {
	ID     string    `key:"id" name:"ID"`
	Until  time.Time `key:"until" name:"UNTIL"`
	Who    string    `key:"who" name:"WHO"`
	Reason string    `key:"reason" name:"REASON"`
}

var ackDecl = answer.Decl[acknowledgements]{
	Command: "ack", Help: "the acknowledgements in force", Facts: answer.Fields[acknowledgements](),
	Layout: []answer.Item[acknowledgements]{
		{Table: answer.Show(&answer.Table[acknowledged]{
			Key: "acknowledgements", Title: "acknowledgements", Fields: answer.Fields[acknowledged](),
			Empty: "no problem is acknowledged",
		}, func(a acknowledgements) answer.Rows[acknowledged] { return answer.Slice(a.all) })},
	},
}

func ack(c *feature.Call) error {
	if id := strings.ToLower(c.Arg(0)); id != "" {
		if err := acknowledge(c, id); err != nil {
			return err
		}
	}
	l, err := c.Session.Recorded().Ledger(c.Ctx)
	if err != nil {
		return err
	}
	a := acknowledgements{Count: len(l.Acknowledged)}
	for _, x := range l.Acknowledged {
		a.all = append(a.all, acknowledged{x.ID, x.Until, x.Who, x.Reason})
	}
	slices.SortFunc(a.all, func(x, y acknowledged) int { return strings.Compare(x.ID, y.ID) })
	st := c.Session.State()
	return c.Answer(ackDecl.Answer(st.SourceBasis(), a))
}

// acknowledge stores or ends the acknowledgement of a problem, which must be present, or have been recorded.
func acknowledge(c *feature.Call, id string) error {
	if st := c.Session.State(); st.Source.Offline() {
		return fmt.Errorf("%s is a file: problems of a file have no record, so they cannot be acknowledged",
			fabric.Escape(st.Source.String()))
	}
	now := time.Now()
	a := records.Acknowledgement{ID: id, Given: now, Until: now, Reason: c.Option("reason", "")}
	if u, err := user.Current(); err == nil {
		a.Who = u.Username
	}
	if c.Arg(1) == endWord {
		if len(c.Options) > 0 {
			return c.Misused("'ack ID end' takes no reason= and no until=")
		}
		l, err := c.Session.Recorded().Ledger(c.Ctx)
		if err != nil {
			return err
		}
		if _, inForce := l.Acknowledged[id]; !inForce {
			return fmt.Errorf("problem %q is not acknowledged", id)
		}
		return c.Session.Recorded().Acknowledge(c.Ctx, a)
	}
	if strings.TrimSpace(a.Reason) == "" {
		return c.Misused("reason= is missing")
	}
	var err error
	if a.Until, err = c.TimeAhead("until", "1d", now); err != nil {
		return err
	}
	known, err := isKnown(c, id, now)
	if err != nil {
		return err
	}
	if !known {
		return fmt.Errorf("no problem %q is present or recorded; hint: problems shows the identifiers", id)
	}
	return c.Session.Recorded().Acknowledge(c.Ctx, a)
}
