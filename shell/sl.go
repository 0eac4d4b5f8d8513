// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
)

// showSL lists the SLs from one place to another, or to all.
func (c *call) showSL(st *session.State, p *session.Picture) error {
	f := p.Fabric
	words := []string{c.Arg(0), allWord}
	if len(c.Args) == 2 {
		words[1] = c.Arg(1)
	}
	pairs, err := pairsOf(f, words, true)
	if err != nil {
		return err
	}
	asked, err := c.feature().Asked()
	if err != nil {
		return err
	}
	g, err := st.Grants(p, asked)
	if err != nil {
		return err
	}
	switch {
	case p.Tables.Unread.SLs:
		c.warnUnknownSLs(st, p)
	case p.Tables.SLs == nil && asked.Any():
		c.out.note("the routes of %s have no service levels of their own: a path has the one that is asked for, else that of its partition", st.Title(p))
	}
	var rows []slRow
	for _, pair := range pairs {
		row := slRow{From: f.PortName(pair.Src), To: f.PortName(pair.Dst), LID: pair.LID}
		switch sl, known, err := g.Of(pair.Src, pair.LID); {
		case !f.Reachable(pair.Src) || !f.Reachable(pair.Dst):
			row.Error = "unreachable"
		case pair.LID == 0 || f.Ports[pair.Src].LID == 0:
			row.Error = "no LID"
		case err != nil && len(pairs) == 1:
			return fmt.Errorf("%s to %s: %w", row.From, row.To, err)
		case err != nil:
			row.Error = err.Error()
		case known:
			row.SL = &sl
		}
		rows = append(rows, row)
	}
	return c.list([]string{"FROM", "TO", "LID", "SL"}, eachRow(rows))
}

// warnUnknownSLs says beside the answer that nobody knows the service levels of a
// picture's paths.
func (c *call) warnUnknownSLs(st *session.State, p *session.Picture) {
	try := st.ToKnow(fabric.Unread{SLs: true})
	c.out.warn("the service levels of the paths of %s were not read, as no switch has them (try: %s)", st.Title(p), try)
}

type slRow struct {
	From string `json:"from"`
	To   string `json:"to"`
	LID  uint16 `json:"lid"`
	// SL is null where it is not known, or where there is no such path, as Error says.
	SL    *uint8 `json:"sl"`
	Error string `json:"error,omitempty"`
}

func (r slRow) Cells() []any {
	if r.Error != "" {
		return []any{r.From, r.To, r.LID, r.Error}
	}
	return []any{r.From, r.To, r.LID, levelText(r.SL)}
}

// levelText is a service level for people.
func levelText(sl *uint8) any {
	if sl == nil {
		return "unknown"
	}
	return *sl
}
