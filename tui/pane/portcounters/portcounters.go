// SPDX-License-Identifier: Apache-2.0

// Package portcounters lists the ports whose counters of errors, waits or traffic increased most, with rates and times.
package portcounters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

type kind struct {
	name string
	what counters.Set
}

// kinds are the views of the pane.
var kinds = []kind{
	{"errors", counters.Faults},
	{"XmitWait and XmitDiscards", counters.Of(counters.XmitWait, counters.XmitDiscards)},
	{"traffic", counters.Of(counters.XmitData)},
}

const ofTraffic = 2 // the view of traffic

// spans are the lengths of the time spans that the pane can show. Each time span is divided into the same number of
// parts.
var spans = []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

const (
	parts     = 12
	firstSpan = 3
	fresh     = 20 * time.Second // how long a result is valid while recording
)

// Source returns what was recorded.
type Source interface {
	Grown(ctx context.Context, what counters.Set, since, until time.Time, parts int) (*recording.Growth, error)
	// ReadRecent reads the counters recorded in the hour before a time, and stores them in the state of the session.
	ReadRecent(ctx context.Context, until time.Time) error
	Recording() (recording.Status, bool)
	// Sample reads counters of ports of the live fabric without recording them.
	Sample(ctx context.Context, f *fabric.Fabric, what counters.Set, ports []fabric.PortIndex) (*counters.Reading,
		error)
}

// key is the input of a result.
type key struct {
	kind, span int
	at         int64 // in units of fresh
	live       *fabric.Fabric
}

// list shows ports, the worst first.
type list struct {
	pane.List
	src    Source
	span   int
	grown  pane.AsyncResult[*recording.Growth]
	recent pane.AsyncResult[struct{}] // for other panes
	taken  *recording.Growth
	failed error
	known  bool  // something is recorded
	most   int64 // of a part of the time
	mean   float64
	now    sampler
}

// Pane constructs this pane. The feature that has a key of the same name opens the pane.
var Pane = pane.Maker[Source]{Name: "Counters", New: New}

// New makes the pane.
func New(c *pane.Common, src Source) pane.Pane {
	l := &list{src: src, span: firstSpan}
	t := c.Look
	names := prose.Words(kinds, func(k kind) string { return k.name })
	l.List = pane.NewList(c, pane.About{Name: "Counters", Broad: true, Enter: "over time"},
		draw.Table{Kinds: names, ID: func(row int) uint64 {
			return pane.Place{GUID: l.row(row).Key.GUID, Port: l.row(row).Key.Num}.ID()
		}}, l.Renew)
	traffic := func() bool { return l.Kind == ofTraffic }
	unrecorded := func() bool { return l.taken == nil || l.taken == l.now.rows }
	errorsOnly := func() bool { return traffic() || unrecorded() }
	trafficOnly := func() bool { return !traffic() || unrecorded() }
	l.Cols = []draw.Column{
		{Name: "port", Help: "node and port number",
			Least: 14, Share: 2, Text: l.name, Look: l.look},
		{Name: "to", Help: "port at the other end of the link",
			Least: 12, Share: 2, Rank: 2, Text: l.peer, Dim: true},
		{Name: "counted", Help: "increase of the counters in that time, as recorded; it may be more where a counter " +
			"was cleared or saturated",
			Least: 20, Share: 3, Hidden: errorsOnly, Text: l.counted, Order: func(row int) int64 {
				return int64(l.row(row).Sum)
			}},
		{Name: "per hour", Help: "sum of the increases per hour",
			Wide: 9, Right: true, Hidden: errorsOnly, Text: func(row int) string { return figure(l.row(row).PerHour) },
			Order: func(row int) int64 { return int64(l.row(row).PerHour) }},
		{Name: "since", Help: "end of the first reading with an increase; before: saturated during all of the time",
			Wide: 12, Hidden: unrecorded, Text: l.since, Rank: 1, Order: func(row int) int64 {
				return l.row(row).First.Unix()
			}},
		{Name: "over time", Help: "increase in each twelfth of the time",
			Wide: parts, Hidden: unrecorded, Drawn: true, Text: func(row int) string {
				return t.Spark(l.row(row).Bins, max(l.most, 1), parts)
			}, Look: l.look},
		{Name: "sent", Help: "data sent by the port (PortXmitData)",
			Wide: 10, Right: true, Hidden: trafficOnly, Text: l.sends, Order: func(row int) int64 {
				return int64(l.row(row).PerHour)
			}},
		{Name: "used", Help: "data sent, as a share of the data rate of the link",
			Wide: 6, Right: true, Rank: 1, Hidden: unrecorded, Text: l.use, Order: func(row int) int64 {
				return int64(1e6 * l.row(row).Use)
			}, Look: l.useLook},
		{Name: "of expected",
			Help: "data sent compared with the paths by the tables, both relative to the mean of the " +
				"links between switches: 1.00x is as expected",
			Wide: 11, Right: true, Rank: 2, Hidden: trafficOnly, Text: l.byTables, Look: l.partsLook},
		{Name: "XmitWait/s", Help: "XmitWait ticks per second",
			Wide: 10, Right: true, Rank: 3, Hidden: unrecorded, Text: func(row int) string {
				return figure(l.row(row).Waits)
			}, Order: func(row int) int64 { return int64(l.row(row).Waits) }},
		{Name: "now", Help: "rate between the last two readings, without recording; the visible ports are read every " +
			"5 s while this pane is open; + where it may be more",
			Wide: 11, Right: true, Hidden: func() bool { return !l.samples() }, Text: l.nowText, Order: l.nowOrder},
		{Name: "link", Help: "active width and speed",
			Wide: 7, Right: true, Rank: 4, Text: l.link, Dim: true},
	}
	return l
}

func (l *list) row(row int) *recording.Growing { return &l.taken.Ports[row] }

func (l *list) name(row int) string {
	if x := l.row(row); x.Port == fabric.None {
		return fabric.Escape(x.Name)
	}
	return l.taken.Fabric.PortName(l.row(row).Port)
}

// far returns the port at the other end of the link, or None.
func (l *list) far(row int) fabric.PortIndex {
	if p := l.row(row).Port; p != fabric.None {
		return l.taken.Fabric.Ports[p].Peer
	}
	return fabric.None
}

func (l *list) peer(row int) string {
	if p := l.far(row); p != fabric.None {
		return l.taken.Fabric.PortName(p)
	}
	return "-"
}

func (l *list) link(row int) string {
	p := l.row(row).Port
	if p == fabric.None {
		return "not in the subnet"
	}
	text, _ := pane.LinkText(&l.taken.Fabric.Ports[p])
	return text
}

// counted returns a text with the increase of each counter, the largest first.
func (l *list) counted(row int) string {
	counts := slices.Clone(l.row(row).Counts)
	slices.SortStableFunc(counts, func(a, b records.Count) int {
		return int(min(b.Increase, 1<<40)) - int(min(a.Increase, 1<<40))
	})
	return prose.List(prose.Words(counts, func(c records.Count) string {
		if c.Increase == 0 {
			return c.Counter.Short() + " at its maximum: clear it to see more"
		}
		text := fmt.Sprintf("%s %s", c.Counter.Short(), prose.Thousands(int(c.Increase)))
		return text + prose.When(c.AtLeast, " or more", "")
	}), len(counts))
}

func (l *list) since(row int) string {
	x := l.row(row)
	now := l.Scene.Clock()
	switch at := x.First; {
	case at.IsZero():
		return "before"
	case at.Format(time.DateOnly) == now.Format(time.DateOnly):
		return when.Format(at, "15:04")
	default:
		return when.Format(at, "02 Jan 15:04")
	}
}

// figure returns a rate as text of at most seven characters.
func figure(x float64) string {
	switch {
	case x <= 0:
		return "-"
	case x < 10:
		return fmt.Sprintf("%.1f", x)
	case x < 1e6:
		return prose.Thousands(int(x + 0.5))
	}
	for _, unit := range []string{"M", "G", "T"} {
		if x /= 1000; x < 1e6 {
			return fmt.Sprintf("%.0f%s", x/1000, unit)
		}
	}
	return "many"
}

func (l *list) sends(row int) string {
	return bytesText(l.row(row).PerHour / 3600 * 4)
}

// bytesText returns a rate in bytes per second as text.
func bytesText(bytes float64) string {
	for _, unit := range []string{"B/s", "kB/s", "MB/s"} {
		if bytes < 1000 {
			return fmt.Sprintf("%.3g %s", bytes, unit)
		}
		bytes /= 1000
	}
	return fmt.Sprintf("%.3g GB/s", bytes)
}

func (l *list) use(row int) string {
	if x := l.row(row); x.Use >= 0 {
		return draw.Percent(x.Use)
	}
	return "-"
}

func (l *list) useLook(row int) draw.Style {
	switch x := l.row(row); {
	case x.Use > 0.9:
		return l.Theme.Bad
	case x.Use > 0.6:
		return l.Theme.Warn
	}
	return ""
}

// trafficPerPath returns the ratio of two relative values: the data that the port sent and the number of paths by the
// tables. Both are relative to their mean over the links between switches. It returns 0 if the ratio is unknown.
func (l *list) trafficPerPath(row int) float64 {
	x, loads := l.row(row), l.Loads()
	if x.Port == fabric.None || loads == nil || loads.Fabric != l.taken.Fabric || l.mean == 0 ||
		linkload.ClassOf(loads.Fabric, x.Port) != linkload.BetweenSwitches {
		return 0
	}
	paths, all := float64(loads.Paths[x.Port]), float64(l.Busiest())/2
	if paths == 0 || all == 0 {
		return 0
	}
	return float64(x.Sum) / l.mean / (paths / all)
}

func (l *list) byTables(row int) string {
	if a := l.trafficPerPath(row); a > 0 {
		return draw.Times(a)
	}
	return "-"
}

func (l *list) partsLook(row int) draw.Style {
	if a := l.trafficPerPath(row); a > 1.5 || a > 0 && a < 0.5 {
		return l.Theme.Warn
	}
	return ""
}

func (l *list) look(row int) draw.Style {
	x := l.row(row)
	switch {
	case l.Kind == ofTraffic || l.taken == l.now.rows:
		return ""
	case x.Bins[parts-1] > 0 || x.AtLeast:
		return l.Theme.Bad
	}
	return l.Theme.Warn
}

// Sideways selects a longer or shorter time span.
func (l *list) Sideways(by int) {
	l.span = min(max(l.span-cmp.Compare(by, 0), 0), len(spans)-1)
}

func (l *list) wanted() key {
	return key{l.Kind, l.span, l.until().UnixNano() / int64(fresh), l.Scene.State.Live.Fabric}
}

// The method until returns the end of the time span shown: the present time or, if a past state is shown, the time of
// this state.
func (l *list) until() time.Time {
	if p := l.Scene.Recalled(); p != nil {
		return p.When
	}
	return l.Scene.Clock()
}

// Seek reads the records of the time span shown.
func (l *list) Seek(s pane.Stage) tea.Cmd {
	k, until := l.wanted(), l.until()
	var recent tea.Cmd
	if l.known || s.Visible {
		lately := key{live: k.live, at: k.at, kind: -1}
		recent = l.recent.Start(l.Common, lately, func(ctx context.Context, _ func(int, int)) (struct{}, error) {
			return struct{}{}, l.src.ReadRecent(ctx, until)
		})
	}
	if !s.Visible {
		l.now.reading.Cancel()
		return recent
	}
	return tea.Batch(recent, l.sample(),
		l.grown.Start(l.Common, k, func(ctx context.Context, _ func(int, int)) (*recording.Growth, error) {
			return l.src.Grown(ctx, kinds[k.kind].what, until.Add(-spans[k.span]), until, parts)
		}))
}

// Collect accepts a new result. Until then, the previous result is shown.
func (l *list) Collect() {
	_, running := l.src.Recording()
	l.known = running || l.taken != nil
	if l.now.take() {
		l.Renew()
	}
	taken := l.grown.Value
	if l.samples() && errors.Is(l.grown.Err, recorded.ErrNone) {
		taken = l.now.all(l.Scene.State.Live.Fabric)
	}
	if l.grown.Of == nil || taken == l.taken && l.grown.Err == l.failed { //nolint:errorlint // identical
		return
	}
	l.KeepRow() // by the ID of the rows so far
	l.taken, l.failed = taken, l.grown.Err
	l.Renew()
}

// Renew makes the rows.
func (l *list) Renew() {
	l.KeepRow()
	n := 0
	l.most, l.mean = 0, 0
	if l.taken != nil && l.grown.Of != nil && l.grown.Of.(key).kind == l.Kind {
		n = len(l.taken.Ports)
		between := 0
		for i := range l.taken.Ports {
			x := &l.taken.Ports[i]
			for _, n := range x.Bins {
				l.most = max(l.most, n)
			}
			if x.Port != fabric.None && linkload.ClassOf(l.taken.Fabric, x.Port) == linkload.BetweenSwitches {
				l.mean += float64(x.Sum)
				between++
			}
		}
		l.mean /= float64(max(between, 1))
	}
	l.Build(n)
}

// Title is the time shown.
func (l *list) Title() string {
	if l.Scene != nil && l.Scene.Recalled() != nil {
		return fmt.Sprintf("%s of the %s before %s", kinds[l.Kind].name, draw.Age(spans[l.span]),
			when.Text(l.until()))
	}
	if l.taken != nil && l.taken == l.now.rows {
		return kinds[l.Kind].name + " now"
	}
	return kinds[l.Kind].name + " of the last " + draw.Age(spans[l.span])
}

// Figure returns a text with the age of the result and the rate of reading.
func (l *list) Figure() string {
	if l.src == nil {
		return ""
	}
	if st, ok := l.src.Recording(); ok {
		switch {
		case st.Failed != nil:
			return "recording fails: " + st.Failed.Error()
		case st.Rounds == 0:
			return "recording, the first round is being read"
		}
		return fmt.Sprintf("%s%s, all ports read %s ago, %.0f a second", prose.Count(l.N, "port"), l.coverage(),
			draw.Age(l.Scene.Clock().Sub(st.Last)), st.Share())
	}
	text := prose.When(l.taken == nil, "nothing read", prose.Count(l.N, "port")+l.coverage()) + ", not recording"
	return text + l.nowFigure()
}

// coverage returns a text with the part of the time span that was recorded, unless it is complete, and the number of
// ports that were not read.
func (l *list) coverage() string {
	if l.taken == nil || l.taken == l.now.rows {
		return ""
	}
	text := ""
	if took := records.TotalTime(l.taken.Spans); took < l.taken.Until.Sub(l.taken.Since)*99/100 {
		text = ", recorded " + draw.Age(took)
	}
	return text + prose.When(l.taken.NotRead > 0, ", "+prose.Count(l.taken.NotRead, "port")+" not read", "")
}

// isFile reports whether the subnet is a file, of which nothing can be recorded.
func (l *list) isFile() bool { return l.Scene.State.Source.Offline() }

// Empty returns why there are no rows.
func (l *list) Empty() string {
	recording := false
	if l.src != nil {
		_, recording = l.src.Recording()
	}
	switch {
	case errors.Is(l.failed, recorded.ErrNone) && recording:
		return "Nothing was recorded in that time: the first two rounds of reading are not finished. " + lookElsewhere
	case errors.Is(l.failed, recorded.ErrNone) && l.isFile():
		return prose.When(l.Scene.State.Read == nil, "Unknown: the subnet is a file without counters.",
			"A file cannot be recorded. Enter runs show counters, which lists the counters that the file has.")
	case errors.Is(l.failed, recorded.ErrNone):
		return "Unknown: " + l.failed.Error() + ". Enter runs record start, which reads some ports each second and " +
			"keeps their counters. " + lookElsewhere
	case l.failed != nil:
		return l.failed.Error()
	case l.grown.Doing != nil && l.taken == nil:
		return "The records are being read."
	case l.taken != nil && l.Kind == ofTraffic:
		return "No port sent anything in the " + l.recordedTime() + ". Left looks further back."
	case l.taken == nil:
		return ""
	}
	return fmt.Sprintf("No port counted %s in the %s. %s", kinds[l.Kind].name, l.recordedTime(), lookElsewhere)
}

const lookElsewhere = "Left looks further back, b at other counters."

// recordedTime returns a text with the part of the time span that was recorded.
func (l *list) recordedTime() string {
	took, of := records.TotalTime(l.taken.Spans), l.taken.Until.Sub(l.taken.Since)
	text := draw.Age(took) + prose.When(took < of*99/100, " of "+draw.Age(of), "") + " recorded"
	return text + prose.When(l.taken.NotRead > 0, "; "+prose.Count(l.taken.NotRead, "port")+" were not read", "")
}

// Subject is the port and its link.
func (l *list) Subject() pane.Subject {
	row, ok := l.Selected()
	if !ok || l.row(row).Port == fabric.None {
		return pane.Nothing
	}
	x, f := l.row(row), l.taken.Fabric
	link := prose.When(f.Ports[x.Port].Peer == fabric.None, fabric.PortIndex(fabric.None), x.Port)
	s := pane.Subject{Fabric: f, Node: f.Ports[x.Port].Node, Port: fabric.None, Link: link, Via: fabric.None}
	for _, c := range x.Counts {
		text := fmt.Sprintf("%s%s, %s per hour, from %s to %s", prose.When(c.AtLeast, "at least ", ""),
			prose.Thousands(int(c.Increase)), figure(3600*c.PerSecond()), when.Text(c.First),
			when.Text(c.Last))
		s.Facts = append(s.Facts, pane.Fact{Name: c.Counter.String(), Text: text})
	}
	return s
}

// Enter shows the counters of the selected port over time. If there are no records, Enter starts the recording, or
// lists the counters of a file.
func (l *list) Enter() (func() tea.Msg, string) {
	row, ok := l.Selected()
	switch {
	case ok && l.taken == l.now.rows:
		command := "show counters " + lang.Quote(places.LinkRef(l.taken.Fabric, l.row(row).Port))
		return func() tea.Msg { return pane.Run{Command: command, Typed: true} }, ""
	case ok && l.row(row).Port != fabric.None:
		port := lang.Quote(places.LinkRef(l.taken.Fabric, l.row(row).Port))
		command := fmt.Sprintf("counters history %s since=%s", port, spanWord(spans[l.span]))
		return func() tea.Msg { return pane.Run{Command: command, Typed: true} }, ""
	case ok:
		return nil, "the port is no longer in the subnet"
	case errors.Is(l.failed, recorded.ErrNone) && l.isFile() && l.Scene.State.Read == nil:
		return nil, "the file has no counters"
	case errors.Is(l.failed, recorded.ErrNone) && l.isFile():
		return func() tea.Msg { return pane.Run{Command: "show counters", Typed: true} }, ""
	case errors.Is(l.failed, recorded.ErrNone):
		return func() tea.Msg { return pane.Run{Command: "record start"} }, ""
	}
	return nil, "there are no rows"
}

func spanWord(d time.Duration) string { return fmt.Sprintf("%dm", int(d.Minutes())) }
