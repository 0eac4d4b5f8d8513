// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/report"
	"example.org/ibconsole/shell/session/joblinks"
	"example.org/ibconsole/shell/session/recorded"
)

// mostHit is the number of outages of a report for which pairs, hosts and jobs are computed.
const mostHit = 100

// outage is an outage of a place: a link, or a node with its links.
type outage struct {
	at    problems.Place
	what  string
	links []records.Outage
}

// outages adds the recorded outages of the period: first the times without a subnet manager, then the outages of nodes
// and links in the order of time.
func (c gatherer) outages(m *report.Morning) error {
	m.Outages = nil
	store, err := c.Session.Recorded().Store(c.Ctx)
	if errors.Is(err, recorded.ErrNone) {
		m.Unknown = append(m.Unknown, fmt.Sprintf("outages: %v", err))
		return nil
	}
	if err != nil {
		return err
	}
	subnet := c.Session.Subnet()
	found, observed, err := store.Problems(c.Ctx, subnet, m.Since, m.Until)
	if err != nil {
		return err
	}
	links, err := store.Outages(c.Ctx, subnet, m.Since, m.Until)
	if err != nil {
		return err
	}
	journal, err := c.Session.Journal().Known(c.Ctx)
	if err != nil {
		return err
	}
	if missing := m.Until.Sub(m.Since) - records.TotalTime(observed); missing > records.Unobserved {
		m.Unknown = append(m.Unknown, fmt.Sprintf("outages: no recorder looked for problems for %v of the period",
			missing.Round(time.Second)))
	}
	if observed == nil && len(found)+len(links) == 0 {
		return nil
	}
	m.Outages = []report.MorningOutage{}
	for i := range found {
		if e := &found[i]; e.Kind == problems.NoMaster {
			m.Outages = append(m.Outages, managerOutage(e, m.Since, m.Until))
		}
	}
	all := byCause(links, found)
	if len(all) == 0 {
		return nil
	}
	return c.addHits(m, all, journal)
}

// addHits adds outages to the report, with what they hit. The argument journal has the commits that may have caused
// them.
func (c gatherer) addHits(m *report.Morning, all []outage, journal []history.JournalEntry) error {
	running, jobsUnread := joblinks.List(c.Ctx, c.Session, m.Since, m.Until)
	if c.Ctx.Err() != nil {
		return c.Ctx.Err()
	}
	if jobsUnread != nil {
		m.Unknown = append(m.Unknown, fmt.Sprintf("jobs that outages hit: %v", jobsUnread))
	}
	assumed := 0
	for i := range all {
		x := all[i].row(m.Since, m.Until)
		x.Planned = all[i].plannedBy(journal)
		if i < mostHit {
			o := &all[i].links[0]
			h, err := running.Hit(c.Ctx, all[i].at, o.WasUp, o.Down, o.End(m.Until))
			if err != nil {
				return err
			}
			if assumed += prose.When(h.Assumed, 1, 0); h.Known {
				x.Pairs, x.Hosts = &h.Pairs, h.Hosts
			}
			if len(all[i].links) == 1 && o.Pairs >= 0 {
				x.Pairs = &o.Pairs
			}
			if jobsUnread == nil {
				x.Jobs = h.Jobs
			}
		}
		m.Outages = append(m.Outages, x)
	}
	if assumed > 0 {
		m.Unknown = append(m.Unknown, "tables before "+prose.Count(assumed, "outage")+
			": those of another time were used")
	}
	if more := len(all) - mostHit; more > 0 {
		m.Unknown = append(m.Unknown, "pairs, hosts and jobs that the last "+prose.Count(more, "outage")+" hit")
	}
	return nil
}

// managerOutage returns the row of a time without a master subnet manager.
func managerOutage(e *records.Episode, since, until time.Time) report.MorningOutage {
	end := e.Closed
	if end.IsZero() {
		end = until
	}
	least := max(0, when.Earlier(e.Seen, until).Sub(when.Later(e.Since, since)))
	most := max(0, when.Earlier(end, until).Sub(when.Later(e.Since, since)))
	return report.MorningOutage{What: e.What, Since: e.Since, Until: e.Closed, AtLeast: least,
		Down: feature.Downtime(least, most, false), Manager: true}
}

// byCause returns the outages of links. Those of the links of a missing node are one outage of the node.
func byCause(links []records.Outage, found []records.Episode) []outage {
	var all []outage
	for _, o := range links {
		at := problems.Place(o.A)
		missing := slices.IndexFunc(found, func(e records.Episode) bool {
			return e.Kind == problems.Missing && (e.At.GUID == o.A.GUID || e.At.GUID == o.B.GUID) &&
				!e.Since.After(o.End(e.Since)) && (e.Closed.IsZero() || o.Down.Before(e.Closed))
		})
		if missing < 0 {
			all = append(all, outage{at, o.A.Name + " -- " + o.B.Name, []records.Outage{o}})
			continue
		}
		at = found[missing].At
		i := slices.IndexFunc(all, func(x outage) bool {
			return x.at == at && x.links[0].Down.Before(o.End(o.Seen)) && o.Down.Before(x.links[0].End(o.Seen))
		})
		if i < 0 {
			i, all = len(all), append(all, outage{at: at, what: at.Name})
		}
		all[i].links = append(all[i].links, o)
	}
	return all
}

// plannedBy returns what the commit did that took down a link of the outage, "" if none did.
func (o *outage) plannedBy(journal []history.JournalEntry) string {
	for i := range o.links {
		l := &o.links[i]
		if j := history.TookDown(journal, l.A, l.B, l.WasUp, l.Down); j != nil {
			return j.Action(journal)
		}
	}
	return ""
}

// row returns the row of an outage, without what it hit. An outage of a node lasts from the first to the last outage of
// its links.
func (o *outage) row(since, until time.Time) report.MorningOutage {
	x := report.MorningOutage{What: o.what, Since: o.links[0].Down}
	if n := len(o.links); n > 1 {
		x.What += fmt.Sprintf(" (%d links)", n)
	}
	bounded, most, isDown := true, time.Duration(0), false
	for i := range o.links {
		l := &o.links[i]
		m, ok := l.AtMost(since, until)
		x.AtLeast, most, bounded = max(x.AtLeast, l.AtLeast(since, until)), max(most, m), bounded && ok
		x.Until, isDown = when.Later(x.Until, l.Up), isDown || l.Up.IsZero()
	}
	if bounded {
		x.AtMost = &most
	}
	if isDown {
		x.Until = time.Time{}
	}
	x.Down = feature.Downtime(x.AtLeast, most, bounded)
	return x
}
