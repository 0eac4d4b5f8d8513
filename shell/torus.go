// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/session"
)

var errNoTorus = errors.New("these tables are not those of torus-2QoS (try: engine torus-2QoS; route)")

// showTorus draws the switches at their coordinates, a plane for each z, y upwards.
func (c *call) showTorus() error {
	st, p, err := c.tablesOf()
	if err != nil {
		return err
	}
	t, ok := torus.Of(p.Tables)
	if !ok {
		return errNoTorus
	}
	if c.out.JSON {
		return c.torusRows(p, t)
	}
	w := &writer{w: c.out.W}
	_, _ = fmt.Fprintf(w, "%v, of %s\n", t, st.Title(p))
	width := 1
	for sw := range p.Fabric.Switches {
		if _, ok := t.Coordinates(fabric.SwitchIndex(sw)); ok {
			width = max(width, len([]rune(p.Fabric.NodeName(p.Fabric.Switches[sw]))))
		}
	}
	for z := range t.Radix[2] {
		if t.Radix[2] > 1 {
			_, _ = fmt.Fprintf(w, "z = %d\n", z)
		}
		for y := t.Radix[1] - 1; y >= 0; y-- {
			_, _ = fmt.Fprintf(w, "  y=%-3d", y)
			for x := range t.Radix[0] {
				_, _ = fmt.Fprintf(w, " %-*s", width, torusName(p.Fabric, t, torus.Coordinates{x, y, z}))
			}
			_, _ = fmt.Fprintln(w)
		}
		_, _ = fmt.Fprint(w, "       ")
		for x := range t.Radix[0] {
			_, _ = fmt.Fprintf(w, " %-*s", width, fmt.Sprintf("x=%d", x))
		}
		_, _ = fmt.Fprintln(w)
	}
	return w.err
}

func torusName(f *fabric.Fabric, t *torus.Torus, at torus.Coordinates) string {
	sw := t.SwitchAt(at)
	if sw == fabric.None {
		return "-"
	}
	return f.NodeName(f.Switches[sw])
}

func (c *call) torusRows(p *session.Picture, t *torus.Torus) error {
	for sw, node := range p.Fabric.Switches {
		at, ok := t.Coordinates(fabric.SwitchIndex(sw))
		if !ok {
			continue
		}
		err := c.out.answer(struct {
			Switch string            `json:"switch"`
			At     torus.Coordinates `json:"at"`
		}{p.Fabric.NodeName(node), at}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// showSL lists the service levels from one place to another, or to all.
func (c *call) showSL() error {
	st, p, err := c.tablesOf()
	if err != nil {
		return err
	}
	f := p.Fabric
	var pairs []session.Pair
	if len(c.Args) == 2 && c.Arg(1) != allWord {
		pair, err := session.PairOf(f, c.Arg(0), c.Arg(1))
		if err != nil {
			return err
		}
		pairs = []session.Pair{pair}
	} else if pairs, err = session.PairsFrom(f, c.Arg(0)); err != nil {
		return err
	}
	if p.Tables.SLs == nil {
		c.out.note("no service levels are part of %s: every path has SL 0", st.Title(p))
	}
	t := c.table("FROM", "TO", "LID", "SL")
	for _, pair := range pairs {
		sl := uint8(0)
		if p.Tables.SLs != nil {
			sl = p.Tables.SLs.SL(f.Ports[pair.Src].LID, pair.LID)
		}
		from, to := f.PortName(pair.Src), destinationName(f, pair.LID)
		err := t.row(struct {
			From string `json:"from"`
			To   string `json:"to"`
			LID  uint16 `json:"lid"`
			SL   uint8  `json:"sl"`
		}{from, to, pair.LID, sl}, from, to, pair.LID, sl)
		if err != nil {
			return err
		}
	}
	return t.flush()
}
