// SPDX-License-Identifier: Apache-2.0

// Package incident collects what is known of an incident in one archive: problems, events, changes, traces of the
// affected pairs, counters, lines of the subnet manager's log, and the states before and after.
package incident

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/comparison"
	"example.org/ibconsole/shell/session/survey"
)

// Options controls the contents of a bundle.
type Options struct {
	Since, Until time.Time
	// Mask replaces names, GUIDs and addresses, each by the same text in the whole bundle.
	Mask bool
	// SMLog is the log of the subnet manager, or "" for none.
	SMLog string
	// Words are further texts that may contain names, such as the source. Mask replaces them.
	Words []string
}

// maxPairs is the maximum number of traced pairs of each kind: lost, connected and changed.
const maxPairs = 100

// Bundle is the content of an archive.
type Bundle struct {
	// Files are the names of the files in the archive.
	Files []string
	// Missing lists the parts that are not in the archive, each with the reason.
	Missing []string

	contents [][]byte
	times    []time.Time
	until    time.Time
}

// gatherer collects a bundle.
type gatherer struct {
	*Bundle
	ctx           context.Context
	session       *session.Session
	st            session.State
	opt           Options
	line          *session.Timeline
	before, after *session.Picture // before is nil if it is unknown
	names         *names           // nil without masking
}

// Gather collects what is known of the time span. It sends no packets.
func Gather(ctx context.Context, s *session.Session, opt Options) (*Bundle, error) {
	g := &gatherer{Bundle: &Bundle{until: opt.Until}, ctx: ctx, session: s, st: s.State(), opt: opt}
	var err error
	if g.line, err = s.Timeline(ctx, opt.Since, opt.Until); err != nil {
		return nil, err
	}
	g.after = g.st.Live
	if g.line.After != nil {
		if g.after, err = g.st.Of(session.EntryKind(g.line.After.Entry)); err != nil {
			return nil, err
		}
	}
	if g.line.Before != nil && !g.line.Before.Began.After(opt.Until) {
		if g.before, err = g.st.Of(session.EntryKind(g.line.Before.Entry)); err != nil {
			return nil, err
		}
	}
	if len(g.after.Fabric.Nodes) == 0 {
		return nil, errors.New("no state of the subnet is known")
	}
	if opt.Mask {
		if g.names, err = g.allNames(); err != nil {
			return nil, err
		}
	}
	for _, part := range []func() error{g.problems, g.events, g.changes, g.counters, g.smLog, g.states} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	g.index()
	return g.Bundle, nil
}

func (g *gatherer) miss(what, format string, args ...any) {
	g.Missing = append(g.Missing, g.text(what+": "+fmt.Sprintf(format, args...)))
}

// text masks a text, if masking is on.
func (g *gatherer) text(text string) string {
	if g.names == nil {
		return text
	}
	return g.names.Replace(text)
}

func (g *gatherer) add(name string, when time.Time, content []byte) {
	g.Files, g.contents, g.times = append(g.Files, name), append(g.contents, content), append(g.times, when)
}

// addJSON adds a value as JSON. Masking applies to all texts in it.
func (g *gatherer) addJSON(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var plainValue any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&plainValue); err != nil {
		return err
	}
	b, err = json.MarshalIndent(g.masked(plainValue), "", "  ")
	if err == nil {
		g.add(name, g.opt.Until, append(b, '\n'))
	}
	return err
}

func (g *gatherer) masked(v any) any {
	switch v := v.(type) {
	case string:
		return g.text(v)
	case []any:
		for i := range v {
			v[i] = g.masked(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = g.masked(v[k])
		}
	}
	return v
}

// recordedProblem is a problem of the record.
type recordedProblem struct {
	ID string `json:"id"`
	problems.Problem
	Seen   time.Time `json:"last_seen"`
	Closed time.Time `json:"closed,omitzero"`
}

// surveyed are the problems of a state.
type surveyed struct {
	Problems  []problems.Problem   `json:"problems"`
	Unchecked []problems.Unchecked `json:"unchecked"`
}

func (g *gatherer) problems() error {
	var out struct {
		Recorded []recordedProblem `json:"recorded"`
		Observed []records.Span    `json:"observed"`
		Before   *surveyed         `json:"before,omitempty"`
		After    *surveyed         `json:"after"`
	}
	if store, err := g.session.Recorded().Store(g.ctx); err != nil {
		g.miss("recorded problems", "%v", err)
	} else {
		all, observed, err := store.Problems(g.ctx, g.session.Subnet(), g.opt.Since, g.opt.Until)
		if err != nil {
			return err
		}
		out.Observed = observed
		for i := range all {
			e := &all[i]
			out.Recorded = append(out.Recorded, recordedProblem{e.ID(), e.Problem, e.Seen, e.Closed})
		}
		if len(observed) == 0 {
			g.miss("recorded problems", "no recorder looked for problems in the time span")
		}
	}
	of := func(p *session.Picture) (*surveyed, error) {
		var r *problems.Report
		var err error
		if p == g.st.Live {
			r, err = survey.Problems(g.ctx, g.session, survey.Options{Unfiltered: true})
		} else {
			r, err = survey.Past(g.ctx, &g.st, g.session.Analysis(), p, survey.Options{})
		}
		if err != nil {
			return nil, err
		}
		return &surveyed{append([]problems.Problem{}, r.Problems...), r.Unchecked}, nil
	}
	var err error
	if g.before != nil {
		if out.Before, err = of(g.before); err != nil {
			return err
		}
	}
	if out.After, err = of(g.after); err != nil {
		return err
	}
	return g.addJSON("problems.json", out)
}

// event is an event of the timeline.
type event struct {
	When   time.Time `json:"when"`
	What   string    `json:"what,omitempty"`
	Text   string    `json:"text"`
	Who    string    `json:"who,omitempty"`
	GUID   string    `json:"guid,omitempty"`
	Port   int       `json:"port,omitempty"`
	Before int64     `json:"history_before,omitempty"`
	After  int64     `json:"history_after,omitempty"`
}

func eventOf(m *timeline.Moment) event {
	e := event{When: m.When, What: m.What, Text: m.Text, Who: m.Who, Port: m.Port, Before: m.Before, After: m.After}
	if m.GUID != 0 {
		e.GUID = fmt.Sprintf("0x%016x", m.GUID)
	}
	return e
}

func (g *gatherer) events() error {
	all := []event{}
	for i := range g.line.Moments {
		all = append(all, eventOf(&g.line.Moments[i]))
	}
	if g.line.Unread != nil {
		g.miss("events of the history", "%v", g.line.Unread)
	}
	return g.addJSON("events.json", struct {
		SMLog  string  `json:"sm_log,omitempty"`
		Events []event `json:"events"`
	}{g.line.SMLog, all})
}

// changes adds the differences of the two states, and the traces of the pairs that differ.
func (g *gatherer) changes() error {
	if g.before == nil {
		why := "the history does not have the state before the time span"
		if g.line.Why != nil {
			why = g.line.Why.Error()
		}
		g.miss("the state before, changes and traces", "%s", why)
		return nil
	}
	var out struct {
		Links  []string     `json:"nodes_links_ports"`
		Tables *diff.Result `json:"tables,omitempty"`
	}
	for _, c := range fabric.Changes(g.before.Fabric, g.after.Fabric) {
		out.Links = append(out.Links, c.String())
	}
	if g.before.Tables == nil || g.after.Tables == nil || g.before.Fabric.MaxLID == 0 || g.after.Fabric.MaxLID == 0 {
		g.miss("changes of tables and traces", "one of the states has no forwarding tables")
		return g.addJSON("changes.json", out)
	}
	d, err := comparison.Diff(g.ctx, g.session, session.Kind(g.before.Kind.Word()), session.Kind(g.after.Kind.Word()),
		maxPairs)
	if err != nil {
		return err
	}
	out.Tables = d.Result
	if err := g.addJSON("changes.json", out); err != nil {
		return err
	}
	var text strings.Builder
	for _, k := range []struct {
		what  string
		pairs []diff.Pair
		all   int64
	}{
		{"pairs that lost their path", d.Lost, d.Pairs.Lost}, {"newly connected pairs", d.Connected, d.Pairs.Connected},
		{"pairs with another path", d.Changed, d.Pairs.Changed},
	} {
		fmt.Fprintf(&text, "# %s: %d", k.what, k.all)
		if int64(len(k.pairs)) < k.all {
			fmt.Fprintf(&text, ", of which %d are traced", len(k.pairs))
		}
		text.WriteString("\n")
		for _, p := range k.pairs {
			fmt.Fprintf(&text, "%s to %s\n  before: %s\n  after:  %s\n", p.Src.Name, p.Dst.Name, trace(d.Before, p),
				trace(d.After, p))
		}
	}
	g.add("traces.txt", g.opt.Until, []byte(g.text(text.String())))
	return nil
}

// port is the increase of the counters of a port.
type port struct {
	Node     string             `json:"node"`
	GUID     string             `json:"guid"`
	Port     uint8              `json:"port"`
	Counters map[string]counted `json:"counters"`
}

type counted struct {
	Increase uint64    `json:"increase"`
	AtLeast  bool      `json:"at_least,omitempty"`
	Seconds  float64   `json:"seconds"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
}

func (g *gatherer) counters() error {
	store, err := g.session.Recorded().Store(g.ctx)
	if err != nil {
		g.miss("counters", "%v", err)
		return nil
	}
	got, err := store.Recorded(g.ctx, g.session.Subnet(), counters.All, g.opt.Since, g.opt.Until)
	if err != nil {
		return err
	}
	if len(got.Read) == 0 {
		g.miss("counters", "none were recorded in the time span")
		return nil
	}
	out := struct {
		Recorded []records.Span `json:"recorded"`
		Read     int            `json:"ports_read"`
		Ports    []port         `json:"ports_with_increases"`
	}{got.Spans, len(got.Read), []port{}}
	for i := range got.Totals {
		t := &got.Totals[i]
		p := port{plain.Escape(t.Name), fmt.Sprintf("0x%016x", t.Key.GUID), t.Key.Num, map[string]counted{}}
		for _, n := range t.Counts {
			if n.Increase > 0 || n.AtLeast {
				p.Counters[fmt.Sprint(n.Counter)] = counted{n.Increase, n.AtLeast, n.Seconds, n.First, n.Last}
			}
		}
		if len(p.Counters) > 0 {
			out.Ports = append(out.Ports, p)
		}
	}
	return g.addJSON("counters.json", out)
}

// states adds the snapshots.
func (g *gatherer) states() error {
	for _, k := range []struct {
		name string
		p    *session.Picture
	}{{formats.StateBefore, g.before}, {formats.StateAfter, g.after}} {
		if k.p == nil {
			continue
		}
		state := snapshot.Snapshot{Fabric: k.p.Fabric, Tables: k.p.Tables}
		if g.names != nil {
			state.Fabric = state.Fabric.Masked(g.names.guid, g.names.node)
			if state.Tables != nil {
				t := *state.Tables
				t.Fabric, t.Origin = state.Fabric, g.text(t.Origin) // the indexes stay
				state.Tables = &t
			}
		}
		var b bytes.Buffer
		if err := snapshot.Write(&b, state); err != nil {
			return err
		}
		g.add(k.name+formats.Snapshot, k.p.When, b.Bytes())
	}
	return nil
}

// index adds the description of the bundle.
func (g *gatherer) index() {
	var b strings.Builder
	fmt.Fprintf(&b, "Incident from %s to %s\n\n", g.opt.Since.Format(time.RFC3339), g.opt.Until.Format(time.RFC3339))
	fmt.Fprintf(&b, "Subnet: %s\n", g.text(plain.Escape(g.session.Subnet())))
	b.WriteString(prose.When(g.names != nil, "Names, GUIDs and addresses are masked, each by the same text "+
		"everywhere. Look through it before you send it.\n", "Names and GUIDs are not masked.\n"))
	b.WriteString("\nFiles:\n")
	about := map[string]string{
		"problems.json":             "problems of the record, and of the states before and after",
		"events.json":               "events of the history, with those of the subnet manager's log",
		"changes.json":              "differences between the states before and after",
		"traces.txt":                "paths of affected pairs, before and after",
		"counters.json":             "increases of the counters; ports without an increase are omitted",
		"sm.log":                    "lines of the subnet manager's log",
		"before" + formats.Snapshot: "the state before; ibconsole -s file:ARCHIVE/before",
		"after" + formats.Snapshot:  "the state after; ibconsole -s file:ARCHIVE",
	}
	for _, name := range g.Files {
		fmt.Fprintf(&b, "  %-16s %s\n", name, about[name])
	}
	if len(g.Missing) > 0 {
		b.WriteString("\nNot in the archive:\n")
		for _, m := range g.Missing {
			fmt.Fprintf(&b, "  %s\n", m)
		}
	}
	g.add("README.txt", g.opt.Until, []byte(b.String()))
}

// Write writes the archive: a tar file that gzip has compressed.
func (b *Bundle) Write(w io.Writer) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for i, name := range b.Files {
		h := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(b.contents[i])),
			ModTime: b.times[i].Truncate(time.Second), Typeflag: tar.TypeReg}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(b.contents[i]); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}
