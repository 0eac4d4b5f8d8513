// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/routing/checks/linkload"
)

// measures are published measures of tables.
type measures linkload.Quick

func (m *measures) text(w io.Writer) {
	if s := m.Shifts; s != nil {
		_, _ = fmt.Fprintf(w, "  shift figure %d (the most paths over a link), by %d; mean %.2f; %d of %s without contention%s\n",
			s.Worst, s.WorstBy, s.Mean, s.Free, count(s.Shifts, "shift"), lostText(s.Lost, s.Unknown))
	}
	if b := m.Bisections; b != nil {
		_, _ = fmt.Fprintf(w, "  effective bisection bandwidth %.3f of full (%.3f to %.3f, std dev %.4f) over %s, seed %d; at worst %s over a link%s\n",
			b.Mean, b.Min, b.Max, b.StdDev, count(b.Bisections, "random bisection"), b.Seed, count(int(b.Worst), "path"), lostText(b.Lost, b.Unknown))
	}
}

// lostText returns "; lost: 2 paths; unknown: 3 paths", without what there is none of.
func lostText(lost, unknown int64) (text string) {
	if lost > 0 {
		text = "; lost: " + count(int(lost), "path")
	}
	if unknown > 0 {
		text += "; unknown: " + count(int(unknown), "path")
	}
	return text
}
