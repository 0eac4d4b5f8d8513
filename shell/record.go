// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/recording"
)

func recordCommands() []Spec {
	seconds := func(name, summary string) lang.Option {
		return lang.Option{Name: name, Kind: lang.KindText, Value: "SECONDS", Summary: summary}
	}
	return []Spec{{Name: "record", Summary: "record what ports count, and events, for questions about the past", Subcommands: []Spec{
		{Name: "start", Summary: "record from now on, beside what else is done: a share of the ports each second", Run: runRecordStart,
			Help: "ibconsole record does this without a console, until a signal ends it. counters history, counters worst and\n" +
				"report morning ask for what was recorded, in any console of this machine.",
			Options: []lang.Option{
				seconds("every", "read errors and waits of all ports once in so long; 60"),
				seconds("traffic", "read data and packets once in so long; 600"),
				seconds("sweep", "sweep lightly so often, unless a watch runs; 30"),
				{Name: "metrics", Kind: lang.KindText, Value: "[HOST:]PORT", Summary: "serve them to Prometheus at http://HOST:PORT/metrics; on this machine alone without HOST"},
				execOption(),
				{Name: "stay", Kind: lang.KindFlag, Summary: "until a signal comes, and print what changes"},
			}},
		{Name: "stop", Summary: "record no longer; what was read is kept", Run: runRecordStop},
		{Name: "status", Summary: "what is being recorded, and how much there is", Run: runRecordStatus},
		{Name: "keep", Summary: "say how much is kept, or set it; the oldest of the finest goes first", Run: runRecordKeep,
			Options: []lang.Option{{Name: "megabytes", Kind: lang.KindInt, Summary: "keep so much, 16 or more"}}},
	}}}
}

// maxMegabytes is the most that a recorder can be told to keep.
const maxMegabytes = 1 << 20

// How often a recorder reads where nobody says.
const (
	usualEvery   = time.Minute
	usualTraffic = 10 * time.Minute
	usualSweep   = 30 * time.Second
)

// span is the time that an option gives in seconds.
func (c *call) span(name string, otherwise time.Duration) (time.Duration, error) {
	text := c.Option(name, "")
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= shortestWatch && n <= longestWatch) {
		return 0, c.Misused("%s=%q: expected %g to %d seconds", name, text, shortestWatch, longestWatch)
	}
	return time.Duration(n * float64(time.Second)), nil
}

func runRecordStart(c *call) error {
	every, err := c.span("every", usualEvery)
	if err != nil {
		return err
	}
	traffic, err := c.span("traffic", max(usualTraffic, every))
	if err != nil {
		return err
	}
	sweep, err := c.span("sweep", usualSweep)
	if err != nil {
		return err
	}
	opt := session.RecordOptions{Every: every, Traffic: traffic, Sweep: sweep}
	if text := c.Option("metrics", ""); text != "" {
		if opt.Metrics, err = session.MetricsAddress(text); err != nil {
			return c.Misused("metrics=%q: %s", text, fabric.Escape(err.Error()))
		}
		if s := c.shell.among; s != nil {
			opt.Servers, opt.Name = &s.metrics, c.shell.Name()
		}
	}
	if err := c.session.Record(c.ctx, opt); err != nil {
		return err
	}
	if err := c.alertBy(); err != nil {
		return errors.Join(err, c.session.StopRecording())
	}
	st, _ := c.session.Recording()
	a, served := recordStatusOf(&st), ""
	if a.Metrics = c.session.MetricsAt(); a.Metrics != "" {
		served = fmt.Sprintf(", metrics at http://%s/metrics", a.Metrics)
	}
	if err := c.say(a, "recording to %s: errors and waits every %v, traffic every %v%s (record status, record stop)", quoteFile(st.File), st.Errors, st.Traffic, served); err != nil {
		return err
	}
	if !c.Flag("stay") {
		return nil
	}
	if err := c.printEvents(longestStay * time.Second); err != nil && c.ctx.Err() == nil {
		return err
	}
	return c.session.StopRecording()
}

// Stay prints what is new on the subnets that are recorded until ctx ends, and ends their recordings.
func (s *Subnets) Stay(ctx context.Context, out *Output) error {
	var mu sync.Mutex
	var wait sync.WaitGroup
	failed := make([]error, len(s.all))
	for i, n := range s.all {
		if _, running := n.session.Recording(); !running {
			continue
		}
		its := *out
		its.Subnet = n.name
		its.W = &namedLines{mu: &mu, w: out.W, name: prose.When(out.isJSON(), "", n.name+": ")}
		wait.Go(func() {
			c := &call{ctx: ctx, out: its.running(), shell: n.Shell, session: n.session}
			if err := c.printEvents(longestStay * time.Second); err != nil && ctx.Err() == nil {
				failed[i] = &SubnetError{n.name, err}
			}
			failed[i] = errors.Join(failed[i], n.session.StopRecording())
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

// namedLines writes whole lines, each with a name before it, beside others that write to the same place.
type namedLines struct {
	mu   *sync.Mutex
	w    io.Writer
	name string
	part []byte
}

func (n *namedLines) Write(b []byte) (int, error) {
	n.part = append(n.part, b...)
	end := bytes.LastIndexByte(n.part, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for line := range bytes.Lines(n.part[:end]) {
		if _, err := fmt.Fprintf(n.w, "%s%s", n.name, line); err != nil {
			return 0, err
		}
	}
	n.part = n.part[end:]
	return len(b), nil
}

func runRecordStop(c *call) error {
	st, _ := c.session.Recording()
	if err := c.session.StopRecording(); err != nil {
		return err
	}
	return c.say(recordStatusOf(&st), "no longer recording")
}

// recordStatus is how a recording gets on, and what there is.
type recordStatus struct {
	File string `json:"file,omitempty"`
	// Running says that this session records, Elsewhere that another one of the machine does.
	Running     bool    `json:"running"`
	Elsewhere   bool    `json:"elsewhere,omitempty"`
	Began       string  `json:"began,omitempty"`
	Every       float64 `json:"every_seconds,omitempty"`
	Traffic     float64 `json:"traffic_seconds,omitempty"`
	Rounds      int     `json:"rounds,omitempty"`
	Ports       int     `json:"ports,omitempty"`
	Unanswered  int     `json:"unanswered,omitempty"`
	PerSecond   float64 `json:"ports_per_second,omitempty"`
	Metrics     string  `json:"metrics,omitempty"`
	Failed      string  `json:"failed,omitempty"`
	Used        int64   `json:"used_bytes,omitempty"`
	Bound       int64   `json:"kept_bytes,omitempty"`
	Since       string  `json:"since,omitempty"`
	Until       string  `json:"until,omitempty"`
	now         *recording.Status
	from, until time.Time
}

func recordStatusOf(st *recording.Status) recordStatus {
	s := recordStatus{
		File: st.File, Running: true, Began: st.Began.Format(time.RFC3339), Every: st.Errors.Seconds(), Traffic: st.Traffic.Seconds(),
		Rounds: st.Rounds, Ports: st.Ports, Unanswered: st.Unanswered, PerSecond: st.Share(), now: st,
	}
	if st.Failed != nil {
		s.Failed = st.Failed.Error()
	}
	return s
}

func runRecordStatus(c *call) error {
	var a recordStatus
	if st, running := c.session.Recording(); running {
		a = recordStatusOf(&st)
		a.Metrics = c.session.MetricsAt()
	}
	a.Elsewhere = !a.Running && c.session.RecordedElsewhere()
	store, err := c.session.Records(c.ctx)
	switch {
	case errors.Is(err, session.ErrNoRecords):
		return c.out.Answer(&a)
	case err != nil:
		return err
	}
	a.File = store.File()
	var found bool
	var eused, ebound error
	a.from, a.until, found, err = store.Span(c.ctx, c.session.Subnet())
	a.Used, eused = store.Used(c.ctx)
	a.Bound, ebound = store.Size(c.ctx)
	if found {
		a.Since, a.Until = a.from.Format(time.RFC3339), a.until.Format(time.RFC3339)
	}
	if err := errors.Join(err, eused, ebound); err != nil {
		return err
	}
	return c.out.Answer(&a)
}

func (a *recordStatus) Text(w io.Writer) {
	switch {
	case a.Running:
		_, _ = fmt.Fprintf(w, "recording since %s: errors and waits every %v, traffic every %v\n", a.now.Began.Format(time.DateTime), a.now.Errors, a.now.Traffic)
		_, _ = fmt.Fprintf(w, "  %s read; the last one asked %s, %.0f a second; %d unanswered\n", count(a.Rounds, "round"), count(a.Ports+a.Unanswered, "port"), a.PerSecond, a.Unanswered)
	case a.Elsewhere:
		_, _ = fmt.Fprintln(w, "another ibconsole of this machine records this subnet")
	default:
		_, _ = fmt.Fprintln(w, "nothing is being recorded (record start, or ibconsole record)")
	}
	if a.Failed != "" {
		_, _ = fmt.Fprintf(w, "  failed: %s\n", a.Failed)
	}
	switch {
	case a.Used == 0:
	case a.Since == "":
		_, _ = fmt.Fprintf(w, "nothing was recorded of this subnet yet in %s\n", quoteFile(a.File))
	default:
		_, _ = fmt.Fprintf(w, "recorded from %s to %s in %s\n", a.from.Format(time.DateTime), a.until.Format(time.DateTime), quoteFile(a.File))
	}
	if a.Used > 0 {
		_, _ = fmt.Fprintf(w, "  %.1f MB of %d MB at most (record keep megabytes=N)\n", float64(a.Used)/(1<<20), a.Bound>>20)
	}
}

// leastKept is how many megabytes records must be allowed.
const leastKept = 16

func runRecordKeep(c *call) error {
	store, err := c.session.Records(c.ctx)
	if err != nil {
		return err
	}
	size, err := store.Size(c.ctx)
	if err != nil {
		return err
	}
	n, err := c.feature().AtLeast("megabytes", int(size>>20), leastKept)
	if err != nil {
		return err
	}
	if n > maxMegabytes {
		return c.Misused("megabytes=%d, expected at most %d", n, maxMegabytes)
	}
	if len(c.Options) > 0 {
		if err := errors.Join(store.SetSize(c.ctx, int64(n)<<20), store.Trim(c.ctx, time.Now())); err != nil {
			return err
		}
	}
	return c.say(object{"megabytes": n}, "%d MB at most are kept; seconds for a day, minutes for %d days, hours for %d days", n, records.MinuteDays, records.HourDays)
}
