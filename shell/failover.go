// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// failover says what becomes of pairs before a subnet manager acts on what has failed on paper.
type failover struct {
	*choices.Failover

	picture *session.Picture
}

// failover follows the choices of adaptive routing with what has failed and without; nil where no switch of the base has
// any, or nodes were added.
func (c *call) failover(st *session.State) (*failover, error) {
	r, err := c.feature().Failover(st)
	if r == nil {
		return nil, err
	}
	return &failover{r, st.WhatIf}, nil
}

// Text is a line for each thing that becomes of pairs.
func (a *failover) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "before a subnet manager acts, by adaptive routing: of %s %d keep all their paths, %d fail over at once\n", count(int(a.Paths), "pair"), a.Untouched, a.Over)
	_, _ = fmt.Fprintf(w, "  %d lose packets by some choices, %d are stuck, %d have an end port that is unreachable", a.Luck, a.Stuck, a.CutOff)
	if a.Bad > 0 {
		_, _ = fmt.Fprintf(w, "; %d did not arrive for sure before", a.Bad)
	}
	_, _ = fmt.Fprintln(w)
}

// Tables names the first pairs that wait for a subnet manager.
func (a *failover) Tables() []Table {
	f := a.picture.Fabric
	t := tableOf("pairs that wait for a manager", []string{"FROM", "TO", "LID", "NOW REACHED", "OF PACKETS"}, a.Examples, func(p choices.Pair) plainRow {
		return plainRow{leads{feature.ToTrace(a.picture, p.Src, p.Dst, p.LID)}, []any{f.PortName(p.Src), f.PortName(p.Dst), p.LID, p.Outcome.Endings.Reach().String(), fmt.Sprintf("%.0f %%", 100*p.Outcome.Share)}}
	})
	t.More = int(a.Luck+a.Stuck) - len(t.Rows)
	return []Table{t}
}
