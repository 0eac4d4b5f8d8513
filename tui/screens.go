// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"reflect"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// The type screens holds the screens of several subnets. Only one screen is shown. The other screens continue in the
// background and receive the messages of their commands.
type screens struct {
	subnets *shell.Subnets
	all     []*model
	at      int
}

// toScreen is a message for the screen of a subnet.
type toScreen struct {
	at  int
	msg tea.Msg
}

// enterMsg requests the screen of another subnet, and a place in that subnet.
type enterMsg struct {
	at    int
	place pane.Place
}

func newScreens(subnets *shell.Subnets, all []*model) *screens {
	s := &screens{subnets: subnets, all: all, at: subnets.Chosen()}
	for i, m := range all {
		m.screens, m.subnet = s, subnets.All()[i].Name()
	}
	return s
}

// Init implements [tea.Model].
func (s *screens) Init() tea.Cmd {
	var cmds []tea.Cmd
	for i, m := range s.all {
		cmds = append(cmds, s.addressedTo(i, m.Init()))
	}
	return tea.Batch(cmds...)
}

// View implements [tea.Model].
func (s *screens) View() string { return s.all[s.at].View() }

// Update implements [tea.Model].
func (s *screens) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case toScreen:
		cmd := s.tell(msg.at, msg.msg)
		if msg.at != s.at { // the list of all subnets may depend on it
			cmd = tea.Batch(cmd, s.addressedTo(s.at, s.all[s.at].seek()))
		}
		return s, cmd
	case enterMsg:
		return s, s.enter(msg)
	case tea.WindowSizeMsg:
		var cmds []tea.Cmd
		for i := range s.all {
			cmds = append(cmds, s.tell(i, msg))
		}
		return s, tea.Batch(cmds...)
	}
	return s, s.tell(s.at, msg)
}

func (s *screens) tell(at int, msg tea.Msg) tea.Cmd {
	_, cmd := s.all[at].Update(msg)
	return s.addressedTo(at, cmd)
}

// bubbleTea is the path of the package that defines Bubble Tea's own messages.
var bubbleTea = reflect.TypeFor[tea.QuitMsg]().PkgPath()

// addressedTo returns a command whose messages go to the screen of the subnet with an index. Messages of Bubble Tea
// itself are not changed.
func (s *screens) addressedTo(at int, cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		switch msg := cmd().(type) {
		case nil:
			return nil
		case tea.BatchMsg:
			all := make(tea.BatchMsg, len(msg))
			for i, c := range msg {
				all[i] = s.addressedTo(at, c)
			}
			return all
		case enterMsg:
			return msg
		default:
			if reflect.TypeOf(msg).PkgPath() == bubbleTea {
				return msg
			}
			return toScreen{at, msg}
		}
	}
}

// enter shows the screen of another subnet. Marked hosts and sets of hosts are carried over by name.
func (s *screens) enter(msg enterMsg) tea.Cmd {
	from, to := s.all[s.at], s.all[msg.at]
	if from != to {
		markHosts(to, markedHosts(from))
		lacking := s.subnets.CarrySets(s.at, msg.at)
		s.at = msg.at
		s.subnets.Choose(msg.at)
		to.inform("this is " + draw.Clean(to.subnet, to.Look.ASCII) +
			prose.When(lacking > 0, "; it lacks "+prose.Count(lacking, "host")+" of the sets", ""))
	}
	to.refresh()
	cmds := []tea.Cmd{to.seek()}
	if !msg.place.None() {
		cmds = append(cmds, to.jump(func() tea.Cmd { return to.handle(pane.GoTo{At: msg.place}) }))
	}
	return s.addressedTo(msg.at, tea.Batch(cmds...))
}

// runningElsewhere returns the name of a command that is running on a subnet other than that of the given screen. It
// returns "" if there is none.
func (s *screens) runningElsewhere(than *model) string {
	for _, m := range s.all {
		if m != than && len(m.jobs.running) > 0 && m.jobs.starting == nil {
			return m.subnet + ": " + m.jobs.latest().text
		}
	}
	return ""
}

// enterSubnet goes to the target of a row in the list of subnets.
func enterSubnet(msg pane.EnterSubnet) tea.Cmd {
	return func() tea.Msg { return enterMsg{msg.At, msg.Place} }
}

// nextSubnet goes to the next or previous subnet.
func nextSubnet(by int) func(m *model) tea.Cmd {
	return func(m *model) tea.Cmd {
		n := len(m.screens.all)
		at := (m.screens.at + by + n) % n
		return func() tea.Msg { return enterMsg{at: at} }
	}
}

func whyOneSubnet(m *model) string {
	if m.screens == nil {
		return "there is only one subnet: several -s open several"
	}
	return ""
}

// hostRow is the kind of row in which a host is marked in the topology: the row of the host, of its port, or of the
// switch port.
type hostRow uint8

const (
	rowOfHost hostRow = iota
	rowOfPort
	rowOfSwitch
)

// markedHosts returns the names of the hosts that are marked in the topology, each with the kind of the marked row.
func markedHosts(m *model) map[string]hostRow {
	names := map[string]hostRow{}
	if marks := m.all[m.at(pane.SeatHome)].Base().Marks; len(marks) > 0 {
		eachHostRow(m, func(name string, by hostRow, at pane.Place) {
			if marks[at.ID()] {
				names[name] = by
			}
		})
	}
	return names
}

// markHosts marks hosts in the topology by name.
func markHosts(m *model, names map[string]hostRow) {
	if len(names) == 0 {
		return
	}
	marks := map[uint64]bool{}
	eachHostRow(m, func(name string, by hostRow, at pane.Place) {
		if as, ok := names[name]; ok && as == by {
			marks[at.ID()] = true
		}
	})
	m.all[m.at(pane.SeatHome)].Base().Marks = marks
}

// eachHostRow calls the function do for each host of the topology and for each row in which the host can be marked.
func eachHostRow(m *model, do func(host string, by hostRow, at pane.Place)) {
	f := m.sc.Top.Fabric
	for _, e := range f.EndPorts {
		node := f.Ports[e].Node
		if f.Nodes[node].IsSwitch() {
			continue
		}
		name := places.HostName(&f.Nodes[node])
		do(name, rowOfHost, pane.PlaceOf(f, node, fabric.None))
		do(name, rowOfPort, pane.PlaceOf(f, node, e))
		if peer := f.Ports[e].Peer; peer != fabric.None {
			do(name, rowOfSwitch, pane.PlaceOf(f, f.Ports[peer].Node, peer))
		}
	}
}
