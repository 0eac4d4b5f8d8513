// SPDX-License-Identifier: Apache-2.0

package form

import (
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
)

// browser lists the folder of the file name being typed, below the question. (The filepicker of bubbles reads folders
// while the screen waits, and does not clean names.)
type browser struct {
	folder  string         // as typed, with the slash at its end
	listing *files.Listing // nil while it is read
	err     error
	fits    []files.Entry // the entries that complete the typed name
	win     draw.Window
	chosen  bool // the row of the cursor is the answer, not the typed text
	at      int  // the line of the form above the rows
}

// browse reads the folder of the answer, unless this folder is already listed.
func (f *Form) browse() tea.Cmd {
	if f.q == nil || f.q.Files == nil {
		f.files = nil
		return nil
	}
	text, _ := f.field.value()
	folder, _ := filepath.Split(text)
	if f.files != nil && f.files.folder == folder {
		f.files.narrow(text)
		return nil
	}
	f.files = &browser{folder: folder}
	read, ctx := f.q.Files, f.ctx
	f.common.Running++
	return func() tea.Msg {
		l, err := read(ctx, folder)
		return Msg{form: f, listed: &browser{folder: folder, listing: l, err: err}}
	}
}

// listed accepts the contents of a folder if the typed file name is still in this folder.
func (f *Form) listed(b *browser) {
	if f.files == nil || f.files.folder != b.folder || f.field == nil {
		return
	}
	f.files = b
	text, _ := f.field.value()
	b.narrow(text)
}

// narrow keeps only the entries that begin with the typed name. It keeps hidden entries only if the typed name begins
// with a dot.
func (b *browser) narrow(text string) {
	_, name := filepath.Split(text)
	b.fits, b.chosen = b.fits[:0], false
	if b.listing == nil {
		return
	}
	for _, e := range b.listing.Entries {
		if strings.HasPrefix(e.Name, name) && (name != "" || !strings.HasPrefix(e.Name, ".")) {
			b.fits = append(b.fits, e)
		}
	}
	b.win = draw.Window{}
}

// path returns an entry as the text of an answer. A folder ends with a slash.
func (b *browser) path(e files.Entry) string {
	if e.Folder {
		return b.folder + e.Name + "/"
	}
	return b.folder + e.Name
}

// browsing handles the keys of the list. Tab completes, arrows select, and Enter opens a folder.
func (f *Form) browsing(k tea.KeyMsg) (cmd tea.Cmd, taken bool) {
	b := f.files
	if b == nil {
		return nil, false
	}
	switch k.Type {
	case tea.KeyTab:
		return f.complete(), true
	case tea.KeyUp, tea.KeyDown, tea.KeyPgUp, tea.KeyPgDown:
		b.move(map[tea.KeyType]int{
			tea.KeyUp: -1, tea.KeyDown: 1, tea.KeyPgUp: -max(b.win.Height, 1), tea.KeyPgDown: max(b.win.Height, 1),
		}[k.Type])
		return nil, true
	case tea.KeyEnter:
		if b.chosen {
			return f.choose(b.fits[b.win.Cursor]), true
		}
		text, _ := f.field.value()
		for _, e := range b.fits {
			if e.Folder && b.folder+e.Name == text {
				return f.choose(e), true
			}
		}
		if text != "" && text == b.folder {
			f.err = "this is a folder: the arrows choose a file"
			return nil, true
		}
	}
	return nil, false
}

// move moves the selection by a number of rows. Above the first row, the typed text is selected.
func (b *browser) move(by int) {
	b.win.N = len(b.fits)
	switch {
	case len(b.fits) == 0:
	case !b.chosen:
		b.chosen = by > 0
		b.win.To(by - 1)
	case b.win.Cursor == 0 && by < 0:
		b.chosen = false
	default:
		b.win.To(b.win.Cursor + by)
	}
}

// choose handles the choice of an entry: a file becomes the answer, and a folder is opened.
func (f *Form) choose(e files.Entry) tea.Cmd {
	if !e.Folder {
		return f.reply(f.files.path(e))
	}
	return f.retype(f.files.path(e))
}

// retype replaces the text of the field.
func (f *Form) retype(text string) tea.Cmd {
	f.err = ""
	f.Prefill[""], f.field = text, nil
	f.Frame(f.Body())
	return f.browse()
}

// complete extends the typed text to the common beginning of all matching entries.
func (f *Form) complete() tea.Cmd {
	b := f.files
	if len(b.fits) == 0 {
		f.err = "there is no completion"
		return nil
	}
	common := b.path(b.fits[0])
	for _, e := range b.fits[1:] {
		for !strings.HasPrefix(b.path(e), common) {
			common = common[:len(common)-1]
		}
	}
	if draw.Clean(common, false) != common { // it cannot be typed, but it can be chosen
		f.err = "the arrows choose names that cannot be typed"
		return nil
	}
	if text, _ := f.field.value(); common == text {
		return nil
	}
	return f.retype(common)
}

// headline describes the list.
func (b *browser) headline() string {
	where := draw.Clean(b.folder, false)
	if where == "" {
		where = "this folder"
	}
	switch {
	case b.err != nil:
		return b.err.Error()
	case b.listing == nil:
		return where + ": reading"
	case b.listing.More:
		return where + ": " + prose.Count(len(b.fits), "name") + ", and more"
	}
	return where + ": " + prose.Count(len(b.fits), "name")
}

// rows draws the list in n lines. The first line is the headline.
func (b *browser) rows(t *draw.Theme, w, n int) []string {
	lines := make([]string, 0, n)
	p := draw.NewPen(t, w)
	p.Put(t.Dim, b.headline())
	lines = append(lines, p.Done())
	b.win.Resize(len(b.fits), max(n-1, 0))
	for i := b.win.Top; i < min(b.win.Top+b.win.Height, len(b.fits)); i++ {
		p := draw.NewPen(t, w)
		e, mark := b.fits[i], " "
		if b.chosen && i == b.win.Cursor {
			p.Over, mark = t.Cursor, t.Glyphs.Cursor
		}
		p.Put(t.Key, mark+" ")
		name := draw.Clean(e.Name, t.ASCII)
		if e.Folder {
			name += "/"
		}
		st := draw.Style("")
		if e.Folder {
			st = t.Info
		}
		p.Put(st, name)
		lines = append(lines, p.Done())
	}
	return lines
}
