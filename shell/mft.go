// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/prose"
	"example.org/ibconsole/shell/session"
)

// showMFT lists the multicast table of a switch.
func (c *call) showMFT(_ *session.State, p *session.Picture) error {
	f := p.Fabric
	node, err := places.ResolveNode(f, c.Arg(0))
	switch {
	case err != nil:
		return err
	case !f.Nodes[node].IsSwitch():
		return fmt.Errorf("%s is no switch", f.NodeName(node))
	case p.Tables.MFT == nil:
		return errors.New("the multicast tables were neither computed nor read (try: sweep full mft)")
	}
	var rows []mftRow
	for i := range p.Tables.MFT.LIDs() {
		mlid := uint16(fabric.FirstMLID + i)
		if ports := slices.Collect(p.Tables.MFT.Each(f.Nodes[node].Switch, mlid)); len(ports) > 0 {
			rows = append(rows, mftRow{mlidText(mlid), ports})
		}
	}
	return c.list([]string{"MLID", "PORTS"}, eachRow(rows))
}

type mftRow struct {
	MLID  string `json:"mlid"`
	Ports []int  `json:"ports"`
}

func (r mftRow) Cells() []any { return []any{r.MLID, prose.Ranges(r.Ports)} }
