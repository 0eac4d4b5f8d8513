// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"example.org/ibconsole/tui/draw"
)

// Saver makes a new file of a name; it fails where there is one.
type Saver func(name string) (io.WriteCloser, error)

func whyNotExport(m *model) string {
	if m.save == nil {
		return "there is no place for files"
	}
	return whyNoRow(m)
}

// openExport asks for the name of the file.
func openExport(m *model) tea.Cmd {
	name := strings.ToLower(m.pane().About().Name)
	if file := m.pane().FileName(); file != "" {
		name += "-" + strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
				return r
			}
			return '_'
		}, strings.ToLower(file))
	}
	m.prompt.typed = newTyped(fmt.Sprintf("%s-%s.csv", name, m.now().Format("20060102-150405")))
	m.prompt.typed.label, m.prompt.typed.key = func() string {
		return "write to: "
	}, func(k tea.KeyMsg) tea.Cmd { return exportKey(m, k) }
	m.prompt.typed.hints = m.view.keyed(tea.KeyTab, "csv, json, txt", tea.KeyEnter, "write", tea.KeyEsc, "leave")
	return nil
}

func exportKey(m *model, k tea.KeyMsg) tea.Cmd {
	switch k.Type {
	case tea.KeyEsc:
		m.prompt.typed = nil
	case tea.KeyEnter:
		name := strings.TrimSpace(m.prompt.typed.Value())
		m.prompt.typed = nil
		export(m, name)
	case tea.KeyTab:
		nextFormat(m)
	default:
		m.prompt.edit(k)
	}
	return nil
}

// nextFormat changes the end of the name that is typed.
func nextFormat(m *model) {
	name := m.prompt.typed.Value()
	end := filepath.Ext(name)
	next := map[string]string{".csv": ".json", ".json": ".txt"}[end]
	m.prompt.typed.set(strings.TrimSuffix(name, end) + cmp.Or(next, ".csv"))
}

// export writes the list, or its marked rows, in the form that the name ends with.
func export(m *model, name string) {
	if name == "" {
		return
	}
	t := m.pane().Base()
	t.WorkAll()
	lines := t.Chosen()
	if len(t.Marks) == 0 {
		lines = lines[:0]
		for i := range t.N {
			lines = append(lines, i)
		}
	}
	var text string
	var err error
	switch filepath.Ext(name) {
	case ".csv":
		text, err = t.CSVText(lines)
	case ".json":
		text, err = t.JSONText(lines)
	case ".txt":
		text = t.PlainText(lines, true)
	default:
		err = fmt.Errorf("%s says no form: .txt, .csv or .json", name)
	}
	if err == nil {
		err = m.write(name, text)
	}
	if err != nil {
		m.warn("export: " + err.Error())
		return
	}
	m.inform(fmt.Sprintf("%s written to %s", draw.Count(len(lines), "row"), name))
	m.events.add(fmt.Sprintf("%s of %s written to %s", draw.Count(len(lines), "row"), m.pane().About().Name, name))
}

func (h *host) write(name, text string) error {
	w, err := h.save(name)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	return err
}

// maxClip is how much text is handed to a terminal's clipboard: 74,994 bytes is
// the most that terminals are known to take as base64 of 100,000.
const maxClip = 74_994

// clipboard hands text to the terminal's clipboard.
type clipboard struct {
	write        func(string)
	tmux, screen bool // tmux and screen say that one of these is between
}

// sequence is what sets the clipboard (xterm's control sequences, OSC 52). tmux
// takes it itself where set-clipboard is on; that allowing passthrough hands it on
// is the other way. GNU screen knows none of it and must be gone round.
func (c *clipboard) sequence(text string) string {
	seq := ansi.SetSystemClipboard(text)
	switch {
	case c.tmux:
		return seq + ansi.TmuxPassthrough(seq)
	case c.screen:
		return ansi.ScreenPassthrough(seq, 768)
	}
	return seq
}

// copyRows copies the selected row, or those that are marked.
func copyRows(m *model) tea.Cmd {
	t := m.pane().Base()
	lines := t.Chosen()
	text := t.PlainText(lines, false)
	if len(lines) == 1 {
		text = strings.Join(strings.Fields(text), " ")
	}
	switch {
	case m.clip.write == nil:
		m.warn("c: there is no terminal to copy to")
	case len(text) > maxClip:
		m.warn(fmt.Sprintf("c: %s bytes are more than a terminal's clipboard takes: e writes a file",
			draw.Thousands(len(text))))
	default:
		m.clip.write(m.clip.sequence(text))
		first, _, _ := strings.Cut(text, "\n")
		m.inform("copied: " + strings.TrimSpace(first) + moreLines(len(lines)))
	}
	return nil
}

func moreLines(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" and %s more", draw.Thousands(n-1))
}
