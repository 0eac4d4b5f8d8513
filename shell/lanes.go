// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
)

// showSL2VL lists the tables of a node, equal ones of one way out together. Those
// that were not read are left out: of ports without a link, or that did not answer.
func (c *call) showSL2VL() error {
	_, p, err := c.tablesOf()
	if err != nil {
		return err
	}
	f := p.Fabric
	node, err := places.ResolveNode(f, c.Arg(0))
	if err != nil {
		return err
	}
	if p.Tables.SL2VL == nil {
		return errors.New("the lanes were neither computed nor read (try: sweep full sl2vl)")
	}
	n := &f.Nodes[node]
	t, shown := c.table("OUT", "IN", "VL OF SL 0 TO 15"), false
	for out := range int(n.NumPorts) + 1 {
		if f.PortAt(node, out) == fabric.None {
			continue
		}
		for _, g := range equalVLs(f, p.Tables.SL2VL, node, uint8(out)) {
			shown = true
			err := t.row(struct {
				Out int   `json:"out"`
				In  []int `json:"in"`
				VLs []int `json:"vls"`
			}{out, ints(g.in), ints(g.vls[:])}, out, ranges(g.in), strings.Trim(fmt.Sprint(g.vls), "[]"))
			if err != nil {
				return err
			}
		}
	}
	if !shown {
		c.out.note("%s has no SL2VL tables, or none was read (show holes)", f.NodeName(node))
	}
	return t.flush()
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
next:
	for in := range ins {
		if !t.Has(node, uint8(in), out) {
			continue
		}
		vls := t.VLs(node, uint8(in), out)
		for i := range groups {
			if groups[i].vls == vls {
				groups[i].in = append(groups[i].in, uint8(in))
				continue next
			}
		}
		groups = append(groups, vlGroup{vls, []uint8{uint8(in)}})
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

// ranges puts ascending numbers into words: "0-3,7".
func ranges(numbers []uint8) string {
	var words []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		word := fmt.Sprint(numbers[i])
		if j > i {
			word += fmt.Sprintf("-%d", numbers[j])
		}
		words = append(words, word)
		i = j + 1
	}
	return strings.Join(words, ",")
}

// showMFT lists the multicast table of a switch.
func (c *call) showMFT() error {
	_, p, err := c.tablesOf()
	if err != nil {
		return err
	}
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
	t := c.table("MLID", "PORTS")
	for i := range p.Tables.MFT.LIDs() {
		mlid := uint16(fabric.FirstMLID + i)
		ports := portsIn(p.Tables.MFT.Ports(f.Nodes[node].Switch, mlid))
		if len(ports) == 0 {
			continue
		}
		err := t.row(struct {
			MLID  string `json:"mlid"`
			Ports []int  `json:"ports"`
		}{fmt.Sprintf("0x%04x", mlid), ints(ports)}, fmt.Sprintf("0x%04x", mlid), ranges(ports))
		if err != nil {
			return err
		}
	}
	return t.flush()
}

func portsIn(words []uint64) []uint8 {
	var ports []uint8
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			ports = append(ports, uint8(i<<6+bits.TrailingZeros64(w)))
		}
	}
	return ports
}
