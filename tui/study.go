// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"slices"
	"sync/atomic"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/resilience"
)

// seekStudy lets everything fail in turn where the pane shows that, from where it
// was stopped.
func (m *model) seekStudy() tea.Cmd {
	l := m.resil
	if !m.visible(paneResilience) || m.sc.pic.Tables == nil || m.sc.pic.Tables.Fabric.MaxLID == 0 {
		return nil
	}
	key := l.key()
	if m.study.doing != nil && m.study.doing != any(key) {
		m.spreadStudy()
		m.study.drop()
	}
	m.spreadStudy()
	if l.stopped == key || l.large() && l.agreed != key {
		return nil
	}
	from := l.kept[l.Kind]
	switch {
	case from != nil && from.key != key:
		from = nil
	case from != nil && from.report.Complete():
		return nil
	}
	pic, so := m.sc.pic, new(atomic.Pointer[studied])
	cmd := m.study.want(m, key, func(ctx context.Context, progress func(done, total int)) (*studied, error) {
		study, err := m.back.Study(ctx, pic, key.kind)
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
			so.Store(newStudied(key, study, r))
			progress(r.Done, r.Failures)
		})
		return newStudied(key, study, report), err
	})
	if cmd != nil {
		m.soFar = so
	}
	return cmd
}

// newStudied copies a report that a study goes on with.
func newStudied(key studyKey, study *resilience.Study, r *resilience.Report) *studied {
	s := &studied{key: key, report: *r, rows: make([]fallout, len(r.Failed))}
	s.report.Failed = slices.Clone(r.Failed)
	f := key.tables.Fabric
	for i, v := range s.report.Failed {
		links, node := study.Failure(v.Number)
		s.rows[i] = fallout{v, node, fabric.None, nil}
		if node == fabric.None {
			s.rows[i].node, s.rows[i].link = f.Ports[links[0].A].Node, links[0].A
			for _, l := range links[1:] {
				s.rows[i].with = append(s.rows[i].with, l.A)
			}
		}
	}
	return s
}

// spreadStudy shows how far the study is.
func (m *model) spreadStudy() {
	now, err := m.resil.kept[m.resil.Kind], error(nil)
	switch {
	case m.study.doing != nil && m.soFar != nil && m.soFar.Load() != nil:
		now = m.soFar.Load()
	case m.study.doing == nil && m.study.of == any(m.resil.key()):
		now, err = m.study.value, m.study.err
	}
	m.resil.bring(now, err)
}

// studying says that the pane of the keyboard lets things fail in turn.
func (m *model) studying() bool { return m.focus == paneResilience && m.study.doing != nil }

func (m *model) stopStudy() {
	m.spreadStudy()
	m.study.drop()
	m.resil.stopped = m.resil.key()
	m.inform("stopped: S goes on")
}

func (m *model) whyNotStudy() string {
	l := m.resil
	switch {
	case m.sc.why != "":
		return m.sc.why
	case l.err != nil:
		return l.err.Error()
	case m.study.doing == nil && l.stopped != l.key() && (!l.large() || l.agreed == l.key()):
		return "every failure of this kind was tried: b shows others"
	}
	return ""
}

// studyNow begins a study, stops it, or goes on with it.
func (m *model) studyNow() tea.Cmd {
	if m.study.doing != nil {
		m.stopStudy()
		return nil
	}
	m.resil.stopped, m.resil.agreed = studyKey{}, m.resil.key()
	m.inform("trying every failure in turn")
	return nil
}
