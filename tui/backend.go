// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	found "example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/routing/changes/resilience"
	"example.org/ibconsole/shell"
	featuresources "example.org/ibconsole/shell/feature/sources"
	"example.org/ibconsole/shell/guided"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/analysis"
	"example.org/ibconsole/shell/session/comparison"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/shell/session/survey"
	"example.org/ibconsole/tui/pane/history"
)

// backend is the part of the shell that the screen and its panes use. State, Complete, Hint and Search must be fast.
type backend interface {
	sources
	State() session.State
	// Facts returns the memo with results derived from tables.
	Facts() *analysis.Memo
	Run(ctx context.Context, text string, out *shell.Output) error
	Complete(line string, cursor int) (start int, candidates []lang.Candidate)
	// Hint returns the usage and the summary of the command at the end of a text.
	Hint(text string) (usage, summary string)
	// Search returns the commands that match a word.
	Search(word string) []lang.Candidate
	// Changed waits until the state has changed. It returns false when ctx has ended.
	Changed(ctx context.Context) bool
	// Recall returns the state of a history entry. At returns the state at a time. Neighbor returns the state that is
	// by entries after the state p. A nil state means the present.
	Recall(id int64) (*session.Picture, error)
	At(ctx context.Context, t time.Time) (*session.Picture, error)
	Neighbor(ctx context.Context, p *session.Picture, by int) (*session.Picture, error)
	// Flow starts the questions of a guided command: dump, load, engine or fail. The argument shown is the past state
	// that the screen shows, nil for none.
	Flow(ctx context.Context, what string, shown *session.Picture) (*guided.Flow, error)
}

// shellBackend implements backend for the shell of a session, which may be one of several.
type shellBackend struct {
	*shell.Shell
	watcher *session.Watcher
	among   *shell.Subnets // nil for a single subnet
	here    int
}

// Glances returns the overviews of all subnets, and the index of the subnet of this screen.
func (b *shellBackend) Glances() ([]shell.Glance, int) {
	if b.among == nil {
		return nil, 0
	}
	return b.among.Glances(), b.here
}

func (b *shellBackend) Compare(ctx context.Context) (*featuresources.Comparison, error) {
	return b.among.Compare(ctx)
}

func (b *shellBackend) State() session.State { return b.Session().State() }

func (b *shellBackend) Run(ctx context.Context, text string, out *shell.Output) error {
	return b.Shell.Run(ctx, "screen", text, out)
}

func (b *shellBackend) Entries(ctx context.Context) ([]history.Entry, error) {
	store, err := b.Session().History()
	if err != nil {
		return nil, err
	}
	subnet := b.Session().Subnet()
	list, err := store.List(ctx, subnet, maxEntries)
	if err != nil {
		return nil, err
	}
	journal, err := b.Session().Journal().Commits(ctx)
	if err != nil {
		return nil, err
	}
	return history.Join(list, journal), nil
}

func (b *shellBackend) Moments(ctx context.Context) ([]timeline.Moment, error) {
	line, err := b.Session().Timeline(ctx, time.Time{}, time.Now())
	if err != nil {
		return nil, err
	}
	return line.Moments, nil
}

func (b *shellBackend) Recall(id int64) (*session.Picture, error) {
	st := b.State()
	return st.Of(session.Kind(fmt.Sprint(id)))
}

func (b *shellBackend) At(ctx context.Context, t time.Time) (*session.Picture, error) {
	return b.Session().At(ctx, t)
}

func (b *shellBackend) Neighbor(ctx context.Context, p *session.Picture, by int) (*session.Picture, error) {
	return b.Session().Neighbor(ctx, p, by)
}

func (b *shellBackend) PastProblems(ctx context.Context, p *session.Picture, opt survey.Options) (*found.Report,
	error) {
	st := b.Session().State()
	return survey.Past(ctx, &st, b.Session().Analysis(), p, opt)
}

func (b *shellBackend) Problems(ctx context.Context, opt survey.Options) (*found.Report, error) {
	return survey.Problems(ctx, b.Session(), opt)
}

func (b *shellBackend) Flow(ctx context.Context, what string, shown *session.Picture) (*guided.Flow, error) {
	s := b.Session()
	switch what {
	case "dump":
		return guided.Dump(s, shown), nil
	case "load":
		return guided.Load(ctx, s), nil
	case "engine":
		return guided.Engine(ctx, s), nil
	}
	return guided.Fail(s), nil
}

func (b *shellBackend) Study(ctx context.Context, t *fabric.Tables, kind resilience.Kind) (*resilience.Study, error) {
	s := b.Session()
	st := s.State()
	return s.Study(ctx, &st, t, kind)
}

func (b *shellBackend) Try(ctx context.Context, st *session.State, engine string,
	progress func(done, total int)) (comparison.Figures, error) {
	return comparison.Try(ctx, b.Session(), st, engine, progress)
}

func (b *shellBackend) Counters(ctx context.Context, ports ...fabric.PortIndex) (*counters.Reading, error) {
	r, _, err := b.Session().Counters(ctx, ports...)
	return r, err
}

func (b *shellBackend) Changed(ctx context.Context) bool {
	select {
	case <-b.watcher.C:
		b.watcher.Take()
		return true
	case <-ctx.Done():
		return false
	}
}

const maxEntries = 500 // entries of the history that are listed

func (b *shellBackend) Grown(ctx context.Context, what counters.Set, since, until time.Time,
	parts int) (*recording.Growth, error) {
	return recording.Grown(ctx, b.Session(), what, since, until, parts)
}

func (b *shellBackend) ReadRecent(ctx context.Context, until time.Time) error {
	return recording.ReadRecent(ctx, b.Session(), until)
}

func (b *shellBackend) Sample(ctx context.Context, f *fabric.Fabric, what counters.Set,
	ports []fabric.PortIndex) (*counters.Reading, error) {
	return recording.Sample(ctx, b.Session(), f, what, ports)
}

func (b *shellBackend) Recording() (recording.Status, bool) { return recording.StatusOf(b.Session()) }

func (b *shellBackend) Facts() *analysis.Memo { return b.Session().Analysis() }
