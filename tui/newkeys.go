// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"example.org/ibconsole/tui/page"
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
func seenKeys(ctx context.Context, path string) (int, error) {
	line, err := kept(ctx, path)
	if err != nil {
		return 0, err
	}
	if n, bad := strconv.Atoi(line); bad == nil && n >= 0 {
		return min(n, len(keyChanges)), nil
	}
	if list, _ := os.ReadDir(filepath.Dir(path)); line == "" && len(list) == 0 {
		return len(keyChanges), nil
	}
	return 0, nil
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
// argument quiet is set if another page is shown at the start. A file that cannot be read or written is reported in the
// log.
func showNewKeys(m *model, path string, quiet bool) {
	if path == "" {
		return
	}
	seen, err := seenKeys(m.Ctx, path)
	switch {
	case err == nil && seen < len(keyChanges) && quiet:
		return
	case err == nil && seen < len(keyChanges):
		m.pages.openNewKeys(seen)
		fallthrough
	case err == nil:
		err = keep(m.Ctx, path, strconv.Itoa(len(keyChanges)))
	}
	if err != nil {
		noteError(m, fmt.Errorf("new keys: %w", err))
	}
}
