// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	found "example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/shell/session"
)

// quick is how many table entries are looked through unasked: a fraction of a
// second. Where there are more a pane must be opened that wants it.
const quick = 40_000_000

func entriesOf(t *fabric.Tables) int { return len(t.Fabric.Switches) * (int(t.Fabric.MaxLID) + 1) }

// seek begins to compute what the panes on the screen want and have not got.
func (m *model) seek() tea.Cmd {
	if !m.frozen.IsZero() || len(m.sc.pic.Fabric.Nodes) == 0 {
		return nil
	}
	var cmds []tea.Cmd
	add := func(c tea.Cmd) {
		if c != nil {
			cmds = append(cmds, c)
		}
	}
	add(m.seekReach())
	add(m.seekReport())
	add(m.seekLoads())
	add(m.seekDiff())
	add(m.seekEntries())
	add(m.seekErrors())
	add(m.seekHops())
	add(m.seekStudy())
	add(m.seekGroups())
	add(m.seekTree())
	if cmds == nil {
		return nil
	}
	m.spread()
	return tea.Batch(append(cmds, m.tick())...)
}

// seekReach follows all packets of the live tables.
func (m *model) seekReach() tea.Cmd {
	t := m.sc.st.Live.Tables
	if t == nil || t.Fabric.MaxLID == 0 || entriesOf(t) > quick && m.focus != paneProblems {
		return nil
	}
	return m.reach.want(m, t, func(ctx context.Context, progress func(int, int)) (*reach.Result, error) {
		return reach.Check(ctx, t, reach.Options{Progress: progress})
	})
}

// problemsReport is what the session says is wrong.
type problemsReport = found.Report

// reportKey changes whenever something else may be wrong.
type reportKey struct {
	live         *session.Picture
	holes, notes int
	drift        int
	cut, lost    string
	quick        bool
}

func (m *model) reportKey() reportKey {
	st := &m.sc.st
	t := st.Live.Tables
	return reportKey{st.Live, len(st.Unanswered), len(st.Warnings), st.Drift, st.Interrupted, st.Lost, t != nil && entriesOf(t) > quick && m.focus != paneProblems}
}

func (m *model) seekReport() tea.Cmd {
	if len(m.sc.st.Live.Fabric.Nodes) == 0 || m.sc.reading() {
		return nil
	}
	key := m.reportKey()
	return m.report.want(m, key, func(ctx context.Context, _ func(int, int)) (*problemsReport, error) {
		return m.back.Problems(ctx, key.quick)
	})
}

func (m *model) seekLoads() tea.Cmd {
	t := m.sc.pic.Tables
	if t == nil || t.Fabric.MaxLID == 0 || !m.visible(paneLoad) && entriesOf(t) > quick {
		return nil
	}
	ix := m.sc.names
	return m.loading.want(m, t, func(ctx context.Context, progress func(int, int)) (*loading, error) {
		return newLoading(ctx, t, ix, progress)
	})
}

func (m *model) seekDiff() tea.Cmd {
	p := m.sc.against()
	if p == nil || !m.visible(paneWhatIf) {
		return nil
	}
	before, after := p.Tables, m.sc.pic.Tables
	return m.diff.want(m, [2]*fabric.Tables{before, after}, func(ctx context.Context, progress func(int, int)) (*diff.Result, error) {
		return diff.Compare(ctx, before, after, diff.Options{Progress: progress})
	})
}

func (m *model) seekHops() tea.Cmd {
	if !m.lft.wantsHops() {
		return nil
	}
	key := m.lft.hopKey()
	return m.hops.want(m, key, func(context.Context, func(int, int)) (hopCounts, error) { return countHops(key), nil })
}

// pastKey changes whenever something may have been added to the history.
type pastKey struct {
	live, staged *session.Picture
	written      bool
}

func (m *model) pastKey() pastKey { return pastKey{m.sc.st.Live, m.sc.st.Staged, m.sc.st.Written} }

func (m *model) seekEntries() tea.Cmd {
	if !m.visible(paneHistory) {
		return nil
	}
	return m.entries.want(m, m.pastKey(), func(ctx context.Context, _ func(int, int)) ([]pastEntry, error) { return m.back.Entries(ctx) })
}

// errKey is a path whose counters are read.
type errKey struct {
	live  *fabric.Fabric
	ports string
}

func (m *model) errKey() errKey { return errKey{m.sc.st.Live.Fabric, fmt.Sprint(m.trace.ports())} }

// seekErrors reads what the ports of the path have counted, where there is a
// subnet that can be asked and nothing else runs.
func (m *model) seekErrors() tea.Cmd {
	if !m.trace.ok || m.sc.st.Source.Offline() || m.st.Busy != "" || len(m.jobs) > 0 || m.mode == modePage || !m.visible(paneTrace) {
		return nil
	}
	live := m.sc.st.Live.Fabric
	var ports []fabric.PortIndex
	for _, p := range m.trace.ports() {
		f := m.sc.pic.Fabric
		if node, port := placeOf(f, f.Ports[p].Node, p).in(live); node != fabric.None && port != fabric.None {
			ports = append(ports, port)
		}
	}
	if len(ports) == 0 {
		return nil
	}
	return m.errs.want(m, m.errKey(), func(ctx context.Context, _ func(int, int)) (map[place]uint64, error) {
		r, err := m.back.Counters(ctx, ports...)
		if err != nil {
			return nil, err
		}
		return errorsOf(r), nil
	})
}

// errorsOf sums up the errors of ports; waiting to send is none.
func errorsOf(r *counters.Reading) map[place]uint64 {
	out := map[place]uint64{}
	for i := range r.Ports {
		p := &r.Ports[i]
		var sum uint64
		for c := range (p.Has & counters.Errors &^ counters.Of(counters.XmitWait)).All() {
			sum += p.Values[c]
		}
		out[placeOf(r.Fabric, r.Fabric.Ports[p.Port].Node, p.Port)] = sum
	}
	return out
}

// spread gives the panes what was computed for what they show.
func (m *model) spread() {
	t := m.sc.pic.Tables
	x := m.loading.value
	m.load.bring(x, m.loading.err, x != nil && !m.loading.ready(t))
	m.tree.loads, m.lft.loads, m.trace.loads = nil, nil, nil
	if x != nil && t != nil && m.loading.ready(t) {
		m.tree.loads, m.tree.most = x.loads, int64(2*x.mean)
		if len(x.between) > 0 {
			m.tree.most = max(m.tree.most, x.loads.Paths[x.between[0]])
		}
		m.lft.loads, m.trace.loads = x.loads, x.loads
	}
	m.spreadReach()
	var r *diff.Result
	if p := m.sc.against(); p != nil && m.diff.ready([2]*fabric.Tables{p.Tables, m.sc.pic.Tables}) {
		r = m.diff.value
	}
	m.whatIf.bring(r, m.diff.err)
	if m.entries.of != nil {
		m.past.bring(m.entries.value, m.entries.err)
	}
	if h := m.hops.value; h.key != m.lft.hopped.key {
		m.lft.hopped = h
		m.lft.renew()
	}
	m.spreadStudy()
	m.spreadGroups()
	m.trace.errs = nil
	if m.errs.err == nil && m.trace.ok && m.errs.of == m.errKey() {
		m.trace.errs = m.errs.value
	}
	m.fit()
}

func (m *model) spreadReach() {
	var report *problemsReport
	if m.report.ready(m.reportKey()) {
		report = m.report.value
	}
	if m.problems.report != report {
		m.problems.report = report
		m.problems.show(m.sc)
	}
	if report != nil {
		return
	}
	var wrong []problem
	if m.reach.ready(m.sc.st.Live.Tables) && m.sc.st.Live.Tables != nil {
		wrong = unreached(m.sc.st.Live.Fabric, m.reach.value)
	}
	if len(wrong) != len(m.problems.reach) || m.problems.sc != m.sc {
		m.problems.reach = wrong
		m.problems.show(m.sc)
	}
	m.problems.reach = wrong
}
