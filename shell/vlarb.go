// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"strings"

	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/mad"
)

type vlWeight struct {
	VL     uint8 `json:"vl"`
	Weight uint8 `json:"weight"`
}

// showVLArb lists the VL arbitration tables of a port, or of all ports of a node, as they were last read.
func (c *call) showVLArb() error {
	live := c.session.State().Live
	f := live.Fabric
	at, err := places.Resolve(f, c.Arg(0))
	if err != nil {
		return err
	}
	if live.VLArb == nil {
		return errors.New("the VL arbitration tables were not read (try: sweep full vlarb)")
	}
	var rows []vlarbRow
	n := &f.Nodes[at.Node]
	missing := 0
	for p := range n.Slots() {
		if at.PortNamed && p != at.Port || !f.Ports[p].Linked() {
			continue
		}
		tables := live.VLArb[p]
		if tables == nil {
			missing++
			continue
		}
		rows = append(rows, vlarbRow{f.PortName(p), weights(tables.Low), weights(tables.High)})
	}
	if missing > 0 {
		c.out.note("%s not read, or without such tables", count(missing, "port"))
	}
	return c.list([]string{"PORT", "TABLE", "VL:WEIGHT"}, eachRow(rows))
}

type vlarbRow struct {
	Port string     `json:"port"`
	Low  []vlWeight `json:"low"`
	High []vlWeight `json:"high"`
}

// Cells are two lines, a table each.
func (r vlarbRow) Cells() []any {
	return []any{r.Port, "low", weightText(r.Low) + "\n", "high", weightText(r.High)}
}

func weights(table []mad.VLWeight) []vlWeight {
	out := make([]vlWeight, len(table))
	for i, e := range table {
		out[i] = vlWeight{e.VL, e.Weight}
	}
	return out
}

// weightText says "0:4 1:64", without entries that are skipped, those of weight 0.
func weightText(table []vlWeight) string {
	var words []string
	for _, e := range table {
		if e.Weight > 0 {
			words = append(words, fmt.Sprintf("%d:%d", e.VL, e.Weight))
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, " ")
}
