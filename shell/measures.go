// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"
	"fmt"
	"io"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/session"
)

// measures are published measures of tables.
type measures struct {
	Shifts     *linkload.Shifted  `json:"shifts,omitempty"`
	Bisections *linkload.Bisected `json:"bisections,omitempty"`
}

// quickMeasures are the measures by as many shifts and bisections as are quick,
// of hosts in an order that may have gaps.
func quickMeasures(ctx context.Context, p *session.Picture, hosts []fabric.PortIndex, seed uint64) (m measures, err error) {
	if m.Shifts, err = linkload.Shifts(ctx, p.Tables, hosts, quickPaths/len(hosts)+1, nil); err != nil {
		return m, err
	}
	m.Bisections, err = linkload.Bisections(ctx, p.Tables, withoutGaps(hosts), min(someBisections, 2*quickPaths/len(hosts)+1), seed, nil)
	return m, err
}

func withoutGaps(hosts []fabric.PortIndex) []fabric.PortIndex {
	return slices.DeleteFunc(slices.Clone(hosts), func(h fabric.PortIndex) bool { return h == fabric.None })
}

func (m *measures) text(w io.Writer) {
	if s := m.Shifts; s != nil {
		_, _ = fmt.Fprintf(w, "  shift figure %d (the most paths over a link), by %d; mean %.2f; %d of %s without contention%s\n",
			s.Worst, s.WorstBy, s.Mean, s.Free, count(s.Shifts, "shift"), lostText(s.Lost))
	}
	if b := m.Bisections; b != nil {
		_, _ = fmt.Fprintf(w, "  effective bisection bandwidth %.3f of full (%.3f to %.3f, std dev %.4f) over %s, seed %d; at worst %s over a link%s\n",
			b.Mean, b.Min, b.Max, b.StdDev, count(b.Bisections, "random bisection"), b.Seed, count(int(b.Worst), "path"), lostText(b.Lost))
	}
}

func lostText(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; lost: %s", count(int(n), "path"))
}
