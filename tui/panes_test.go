// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"slices"
	"testing"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/tui/pane"
)

// TestKeysOfFeatures: a feature has exactly one key for each pane, every key of a feature leads to a pane or is an
// action of the screen, and a pane is called as its constructor says.
func TestKeysOfFeatures(t *testing.T) {
	leads := map[string]int{}
	actions := keymap()
	for _, k := range shell.Keys() {
		if k.Pane != "" {
			leads[k.Pane]++
		}
		if !slices.ContainsFunc(actions, func(a pane.Action) bool {
			return a.Name == k.Name && a.Help().Desc == k.Help
		}) {
			t.Errorf("nothing has the key %+v", k)
		}
	}
	for i, p := range newPanes(&pane.Common{Look: drive(t, tree).m.Look}, nil) {
		name := p.About().Name
		if name != makers[i].name {
			t.Errorf("the constructor %s makes the pane %s", makers[i].name, name)
		}
		if leads[name] != 1 {
			t.Errorf("%d keys lead to the pane %s, want 1", leads[name], name)
		}
		delete(leads, name)
	}
	if len(leads) > 0 {
		t.Errorf("keys lead to panes that do not exist: %v", leads)
	}
}
