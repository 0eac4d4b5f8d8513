// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"slices"
	"time"

	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
)

// recordedAnswer says which part of a time was recorded, and of which ports nothing was.
type recordedAnswer struct {
	Since           string   `json:"since"`
	Until           string   `json:"until"`
	RecordedSeconds float64  `json:"recorded_seconds"`
	Recorded        []period `json:"recorded"`
	NotRecorded     []period `json:"not_recorded"`
	// NotRead are the ports of which there are no samples, Ports counts those of which there are.
	NotRead []string `json:"not_read"`
	Ports   int      `json:"ports_read"`
	Shown   int      `json:"shown"`
	Samples int      `json:"samples,omitempty"` // of one port
	of      *records.Recorded
}

// period is a time from From to Until.
type period struct {
	From  string `json:"from"`
	Until string `json:"until"`
}

func periods(spans []records.Span) []period {
	out := []period{}
	for _, s := range spans {
		out = append(out, period{s.Since.Format(time.RFC3339), s.Until.Format(time.RFC3339)})
	}
	return out
}

// recordedOf returns the answer for what was recorded of all ports, or of one where st is nil.
func recordedOf(st *session.State, r *records.Recorded, shown int) recordedAnswer {
	a := recordedAnswer{
		Since: r.Since.Format(time.RFC3339), Until: r.Until.Format(time.RFC3339), RecordedSeconds: records.Took(r.Spans).Seconds(),
		Recorded: periods(r.Spans), NotRecorded: periods(r.Gaps()), Ports: len(r.Read), Shown: shown, NotRead: []string{}, of: r,
	}
	if st != nil {
		a.NotRead = append(a.NotRead, prose.Words(st.NotRead(r), st.Live.Fabric.PortName)...)
	}
	return a
}

// Text says it in up to three lines.
func (a recordedAnswer) Text(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	what := prose.When(a.Samples > 0, count(a.Samples, "sample"), count(a.Ports, "port")+" read")
	line("%s, %d shown; recorded %s of %s", what, a.Shown, records.Took(a.of.Spans).Round(time.Second), a.of.Until.Sub(a.of.Since).Round(time.Second))
	if gaps := a.of.Gaps(); gaps != nil {
		line("not recorded: %s", spansText(gaps))
	}
	if len(a.NotRead) > 0 {
		line("not read: %s: %s", count(len(a.NotRead), "port"), prose.List(a.NotRead, mostUnread))
	}
}

// mostGaps is how many times people read that were not recorded.
const mostGaps = 3

// spansText says "2026-01-01 03:00:00 to 2026-01-01 04:00:00", the longest times first.
func spansText(spans []records.Span) string {
	long := func(s records.Span) time.Duration { return s.Until.Sub(s.Since) }
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b records.Span) int { return int(long(b) - long(a)) })
	return prose.List(prose.Words(spans, func(s records.Span) string {
		return s.Since.Local().Format(time.DateTime) + " to " + s.Until.Local().Format(time.DateTime)
	}), mostGaps)
}

// notRecorded says which part of a time was not recorded, "" where all was.
func notRecorded(r *records.Recorded) string {
	if gaps := r.Gaps(); gaps != nil {
		return "it was not recorded from " + spansText(gaps)
	}
	return ""
}
