// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
)

type sl2vlRow struct {
	Out int   `json:"out"`
	In  []int `json:"in"`
	VLs []int `json:"vls"`
}

func (r sl2vlRow) Cells() []any {
	return []any{r.Out, prose.Ranges(r.In), strings.Trim(fmt.Sprint(r.VLs), "[]")}
}

// showSL2VL lists the tables of a node, equal ones of one port out together. Those
// that were not read are left out: of ports without a link, or that did not answer.
func (c *call) showSL2VL(_ *session.State, p *session.Picture) error {
	f := p.Fabric
	node, err := places.ResolveNode(f, c.Arg(0))
	if err != nil {
		return err
	}
	if p.Tables.SL2VL == nil {
		return errors.New("the VLs were neither computed nor read (try: sweep full sl2vl)")
	}
	n := &f.Nodes[node]
	var rows []sl2vlRow
	for out := range int(n.NumPorts) + 1 {
		if f.PortAt(node, out) == fabric.None {
			continue
		}
		for _, g := range equalVLs(f, p.Tables.SL2VL, node, uint8(out)) {
			rows = append(rows, sl2vlRow{out, ints(g.in), ints(g.vls[:])})
		}
	}
	if len(rows) == 0 {
		c.out.note("%s has no SL2VL tables, or none was read (show unanswered)", f.NodeName(node))
	}
	return c.list([]string{"OUT", "IN", "VL OF SL 0 TO 15"}, eachRow(rows))
}

type vlGroup struct {
	vls fabric.VLs
	in  []uint8
}

func equalVLs(f *fabric.Fabric, t *fabric.SL2VL, node fabric.NodeIndex, out uint8) []vlGroup {
	n := &f.Nodes[node]
	ins := 1
	if n.IsSwitch() {
		ins = int(n.NumPorts) + 1
	}
	var groups []vlGroup
	for in := range ins {
		if !t.Has(node, uint8(in), out) {
			continue
		}
		vls := t.VLs(node, uint8(in), out)
		i := slices.IndexFunc(groups, func(g vlGroup) bool { return g.vls == vls })
		if i < 0 {
			i = len(groups)
			groups = append(groups, vlGroup{vls: vls})
		}
		groups[i].in = append(groups[i].in, uint8(in))
	}
	return groups
}

// ints are numbers that JSON does not take for bytes.
func ints(bytes []uint8) []int {
	out := make([]int, len(bytes))
	for i, b := range bytes {
		out[i] = int(b)
	}
	return out
}
