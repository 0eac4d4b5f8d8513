// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"time"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
)

// Morning holds the events and changes of a subnet in a period, for a morning report. Names are already escaped.
type Morning struct {
	Subnet string
	Since  time.Time
	Until  time.Time
	// Outages are the recorded outages: those of the subnet manager first. It is nil if nothing was recorded.
	Outages []MorningOutage
	// The problems compare the states at the beginning and at the end, including lost nodes and links. New and Gone are
	// nil if the state at the beginning is unknown. Still counts the unchanged problems. Open lists those unchanged
	// problems that are errors.
	New   []MorningProblem
	Gone  []MorningProblem
	Still int
	Open  []MorningProblem
	// Down counts the links that are down at the end. It is -1 if that is unknown.
	Down int
	// Reroutes, Commits and Others are events. Flaps are links with several events. All are nil without a history.
	Reroutes []MorningEvent
	Commits  []MorningEvent
	Flaps    []MorningFlap
	Others   []MorningEvent
	// Moved counts the paths that changed between the beginning and the end. It is nil if that is unknown.
	Moved *MorningMoved
	// Worse are ports with more errors than in the preceding period of the same length. Load are links whose traffic
	// changed. Both are nil if nothing was recorded.
	Worse []MorningPort
	Load  []MorningLoad
	// Hours holds sums over all ports.
	Hours []MorningHour
	// Unread is the reason why the history could not be read, or "".
	Unread string
	// Unknown lists the parts of the report that are unknown, with the reasons.
	Unknown []string
}

// MorningOutage is a time without a master subnet manager, or an outage of a node or a link.
type MorningOutage struct {
	What         string
	Since, Until time.Time // as found; Until is zero while it lasts
	// AtLeast and AtMost are bounds of its length within the period. AtMost is nil if there is none. Down has both.
	AtLeast time.Duration
	AtMost  *time.Duration
	Down    string
	// Planned is what the commit did that caused it, "" for others.
	Planned string
	// Manager is set for the subnet manager, whose absence hits no pairs, hosts and jobs by itself.
	Manager bool
	// Pairs and Hosts used it before, and Jobs also ran during the outage. They are nil if unknown.
	Pairs *int64
	Hosts []string
	Jobs  []string
}

// MorningProblem is a problem of a morning report.
type MorningProblem struct {
	Severity string
	Kind     string
	Where    string
	What     string
	Try      string
	// Since is the time when the problem began, or zero if unknown.
	Since time.Time
}

// MorningEvent is an event, with the entries of the history before and after it. The number of a missing entry is 0.
type MorningEvent struct {
	When   time.Time
	Text   string
	Who    string
	Before int64
	After  int64
	// Moved counts the paths that changed between these entries. It is nil if that is unknown.
	Moved *MorningMoved
}

// MorningMoved counts ordered pairs of end ports: all pairs, those with another path, those that lost their path, and
// those that were newly connected. It also counts the changed table entries.
type MorningMoved struct {
	Pairs     int64
	Changed   int64
	Lost      int64
	Connected int64
	Entries   int
}

func (m *MorningMoved) text() string {
	if m == nil {
		return "-"
	}
	if m.Changed == 0 && m.Lost == 0 && m.Connected == 0 {
		return "no pair"
	}
	text := fmt.Sprintf("%d of %s have another path", m.Changed, prose.Count(int(m.Pairs), "pair"))
	if m.Lost > 0 {
		text += fmt.Sprintf(", %d lost their path", m.Lost)
	}
	if m.Connected > 0 {
		text += fmt.Sprintf(", %d are newly connected", m.Connected)
	}
	return text
}

// MorningFlap is a link that went down and came up.
type MorningFlap struct {
	Link   string
	Events int
	First  time.Time
	Last   time.Time
}

// MorningPort is a port with more errors than in the preceding period.
type MorningPort struct {
	Port    string
	To      string
	Counted string
	PerHour float64
	Before  *float64 // nil if the port was not read before
	Since   time.Time
}

// MorningLoad is the traffic that a port sent before and now, in GB/s.
type MorningLoad struct {
	Port   string
	To     string
	Now    float64
	Before float64
}

// MorningHour holds sums over all ports for an hour. A sum is nil if nothing was recorded.
type MorningHour struct {
	From   time.Time
	Errors *uint64
	Bytes  *uint64
}

// MorningFormat is an output format for a morning report.
type MorningFormat struct {
	Name  string
	Write func(*Morning, io.Writer) error
}

// MorningFormats returns all formats.
func MorningFormats() []MorningFormat {
	return []MorningFormat{{"markdown", (*Morning).Markdown}, {"html", (*Morning).HTML}}
}

// section is a table of the report.
type section struct {
	title, none string
	columns     []string
	rows        [][]string
}

const clock = "01-02 15:04:05"

// sections returns the sections of the report, each with a table.
func (m *Morning) sections() []section {
	problems := func(title, none string, list []MorningProblem) section {
		s := section{title, none, []string{"severity", "problem", "where", "hint"}, nil}
		for _, p := range list {
			s.rows = append(s.rows, []string{p.Severity + ", " + p.Kind, p.What, p.Where, p.Try})
		}
		return s
	}
	events := func(title, none string, list []MorningEvent) section {
		s := section{title, none, []string{"when", "event", "who", "entries"}, nil}
		for _, e := range list {
			entries := ""
			if e.Before != 0 && e.After != 0 {
				entries = fmt.Sprintf("diff %d %d", e.Before, e.After)
			}
			s.rows = append(s.rows, []string{when.Format(e.When, clock), e.Text, e.Who, entries})
		}
		return s
	}
	outages := section{"Outages", none(m.Outages), []string{"what", "since", "until", "down", "planned", "pairs",
		"hosts", "jobs"},
		nil}
	for i := range m.Outages {
		o := &m.Outages[i]
		until := prose.When(o.Until.IsZero(), "down", when.Format(o.Until, clock))
		row := []string{o.What, when.Format(o.Since, clock), until, o.Down, cmp.Or(o.Planned, "no")}
		outages.rows = append(outages.rows, append(row, o.hit()...))
	}
	reroutes := events("Reroutes", none(m.Reroutes), m.Reroutes)
	reroutes.columns = append(reroutes.columns, "changed paths")
	for i := range reroutes.rows {
		reroutes.rows[i] = append(reroutes.rows[i], m.Reroutes[i].Moved.text())
	}
	if m.Moved != nil && reroutes.rows != nil {
		reroutes.rows = append(reroutes.rows, []string{"total", "", "", "", m.Moved.text()})
	}
	flaps := section{"Links that flapped", none(m.Flaps), []string{"link", "events", "first", "last"}, nil}
	for _, x := range m.Flaps {
		flaps.rows = append(flaps.rows, []string{x.Link, fmt.Sprint(x.Events), when.Format(x.First, clock),
			when.Format(x.Last, clock)})
	}
	worse := section{
		"Ports with more errors", none(m.Worse), []string{
			"port", "to", "counted", "per hour", "per hour before", "since",
		},
		nil,
	}
	for _, x := range m.Worse {
		before := "not read"
		if x.Before != nil {
			before = fmt.Sprintf("%.3g", *x.Before)
		}
		worse.rows = append(worse.rows, []string{x.Port, x.To, x.Counted, fmt.Sprintf("%.3g", x.PerHour), before,
			when.Format(x.Since, clock)})
	}
	load := section{"Links with changed traffic", none(m.Load), []string{"port", "to", "GB/s", "GB/s before"}, nil}
	for _, x := range m.Load {
		load.rows = append(load.rows, []string{x.Port, x.To, fmt.Sprintf("%.3f", x.Now), fmt.Sprintf("%.3f", x.Before)})
	}
	return []section{
		outages,
		problems("New problems", none(m.New), m.New), problems("Unchanged errors", none(m.Open), m.Open),
		problems("Solved problems", none(m.Gone), m.Gone),
		reroutes, events("Commits", none(m.Commits), m.Commits), flaps, worse, load,
		events("Other events", none(m.Others), m.Others),
	}
}

// mostNamed is the number of hosts or jobs that a row names.
const mostNamed = 3

// hit returns the pairs, hosts and jobs that the outage hit as text.
func (o *MorningOutage) hit() []string {
	texts := []string{"unknown", "unknown", "unknown"}
	if o.Manager {
		return []string{"-", "-", "-"}
	}
	if o.Pairs != nil {
		texts[0] = fmt.Sprint(*o.Pairs)
	}
	for i, list := range [][]string{o.Hosts, o.Jobs} {
		if list != nil {
			texts[i+1] = fmt.Sprint(len(list)) + prose.When(len(list) > 0, ": ", "") + prose.List(list, mostNamed)
		}
	}
	return texts
}

// The function none returns the text that stands for a list without elements: "unknown" if the list is nil, "none" if
// it is empty.
func none[T any](list []T) string { return prose.When(list == nil, "unknown", "none") }

func (m *Morning) title() string {
	return fmt.Sprintf("%s from %s to %s", m.Subnet, when.Text(m.Since),
		when.Text(m.Until))
}

// inShort returns the report in one line.
func (m *Morning) inShort() string {
	down := "links down unknown"
	if m.Down >= 0 {
		down = prose.Count(m.Down, "link") + " down"
	}
	problems := fmt.Sprintf("%s, %d solved, %d unchanged", prose.Count(len(m.New), "new problem"), len(m.Gone), m.Still)
	if m.New == nil {
		problems = "new and solved problems unknown"
	}
	worse := prose.When(m.Worse == nil, "ports with more errors unknown", prose.Count(len(m.Worse), "port")+
		" with more errors")
	events := fmt.Sprintf("%s, %s, %s flapped", prose.Count(len(m.Reroutes), "reroute"),
		prose.Count(len(m.Commits), "commit"), prose.Count(len(m.Flaps), "link"))
	if m.Reroutes == nil {
		events = "events unknown"
	}
	planned := 0
	for i := range m.Outages {
		planned += prose.When(m.Outages[i].Planned != "", 1, 0)
	}
	outages := prose.When(m.Outages == nil, "outages unknown", prose.Count(len(m.Outages), "outage")+
		prose.When(planned > 0, fmt.Sprintf(" (%d planned)", planned), ""))
	return fmt.Sprintf("%s, %s, %s; %s; %s", outages, down, worse, problems, events)
}

// Markdown writes the report as Markdown.
func (m *Morning) Markdown(w io.Writer) error {
	p := &printer{w: w}
	p.f("# %s\n\n", markdown(m.title()))
	if m.Unread != "" {
		p.f("The history could not be read: %s\n\n", markdown(m.Unread))
	}
	p.f("%s\n", m.inShort())
	for _, s := range m.sections() {
		p.f("\n## %s\n\n", s.title)
		if s.rows == nil {
			p.f("%s\n", s.none)
			continue
		}
		line := func(cells []string) {
			for _, cell := range cells {
				p.f("| %s ", markdown(cell))
			}
			p.f("|\n")
		}
		line(s.columns)
		for range s.columns {
			p.f("|---")
		}
		p.f("|\n")
		for _, row := range s.rows {
			line(row)
		}
	}
	if m.Unknown != nil {
		p.f("\n## Unknown\n\n")
		for _, text := range m.Unknown {
			p.f("* %s\n", markdown(text))
		}
	}
	return p.err
}

// HTML writes the report as a self-contained page.
func (m *Morning) HTML(w io.Writer) error {
	p := &printer{w: w}
	p.f(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Changes of an InfiniBand subnet</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:1.6rem}
table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left;
border-bottom:1px solid #ddd;vertical-align:top}
svg{max-width:100%%;height:auto}
</style></head><body>
<h1>%s</h1>
`, html.EscapeString(m.title()))
	if m.Unread != "" {
		p.f("<p>The history could not be read: %s</p>\n", html.EscapeString(m.Unread))
	}
	p.f("<p>%s</p>\n", m.inShort())
	if len(m.Hours) > 0 {
		var faults, sent []bar
		for _, h := range m.Hours {
			label := when.Format(h.From, "15:04")
			if h.Errors != nil {
				faults = append(faults, bar{label, int64(min(*h.Errors, 1<<62))})
			}
			if h.Bytes != nil {
				sent = append(sent, bar{label, int64(*h.Bytes / 1e9)})
			}
		}
		p.f("<h2>Errors of all ports</h2>\n")
		p.bars(faults, "from", "errors")
		p.f("<h2>Traffic of all ports</h2>\n")
		p.bars(sent, "from", "GB")
	}
	for _, s := range m.sections() {
		p.f("<h2>%s</h2>\n", html.EscapeString(s.title))
		if s.rows == nil {
			p.f("<p>%s</p>\n", html.EscapeString(s.none))
			continue
		}
		p.f("<table>\n")
		row := func(tag string, cells []string) {
			p.f("<tr>")
			for _, cell := range cells {
				p.f("<%s>%s</%s>", tag, html.EscapeString(cell), tag)
			}
			p.f("</tr>\n")
		}
		row("th", s.columns)
		for _, r := range s.rows {
			row("td", r)
		}
		p.f("</table>\n")
	}
	if m.Unknown != nil {
		p.f("<h2>Unknown</h2>\n<ul>\n")
		for _, text := range m.Unknown {
			p.f("<li>%s</li>\n", html.EscapeString(text))
		}
		p.f("</ul>\n")
	}
	p.f("</body></html>\n")
	return p.err
}
