// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"bytes"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
)

// page is a text over the panes, to be read.
type page struct {
	window
	title string
	// text is what it says, and lines that in lines of so many cells.
	text  []pageLine
	lines []pageLine
	wide  int
	badge *badge
	// until is false before the end was on the screen.
	until bool
	// commit says that y writes, once the page was read.
	commit bool
	// staged is the picture that a commit would write.
	staged *session.Picture
	// ready is false while the text is still to come; no says why y does nothing.
	ready bool
	no    string
}

type pageLine struct {
	text string
	st   style
	// hang is where text goes on that does not fit a line.
	hang int
}

// pageMsg brings the text of a page.
type pageMsg struct {
	page *page
	text string
	// nothing says that the plan writes nothing.
	nothing bool
	err     error
}

func (m *model) openPage(p *page) {
	m.page, m.mode = p, modePage
	m.fitPage()
}

// fitPage breaks the text into lines that fit the screen.
func (m *model) fitPage() {
	p := m.page
	if w := m.body().w - 5; w != p.wide || p.lines == nil {
		p.wide, p.lines = w, p.lines[:0]
		for _, l := range p.text {
			p.lines = append(p.lines, l.broken(max(w, 20), m.theme.ascii)...)
		}
	}
	p.resize(len(p.lines), max(m.body().h-2, 0))
	p.cursor = p.top
	if p.ready && p.top+p.height >= p.n {
		p.until = true
	}
}

// broken is a line in lines of at most w cells, broken at blanks where that goes.
func (l pageLine) broken(w int, ascii bool) []pageLine {
	text := clean(l.text, ascii)
	if width(text) <= w {
		return []pageLine{{text, l.st, 0}}
	}
	hang := l.hang
	if hang == 0 {
		hang = len(text) - len(strings.TrimLeft(text, " "))
	}
	if hang > w/2 || hang > len(text) {
		hang = 2
	}
	var out []pageLine
	head := text[:hang]
	for i, part := range wrap(text[hang:], w-hang) {
		if i > 0 {
			head = spaces(hang)
		}
		out = append(out, pageLine{head + part, l.st, 0})
	}
	return out
}

func (p *page) say(st style, format string, args ...any) { p.raw(st, fmt.Sprintf(format, args...)) }

// raw adds a line that goes on behind its label where it is broken.
func (p *page) raw(st style, text string) {
	hang := 0
	if i := strings.Index(text, "  "); i > 0 && i < 18 {
		for hang = i; hang < len(text) && text[hang] == ' '; {
			hang++
		}
	} else if strings.HasPrefix(text, "  ") && len(text) > 17 {
		hang = 17
	}
	p.text, p.lines = append(p.text, pageLine{text, st, hang}), nil
}

func (m *model) pageKey(k tea.KeyMsg) tea.Cmd {
	p := m.page
	scroll := func(by int) {
		p.top = max(min(p.top+by, p.n-p.height), 0)
		p.cursor = p.top
		m.fitPage()
	}
	switch k.String() {
	case "up", "k":
		scroll(-1)
	case "down", "j":
		scroll(1)
	case "pgup", "ctrl+b":
		scroll(-max(p.height-1, 1))
	case "pgdown", "ctrl+f", " ":
		scroll(max(p.height-1, 1))
	case "home", "g":
		scroll(-p.n)
	case "end", "G":
		scroll(p.n)
	case "y":
		return m.agree()
	case "w":
		if p.commit && !m.st.WriteOn {
			m.closePage()
			return m.say("write on", true)
		}
	case "esc", "q", "enter", "i", "C":
		m.closePage()
	}
	return nil
}

func (m *model) closePage() { m.page, m.mode = nil, modeKeys }

// agree is y on a page.
func (m *model) agree() tea.Cmd {
	if !m.page.commit {
		return nil
	}
	if why := m.whyNotWritten(); why != "" {
		m.warn("y: " + why)
		return nil
	}
	m.closePage()
	return m.say("commit yes", true)
}

// whyNotWritten says why y does not write what the page of a commit says.
func (m *model) whyNotWritten() string {
	p, st := m.page, m.back.State()
	switch {
	case !p.ready:
		return "the plan is still being made"
	case p.no != "":
		return p.no
	case !p.until:
		return "there is more to read: PgDn"
	case st.Staged != p.staged:
		return "other routes have been staged since this page was made: Esc, then C again"
	case st.Stale:
		return staleWhy
	case !st.WriteOn:
		return "the session is read-only: w allows writing, then C again"
	}
	return m.whyBusy()
}

// staleWhy says why staged routes that are stale are not written.
const staleWhy = "the subnet has changed since the routes were computed: r computes them anew"

func (m *model) whyNotCommit() string {
	st := m.back.State()
	switch {
	case st.Staged == nil:
		return "nothing is staged: r computes routes"
	case st.Source.Offline():
		return "a file has no switches to write to"
	case !m.frozen.IsZero():
		return "the panes are frozen, the subnet may be another now: Space lets them go on"
	case m.old != nil:
		return "the panes show what was, not what would be written: v shows the present"
	case st.Lost != "":
		return "the connection is lost: R tries it again"
	case st.Stale:
		return staleWhy
	}
	return m.whyBusy()
}

// openCommit asks for the plan of a commit and shows it.
func (m *model) openCommit() tea.Cmd {
	t := m.theme
	p := &page{title: "Commit", commit: true, badge: m.stagedPicture(), staged: m.sc.st.Staged}
	st := &m.sc.st
	p.say(t.strong, "This page says what a commit would write to switches, where, in which order, and whom it could hit.")
	p.raw("", "")
	p.say("", "where      %s, %s in the subnet", st.Source.String(), count(m.indexes.of(st.Live.Fabric).switches, "switch"))
	p.say("", "what       %s", st.Title(st.Staged))
	if n := len(st.Failures); n > 0 {
		p.say(t.warn, "for        a subnet with %s on paper: what failed there is still there, and is no longer used", count(n, "failure"))
	}
	switch master, ok := st.Master(); {
	case ok:
		p.say(t.bad, "beside     a master subnet manager on %s: its next routing would leave a mixture", master.Port)
	case st.Source.Kind == session.SourceSim:
		p.say("", "beside     no subnet manager: the subnet is simulated")
	}
	p.raw("", "")
	p.raw(t.dim, "the plan is being made ...")
	m.openPage(p)
	m.errands++
	wait := m.errs.halt()
	return func() tea.Msg {
		wait()
		var out bytes.Buffer
		nothing := false
		hear := func(a shell.Answer) {
			if p, ok := a.(shell.CommitPlan); ok {
				nothing = p.Plan.Empty()
			}
		}
		err := func() error {
			_, err := shielded(func() (struct{}, error) {
				return struct{}{}, m.back.Run(m.ctx, "commit dry-run", &shell.Output{W: &out, Notes: &out, Hear: hear})
			})
			return err
		}()
		return pageMsg{p, out.String(), nothing, err}
	}
}

func (m *model) stagedPicture() *badge { return m.theme.pictureBadge(m.sc, m.sc.st.Staged) }

// fillPage takes the plan of a commit.
func (m *model) fillPage(msg pageMsg) {
	m.errands--
	p, t := msg.page, m.theme
	p.text, p.lines = p.text[:len(p.text)-1], nil
	for l := range strings.SplitSeq(strings.TrimRight(msg.text, "\n"), "\n") {
		st := style("")
		if upper := strings.ToUpper(firstWord(l)); upper == firstWord(l) && len(upper) > 3 && upper != strings.ToLower(upper) && upper != "LIDS" {
			st = t.bad
		}
		p.raw(st, l)
	}
	p.raw("", "")
	switch {
	case msg.err != nil:
		p.no = "this plan is not written: " + msg.err.Error()
		p.say(t.bad, "not to be written: %v", msg.err)
		p.say(t.dim, "Where you are sure, the command line takes what allows it: :help commit")
	case msg.nothing:
		p.no = "there is nothing to write"
		p.say(t.good, "The switches hold these tables already.")
	default:
		y := "y writes this, once writing is on (w)"
		if m.st.WriteOn {
			y = "y writes this"
		}
		p.raw(t.strong, "Nothing has been written. "+y+"; what was written is read back, and :rollback takes it back. Esc leaves all as it is.")
	}
	p.ready = true
	if m.page == p {
		m.fitPage()
	}
}

func (m *model) whyNoInfo() string {
	if m.pane().subject().node == fabric.None {
		return "nothing is selected that there is more to know of"
	}
	return ""
}

// openInfo shows all that is known of what is selected.
func (m *model) openInfo() tea.Cmd {
	s := m.pane().subject()
	f := s.f
	n := &f.Nodes[s.node]
	p := &page{title: f.NodeName(s.node), ready: true}
	t := m.theme
	line := func(what, format string, args ...any) {
		p.raw("", fmt.Sprintf("%-18s", what)+fmt.Sprintf(format, args...))
	}
	p.raw(t.strong, f.NodeName(s.node))
	line("type", "%v", n.Type)
	line("node GUID", "0x%016x", n.GUID)
	line("system GUID", "0x%016x", n.SystemGUID)
	line("vendor, device", "0x%06x, %d, revision 0x%x", n.VendorID, n.DeviceID, n.Revision)
	line("ports", "%d, %d with a link", n.NumPorts, up(f, n))
	if !n.InSubnet {
		p.raw(t.bad, "does not belong to the subnet: no link leads here")
	}
	if n.IsSwitch() {
		line("LID", "%s", lidText(f.SwitchLID(n.Switch)))
		if n.EnhancedPort0 {
			line("port 0", "enhanced")
		}
	}
	for port := range n.Ports() {
		m.infoPort(p, f, port, port == s.link || port == s.port)
	}
	for _, port := range s.with {
		p.raw(t.strong, "and at "+f.NodeName(f.Ports[port].Node))
		m.infoPort(p, f, port, true)
	}
	m.openPage(p)
	return nil
}

func (m *model) infoPort(p *page, f *fabric.Fabric, port fabric.PortIndex, selected bool) {
	t := m.theme
	x := &f.Ports[port]
	if !x.Linked() {
		if selected {
			p.raw(t.warn, fmt.Sprintf("p%-4d no link", x.Num))
		}
		return
	}
	text := fmt.Sprintf("p%-4d %s%s  %-10s  %s", x.Num, x.Width, x.Speed, x.State, f.PortName(x.Peer))
	if !f.Nodes[x.Node].IsSwitch() {
		text += fmt.Sprintf("  LID %s  GUID 0x%016x", lidText(x.LID), x.GUID)
	}
	if ld := m.loading.value; ld != nil && ld.loads.Fabric == f {
		text += fmt.Sprintf("  %s paths out, %s in", thousands(int(ld.loads.Paths[port])), thousands(int(ld.loads.Paths[x.Peer])))
	}
	p.raw(when(selected, t.info, ""), text)
}

// firstPage explains the screen to somebody who sees it first, in 80x24 cells.
func (m *model) firstPage() {
	p := &page{title: "Welcome", ready: true}
	t := m.theme
	p.raw(t.strong, "ibconsole shows an InfiniBand subnet and the way of every packet in it.")
	if m.st.Source.Kind == session.SourceSim {
		p.say("", "No InfiniBand port was found here, so this is a SIMULATED subnet: try whatever you like. With hardware: ibconsole -s umad:mlx5_0:1 ; for a file of ibnetdiscover: -s file:FILE ; ibconsole doctor says what is missing.")
	}
	p.raw("", "")
	for _, l := range [][2]string{
		{"1 to 9, 0, Tab", "the panes: what is wrong, topology, table, trace, ..."},
		{"/ text", "find a host or switch by its name; Esc shows all again"},
		{"t, then T", "on one host and on another: the way between them"},
		{"f", "on a link, switch or host: what if it fails? u undoes it"},
		{"r", "compute routes around it; nothing is written by that"},
		{"5, 6", "what follows from it, and which links carry how much"},
		{"?", "all keys, and what they do; Enter does one of them"},
		{": command", "everything that keys do and more; Tab completes"},
		{"q", "quit"},
	} {
		p.raw("", fmt.Sprintf("  %-14s %s", l[0], l[1]))
	}
	p.raw("", "")
	p.say("", "Nothing is written to a switch before you turn writing on, and then only from a page that says what.")
	p.raw(t.strong, "Enter begins. Ctrl-G begins a tour of three minutes.")
	m.openPage(p)
}
