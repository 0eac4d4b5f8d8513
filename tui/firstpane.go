// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/tui/draw"
)

// lastPane stands for the pane that the user chose last before the program ended.
const lastPane = "last"

// paneNames returns the names of all panes in the order of the line of names.
func paneNames() (names []string) {
	for _, x := range makers {
		names = append(names, x.name)
	}
	return names
}

// findName returns the name of a pane as the screen writes it. Case is ignored.
func findName(text string, names []string) (string, error) {
	i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, text) })
	if i < 0 {
		return "", fmt.Errorf("unknown pane %q, expected one of %s", text, strings.Join(names, ", "))
	}
	return names[i], nil
}

// takePane parses the rest of a line "pane NAME" or "pane last".
func (c *Config) takePane(rest string) (err error) {
	if c.Pane != "" {
		return errors.New("pane is defined twice")
	}
	c.Pane, err = findName(rest, append(paneNames(), lastPane))
	return err
}

// openFirst gives the focus to the pane that the configuration names, on the screens of all subnets. Problems do not
// take the focus from it. The file has the name of the last pane. Without the file, or with an unknown name in it, the
// focus stays.
func openFirst(ctx context.Context, all []*model, wanted, file string) error {
	if wanted == lastPane {
		name, err := kept(ctx, file)
		if err != nil {
			return fmt.Errorf("last pane: %w", err)
		}
		wanted = name
	}
	for _, m := range all {
		if at := m.named(wanted); at >= 0 {
			m.setFocus(at)
			m.untouched = false
		}
	}
	return nil
}

// savePane saves the name of the pane with the focus if the configuration has the line "pane last" and the user chose
// this pane. After an error it prints a warning.
func (opt *Options) savePane(ctx context.Context, root tea.Model) {
	m, one := root.(*model)
	if !one {
		s := root.(*screens)
		m = s.all[s.at]
	}
	if opt.Config.Pane != lastPane || opt.LastPane == "" || !m.chosen {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTime)
	defer cancel()
	if err := keep(ctx, opt.LastPane, m.pane().About().Name); err != nil {
		fmt.Fprintf(opt.Out, "warning: last pane: %s\n", draw.Clean(err.Error(), true))
	}
}
