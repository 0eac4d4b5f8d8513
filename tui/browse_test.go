// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBrowse: a question for a file lists the folder that is typed, Tab completes, Enter goes into folders, and a
// name that does things to a terminal is shown harmless, and taken as it is.
func TestBrowse(t *testing.T) {
	dir := t.TempDir()
	evil := "lfts\x1b[2J\u202e"
	for _, name := range []string{"routes-a.lfts", "routes-b.lfts", evil, ".hidden"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no table"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "saved"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "saved", "yesterday"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	d := drive(t, tree)
	d.press("L").sees("Which file?", "here: 4 names", "saved/", "routes-a.lfts", `lfts\x1b[2J\u202e`,
		"Tab complete").misses(".hidden")
	d.press("ro", "tab").sees("routes-", "2 names").press("b", "tab").sees("routes-b.lfts").misses("routes-a.lfts")
	d.press("ctrl+u").sees("here: 4 names")
	d.press("down", "enter").sees("saved/: 1 name", "yesterday").press("tab").sees("saved/yesterday")
	d.press("ctrl+u", "saved", "enter").sees("saved/: 1 name").press("enter").sees("a file is wanted")
	d.press("ctrl+u", "nosuch/").sees("no such file")
	d.press("ctrl+u", "lf", "tab").sees("names that cannot be typed").press("down", "enter").sees("What is it?",
		`file lfts\x1b[2J\u202e`)
	for _, size := range [][2]int{{80, 24}, {40, 12}, {20, 5}} {
		d.size(120, 36).press("esc", "L").size(size[0], size[1]).press("down", "down", "up", "pgdown")
	}
}
