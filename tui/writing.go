// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/page"
)

// writePage shows the progress of a commit and its result.
type writePage struct {
	*page.Page
	m   *model
	job *job
	// last is the last known progress, or nil before the first write.
	last *session.Writing
	took time.Duration // once it has ended
	end  []string      // the result, nil before it
	bad  bool
}

// openWriting shows a page with the progress of a running commit.
func (pg *pages) openWriting(j *job) {
	p := &writePage{Page: page.New(pg.m.Look, writingTitle(j.text)), m: pg.m, job: j}
	p.Leave = pg.closePage
	pg.cover(p)
}

func writingTitle(command string) string {
	for _, title := range []string{"Rollback", "Undrain", "Drain"} {
		if strings.Contains(command, strings.ToLower(title)) {
			return title
		}
	}
	return "Commit"
}

// followWriting shows the page with the progress of a typed commit as soon as the commit writes. It does nothing if the
// user has left the page.
func (pg *pages) followWriting() {
	if pg.m.st.Writing == nil || len(pg.m.jobs.running) == 0 {
		return
	}
	j := pg.m.jobs.latest()
	if p, ok := pg.over.(*writePage); ok && p.job == j {
		p.last = pg.m.st.Writing
	} else if pg.over == nil && pg.m.prompt.typed == nil && !j.pageShown {
		pg.openWriting(j)
		pg.over.(*writePage).last = pg.m.st.Writing
	}
	j.pageShown = true
}

// endWriting shows the result of a commit.
func (pg *pages) endWriting(j *job, err error) {
	p, ok := pg.over.(*writePage)
	if !ok || p.job != j {
		return
	}
	p.took, p.bad = pg.m.now().Sub(j.started), err != nil
	if p.end = []string{pg.m.status.text}; err != nil {
		return
	}
	for _, l := range j.lines {
		if !strings.Contains(pg.m.status.text, strings.TrimSpace(l)) {
			p.end = append(p.end, l)
		}
	}
}

// Key handles the keys that interrupt the commit, and scroll or leave the page. The panes handle all other keys.
func (p *writePage) Key(k tea.KeyMsg) tea.Cmd {
	running := p.end == nil
	switch k.String() {
	case "esc":
		if running {
			p.m.jobs.cancel()
			return nil
		}
	case "ctrl+c":
		p.m.jobs.cancel()
		return nil
	case "enter", "q":
		if running {
			p.m.inform("the commit continues: Esc interrupts it, a key of a pane leaves this page")
			return nil
		}
	case "up", "down", "j", "k", "pgup", "pgdown", "home", "end", "ctrl+u", "ctrl+d", "ctrl+b", "ctrl+f":
	default:
		p.m.pages.cover(nil)
		return p.m.key(k)
	}
	return p.Page.Key(k)
}

// Frame draws the page with the present progress.
func (p *writePage) Frame(body draw.Rect) []string {
	p.Clear()
	t := p.m.Look
	took := p.took
	if p.end == nil {
		took = p.m.now().Sub(p.job.started)
	}
	p.Addf(t.Strong, "%s", draw.Clean(p.job.text, t.ASCII))
	p.Add("", "")
	p.phases()
	p.Addf("", "time       %s", draw.Seconds(took))
	p.Add("", "")
	switch {
	case p.end == nil:
		p.Addf(t.Warn, "%s", p.interruption())
	default:
		word := prose.When(p.bad, "Not completed:", "Completed:")
		p.Add(prose.When(p.bad, t.Bad, t.Good), word)
		for _, l := range p.end {
			p.Add("", l)
		}
	}
	p.Ready = true
	return p.Page.Frame(body)
}

// phases adds lines with the steps of the commit, the present step, and the numbers of blocks written and verified.
func (p *writePage) phases() {
	t := p.m.Look
	now := p.last
	if now == nil {
		if p.end == nil {
			p.Add("", "now        reading the subnet and planning the writes")
		}
		return
	}
	done := now.Phase
	if p.end != nil && !p.bad {
		done = len(now.Phases)
	}
	for i, name := range now.Phases {
		word, st := "", t.Dim
		switch {
		case i < done:
			word, st = "done", t.Good
		case i == done:
			word, st = prose.When(p.end == nil, "now", "stopped"), t.Strong
		}
		p.Addf(st, "%-9s  %d of %d  %s", word, i+1, len(now.Phases), phaseWord(name))
	}
	p.Add("", "")
	if done < len(now.Phases) {
		node := prose.When(now.Node == "", "", ", "+draw.Clean(now.Node, t.ASCII))
		p.Addf(t.Strong, "now        %s %s: %s of %s%s", bar(t).ViewAs(float64(10*now.Done/max(now.Total, 1))/10),
			phaseWord(now.CurrentPhase()), prose.Thousands(now.Done), prose.Thousands(now.Total), node)
	}
	p.Addf("", "written    %s of %s: %v", prose.Thousands(now.Written.Total()), prose.Thousands(now.All), now.Written)
	p.Addf("", "verified   %s", prose.Thousands(now.ReadBack.Total()))
}

// phaseWord returns what a phase writes.
func phaseWord(name string) string {
	switch {
	case strings.HasPrefix(name, "step "):
		return "LFT blocks, " + name
	case name == "ports":
		return "port states"
	}
	return name
}

// interruption returns the effect of Esc.
func (p *writePage) interruption() string {
	now := p.last
	then := "commit resume yes completes it, rollback yes undoes it."
	if p.Title == "Rollback" || p.Title == "Undrain" {
		then = "rollback yes completes it."
	}
	switch {
	case now == nil:
		return "Esc interrupts the commit: nothing is written yet."
	case now.CurrentPhase() == "":
		return "All blocks are written and read back; reading the subnet again."
	case now.Phase == len(now.Phases)-1:
		return "Esc interrupts the commit: all blocks are written, but not all are verified. Then " + then
	}
	return "Esc interrupts the commit: written blocks stay, and no more are sent. The journal records it; then " + then
}
