// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/tui/page"
	"example.org/ibconsole/tui/pane"
)

func whyNoInfo(m *model) string {
	p := m.pane()
	switch s := p.Subject(); {
	case s.Node != fabric.None || s.Facts != nil:
		return ""
	case p.Base().N == 0 && p.Empty() != "":
		return p.Empty()
	}
	return "nothing is selected"
}

// openInfo shows a page with the details of the selected object.
func (pg *pages) openInfo() tea.Cmd {
	s := pg.m.pane().Subject()
	title := "Info"
	switch {
	case s.Facts != nil:
		title = s.Facts[0].Text
	case s.Node != fabric.None:
		title = s.Fabric.NodeName(s.Node)
	}
	p := page.New(pg.m.Look, title)
	p.Ready = true
	for _, fact := range s.Facts {
		p.Add("", fmt.Sprintf("%-18s%s", fact.Name, fact.Text))
	}
	if s.Node != fabric.None {
		if s.Facts != nil {
			p.Add("", "")
		}
		pg.infoNode(p, &s)
	}
	pg.openPage(p)
	return nil
}

// infoNode adds the details of a node.
func (pg *pages) infoNode(p *page.Page, s *pane.Subject) {
	f := s.Fabric
	n := &f.Nodes[s.Node]
	t := pg.m.Look
	line := func(what, format string, args ...any) {
		p.Add("", fmt.Sprintf("%-18s", what)+fmt.Sprintf(format, args...))
	}
	p.Add(t.Strong, f.NodeName(s.Node))
	line("type", "%v", n.Type)
	line("node GUID", "0x%016x", n.GUID)
	line("system GUID", "0x%016x", n.SystemGUID)
	read := func(format string, value uint32) string {
		return prose.When(value != 0, fmt.Sprintf(format, value), "not read")
	}
	line("vendor, device", "%s, %s, revision %s", read("0x%06x", n.VendorID), read("%d", uint32(n.DeviceID)),
		prose.When(n.NoRevision, "not read", fmt.Sprintf("0x%x", n.Revision)))
	line("ports", "%d, %d with a link", n.NumPorts, f.LinkedPorts(n))
	if !n.InSubnet {
		p.Add(t.Bad, "unreachable: not in the subnet")
	}
	if n.IsSwitch() {
		line("LID", "%s", pane.LidText(f.SwitchLID(n.Switch)))
		if n.EnhancedPort0 {
			line("port 0", "enhanced")
		}
	}
	for port := range n.Ports() {
		pg.infoPort(p, f, port, port == s.Link || port == s.Port)
	}
	for _, port := range s.With {
		p.Add(t.Strong, "and at "+f.NodeName(f.Ports[port].Node))
		pg.infoPort(p, f, port, true)
	}
}

func (pg *pages) infoPort(p *page.Page, f *fabric.Fabric, port fabric.PortIndex, selected bool) {
	t := pg.m.Look
	x := &f.Ports[port]
	if !x.Linked() {
		if selected {
			p.Add(t.Warn, fmt.Sprintf("p%-4s no link", f.PortNumber(port)))
		}
		pg.infoCabling(p, f, port)
		return
	}
	text := fmt.Sprintf("p%-4s %s%s  %-10s  %s", f.PortNumber(port), x.Width, x.Speed, x.State, f.PortName(x.Peer))
	if !f.Nodes[x.Node].IsSwitch() {
		text += fmt.Sprintf("  LID %s  GUID 0x%016x", pane.LidText(x.LID), x.GUID)
	}
	if ld := pg.m.Loads(pg.m.sc); ld != nil && ld.Fabric == f {
		text += fmt.Sprintf("  %s paths out, %s in", pane.PathsText(ld, port), pane.PathsText(ld, x.Peer))
	}
	p.Add(prose.When(selected, t.Info, ""), text)
	pg.infoCabling(p, f, port)
}

// infoCabling adds the cabling faults at a port.
func (pg *pages) infoCabling(p *page.Page, f *fabric.Fabric, port fabric.PortIndex) {
	for _, mark := range pg.m.sc.Cabling().At(f, port) {
		p.Addf(pg.m.Look.Warn, "p%-4s %s %s, planned: %s; found: %s", f.PortNumber(port), pg.m.Look.Changed, mark.Kind,
			cmp.Or(mark.Planned, "no cable"), cmp.Or(mark.Found, "no cable"))
	}
}

// firstPage explains the screen to a new user, in 80x24 cells.
func (pg *pages) firstPage() {
	m, t := pg.m, pg.m.Look
	p := page.New(t, "Welcome")
	p.Ready = true
	p.Add(t.Strong, "ibconsole shows an InfiniBand subnet and the path of every packet in it.")
	if m.st.Source.Kind == source.Sim {
		p.Addf("", "No InfiniBand port was found here, so this is a SIMULATED subnet: try whatever you like. With "+
			"hardware: ibconsole -s umad:mlx5_0:1 ; for a file of ibnetdiscover: -s file:FILE ; ibconsole doctor "+
			"lists what is missing.")
	}
	p.Add("", "")
	for _, l := range [][2]string{
		{pg.paneKeys(), "panes: problems, topology, forwarding table, trace, ..."},
		{pg.keyOf("filter") + " text", "find a host or switch by its name; Esc shows all again"},
		{
			pg.keyOf("trace-from") + ", then " + pg.keyOf("trace-to"),
			"on one host and on another: the path between them",
		},
		{pg.keyOf("fail"), "on a link, switch or host: what if it fails? " + pg.keyOf("undo") + " undoes it"},
		{pg.keyOf("route"), "compute routes around it; nothing is written by that"},
		{pg.paneKey("What-if") + ", " + pg.paneKey("Load"), "the consequences, and the paths over each link"},
		{pg.keyOf("help"), "all keys and their help; Enter runs one of them"},
		{pg.keyOf("command") + " command", "every command of the shell; Tab completes"},
		{pg.keyOf("quit"), "quit"},
	} {
		p.Add("", fmt.Sprintf("  %-17s %s", l[0], l[1]))
	}
	p.Add("", "")
	p.Addf("", "Nothing is written to a switch before you turn writing on, and then only from a page that shows "+
		"the plan.")
	p.Add(t.Strong, "Enter begins. "+pg.keyOf("tour")+" begins a tour of three minutes.")
	p.Leave = pg.closePage
	p.Fit(m.body())
	pg.cover(&welcomePage{p, m})
}

// keyOf returns the first key of an action, in the form in which the screen shows keys.
func (pg *pages) keyOf(action string) string { return keyWord(&pg.m.Look.Glyphs, pg.m.action(action)) }

// paneKey returns the key of a pane, in the form in which the screen shows keys.
func (pg *pages) paneKey(name string) string {
	return pg.keyOf(pg.m.layout.keys[pg.m.named(name)].Name)
}

// paneKeys lists the keys of all panes. The keys from 1 to 0 are listed as a range.
func (pg *pages) paneKeys() string {
	keys := make([]string, len(pg.m.all))
	for i, k := range pg.m.layout.keys {
		keys[i] = pg.keyOf(k.Name)
	}
	if text := strings.Join(keys, ", "); !strings.HasPrefix(text, "1, 2, 3, 4, 5, 6, 7, 8, 9, 0") {
		return text
	}
	return strings.Join(append([]string{"1-0"}, keys[10:]...), ", ")
}

// welcomePage is a page that is shown at the start. The keys that it lists work while it is shown.
type welcomePage struct {
	*page.Page
	m *model
}

// Key handles the keys that scroll or leave the page. Any other key leaves the page and is then handled by the screen.
func (p *welcomePage) Key(k tea.KeyMsg) tea.Cmd {
	switch k.Type {
	case tea.KeyEnter, tea.KeyEsc, tea.KeyUp, tea.KeyDown, tea.KeyPgUp, tea.KeyPgDown, tea.KeyHome, tea.KeyEnd:
		return p.Page.Key(k)
	}
	p.m.pages.cover(nil)
	return p.m.key(k)
}
