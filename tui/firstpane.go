// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"example.org/ibconsole/shell"
)

// lastPane stands for the pane that had the focus when the program ended last.
const lastPane = "last"

// paneNames returns the names of all panes in alphabetical order.
func paneNames() (names []string) {
	for _, k := range shell.Keys() {
		if k.Pane != "" {
			names = append(names, k.Pane)
		}
	}
	slices.Sort(names)
	return names
}

// takePane parses the rest of a line "pane NAME" or "pane last".
func (c *Config) takePane(rest string) error {
	names := append(paneNames(), lastPane)
	i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, rest) })
	if i < 0 {
		return fmt.Errorf("unknown pane %q, expected one of %s", rest, strings.Join(names, ", "))
	}
	c.Pane = names[i]
	return nil
}

// openFirst gives the focus to the pane that the configuration names. The file has the name of the last pane. Without
// the file, or with an unknown name in it, the focus stays.
func openFirst(m *model, wanted, file string) error {
	if wanted == lastPane {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("last pane: %w", err)
		}
		wanted = strings.TrimSpace(string(text))
	}
	if at := m.named(wanted); at >= 0 {
		m.setFocus(at)
	}
	return nil
}

// rememberPane writes the name of the pane with the focus to a file.
func rememberPane(m *model, file string) error {
	if err := keep(file, m.pane().About().Name); err != nil {
		return fmt.Errorf("last pane: %w", err)
	}
	return nil
}
