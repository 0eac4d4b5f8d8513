// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature/commit"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/page"
	"example.org/ibconsole/tui/pane"
	answers "example.org/ibconsole/tui/pane/answer"
)

// pageMsg delivers the text of a page.
type pageMsg struct {
	page    *commitPage
	text    string
	nothing bool         // the plan writes nothing
	refusal error        // why the plan would not be written, apart from the missing permission
	tables  []pane.Sheet // the tables below the text
	err     error
}

// commitPage is a page from which the user can write tables: the staged tables, or those from before a commit.
type commitPage struct {
	*page.Page
	m       *model
	command string           // writes, with yes
	key     string           // opens the page
	staged  *session.Picture // nil unless the page is about the staged tables
	no      string           // why y is not possible
	empty   bool             // there was no what-if and nothing was staged before the plan
	drains  bool             // the plan of the page simulates a failure and stages routes
	before  session.Pictures // the states before the plan
	left    bool             // the page was left
}

// Key handles the keys of the page: those for scrolling, y to write, and w to enable writing.
func (p *commitPage) Key(k tea.KeyMsg) tea.Cmd {
	switch k.String() {
	case "y":
		return p.agree()
	case "w":
		if !p.m.st.WriteOn {
			return p.leave("write on")
		}
		return nil
	}
	return p.Page.Key(k)
}

// leave closes the page, discards the what-if that a drain made for its plan, and runs a command, "" for none.
func (p *commitPage) leave(command string) tea.Cmd {
	p.m.pages.cover(nil)
	p.left = true
	var commands []string
	if st := p.m.back.State(); p.empty && p.Ready {
		if len(st.Failures) > 0 {
			commands = append(commands, "restore all")
		}
		if st.Staged != nil {
			commands = append(commands, "unstage")
		}
	}
	if command != "" {
		commands = append(commands, command)
	}
	if commands == nil {
		return nil
	}
	return p.m.jobs.runCommand(strings.Join(commands, "; "), true)
}

// agree handles y.
func (p *commitPage) agree() tea.Cmd {
	if why := p.whyNotWritten(); why != "" {
		p.m.warn("y: " + why)
		return nil
	}
	cmd := p.m.jobs.runCommand(p.command+" yes", true)
	p.m.pages.openWriting(p.m.jobs.latest())
	return cmd
}

func (p *commitPage) whyNotWritten() string {
	st := p.m.back.State()
	switch {
	case !p.Ready:
		return "the plan is not ready yet"
	case p.no != "":
		return p.no
	case !p.Read:
		return "there is more to read: PgDn"
	case p.staged != nil && st.Staged != p.staged:
		return "other routes have been staged in the meantime: Esc, then C again"
	case p.staged != nil && st.Stale:
		return staleWhy
	case !st.WriteOn:
		return "the session is read-only: w allows writing, then " + p.key + " again"
	}
	return p.m.jobs.whyBusy()
}

// staleWhy is the reason that is shown if the staged tables are stale and cannot be written.
const staleWhy = "the subnet has changed since the routes were computed: r computes them again"

func whyNotCommit(m *model) string {
	st := m.back.State()
	switch {
	case st.Staged == nil:
		return "nothing is staged: r computes routes"
	case st.Source.Offline():
		return "the source is a file"
	case !m.frozen.IsZero():
		return outdated(m)
	case m.choice.old != nil:
		return "the panes show a past state: B shows the present"
	case st.Lost != "":
		return "the connection is lost: R tries again"
	case st.Stale:
		return staleWhy
	}
	return m.jobs.whyBusy()
}

// openCommit computes the plan of a commit and shows the plan on a page.
func (pg *pages) openCommit() tea.Cmd {
	t := pg.m.Look
	p := &commitPage{Page: page.New(t, "Commit"), m: pg.m, command: "commit", key: "C", staged: pg.m.sc.State.Staged}
	badge := pg.m.sc.PictureBadge(t, p.staged)
	p.Badge, p.Leave = &badge, pg.closePage
	st := &pg.m.sc.State
	p.Addf(t.Strong, "This page shows what a commit would write to switches, in which order, and the pairs that "+
		"could lose packets.")
	p.Add("", "")
	p.Addf("", "subnet     %s, %s", st.Source.String(),
		prose.Count(pg.m.indexes.Of(st.Live.Fabric).Switches, "switch"))
	p.Addf("", "tables     %s", st.Title(st.Staged))
	if len(st.Failures) > 0 {
		p.Addf(t.Warn, "failures   %s: the links are still up, and the new tables do not use them",
			st.OnPaper())
	}
	switch master, ok := st.Master(); {
	case ok:
		p.Addf(t.Bad, "master SM  on %s: its next routing would overwrite a part of these tables",
			master.Port)
	case st.Source.Kind == source.Sim:
		p.Addf("", "master SM  none: the subnet is simulated")
	}
	return pg.plan(p)
}

// openRollback computes the plan of a rollback and shows the plan on a page.
func (pg *pages) openRollback(id int64) tea.Cmd {
	t := pg.m.Look
	p := &commitPage{Page: page.New(t, "Rollback"), m: pg.m, key: "U", command: fmt.Sprintf("rollback %d", id)}
	p.Addf(t.Strong, "This page shows what would be written to switches to restore the tables before "+
		"commit %d.", id)
	return pg.planPast(p)
}

// openDrain computes the plan of drain or undrain (argument verb) for the selected link, switch or host.
func (pg *pages) openDrain(verb string) tea.Cmd {
	t := pg.m.Look
	command, _ := drainCommand(pg.m, verb)
	p := &commitPage{Page: page.New(t, prose.When(verb == "drain", "Drain", "Undrain")), m: pg.m, command: command,
		key: prose.When(verb == "drain", "-", "+")}
	p.Addf(t.Strong, "This page shows what '%s' would write.", command)
	if verb == "drain" {
		st := pg.m.back.State()
		p.drains, p.before = true, st.Pictures
		p.empty = len(st.Failures) == 0 && st.Staged == nil
		p.Addf("", "On the command line, port=disable also disables the ports.")
	}
	return pg.planPast(p)
}

// addSimulated adds what the plan of a drain has changed in the what-if. A refused drain may have changed nothing.
func (p *commitPage) addSimulated() {
	st := p.m.back.State()
	isFailed, isStaged := st.WhatIf != p.before.WhatIf, st.Staged != nil && st.Staged != p.before.Staged
	switch {
	case !isFailed && !isStaged:
		p.Add("", "The drain has changed neither the what-if nor the staged routes.")
		return
	case !isStaged:
		p.Add("", "Its links count as failed in the what-if.")
	default:
		p.Add("", "Its links count as failed in the what-if, and the routes without them are staged.")
	}
	p.Add("", prose.When(p.empty, "If you leave this page, this is discarded.",
		"If you leave this page, this stays: u undoes the failure."))
}

// drainCommand returns the command that drains or undrains the selected link, switch or host.
func drainCommand(m *model, verb string) (command, why string) {
	s, why := selectedSubject(m)
	switch {
	case why != "":
		return "", why
	case s.Link != fabric.None:
		at := &s.Fabric.Ports[s.Link]
		return fmt.Sprintf("%s link %s %d", verb, pane.NodeWord(s.Fabric, at.Node), at.Num), ""
	}
	what := prose.When(s.Fabric.Nodes[s.Node].IsSwitch(), "switch", "host")
	return fmt.Sprintf("%s %s %s", verb, what, pane.NodeWord(s.Fabric, s.Node)), ""
}

func outdated(m *model) string {
	return "the panes are frozen and may be outdated: " + keyWord(&m.Look.Glyphs, m.action("freeze")) + " updates them"
}

func whyNotDrain(m *model) string {
	switch {
	case !m.frozen.IsZero():
		return outdated(m)
	case m.choice.old != nil:
		return "the panes show a past state: B shows the present"
	}
	if _, why := drainCommand(m, "drain"); why != "" {
		return why
	}
	return whyNotRollback(m)
}

// whyNotDrainNow is whyNotDrain, and protects staged tables: a drain stages others.
func whyNotDrainNow(m *model) string {
	if st := m.back.State(); st.Staged != nil && !st.Written && len(st.Failures) == 0 {
		return "routes are staged: C writes them, :unstage discards them"
	}
	return whyNotDrain(m)
}

// planPast completes a page whose plan is not that of the staged tables.
func (pg *pages) planPast(p *commitPage) tea.Cmd {
	t, st := pg.m.Look, &pg.m.sc.State
	p.Leave = func() tea.Cmd { return p.leave("") }
	p.Add("", "")
	p.Addf("", "subnet     %s, %s", st.Source.String(),
		prose.Count(pg.m.indexes.Of(st.Live.Fabric).Switches, "switch"))
	if master, ok := st.Master(); ok {
		p.Addf(t.Bad, "master SM  on %s: its next routing would overwrite a part of these tables",
			master.Port)
	}
	return pg.plan(p)
}

func whyNotRollback(m *model) string {
	switch st := m.back.State(); {
	case st.Source.Offline():
		return "the source is a file"
	case st.Lost != "":
		return "the connection is lost: R tries again"
	}
	return m.jobs.whyBusy()
}

// plan shows the page and runs the command that returns the plan.
func (pg *pages) plan(p *commitPage) tea.Cmd {
	p.Add("", "")
	p.Add(pg.m.Look.Dim, "computing the plan ...")
	pg.cover(p)
	p.Fit(pg.m.body())
	pg.m.Common.Running++
	wait := pg.m.jobs.yield()
	return func() tea.Msg {
		wait()
		var out bytes.Buffer
		nothing := false
		var refusal error
		var tables []pane.Sheet
		take := func(a *answer.Answer) {
			if plan, ok := a.Value().(*commit.Change); ok {
				if nothing = plan.Empty(); !errors.Is(plan.Refusal, session.ErrReadOnly) {
					refusal = plan.Refusal
				}
				tables = append(tables, slices.DeleteFunc(pane.SheetsOf(a), func(s pane.Sheet) bool {
					return s.Title != commit.SwitchesTitle
				})...)
			}
		}
		_, err := pane.Shielded(func() (struct{}, error) {
			return struct{}{}, pg.m.back.Run(pg.m.Ctx, p.command+" dry-run",
				&shell.Output{W: &out, Notes: &out, OnAnswer: take})
		})
		if err == nil && !nothing && p.staged != nil {
			tables = append(tables, pg.m.otherLoads()...)
		}
		_, text, _ := strings.Cut(out.String(), "\n") // the page has the state itself
		return pageMsg{p, text, nothing, refusal, tables, err}
	}
}

// fillPage takes the plan. If the page was left in the meantime, it discards the what-if of the plan.
func (pg *pages) fillPage(msg pageMsg) tea.Cmd {
	pg.m.Common.Running--
	p, t := msg.page, pg.m.Look
	p.Drop()
	for l := range strings.SplitSeq(strings.TrimRight(msg.text, "\n"), "\n") {
		isLast := strings.HasPrefix(l, commit.NothingWritten)
		if isLast && msg.refusal == nil {
			continue // the page has keys for that
		}
		st := draw.Style("")
		if isLast {
			st = t.Bad
		} else if upper := strings.ToUpper(draw.FirstWord(l)); upper == draw.FirstWord(l) && len(upper) > 3 &&
			upper != strings.ToLower(upper) && upper != "LIDS" {
			st = t.Bad
		}
		p.Add(st, l)
	}
	p.Lay(func(body draw.Rect) []string { return pg.m.sideBySide(msg.tables, body) })
	p.Add("", "")
	if p.drains {
		p.addSimulated()
	}
	switch {
	case msg.err != nil:
		p.no = "the plan is refused: " + msg.err.Error()
		p.Addf(t.Bad, "refused: %v", msg.err)
		p.Addf(t.Dim, "The options of the command line are in :help %s", draw.FirstWord(p.command))
	case msg.nothing:
		p.no = "there is nothing to write"
		p.Addf(t.Good, "The switches hold these tables already.")
	case msg.refusal != nil:
		p.no = "this would be refused: " + msg.refusal.Error()
		p.Add(t.Strong, "The key y does not write this, for the reason above. Esc changes nothing.")
	default:
		y := "y writes this once writing is on (w)"
		if pg.m.st.WriteOn {
			y = "y writes this"
		}
		p.Add(t.Strong, "Nothing has been written. "+y+"; all blocks are read back, and :rollback undoes "+
			"the commit. Esc changes nothing.")
	}
	p.Rest()
	p.Lay(func(body draw.Rect) []string { return pg.m.stacked(msg.tables, body) })
	p.Ready = true
	p.Fit(pg.m.body())
	if p.left {
		return p.leave("")
	}
	return nil
}

// loadsSheet is the title of the table with changed loads in the answer of diff.
const loadsSheet = "links whose load changes" // the table of a difference that has links before and after

// otherLoads returns a table of the links whose load changes if the staged tables are written.
func (m *model) otherLoads() []pane.Sheet {
	var out []pane.Sheet
	take := func(a *answer.Answer) {
		out = append(out, slices.DeleteFunc(pane.SheetsOf(a), func(s pane.Sheet) bool {
			return s.Title != loadsSheet
		})...)
	}
	// The page is mainly about the plan. If diff fails, it has no table of changed loads.
	_ = m.back.Run(m.Ctx, "diff", &shell.Output{W: &strings.Builder{}, OnAnswer: take})
	return out
}

const (
	// The minimum width of a page that shows tables next to each other, and the lines of its text.
	sideBySideFrom, textRows = 100, 18
	stackedRows              = 24 // of a table on a smaller page, with its title and the heads of the columns
)

// fitsSideBySide reports whether a page shows tables next to each other.
func fitsSideBySide(body draw.Rect) bool { return body.W >= sideBySideFrom && body.H-textRows >= 3 }

// stacked draws tables one below the other, on a page that is too small for tables next to each other.
func (m *model) stacked(sheets []pane.Sheet, body draw.Rect) []string {
	if fitsSideBySide(body) {
		return nil
	}
	var lines []string
	for i := range sheets {
		lines = append(append(lines, ""), m.firstRows(&sheets[i], body.W, stackedRows)...)
	}
	return lines
}

// sideBySide draws tables next to each other, with as many rows as fit. On a small page it draws nothing.
func (m *model) sideBySide(sheets []pane.Sheet, body draw.Rect) []string {
	rows := body.H - textRows
	if len(sheets) == 0 || !fitsSideBySide(body) {
		return nil
	}
	w := body.W/len(sheets) - 2
	var blocks []string
	for i := range sheets {
		blocks = append(blocks, strings.Join(m.firstRows(&sheets[i], w, rows), "\n"))
		if i < len(sheets)-1 {
			blocks = append(blocks, "    ")
		}
	}
	return append([]string{""}, strings.Split(lipgloss.JoinHorizontal(lipgloss.Top, blocks...), "\n")...)
}

// pageColumns returns the columns of a sheet. In the table of changed loads, a column has the paths before and after:
// "630 to 1,260".
func pageColumns(s *pane.Sheet) []draw.Column {
	cols := answers.Columns(s)
	at := func(name string) int {
		return slices.IndexFunc(s.Columns, func(c answer.Column) bool { return c.Name == name })
	}
	was, now := at("PATHS BEFORE"), at("PATHS")
	if s.Title != loadsSheet || was < 0 || now < 0 {
		return cols
	}
	cols[was] = draw.Column{Name: "paths before, after", Help: "paths before and after", Wide: 20,
		Text: func(row int) string { return thousands(s.Cell(row, was)) + " to " + thousands(s.Cell(row, now)) }}
	return slices.Delete(cols, now, now+1)
}

// thousands returns a number with separators, or a text that is no number as it is.
func thousands(text string) string {
	if n, err := strconv.Atoi(text); err == nil {
		return prose.Thousands(n)
	}
	return text
}

// firstRows draws the first rows of a sheet below its title, in lines of w cells.
func (m *model) firstRows(s *pane.Sheet, w, rows int) []string {
	t := m.Look
	table := draw.Table{Theme: t, Cols: pageColumns(s)}
	table.Build(s.Len())
	title := draw.NewPen(t, w)
	title.Put(t.Strong, s.Title+prose.When(s.Title == loadsSheet, ", before and after", ""))
	head := draw.NewPen(t, w)
	table.Header(head)
	lines := []string{title.Done(), head.Done()}
	n := prose.When(s.Len()+s.More > rows-2, rows-3, s.Len())
	for row := range min(max(n, 0), s.Len()) {
		p := draw.NewPen(t, w)
		table.Draw(p, row)
		lines = append(lines, p.Done())
	}
	if more := s.Len() + s.More - max(n, 0); more > 0 {
		p := draw.NewPen(t, w)
		p.Put(t.Dim, prose.More(more))
		lines = append(lines, p.Done())
	}
	return lines
}
