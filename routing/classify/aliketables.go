// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Values of an entry that is no port.
const (
	noEntry   = -1 - iota // the subnet has no such switch or destination
	notInRead             // the table of the switch was not read
)

// tabled are forwarding tables in terms of the model: rows are its switches, columns its hosts, by name, and switches.
type tabled struct {
	tables *fabric.Tables
	rows   []fabric.SwitchIndex
	lids   [][]uint16 // by column, those of the destination
}

// tabledOf returns the tables of a subnet.
func (a *alike) tabledOf(i int, t *fabric.Tables) tabled {
	g := t.Fabric
	all := tabled{tables: t, rows: a.to[i]}
	add := func(end fabric.PortIndex) {
		var lids []uint16
		if base := g.LIDOf(end); base != 0 {
			for k := range uint16(1) << g.Ports[end].LMC {
				lids = append(lids, base+k)
			}
		}
		all.lids = append(all.lids, lids)
	}
	for _, name := range slices.Sorted(maps.Keys(a.ends[a.model])) {
		if end, ok := a.ends[i][name]; ok {
			add(end)
		} else {
			all.lids = append(all.lids, nil)
		}
	}
	for _, sw := range a.to[i] {
		if sw == fabric.None {
			all.lids = append(all.lids, nil)
		} else {
			add(g.SwitchNode(sw).FirstPort)
		}
	}
	return all
}

// entry is the port by which a switch forwards to the LID at a place among those of a destination.
func (t *tabled) entry(row, column, at int) int {
	switch sw := t.rows[row]; {
	case sw == fabric.None || at >= len(t.lids[column]):
		return noEntry
	case !t.tables.Known[sw]:
		return notInRead
	default:
		return int(t.tables.Port(sw, t.lids[column][at]))
	}
}

// sum is the same for equal tables.
func (t *tabled) sum() uint64 {
	sum := uint64(14695981039346656037) // FNV-1a
	for row := range t.rows {
		for column, lids := range t.lids {
			for at := range max(1, len(lids)) {
				sum = (sum ^ uint64(t.entry(row, column, at)+2)) * 1099511628211
			}
		}
	}
	return sum
}

// compare counts the entries that both have, and those that differ. Entries to a LID that only one of the two gives the
// destination differ.
func (t *tabled) compare(other *tabled) (all, differ int) {
	for row := range t.rows {
		for column := range t.lids {
			n, m := len(t.lids[column]), len(other.lids[column])
			if n == 0 || m == 0 {
				continue
			}
			for at := range max(n, m) {
				x, y := t.entry(row, column, at), other.entry(row, column, at)
				if t.rows[row] == fabric.None || other.rows[row] == fabric.None || x == notInRead || y == notInRead {
					continue
				}
				if all++; x != y {
					differ++
				}
			}
		}
	}
	return all, differ
}

// compareTables compares forwarding tables with those that most subnets have, nil where none are known.
// O(subnets x switches x LIDs).
func (a *alike) compareTables(tables []*fabric.Tables) (out []Difference) {
	add := func(i int, format string, args ...any) {
		out = append(out, Difference{i, fabric.None, fabric.None, DifferentTables, fmt.Sprintf(format, args...)})
	}
	of := make([]tabled, len(tables))
	sums, votes := make([]uint64, len(tables)), map[uint64]int{}
	usual, having := -1, 0
	for i, t := range tables {
		if t == nil {
			continue
		}
		having++
		of[i] = a.tabledOf(i, t)
		sums[i] = of[i].sum()
		votes[sums[i]]++
	}
	for i, t := range tables {
		if t != nil && (usual < 0 || votes[sums[i]] > votes[sums[usual]]) {
			usual = i
		}
	}
	for i, t := range tables {
		switch {
		case having == 0:
		case t == nil:
			add(i, "no forwarding tables are known, %s them",
				prose.When(having == 1, "another has", fmt.Sprintf("%d others have", having)))
		default:
			if n := len(t.NotRead()); n > 0 {
				add(i, "the forwarding tables of %s were not read", prose.Count(n, "switch"))
			}
			if sums[i] == sums[usual] {
				continue
			}
			if all, differ := of[i].compare(&of[usual]); differ > 0 {
				add(i, "%d of %s lead elsewhere than on most", differ, prose.Count(all, "forwarding entry"))
			}
		}
	}
	return out
}
