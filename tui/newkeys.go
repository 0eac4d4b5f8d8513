// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/page"
	"example.org/ibconsole/tui/pane"
)

// keyChange is an action with a new key, or with another key than in an earlier version of the program.
type keyChange struct {
	action string
	was    string // earlier keys, "" if the action is new
}

// keyChanges lists the changes of default keys, the oldest first. New changes are added at the end: the program
// remembers how many of them the user has seen.
var keyChanges = []keyChange{
	{"mark", "m"},
	{"mark-range", ""},
	{"freeze", "Space"},
	{"next-match", ""},
	{"previous-match", ""},
	{"next-fault", "n"},
	{"pane-N", "N"},
	{"half-up", ""},
	{"half-down", ""},
	{"stage", ""},
	{"save-screen", ""},
	{"pane-E", ""},
	{"engine", "E"},
	{"zoom-in", ""},
	{"zoom-out", ""},
	{"wrap", ""},
}

// seenKeys reads from a file how many of the changes of keys were shown. Without the file it returns 0 if other files
// of the program are in its folder. Otherwise the user is new, and no key has changed for the user.
func seenKeys(path string) int {
	text, err := os.ReadFile(path)
	if n, bad := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bad == nil && n >= 0 {
		return min(n, len(keyChanges))
	}
	if list, _ := os.ReadDir(filepath.Dir(path)); err != nil && len(list) == 0 {
		return len(keyChanges)
	}
	return 0
}

// openNewKeys shows a page with the keys that have changed since the number seen of changes.
func (pg *pages) openNewKeys(seen int) {
	p := page.New(pg.m.Look, "New and moved keys")
	p.Ready = true
	for _, c := range keyChanges[seen:] {
		a := pg.m.action(c.action)
		was := "new"
		if c.was != "" {
			was = "was " + c.was
		}
		keys := make([]string, 0, 2)
		for _, k := range a.Keys() {
			keys = append(keys, pg.m.Look.KeyName(k))
		}
		p.Add("", fmt.Sprintf("%-18s%s (%s)", strings.Join(keys, " "), a.Help().Desc, was))
	}
	p.Add("", "")
	p.Add(pg.m.Look.Dim, "The program shows this page once. ? lists all keys; docs/keys.md explains how to "+
		"bind others.")
	p.Leave = pg.closePage
	p.Fit(pg.m.body())
	pg.cover(&welcomePage{p, pg.m})
}

// showNewKeys shows the changes of keys that the user has not seen, and remembers in a file that they were shown. The
// argument quiet is set if another page is shown at the start. A file that cannot be written is reported in the log.
func showNewKeys(m *model, path string, quiet bool) {
	if path == "" {
		return
	}
	seen := seenKeys(path)
	if seen < len(keyChanges) && quiet {
		return
	}
	if seen < len(keyChanges) {
		m.pages.openNewKeys(seen)
	}
	if err := keep(path, strconv.Itoa(len(keyChanges))); err != nil {
		noteError(m, err)
	}
}

// keep writes a line to a file in the state folder, and creates the folder.
func keep(path, line string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return files.Write(path, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, line)
		return err
	})
}

// noteError shows an error of a file in the state folder in the log. It does not hinder the work.
func noteError(m *model, err error) {
	m.note(pane.Line{When: m.now(), Kind: pane.LineNote, Text: draw.Clean(err.Error(), m.Look.ASCII)})
}
