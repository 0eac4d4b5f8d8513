// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
)

// showSL lists the service levels from one place to another, or to all.
func (c *call) showSL(st *session.State, p *session.Picture) error {
	f := p.Fabric
	pairs, err := pairsOf(f, c.Args)
	if err != nil {
		return err
	}
	switch {
	case p.Tables.Unread.SLs:
		c.warnUnknownSLs(st, p)
	case p.Tables.SLs == nil:
		c.out.note("no service levels are part of %s: every path has SL 0", st.Title(p))
	}
	var rows []slRow
	for _, pair := range pairs {
		rows = append(rows, slRow{f.PortName(pair.Src), destinationName(f, pair.LID), pair.LID, slOf(p.Tables, f.Ports[pair.Src].LID, pair.LID)})
	}
	return c.list([]string{"FROM", "TO", "LID", "SL"}, eachRow(rows))
}

// warnUnknownSLs says beside the answer that nobody knows the service levels of a
// picture's paths.
func (c *call) warnUnknownSLs(st *session.State, p *session.Picture) {
	try := st.ToKnow(fabric.Unread{SLs: true})
	c.out.warn("the service levels of the paths of %s were not read, as no switch has them (try: %s)", st.Title(p), try)
}

// slOf is the service level of a path, nil where it is not known.
func slOf(t *fabric.Tables, src, dst uint16) *uint8 {
	sl, known := t.SL(src, dst)
	if !known {
		return nil
	}
	return &sl
}

type slRow struct {
	From string `json:"from"`
	To   string `json:"to"`
	LID  uint16 `json:"lid"`
	// SL is null where it is not known.
	SL *uint8 `json:"sl"`
}

func (r slRow) Cells() []any {
	return []any{r.From, r.To, r.LID, levelText(r.SL)}
}

// levelText is a service level for people.
func levelText(sl *uint8) any {
	if sl == nil {
		return "unknown"
	}
	return *sl
}
