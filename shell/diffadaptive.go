// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/feature"
)

// adaptiveDiffText says what differs in adaptive routing, nothing where nothing does.
func adaptiveDiffText(w io.Writer, a *diff.Adaptive) {
	if a.Same() {
		return
	}
	_, _ = fmt.Fprintf(w, "%-25s %s, on %s\n", "adaptive routing", count(a.LIDs, "LID entry"), count(len(a.Switches), "switch"))
	for _, s := range a.Switches[:min(len(a.Switches), maxListed)] {
		_, _ = fmt.Fprintf(w, "  %s: %s%s\n", s.Name, count(s.LIDs, "LID entry"), prose.When(len(s.Settings) > 0, "; "+strings.Join(s.Settings, ", "), ""))
	}
	if more := len(a.Switches) - maxListed; more > 0 {
		_, _ = fmt.Fprintf(w, "  and %d more\n", more)
	}
}

// adaptiveTable has the switches whose adaptive routing differs.
func (a *diffAnswer) adaptiveTable() Table {
	return tableOf("adaptive routing", []string{"SWITCH", "LIDS", "SETTINGS"}, a.Adaptive.Switches, func(s diff.AdaptiveSwitch) plainRow {
		f := a.before.Fabric
		return plainRow{leads{feature.ToNode(f, f.NodeByGUID(uint64(s.GUID)))}, []any{s.Name, s.LIDs, orDash(strings.Join(s.Settings, ", "))}}
	})
}
