// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// nearMsg delivers names that are similar to a name that no row contains.
type nearMsg struct {
	text  string
	names []string
}

// portNamed returns the port that the text NODE/PORT names in the topology. For any other text it returns None.
func (in *prompt) portNamed(text string) (fabric.NodeIndex, fabric.PortIndex) {
	if strings.LastIndexByte(text, '/') <= 0 {
		return fabric.None, fabric.None
	}
	at, err := places.Resolve(in.m.sc.Top.Fabric, strings.Trim(text, `'"`))
	if err != nil || !at.PortNamed {
		return fabric.None, fabric.None
	}
	return at.Node, at.Port
}

// findPort goes to the port that the text NODE/PORT names. It reports whether there is such a port.
func (in *prompt) findPort(text string) (tea.Cmd, bool) {
	node, port := in.portNamed(text)
	if port == fabric.None {
		return nil, false
	}
	f := in.m.sc.Top.Fabric
	return in.m.jump(func() tea.Cmd {
		in.setFilter("")
		in.m.setFocus(in.m.at(pane.SeatHome))
		in.setFilter("")
		cmd := in.m.handle(pane.GoTo{At: pane.PlaceOf(f, node, port)})
		in.m.inform(f.PortName(port))
		return cmd
	}), true
}

// seekNear searches in the background for names that are similar to a filter that matches nothing.
func (in *prompt) seekNear() tea.Cmd {
	t := in.m.pane().Base()
	text, f := t.Filt.Text, in.m.sc.Top.Fabric
	if t.N > 0 || t.Working() || !t.Filt.Plain() {
		return nil
	}
	in.m.Common.Running++
	return func() tea.Msg { return nearMsg{text, places.Near(f, text)} }
}

// near offers the most similar name.
func (in *prompt) near(msg nearMsg) {
	in.m.Common.Running--
	if in.typed == nil || in.typed.Value() != msg.text || in.m.pane().Base().Filt.Text != msg.text ||
		len(msg.names) == 0 {
		return
	}
	in.typed.near = msg.names[0]
	in.m.inform(fmt.Sprintf("did you mean %s? Tab takes it", draw.Clean(msg.names[0], in.m.Look.ASCII)))
}

// takeNear types the name that was offered.
func (in *prompt) takeNear() {
	if in.typed.near == "" {
		in.m.warn("there is no completion")
		return
	}
	in.typed.set(in.typed.near)
	in.setFilter(in.typed.near)
}

func whyNotFilter(m *model) string {
	if t := m.pane().Base(); t.N == 0 && t.Filt.Empty() {
		return "there are no rows"
	}
	return ""
}

func (in *prompt) openFilter() tea.Cmd {
	in.open("", "/", in.filterKey, tea.KeyEnter, "keep", tea.KeyUp, "move", tea.KeyEsc, "show all")
	in.typed.note = true
	in.typed.hints = append([]hint{{"text /regexp ~letters @set !not", "", nil}}, in.typed.hints...)
	return nil
}

func (in *prompt) filterKey(k tea.KeyMsg) tea.Cmd {
	p := in.m.pane().Base()
	switch k.Type {
	case tea.KeyEnter:
		text := in.typed.Value()
		in.typed = nil
		in.searched = cmp.Or(text, in.searched)
		if text == "" {
			in.setFilter("")
		}
		if p.N == 0 || in.m.hasFocus(pane.SeatHome) {
			cmd, _ := in.findPort(text)
			return cmd
		}
	case tea.KeyTab:
		in.takeNear()
	case tea.KeyEsc:
		in.searched = cmp.Or(in.typed.Value(), in.searched)
		in.typed = nil
		in.setFilter("")
	case tea.KeyUp:
		in.m.moveTo(p.Cursor - 1)
	case tea.KeyDown:
		in.m.moveTo(p.Cursor + 1)
	case tea.KeyPgUp, tea.KeyPgDown:
		return in.m.act(k)
	default:
		if in.edit(k); in.typed.Value() != p.Filt.Text {
			in.typed.near = ""
			in.setFilter(in.typed.Value())
			return in.seekNear()
		}
	}
	return nil
}

func (in *prompt) setFilter(text string) {
	f, err := in.parseFilter(text)
	if err != nil {
		in.m.inform(err.Error())
		return
	}
	in.m.inform("")
	in.m.pane().Base().Filt = f
	in.m.pane().Renew()
	in.m.follow()
	in.m.fit()
}

// parseFilter is [draw.ParseFilter] with two further forms: @NAME for the hosts of a set, and NODE/PORT for a port in
// the topology.
func (in *prompt) parseFilter(text string) (draw.Filter, error) {
	if node, _ := in.portNamed(text); node != fabric.None && in.m.hasFocus(pane.SeatHome) {
		return draw.OneOf(text, []string{in.m.sc.Top.Fabric.NodeName(node)}), nil
	}
	name, isSet := strings.CutPrefix(text, "@")
	if !isSet {
		return draw.ParseFilter(text)
	}
	st := &in.m.sc.State
	set := st.Sets.Named(name)
	if set == nil {
		names := prose.Words(st.Sets, func(s session.HostSet) string { return "@" + s.Name })
		if len(names) == 0 {
			return draw.Filter{}, fmt.Errorf("there are no host sets; hint: mark hosts and press H to name a set")
		}
		return draw.Filter{}, fmt.Errorf("sets: %s", strings.Join(names, " "))
	}
	f := in.m.sc.Top.Fabric
	ends, _, _ := set.In(f)
	return draw.OneOf(text, prose.Words(ends, func(e fabric.PortIndex) string { return f.NodeName(f.Ports[e].Node) })),
		nil
}
