// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/progress"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/tui/draw"
)

// header draws the first line: the subnet, its states, and either the running command or the counts. The states and the
// number of lost links are always shown.
func (v *view) header(w int) string {
	t := v.m.Look
	st := &v.m.st
	badges := v.badges()
	lost := v.lostText()
	need := 1 + draw.Width(lost)
	if !st.WriteOn {
		need += len("read-only")
	}
	count := func() (cells int) {
		for _, b := range badges {
			cells += draw.BadgeWidth(b.Word) + 1
		}
		return cells
	}
	name := draw.Clean(strings.TrimSpace(v.m.subnet+" "+st.Source.String()), t.ASCII)
	if need+count() > w {
		for i := range badges {
			badges[i].Word = badges[i].Short()
		}
		name = draw.Cut(draw.Clean(v.m.subnet, t.ASCII), w/4, t.Ellipsis)
	}
	need += count()
	right := v.busyText(w)
	if right == "" {
		right = v.counts(w, w-need-min(draw.Width(name), 16)-2)
	}
	if v.m.subnet != "" && w < need+draw.Width(name)+draw.Width(right)+2 {
		name = draw.Clean(v.m.subnet, t.ASCII)
	}
	if w >= need+draw.Width(name)+draw.Width(right)+20 {
		name = "ibconsole " + name
	}
	p := draw.NewPen(t, w)
	p.Keeping(draw.Width(lost), func() {
		if room := max(w-need-draw.Width(right)-2, min(10, w-need-1)); name != "" && room >= min(draw.Width(name), 4) {
			p.Put(t.Info, draw.Cut(name, room, t.Ellipsis))
			p.Gap(1)
		}
		for _, b := range badges {
			p.Badge(b.St, b.Word)
			p.Gap(1)
		}
		if !st.WriteOn {
			p.Put(t.Dim, "read-only ")
		}
		p.Gap(p.Left - draw.Width(right))
		p.Put(prose.When(st.Busy != "", t.Warn, t.Dim), right)
	})
	p.Put(t.Bad, lost)
	return p.Done()
}

// lostText returns the number of links that the live subnet has lost, with a blank before it. It returns "" if none is
// lost.
func (v *view) lostText() string {
	if v.m.sc.Down == 0 {
		return ""
	}
	return fmt.Sprintf(" %s down", prose.Thousands(v.m.sc.Down))
}

// tabs draws the line with the keys and names of all panes. On a narrow screen only the first panes and the focused
// pane have names.
func (v *view) tabs(w int) string {
	t := v.m.Look
	p := draw.NewPen(t, w)
	named, end := v.namedTabs(w)
	for id, x := range v.m.all {
		name := v.m.digit(id)
		if id < named || id == v.m.focus {
			name += " " + x.About().Name
		}
		bad := x.Alarm() > 0
		if bad {
			name += "!"
		}
		from := w - p.Left
		switch {
		case id == v.m.focus && t.Name == "none":
			p.Put(t.Live, "["+name+"]")
		case id == v.m.focus:
			p.Put(t.Cursor, " "+name+" ")
		case bad:
			p.Put(t.Bad, " "+name+end)
		default:
			p.Put(prose.When(v.m.visible(id), t.Title, t.Dim), " "+name+end)
		}
		v.m.mouse.zoneAt(1, from, w-p.Left, func() tea.Cmd { return v.m.visit(id) })
	}
	return p.Done()
}

// namedTabs returns how many of the first panes have names if the line is w wide, and the text after the name of a
// pane. The line has space for one alarm and for the brackets of one pane.
func (v *view) namedTabs(w int) (named int, end string) {
	const extra = 3
	need := extra
	for id := range v.m.all {
		need += 2
		if id == v.m.focus {
			need += 1 + draw.Width(v.m.all[id].About().Name)
		}
	}
	for id, p := range v.m.all {
		if id == v.m.focus {
			continue
		}
		if need += 1 + draw.Width(p.About().Name); need > w {
			return id, ""
		}
	}
	return len(v.m.all), prose.When(need+len(v.m.all) <= w, " ", "")
}

func (v *view) badges() []draw.Badge {
	t := v.m.Look
	st := &v.m.st
	var out []draw.Badge
	if st.Source.Kind == source.Sim {
		out = append(out, draw.Badge{St: t.Simulated, Word: "SIMULATED"})
	}
	out = append(out, v.m.sc.StateBadges(t)...)
	if !v.m.frozen.IsZero() {
		out = append(out, draw.Badge{St: t.Frozen, Word: "FROZEN " + when.Clock(v.m.frozen)})
	}
	if st.WriteOn {
		out = append(out, draw.Badge{St: t.Writing, Word: "WRITE ON"})
	}
	return out
}

// counts returns a text with the size of the subnet shown, in the longest form that fits.
func (v *view) counts(w, room int) string {
	ix := v.m.sc.Top
	down := prose.When(v.lostText() == "" && w >= 100, ", 0 down", "") // otherwise it follows the counts
	if n := len(v.m.sc.FailedLinks()); n > 0 {
		down = fmt.Sprintf(", %s failed", prose.Thousands(n)) + down
	}
	nodes := fmt.Sprintf("%s, %s", prose.Count(ix.Switches, "switch"), prose.Count(ix.Hosts, "host"))
	all := fmt.Sprintf("%s, %s", nodes, prose.Count(ix.Links, "link")) + down
	short := strings.TrimPrefix(down, ", ")
	out := []string{all, nodes + down, short, ""}
	switch {
	case len(ix.Fabric.Nodes) == 0:
	case v.m.st.Every > 0: // before the counts
		seen := fmt.Sprintf("read %s ago, watch %s", draw.Age(v.m.now().Sub(v.m.st.Live.When)), draw.Age(v.m.st.Every))
		out = []string{
			seen + "   " + all, seen + "  " + short, seen, "watch " + draw.Age(v.m.st.Every), "",
		}
	case w >= 140:
		out = append([]string{"read " + when.Clock(v.m.sc.State.Live.When) + "   " + all}, out...)
	}
	for _, text := range out {
		if draw.Width(text) <= room {
			return text
		}
	}
	return ""
}

// busyText returns a text with the running operation and its progress.
func (v *view) busyText(w int) string {
	st := &v.m.st
	t := v.m.Look
	name := st.Busy
	if name == counting && len(v.m.jobs.running) == 0 {
		name = ""
	}
	if name == "" && len(v.m.jobs.running) > 0 {
		name = draw.Clean(draw.FirstWord(v.m.jobs.latest().text), t.ASCII)
	}
	if name == "" {
		return ""
	}
	total := st.Total
	if _, step, of := strings.Cut(name, ": "); of && w < 100 { // "minhop, 2 of 9"
		name, total = step, 0
	}
	out := v.m.spinner.View() + " " + name
	switch {
	case st.Busy == "":
	case total > 0:
		out += fmt.Sprintf(" %s/%s", prose.Thousands(st.Done), prose.Thousands(st.Total))
		if w >= 100 {
			out += " " + bar(t).ViewAs(float64(10*min(st.Done, st.Total)/st.Total)/10)
		}
		if text := v.m.jobs.pace.text(st, v.m.now()); text != "" && w >= 100 {
			out += " " + text
		}
	case st.Total == 0 && st.Done > 0:
		out += fmt.Sprintf(" %s so far", prose.Thousands(st.Done))
	}
	if len(v.m.jobs.running) > 0 {
		if w >= 100 {
			out += " " + draw.Seconds(v.m.now().Sub(v.m.jobs.latest().started))
		}
		out += " Esc cancels"
	}
	return out
}

// bar returns a progress bar that uses the glyphs of a theme.
func bar(t *draw.Theme) progress.Model {
	glyph := func(s string) rune { return []rune(s)[0] }
	return progress.New(progress.WithWidth(10), progress.WithoutPercentage(), progress.WithColorProfile(termenv.Ascii),
		progress.WithFillCharacters(glyph(t.Full), glyph(t.Glyphs.Empty)))
}

// pace measures the speed of the running operation since its total is known.
type pace struct {
	busy  string
	began time.Time
	from  int
	known bool // the total
}

func (p *pace) note(st *session.State, now time.Time) {
	if known := st.Total > 0; st.Busy != p.busy || st.Done < p.from || known != p.known {
		*p = pace{st.Busy, now, st.Done, known}
	}
}

// text returns the speed and the remaining time as text, or "" while they are unknown.
func (p *pace) text(st *session.State, now time.Time) string {
	took := now.Sub(p.began)
	done := st.Done - p.from
	if done <= 0 || took < 300*time.Millisecond || st.Total <= 0 {
		return ""
	}
	rate := float64(done) / took.Seconds()
	left := max(time.Duration(float64(st.Total-st.Done)/rate*float64(time.Second)), 0)
	return fmt.Sprintf("%s/s, %s left", prose.Thousands(int(rate+0.5)), draw.Seconds(left.Round(100*time.Millisecond)))
}
