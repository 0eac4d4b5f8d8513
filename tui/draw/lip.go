// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// Lip is a style of lipgloss that writes each line of a text in a style of ours, whatever
// lipgloss takes the terminal for.
func Lip(st Style) lipgloss.Style {
	if st == "" {
		return lipgloss.NewStyle()
	}
	return lipgloss.NewStyle().Transform(func(s string) string {
		lines := strings.Split(s, "\n")
		for i, l := range lines {
			if l != "" {
				lines[i] = string(st) + l + Reset
			}
		}
		return strings.Join(lines, "\n")
	})
}
