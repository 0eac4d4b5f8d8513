// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"context"
	"slices"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/resilience"
	"example.org/ibconsole/tui/pane"
)

// Seek runs the study while the pane is visible. It continues a study that was interrupted.
func (l *resilient) Seek(s pane.Stage) tea.Cmd {
	if !s.Visible || l.Scene.Picture.Tables == nil || l.Scene.Picture.Tables.Fabric.MaxLID == 0 {
		return nil
	}
	key := l.key()
	l.Collect()
	if l.study.Doing != nil && l.study.Doing != any(key) {
		l.study.Cancel()
		l.Collect()
	}
	if l.stopped == key || l.large() && l.approved != key {
		return nil
	}
	from := l.kept[l.Kind]
	switch {
	case from != nil && from.key != key:
		from = nil
	case from != nil && from.report.Complete():
		return nil
	}
	pic, so := l.Scene.Picture, new(atomic.Pointer[studyState])
	cmd := l.study.Start(l.Common, key, func(ctx context.Context, progress func(done, total int)) (*studyState, error) {
		study, err := l.src.Study(ctx, pic.Tables, key.kind)
		if err != nil {
			return nil, err
		}
		report, err := study.Empty(1, 1)
		if err != nil {
			return nil, err
		}
		if from != nil {
			*report = from.report
			report.Failed = slices.Clone(from.report.Failed)
		}
		err = study.Run(ctx, report, func(r *resilience.Report) {
			so.Store(newStudyState(key, study, r))
			progress(r.Done, r.Failures)
		})
		return newStudyState(key, study, report), err
	})
	if cmd != nil {
		l.soFar = so
	}
	return cmd
}

// newStudyState copies the report of a study that is still running.
func newStudyState(key studyKey, study *resilience.Study, r *resilience.Report) *studyState {
	s := &studyState{key: key, report: *r, rows: make([]failure, len(r.Failed))}
	s.report.Failed = slices.Clone(r.Failed)
	f := key.tables.Fabric
	for i, v := range s.report.Failed {
		links, node := study.Failure(v.Number)
		s.rows[i] = failure{v, node, fabric.None, nil}
		if node == fabric.None {
			s.rows[i].node, s.rows[i].link = f.Ports[links[0].A].Node, links[0].A
			for _, l := range links[1:] {
				s.rows[i].with = append(s.rows[i].with, l.A)
			}
		}
	}
	return s
}

// Collect shows the progress of the study.
func (l *resilient) Collect() {
	now, err := l.kept[l.Kind], error(nil)
	switch {
	case l.study.Doing != nil && l.soFar != nil && l.soFar.Load() != nil:
		now = l.soFar.Load()
	case l.study.Doing == nil && l.study.Of == any(l.key()):
		now, err = l.study.Value, l.study.Err
	}
	l.show(now, err)
}

func (l *resilient) Actions() []pane.Action {
	return []pane.Action{{
		Name: "study", Binding: pane.On("simulate every failure in turn; stop or continue", "S"),
		Group: "Simulate and write", After: "diff-before", Label: "simulate all", Rank: 3, Word: l.studyWord,
		Own: true, Why: l.whyNotStudy, Do: l.studyNow,
	}}
}

func (l *resilient) studyWord() string {
	switch {
	case l.study.Doing != nil:
		return "stop"
	case l.stopped == l.key():
		return "continue"
	}
	return "simulate all"
}

func (l *resilient) Escape(idle bool) (func() tea.Msg, string) {
	if !idle || l.study.Doing == nil {
		return nil, ""
	}
	return l.stop, ""
}

func (l *resilient) stop() tea.Msg {
	l.Collect()
	l.study.Cancel()
	l.stopped = l.key()
	return pane.Inform{Text: "stopped: S continues"}
}

func (l *resilient) whyNotStudy() string {
	switch {
	case l.Scene.WhyNoTables != "":
		return l.Scene.WhyNoTables
	case l.err != nil:
		return l.err.Error()
	case l.study.Doing == nil && l.stopped != l.key() && (!l.large() || l.approved == l.key()):
		return "every failure of this kind was simulated: b shows other kinds"
	}
	return ""
}

// studyNow starts, stops or continues the study.
func (l *resilient) studyNow() tea.Msg {
	if l.study.Doing != nil {
		return l.stop()
	}
	l.stopped, l.approved = studyKey{}, l.key()
	return pane.Inform{Text: "simulating every failure in turn"}
}
