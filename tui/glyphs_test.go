// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestExportsHaveNoDrawings exports and copies all rows of every view of every pane, after commands that fill the
// panes, and looks for signs of bars, graphs and shades.
func TestExportsHaveNoDrawings(t *testing.T) {
	s := sessiontest.OpenWith(t, "sim:fattree:2,12", session.Options{StateDir: t.TempDir(), Record: true})
	groups := filepath.Join(t.TempDir(), "groups")
	if err := os.WriteFile(groups, []byte(threeMembers), 0o600); err != nil {
		t.Fatal(err)
	}
	d := driveBackend(t, &shellBackend{Shell: shell.New(s), watcher: s.Watch()}).size(200, 50)
	d.press(":engine updn; route; write on; commit yes; fail link leaf-01/7; route; trace node-0001 node-0050",
		"enter", ":load groups "+groups, "enter", ":compare engines minhop updn", "enter")
	const drawings = "▁▂▃▄▅▆▇█░▒▓│┴┼╯○─"
	filled := map[string]bool{}
	for i := range d.m.all {
		d.press(d.m.action(d.m.layout.keys[i].Name).Keys()[0])
		for range 40 {
			if d.settle(); d.m.pane().Base().N > 0 {
				break
			}
		}
		for kind := range max(len(d.m.pane().Base().Kinds), 1) {
			if kind > 0 {
				d.press("b")
			}
			table := d.m.pane().Base()
			lines := make([]int, table.N)
			for line := range lines {
				lines[line] = line
			}
			csv, err := table.CSVText(lines)
			if err != nil {
				t.Fatal(err)
			}
			name := d.m.pane().About().Name
			filled[name] = filled[name] || table.N > 0
			for _, text := range []string{csv, table.PlainText(lines, true)} {
				if at := strings.IndexAny(text, drawings); at >= 0 {
					t.Errorf("%s, view %d, has drawings: %s", name, kind, text[max(at-60, 0):min(at+30, len(text))])
				}
			}
		}
	}
	delete(filled, "Problems") // of which this subnet has none
	for name, rows := range filled {
		if !rows {
			t.Errorf("the pane %s has no rows", name)
		}
	}
}
