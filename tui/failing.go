// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/tui/pane"
)

// failCommands returns the commands that simulate the failure of the marked rows, or of the selected row if none is
// marked. If there are none, the result why is the reason.
func failCommands(m *model) (commands []string, why string) {
	t := m.pane().Base()
	if len(t.Marks) == 0 {
		command, why := m.sc.Fail(m.pane().Subject())
		if system := m.pane().Subject().System; system != "" {
			command, why = "fail director "+system, ""
		}
		return []string{command}, why
	}
	at := t.Cursor
	for _, line := range t.Chosen() {
		t.Cursor = line
		if command, no := m.sc.Fail(m.pane().Subject()); no == "" {
			commands = append(commands, command)
		} else {
			why = no
		}
	}
	t.Cursor = at
	if len(commands) > 0 {
		why = ""
	}
	return commands, why
}

func whyNotFail(m *model) string {
	if why := m.jobs.whyBusy(); why != "" {
		return why
	}
	_, why := failCommands(m)
	return why
}

func fail(m *model) tea.Cmd {
	commands, _ := failCommands(m)
	m.pane().Base().Marks = nil
	return m.jobs.runCommand(strings.Join(commands, "; "), true)
}

// undoCommand returns the command that restores the selected object. If that has not failed, it returns the command
// that undoes the last failure.
func undoCommand(m *model) (command, why string) {
	if command, why = m.sc.Restore(m.pane().Subject()); why == "" {
		return command, ""
	}
	st := &m.sc.State
	if st.Base == nil || len(st.Failures) == 0 {
		return "", "there are no simulated failures"
	}
	last := &st.Failures[len(st.Failures)-1]
	f := st.Whole()
	if len(last.Links) == 1 && last.What == "link" && !last.Added {
		p := last.Links[0].A
		return fmt.Sprintf("restore link %s %d", pane.NodeWord(f, f.Ports[p].Node), f.Ports[p].Num), ""
	}
	for node := range f.Nodes {
		if (last.What == "switch" || last.What == "node") && last.InvolvesNode(fabric.NodeIndex(node)) {
			return fmt.Sprintf("restore %s %s", last.What, pane.NodeWord(f, fabric.NodeIndex(node))), ""
		}
	}
	return "undo", ""
}

// usesCommand returns the command that lists the paths over the selected link or node.
func usesCommand(m *model) (command, why string) {
	s := m.pane().Subject()
	f := m.sc.Picture.Fabric
	switch {
	case s.Node == fabric.None:
		return "", "no link, switch or host is selected"
	case m.sc.WhyNoTables != "":
		return "", m.sc.WhyNoTables
	case len(s.With) > 0:
		return "", "two links are selected: Enter goes to the first"
	}
	if s.Link != fabric.None {
		node, port := pane.PlaceOf(s.Fabric, s.Fabric.Ports[s.Link].Node, s.Link).In(f)
		if port == fabric.None || !f.Ports[port].Linked() {
			return "", s.Fabric.PortName(s.Link) + " has no link in " + string(m.sc.Picture.Kind)
		}
		return fmt.Sprintf("who uses %s %d%s", pane.NodeWord(f, node), f.Ports[port].Num, m.sc.OfWord()), ""
	}
	node, _ := pane.PlaceOf(s.Fabric, s.Node, fabric.None).In(f)
	if node == fabric.None {
		return "", s.Fabric.NodeName(s.Node) + " is not in " + string(m.sc.Picture.Kind)
	}
	return "who uses " + pane.NodeWord(f, node) + m.sc.OfWord(), ""
}

// selectedSubject returns the selected link, switch or host, or the reason why there is none or more than one.
func selectedSubject(m *model) (s pane.Subject, why string) {
	s = m.pane().Subject()
	switch {
	case s.Node == fabric.None:
		why = "no link, switch or host is selected"
	case len(s.With) > 0:
		why = "two links are selected: Enter goes to the first"
	}
	return s, why
}

// jobsCommand returns the command that lists the jobs that used the selected link or node.
func jobsCommand(m *model) (command, why string) {
	s, why := selectedSubject(m)
	if why != "" {
		return "", why
	}
	command = "jobs on " + pane.NodeWord(s.Fabric, s.Node)
	if s.Link != fabric.None {
		at := &s.Fabric.Ports[s.Link]
		command = fmt.Sprintf("jobs on %s %d", pane.NodeWord(s.Fabric, at.Node), at.Num)
	}
	return command + " since=2h", ""
}

// whyCommand returns the command that finds the links that held back the selected job.
func whyCommand(m *model) (command, why string) {
	if p, names := m.pane().(pane.JobNamer); names {
		if job := p.Job(); job != "" {
			return "why " + lang.Quote(job), ""
		}
	}
	return "", "no job is selected: J and then b list the jobs that used a link or node, X those in congestion"
}

// markedNodes returns the nodes of the marked rows, none if no row is marked.
func markedNodes(m *model) (*fabric.Fabric, []fabric.NodeIndex) {
	if len(m.pane().Base().Marks) == 0 {
		return nil, nil
	}
	return chosenNodes(m)
}

// chosenNodes returns the nodes of the marked rows. If no row is marked, it returns those of all rows that the filter
// selects, or that of the selected row.
func chosenNodes(m *model) (f *fabric.Fabric, nodes []fabric.NodeIndex) {
	t := m.pane().Base()
	t.WorkAll()
	lines := t.Chosen()
	if len(t.Marks) == 0 && !t.Filt.Empty() {
		lines = lines[:0]
		for line := range t.N {
			lines = append(lines, line)
		}
	}
	at := t.Cursor
	seen := map[fabric.NodeIndex]bool{}
	for _, line := range lines {
		t.Cursor = line
		s := m.pane().Subject()
		node := s.Node
		if node == fabric.None && s.Fabric != nil && s.Port != fabric.None {
			node = s.Fabric.Ports[s.Port].Node
		}
		if node != fabric.None && !seen[node] {
			f, seen[node] = s.Fabric, true
			nodes = append(nodes, node)
		}
	}
	t.Cursor = at
	return f, nodes
}

func whyNoSet(m *model) string {
	if m.pane().Base().N == 0 {
		return "there are no rows"
	}
	if m.sc.WhyNoTables != "" {
		return m.sc.WhyNoTables
	}
	return m.jobs.whyBusy()
}

// nameHosts asks for the name of a set of the chosen hosts, and then creates the set.
func nameHosts(m *model) tea.Cmd {
	f, nodes := chosenNodes(m)
	if len(nodes) == 0 {
		m.warn("H: no row names a host or a switch")
		return nil
	}
	chosen := feature.Choose(f, nodes)
	key := func(k tea.KeyMsg) tea.Cmd {
		switch k.Type {
		case tea.KeyEnter:
			name := strings.TrimSpace(m.prompt.typed.Value())
			m.prompt.typed = nil
			if name == "" {
				return nil
			}
			m.pane().Base().Marks = nil
			return m.jobs.runCommand("hosts "+name+" "+chosen.Words, true)
		case tea.KeyEsc:
			m.prompt.typed = nil
		default:
			m.prompt.edit(k)
		}
		return nil
	}
	m.prompt.open("", fmt.Sprintf("name for %s: ", chosen), key, tea.KeyEnter, "set",
		tea.KeyEsc, "cancel")
	return nil
}
