// SPDX-License-Identifier: Apache-2.0

package lft

import (
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
)

func (l *lft) Renew() {
	l.Hold()
	l.lids, l.ports, l.was, l.changes = l.lids[:0], l.ports[:0], nil, 0
	t := l.tables()
	if t == nil || !t.Known[l.sw] || !t.Fabric.SwitchNode(l.sw).InSubnet {
		l.Rebuild(0)
		return
	}
	l.compare()
	l.gather(t)
	if l.Kind == lftByPort {
		l.group()
		l.Build(len(l.ports))
		return
	}
	l.Build(len(l.lids))
}

func (l *lft) gather(t *fabric.Tables) {
	f := t.Fabric
	for lid := 1; lid <= max(int(t.Top[l.sw]), int(f.MaxLID)); lid++ {
		id := uint16(lid)
		entry := t.Port(l.sw, id)
		changed := l.was != nil && l.was(id) != entry
		if changed {
			l.changes++
		}
		if (entry != fabric.NoPath || changed || f.PortByLID(id) != fabric.None) && (changed || !l.changedOnly) {
			l.lids = append(l.lids, id)
		}
	}
}

// group counts the LIDs that go by each port.
func (l *lft) group() {
	l.count, l.most = [256]int{}, 0
	for _, lid := range l.lids {
		l.count[l.tables().Port(l.sw, lid)]++
	}
	for port, n := range l.count {
		if n > 0 {
			l.ports = append(l.ports, uint8(port))
			l.most = max(l.most, n)
		}
	}
}

// compare finds the row of the switch in what is compared with.
func (l *lft) compare() {
	if l.Scene.Base == nil {
		return
	}
	old := l.Scene.Base.Tables
	sw := old.Fabric.SwitchByGUID(l.place.GUID)
	if sw != fabric.None && old.Known[sw] {
		l.was = func(lid uint16) uint8 { return old.Port(sw, lid) }
	}
}

// prepareFilter finds the nodes and the ports that the filter hits.
func (l *lft) prepareFilter() {
	l.nodeHits = l.Filt.Hits(l.Scene.Names.Search)
	for port := range l.portHits {
		l.portHits[port] = l.Filt.Hit(strings.ToLower(l.nextHop(uint8(port))))
	}
	l.number = -1
	if n, err := strconv.Atoi(strings.TrimPrefix(l.Filt.Text, "!")); err == nil {
		l.number = n
	}
}

// passes reports whether the filter lets a row through: a LID, the name of its destination or the next hop.
func (l *lft) passes(row int) bool {
	if l.Kind == lftByPort {
		return l.portHits[l.ports[row]] != l.Filt.Invert
	}
	lid := l.lids[row]
	e := l.Scene.Picture.Fabric.PortByLID(lid)
	hit := int(lid) == l.number || e != fabric.None && l.nodeHits[l.Scene.Picture.Fabric.Ports[e].Node] || l.portHits[l.entry(row)]
	return hit != l.Filt.Invert
}
