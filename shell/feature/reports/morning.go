// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/report"
)

var morningCommand = feature.Command{
	Path: "report morning", Summary: "Report events and changes of a period",
	Help: "The report lists outages with the pairs, hosts and jobs that they hit, new and solved problems, reroutes, " +
		"commits, flaps,\nports with more errors, and links whose traffic changed. Its sources are the history " +
		"(watch, record) and the recorded\ncounters (record). Without FILE, the report goes to standard output. " +
		"FILE.html is a page with plots, FILE.json is JSON, any\nother name Markdown.",
	Args: []lang.Arg{{Name: "FILE", Kind: lang.KindFile, Optional: true, Written: true}},
	Options: []lang.Option{
		{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "begin of the period; " + when.Help,
			Default: "12h"},
		{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "end of the period", Default: "now"},
		{
			Name: "format", Kind: lang.KindText, Value: "markdown|html|json",
			Words: []string{"markdown", "html", jsonWord}, Summary: "format (default: by the name of FILE)",
		},
	},
	Examples: []string{"report morning since=12h", "report morning morning.html"},
	Answers:  []answer.Declared{savedDecl, &morningDecl},
	Run:      morning,
}

var savedDecl = feature.OneLine[*written]("report morning", "the file", "{format} report of {title} written to {file}")

func morning(c *feature.Call) error {
	since, until, err := c.Span("12h")
	if err != nil {
		return err
	}
	file := "-"
	if len(c.Args) > 0 {
		file = c.Arg(0)
	}
	format, err := formatOf(c, file)
	if err != nil {
		return err
	}
	m, err := gatherer{c}.gather(since, until)
	if err != nil {
		return err
	}
	st := c.Session.State()
	b := st.SourceBasis()
	for _, why := range m.Unknown {
		b.Unread = b.Unread.Add(answer.Unread{
			Count: 1, Causes: []answer.Cause{{What: "part of the report", Why: why, Count: 1}},
		})
	}
	a := morningDecl.Answer(b, m)
	asTables := c.Output.Format() == answer.FormCSV && c.Option("format", "") == ""
	if file == "-" && (c.Output.File() == nil || asTables) {
		return c.Answer(a)
	}
	render := func(w io.Writer) error { return a.JSON(w, 1) }
	if format.Write != nil {
		render = func(w io.Writer) error { return format.Write(m, w) }
	}
	return save(c, file, render, savedDecl.Answer(st.SourceBasis(), &written{format.Name, file, m.Subnet}))
}

func formatOf(c *feature.Call, file string) (report.MorningFormat, error) {
	name := c.Option("format", "")
	if name == "" {
		switch strings.ToLower(filepath.Ext(file)) {
		case ".html", ".htm":
			name = "html"
		case ".json":
			name = jsonWord
		default:
			name = "markdown"
			if file == "-" && c.Output.Format() == answer.FormHTML {
				name = "html"
			}
		}
	}
	all := append(report.MorningFormats(), report.MorningFormat{Name: jsonWord})
	at := slices.IndexFunc(all, func(f report.MorningFormat) bool { return f.Name == name })
	if at < 0 {
		return report.MorningFormat{}, c.Misused("format=%q, expected markdown, html or json", name)
	}
	return all[at], nil
}

// rowsOf returns the rows of a list. A nil list means that the data is unknown.
func rowsOf[R any](list []R) answer.Rows[*R] {
	if list == nil {
		return answer.UnreadRows[*R]()
	}
	return answer.Lazy(len(list), func(i int) *R { return &list[i] })
}

// list returns a table of the report.
func list[R any](key, title string, fields []answer.Field[*R],
	of func(*report.Morning) []R) answer.Item[*report.Morning] {
	table := answer.Table[*R]{Key: key, Title: title, Fields: fields}
	return answer.Item[*report.Morning]{
		Table: answer.Show(&table, func(m *report.Morning) answer.Rows[*R] { return rowsOf(of(m)) }),
	}
}

func word[R any](key, name string, of func(*R) string) answer.Field[*R] {
	return answer.Field[*R]{Key: key, Name: name, Kind: answer.KindText, Value: func(r *R) answer.Value {
		return answer.Optional(of(r))
	}}
}

func moment[R any](key, name string, of func(*R) time.Time) answer.Field[*R] {
	return answer.Field[*R]{Key: key, Name: name, Kind: answer.KindTime, Value: func(r *R) answer.Value {
		return answer.Time(of(r))
	}}
}

func number[R any](key, name, unit string, of func(*R) answer.Value) answer.Field[*R] {
	return answer.Field[*R]{Key: key, Name: name, Unit: unit, Kind: answer.KindFloat, Value: of}
}

// entry returns a field that contains the number of an entry of the history.
func entry(key string, of func(*report.MorningEvent) int64) answer.Field[*report.MorningEvent] {
	return answer.Field[*report.MorningEvent]{Key: key, Name: key, Kind: answer.KindInt,
		Help: "the entry of the history", Value: func(e *report.MorningEvent) answer.Value {
			if of(e) == 0 {
				return answer.None()
			}
			return answer.Int(of(e))
		}}
}

// hit returns a value about what an outage hit: none for the subnet manager.
func hit(o *report.MorningOutage, v answer.Value) answer.Value {
	if o.Manager {
		return answer.None()
	}
	return v
}

func texts(list []string) answer.Value {
	if list == nil {
		return answer.NotRead()
	}
	return answer.Texts(list)
}

// movedOf returns the counts of changed paths, or None if they are unknown.
func movedOf(m *report.MorningMoved) answer.Value {
	if m == nil {
		return answer.None()
	}
	return answer.Map([]answer.Named{
		{Name: "pairs", Value: answer.Int(m.Pairs)}, {Name: "changed", Value: answer.Int(m.Changed)},
		{Name: "lost", Value: answer.Int(m.Lost)},
		{Name: "connected", Value: answer.Int(m.Connected)}, {Name: "entries", Value: answer.Int(m.Entries)},
	})
}

var (
	outageFields = []answer.Field[*report.MorningOutage]{
		word("what", "what", func(o *report.MorningOutage) string { return o.What }),
		moment("since", "since", func(o *report.MorningOutage) time.Time { return o.Since }),
		{Key: "until", Name: "until", Kind: answer.KindTime, Help: "none while it lasts",
			Value: func(o *report.MorningOutage) answer.Value {
				if o.Until.IsZero() {
					return answer.None()
				}
				return answer.Time(o.Until)
			}},
		{Key: "down_at_least_seconds", Kind: answer.KindDuration, Help: "lower bound of its length",
			Value: func(o *report.MorningOutage) answer.Value { return answer.Duration(o.AtLeast) }},
		{Key: "down_at_most_seconds", Kind: answer.KindDuration, Help: "upper bound; none if unknown",
			Value: func(o *report.MorningOutage) answer.Value {
				if o.AtMost == nil {
					return answer.None()
				}
				return answer.Duration(*o.AtMost)
			}},
		word("down", "down", func(o *report.MorningOutage) string { return o.Down }),
		word("planned", "planned", func(o *report.MorningOutage) string { return o.Planned }),
		{Key: "subnet_manager", Kind: answer.KindBool, Help: "the subnet had no master subnet manager",
			Value: func(o *report.MorningOutage) answer.Value { return answer.Bool(o.Manager) }},
		{Key: "pairs", Name: "pairs", Kind: answer.KindInt, Help: "pairs whose paths used it before",
			Value: func(o *report.MorningOutage) answer.Value { return hit(o, known(o.Pairs)) }},
		{Key: "hosts", Name: "hosts", Kind: answer.KindTexts, Help: "attached hosts, else hosts whose paths used it",
			Value: func(o *report.MorningOutage) answer.Value { return hit(o, texts(o.Hosts)) }},
		{Key: "jobs", Name: "jobs", Kind: answer.KindTexts, Help: "jobs that used it before and ran during the outage",
			Value: func(o *report.MorningOutage) answer.Value { return hit(o, texts(o.Jobs)) }},
	}
	problemFields = []answer.Field[*report.MorningProblem]{
		word("severity", "severity", func(p *report.MorningProblem) string { return p.Severity }),
		word("problem", "problem", func(p *report.MorningProblem) string { return p.Kind }),
		word("where", "where", func(p *report.MorningProblem) string { return p.Where }),
		word("what", "description", func(p *report.MorningProblem) string { return p.What }),
		word("try", "hint", func(p *report.MorningProblem) string { return p.Try }),
		moment("since", "since", func(p *report.MorningProblem) time.Time { return p.Since }),
	}
	eventFields = []answer.Field[*report.MorningEvent]{
		moment("when", "when", func(e *report.MorningEvent) time.Time { return e.When }),
		word("text", "event", func(e *report.MorningEvent) string { return e.Text }),
		word("who", "who", func(e *report.MorningEvent) string { return e.Who }),
		entry("before", func(e *report.MorningEvent) int64 { return e.Before }),
		entry("after", func(e *report.MorningEvent) int64 { return e.After }),
		{Key: "moved", Kind: answer.KindMap, Help: "paths that changed between these entries",
			Value: func(e *report.MorningEvent) answer.Value {
				return movedOf(e.Moved)
			}},
	}
	flapFields = []answer.Field[*report.MorningFlap]{
		word("link", "link", func(f *report.MorningFlap) string { return f.Link }),
		answer.IntField("events", "events", "", func(f *report.MorningFlap) int { return f.Events }),
		moment("first", "first", func(f *report.MorningFlap) time.Time { return f.First }),
		moment("last", "last", func(f *report.MorningFlap) time.Time { return f.Last }),
	}
	portFields = []answer.Field[*report.MorningPort]{
		word("port", "port", func(p *report.MorningPort) string { return p.Port }),
		word("to", "to", func(p *report.MorningPort) string { return p.To }),
		word("counted", "counted", func(p *report.MorningPort) string { return p.Counted }),
		number("errors_per_hour", "per hour", "", func(p *report.MorningPort) answer.Value {
			return answer.Float(p.PerHour, 1)
		}),
		number("errors_per_hour_before", "per hour before", "", func(p *report.MorningPort) answer.Value {
			if p.Before == nil {
				return answer.NotRead()
			}
			return answer.Float(*p.Before, 1)
		}),
		moment("since", "since", func(p *report.MorningPort) time.Time { return p.Since }),
	}
	loadFields = []answer.Field[*report.MorningLoad]{
		word("port", "port", func(l *report.MorningLoad) string { return l.Port }),
		word("to", "to", func(l *report.MorningLoad) string { return l.To }),
		number("gigabytes_per_second", "now", "GB/s", func(l *report.MorningLoad) answer.Value {
			return answer.Float(l.Now, 3)
		}),
		number("gigabytes_per_second_before", "before", "GB/s", func(l *report.MorningLoad) answer.Value {
			return answer.Float(l.Before, 3)
		}),
	}
	hourFields = []answer.Field[*report.MorningHour]{
		moment("from", "from", func(h *report.MorningHour) time.Time { return h.From }),
		{Key: "errors", Name: "errors", Kind: answer.KindInt, Value: func(h *report.MorningHour) answer.Value {
			return known(h.Errors)
		}},
		{Key: "bytes_sent", Name: "bytes sent", Kind: answer.KindInt, Value: func(h *report.MorningHour) answer.Value {
			return known(h.Bytes)
		}},
	}
)

var morningDecl = answer.Decl[*report.Morning]{
	Command: "report morning", Help: "events and changes of a subnet in a period",
	Title: "{name} from {since} to {until}",
	Facts: []answer.Field[*report.Morning]{
		answer.TextField("name", "name", "of the subnet", func(m *report.Morning) string { return m.Subnet }),
		moment("since", "since", func(m *report.Morning) time.Time { return m.Since }),
		moment("until", "until", func(m *report.Morning) time.Time { return m.Until }),
		{Key: "problems_still", Name: "unchanged problems", Kind: answer.KindInt,
			Value: func(m *report.Morning) answer.Value {
				if m.New == nil {
					return answer.NotRead()
				}
				return answer.Int(m.Still)
			}},
		{Key: "links_down", Name: "links down", Kind: answer.KindInt, Help: "links that are down at the end",
			Value: func(m *report.Morning) answer.Value {
				if m.Down < 0 {
					return answer.NotRead()
				}
				return answer.Int(m.Down)
			}},
		{Key: "moved", Kind: answer.KindMap, Help: "paths that changed from the beginning to the end",
			Value: func(m *report.Morning) answer.Value {
				return movedOf(m.Moved)
			}},
		{Key: "unknown", Kind: answer.KindTexts, Help: "unknown parts, and why",
			Value: func(m *report.Morning) answer.Value {
				return answer.Texts(m.Unknown)
			}},
	},
	Layout: []answer.Item[*report.Morning]{
		list("outages", "outages", outageFields, func(m *report.Morning) []report.MorningOutage { return m.Outages }),
		list("problems_new", "new problems", problemFields, func(m *report.Morning) []report.MorningProblem {
			return m.New
		}),
		list("errors_still", "unchanged errors", problemFields, func(m *report.Morning) []report.MorningProblem {
			return m.Open
		}),
		list("problems_gone", "solved problems", problemFields, func(m *report.Morning) []report.MorningProblem {
			return m.Gone
		}),
		list("reroutes", "reroutes", eventFields, func(m *report.Morning) []report.MorningEvent { return m.Reroutes }),
		list("commits", "commits", eventFields, func(m *report.Morning) []report.MorningEvent { return m.Commits }),
		list("flaps", "links that flapped", flapFields, func(m *report.Morning) []report.MorningFlap {
			return m.Flaps
		}),
		list("ports_worse", "ports with more errors", portFields, func(m *report.Morning) []report.MorningPort {
			return m.Worse
		}),
		list("load_changed", "links with changed traffic", loadFields, func(m *report.Morning) []report.MorningLoad {
			return m.Load
		}),
		list("events", "other events", eventFields, func(m *report.Morning) []report.MorningEvent { return m.Others }),
		list("hours", "hours", hourFields, func(m *report.Morning) []report.MorningHour { return m.Hours }),
	},
}
