// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/session"
)

var errNoTorus = errors.New("these tables are not those of torus-2QoS (try: engine torus-2QoS; route)")

func (c *call) showTorus(st *session.State, p *session.Picture) error {
	t, ok := torus.Of(p.Tables)
	if !ok {
		return errNoTorus
	}
	var rows []torusRow
	for sw, node := range p.Fabric.Switches {
		if at, ok := t.Coordinates(fabric.SwitchIndex(sw)); ok {
			rows = append(rows, torusRow{p.Fabric.NodeName(node), at})
		}
	}
	return c.out.Answer(&List{Rows: eachRow(rows), Drawn: torusMap{t, p.Fabric, st.Title(p)}})
}

type torusRow struct {
	Switch string            `json:"switch"`
	At     torus.Coordinates `json:"at"`
}

func (r torusRow) Cells() []any { return []any{r.Switch, r.At} }

// torusMap draws the switches at their coordinates, a plane for each z, y upwards.
type torusMap struct {
	*torus.Torus
	f  *fabric.Fabric
	of string
}

func (t torusMap) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%v, of %s\n", t.Torus, t.of)
	width := 1
	for sw, node := range t.f.Switches {
		if _, ok := t.Coordinates(fabric.SwitchIndex(sw)); ok {
			width = max(width, len([]rune(t.f.NodeName(node))))
		}
	}
	for z := range t.Radix[2] {
		if t.Radix[2] > 1 {
			_, _ = fmt.Fprintf(w, "z = %d\n", z)
		}
		for y := t.Radix[1] - 1; y >= 0; y-- {
			_, _ = fmt.Fprintf(w, "  y=%-3d", y)
			for x := range t.Radix[0] {
				_, _ = fmt.Fprintf(w, " %-*s", width, t.name(torus.Coordinates{x, y, z}))
			}
			_, _ = fmt.Fprintln(w)
		}
		_, _ = fmt.Fprint(w, "       ")
		for x := range t.Radix[0] {
			_, _ = fmt.Fprintf(w, " %-*s", width, fmt.Sprintf("x=%d", x))
		}
		_, _ = fmt.Fprintln(w)
	}
}

func (t torusMap) name(at torus.Coordinates) string {
	sw := t.SwitchAt(at)
	if sw == fabric.None {
		return "-"
	}
	return t.f.NodeName(t.f.Switches[sw])
}
