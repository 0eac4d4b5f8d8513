// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/tui/pane"
)

// hostSet is an end of the trace that is a set of hosts.
type hostSet struct {
	name   string // "" for none
	size   string // the number of its hosts, "" if the set is that of a job
	create string // the command that creates it, "" if it exists
}

// count returns the number of hosts behind the name of a set, or "" for the set of a job.
func (s *hostSet) count() string {
	return prose.When(s.size != "", " ("+s.size+")", "")
}

// setNames are the names of the sets that are made of marked rows.
var setNames = [2]string{"sources", "destinations"}

// pathsTable is the title of the table that has a row for each pair.
const pathsTable = "paths"

func (t *trace) hasSet() bool { return t.sets[0].name != "" || t.sets[1].name != "" }

// unmarked reports whether an end is neither a node nor a set.
func (t *trace) unmarked(which int) bool { return t.Ends[which].None() && t.sets[which].name == "" }

// tracedSets creates the sets that are new, and traces all pairs if both ends are marked.
func (t *trace) tracedSets() tea.Msg {
	var commands []string
	for i := range t.sets {
		if s := &t.sets[i]; s.create != "" {
			commands = append(commands, s.create)
			s.create = ""
		}
	}
	if t.unmarked(0) || t.unmarked(1) {
		if len(commands) == 0 {
			return pane.Inform{Text: t.why}
		}
		return pane.Run{Command: strings.Join(commands, "; "), Done: t.why}
	}
	f := t.Scene.Picture.Fabric
	words := []string{"trace"}
	for i := range t.sets {
		if s := &t.sets[i]; s.name != "" {
			words = append(words, lang.Quote(feature.SetPrefix+s.name))
			continue
		}
		end := t.Ends[i].EndPort(f)
		if end == fabric.None {
			return pane.Warn{Text: t.name(i) + " is not in the subnet"}
		}
		words = append(words, pane.PortWord(f, end))
	}
	return pane.Run{Before: strings.Join(commands, "; "), Command: strings.Join(words, " ") + t.Scene.OfWord(),
		Typed: true, Sheet: pathsTable}
}
