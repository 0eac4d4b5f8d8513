// SPDX-License-Identifier: Apache-2.0

package nue

import "example.org/ibconsole/fabric"

// page collects the routes to some LIDs before they are written into the tables of switches.
type page struct {
	rows  [][]byte // of the tables, by switch
	lids  []uint16
	ports []uint8 // by LID, then by switch
}

// lines is the number of LIDs of a page. A page fills one cache line of a table.
const lines = 64

func newPage(n *network, lft *fabric.LFT) *page {
	p := &page{lids: make([]uint16, 0, lines), ports: make([]uint8, lines*len(n.switches))}
	for _, sw := range n.switches {
		p.rows = append(p.rows, lft.Row(sw))
	}
	return p
}

// line returns the slice for the ports to one more LID. It is indexed by switch.
func (p *page) line(lid uint16) []uint8 {
	if len(p.lids) == lines {
		p.turn()
	}
	p.lids = append(p.lids, lid)
	n := len(p.rows)
	return p.ports[(len(p.lids)-1)*n:][:n]
}

// turn writes the page into the tables, and empties it.
func (p *page) turn() {
	for s, row := range p.rows {
		for k, lid := range p.lids {
			row[lid] = p.ports[k*len(p.rows)+s]
		}
	}
	p.lids = p.lids[:0]
}
