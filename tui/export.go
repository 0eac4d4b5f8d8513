// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/svg"
)

// Saver creates a file. It returns an error if the file exists.
type Saver func(name string) (io.WriteCloser, error)

func whyNotSaved(m *model) string {
	return prose.When(m.save == nil, "files cannot be written here", "")
}

func whyNotExport(m *model) string { return cmp.Or(whyNotSaved(m), whyNoRow(m)) }

// openPicture asks for the name of a file for the screen as it is now.
func openPicture(m *model) tea.Cmd {
	shown := strings.Split(m.view.text(), "\n")
	askFile(m, fmt.Sprintf("screen-%s.svg", m.now().Format("20060102-150405")), []string{".svg", ".txt"},
		func(name string) { savePicture(m, name, shown) })
	return nil
}

// savePicture writes lines of the screen to a file: as an image (.svg), or as text without colours (.txt).
func savePicture(m *model, name string, lines []string) {
	var b strings.Builder
	var err error
	switch filepath.Ext(name) {
	case ".svg":
		err = svg.Screen(strings.NewReader(strings.Join(lines, "\n")), &b,
			prose.When(m.Look.Name == "light", svg.Light, svg.Dark))
	case ".txt":
		for _, l := range lines {
			b.WriteString(strings.TrimRight(ansi.Strip(l), " ") + "\n")
		}
	default:
		err = fmt.Errorf("%s: unknown extension, expected .svg or .txt", name)
	}
	if err == nil {
		err = m.write(name, b.String())
	}
	if err != nil {
		m.warn("picture: " + err.Error())
		return
	}
	m.inform("the screen was written to " + name)
	m.events.add("the screen was written to " + name)
}

// askFile asks for the name of a file. Tab changes its extension to the next of ends. The function write is called with
// the name.
func askFile(m *model, name string, ends []string, write func(name string)) {
	m.prompt.open(name, "write to: ", func(k tea.KeyMsg) tea.Cmd {
		switch k.Type {
		case tea.KeyEsc:
			m.prompt.typed = nil
		case tea.KeyEnter:
			name := strings.TrimSpace(m.prompt.typed.Value())
			m.prompt.typed = nil
			if name != "" {
				write(name)
			}
		case tea.KeyTab:
			name := m.prompt.typed.Value()
			end := filepath.Ext(name)
			next := ends[(slices.Index(ends, end)+1)%len(ends)]
			m.prompt.typed.set(strings.TrimSuffix(name, end) + next)
		default:
			m.prompt.edit(k)
		}
		return nil
	}, tea.KeyTab, strings.ReplaceAll(strings.Join(ends, ", "), ".", ""), tea.KeyEnter, "write", tea.KeyEsc, "cancel")
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
	askFile(m, fmt.Sprintf("%s-%s.csv", name, m.now().Format("20060102-150405")), []string{".csv", ".json", ".txt"},
		func(name string) { export(m, name) })
	return nil
}

// export writes the list, or only its marked rows, to a file. The file extension selects the format.
func export(m *model, name string) {
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
		err = fmt.Errorf("%s: unknown extension, expected .txt, .csv or .json", name)
	}
	if err == nil {
		err = m.write(name, text)
	}
	if err != nil {
		m.warn("export: " + err.Error())
		return
	}
	m.inform(fmt.Sprintf("%s written to %s", prose.Count(len(lines), "row"), name))
	m.events.add(fmt.Sprintf("%s of %s written to %s", prose.Count(len(lines), "row"), m.pane().About().Name, name))
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

// maxClip is the maximum size of a text for a terminal's clipboard. Some terminals accept up to 100,000 bytes of
// base64, which is 74,994 bytes of text.
const maxClip = 74_994

// clipboard copies text to the terminal's clipboard.
type clipboard struct {
	write        func(string)
	tmux, screen bool // whether the program runs in one of these
}

// sequence returns the control sequence that sets the clipboard (OSC 52). tmux understands it if set-clipboard is on.
// Otherwise tmux needs a passthrough sequence, and GNU screen always needs one.
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

// copyRows copies the marked rows, or the selected row if none is marked.
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
			prose.Thousands(len(text))))
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
	return fmt.Sprintf(" and %s more", prose.Thousands(n-1))
}
