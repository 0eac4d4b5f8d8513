// SPDX-License-Identifier: Apache-2.0

package shell

import "example.org/ibconsole/shell/session"

// showSL lists the SLs from one place to another, or to all.
func (c *call) showSL(st *session.State, p *session.Picture) error {
	f := p.Fabric
	pairs, err := pairsOf(f, c.Args)
	if err != nil {
		return err
	}
	if p.Tables.SLs == nil {
		c.out.note("no service levels are part of %s: every path has SL 0", st.Title(p))
	}
	var rows []slRow
	for _, pair := range pairs {
		sl := uint8(0)
		if p.Tables.SLs != nil {
			sl = p.Tables.SLs.SL(f.Ports[pair.Src].LID, pair.LID)
		}
		rows = append(rows, slRow{f.PortName(pair.Src), destinationName(f, pair.LID), pair.LID, sl})
	}
	return c.list([]string{"FROM", "TO", "LID", "SL"}, eachRow(rows))
}

type slRow struct {
	From string `json:"from"`
	To   string `json:"to"`
	LID  uint16 `json:"lid"`
	SL   uint8  `json:"sl"`
}

func (r slRow) Cells() []any { return []any{r.From, r.To, r.LID, r.SL} }
