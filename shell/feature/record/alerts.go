// SPDX-License-Identifier: Apache-2.0

package record

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/limits"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
)

var alertsCommand = feature.Command{
	Path: "record alerts", Summary: "List the rules of alerts, and the active alerts",
	Help: "A recorder raises an alert if a counter of a port increases by more than its limit in a period. The alert " +
		"ends\nonce the increase was at most the value CLEAR for five minutes. Lines \"alert\" of the configuration " +
		"change the rules.\nIt also raises alerts if it does not sweep, reads no counters, or cannot store them. " +
		"problems since= lists past alerts.",
	Examples: []string{"record alerts", "record start; record alerts"},
	Answers:  []answer.Declared{&alertsDecl},
	Run:      showAlerts,
}

// alertRules is the answer of record alerts.
type alertRules struct {
	Active answer.Value `key:"active" kind:"int" help:"active alerts; not read if nothing records"`
	Text   string       `name:"text"`
	f      *fabric.Fabric
	rules  []limits.Rule
	alerts []problems.Problem
}

// rule is a row: the limit of a counter.
type rule struct {
	Counter  string       `key:"counter" name:"COUNTER"`
	Limit    uint64       `key:"limit" name:"MORE THAN"`
	Period   answer.Value `key:"period_seconds" kind:"duration" help:"in which the counter increases"`
	In       string       `name:"IN"`
	Clear    uint64       `key:"clear" name:"CLEAR" help:"the alert ends at this increase or less"`
	Severity string       `key:"severity" name:"SEVERITY"`
	Source   string       `key:"source" name:"SOURCE" help:"where the limit comes from"`
}

// activeAlert is a row: an active alert.
type activeAlert struct {
	ID    string       `key:"id" name:"ID" help:"the identifier of the problem, for ack"`
	At    answer.Value `key:"at" kind:"place" help:"the node or port"`
	Since answer.Value `key:"since" name:"SINCE" kind:"time"`
	What  string       `key:"what" name:"ALERT"`
	answer.Lead
}

var alertsDecl = answer.Decl[*alertRules]{
	Command: "record alerts", Help: "the rules of alerts, and the active alerts",
	Title: "{text}", Facts: answer.Fields[*alertRules](),
	Layout: []answer.Item[*alertRules]{
		{Table: answer.Show(&answer.Table[activeAlert]{
			Key: "alerts", Title: "active alerts", Fields: answer.Fields[activeAlert](),
		}, func(a *alertRules) answer.Rows[activeAlert] { return alertRows(a.f, a.alerts) }),
			When: func(a *alertRules) bool { return len(a.alerts) > 0 }},
		{Table: answer.Show(&answer.Table[rule]{Key: "rules", Title: "rules", Fields: answer.Fields[rule]()},
			func(a *alertRules) answer.Rows[rule] {
				return answer.Lazy(len(a.rules), func(i int) rule {
					r := &a.rules[i]
					return rule{r.Counter.String(), r.Limit, answer.Duration(r.Period), limits.PeriodText(r.Period),
						r.Clear, r.Severity.String(), r.Source}
				})
			})},
	},
}

func alertRows(f *fabric.Fabric, all []problems.Problem) answer.Rows[activeAlert] {
	return answer.Lazy(len(all), func(i int) activeAlert {
		p := all[i]
		return activeAlert{p.ID(), feature.PlaceOf(f, p.At), answer.Time(p.Since), p.What,
			answer.Lead{GUID: p.At.GUID, Port: uint8(max(p.At.Port, 0))}}
	})
}

// alertsOf returns the number of the active alerts, also as text, and these alerts, the newest first.
func alertsOf(c *feature.Call) (n answer.Value, text string, all []problems.Problem, err error) {
	l, err := c.Session.Recorded().Ledger(c.Ctx)
	if err != nil || !l.Observed {
		return answer.NotRead(), "active alerts are unknown: nothing is recorded; hint: 'record start'", nil, err
	}
	all = slices.Clone(l.Alerts)
	slices.SortStableFunc(all, func(a, b problems.Problem) int { return b.Since.Compare(a.Since) })
	return answer.Int(len(all)), prose.Count(len(all), "active alert"), all, nil
}

func showAlerts(c *feature.Call) error {
	a := &alertRules{rules: c.Session.Options().AlertRules()}
	var err error
	if a.Active, a.Text, a.alerts, err = alertsOf(c); err != nil {
		return err
	}
	st := c.Session.State()
	a.f = st.Live.Fabric
	return c.Answer(alertsDecl.Answer(st.SourceBasis(), a))
}
