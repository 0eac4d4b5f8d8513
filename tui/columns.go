// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// takeColumns parses PANE = HEAD, HEAD...
func (c *Config) takeColumns(text string) error {
	name, list, _ := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if name == "" || strings.TrimSpace(list) == "" {
		return fmt.Errorf("expected columns PANE = HEAD, HEAD..., found %q", text)
	}
	panes := newPanes(&pane.Common{Look: &draw.Theme{}}, nil)
	panes = slices.DeleteFunc(panes, func(p pane.Pane) bool { return p.About().Fixed })
	names := prose.Words(panes, func(p pane.Pane) string { return p.About().Name })
	name, err := findName(name, names)
	if err != nil {
		return err
	}
	if c.Columns[name] != nil {
		return fmt.Errorf("the columns of %s are defined twice", name)
	}
	known := heads(panes[slices.Index(names, name)])
	var picks []string
	for head := range strings.SplitSeq(list, ",") {
		head = strings.TrimSpace(head)
		i := slices.IndexFunc(known, func(s string) bool { return strings.EqualFold(s, head) })
		switch {
		case i < 0:
			return fmt.Errorf("unknown column %q of %s, expected one of %s", head, name, strings.Join(known, ", "))
		case slices.Contains(picks, known[i]):
			return fmt.Errorf("the column %s is named twice", known[i])
		}
		picks = append(picks, known[i])
	}
	c.Columns[name] = picks
	return nil
}

// heads returns the heads of all columns of a pane, in all views.
func heads(p pane.Pane) []string {
	layouts := p.Base().Layouts
	if layouts == nil {
		layouts = [][]draw.Column{p.Base().Cols}
	}
	var out []string
	for _, cols := range layouts {
		for i := range cols {
			head := strings.TrimSpace(cols[i].Name)
			if head != "" && !slices.ContainsFunc(out, func(s string) bool { return strings.EqualFold(s, head) }) {
				out = append(out, head)
			}
		}
	}
	return out
}

// pickColumns shows only the columns of the file in panes that it names.
func (c *Config) pickColumns(panes []pane.Pane) {
	for _, p := range panes {
		p.Base().Picks = c.Columns[p.About().Name]
	}
}
