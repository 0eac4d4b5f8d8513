// SPDX-License-Identifier: Apache-2.0

package fabric

import "slices"

// lidManager assigns LIDs like OpenSM's LID manager (osm_lid_mgr.c). It also reproduces behavior that looks like a
// fault.
type lidManager struct {
	f *Fabric
	o LIDOptions
	// table holds the remembered LIDs. LIDs marked as used are reserved for the ports for which they are remembered.
	table *GUID2LID
	free  []LIDRange

	// claims holds the LIDs that EndPorts report, in the same order. holder is, by LID, the last end port that claims
	// the LID, counted from 1; 0 means none.
	claims []LIDClaim
	holder []int32

	given    []LIDRange
	smLID    uint16
	written  bool
	unserved int
	notes    []LIDNote
}

func newLIDManager(f *Fabric, o LIDOptions) *lidManager {
	m := &lidManager{f: f, o: o, table: o.GUID2LID.Clone(), claims: o.Claims, given: make([]LIDRange, len(f.EndPorts))}
	if m.claims == nil {
		m.claims = make([]LIDClaim, len(f.EndPorts))
		for i, e := range f.EndPorts {
			m.claims[i] = LIDClaim{f.Ports[e].LID, f.Ports[e].LMC}
		}
	}
	m.claims = slices.Clone(m.claims)
	for i := range m.claims {
		c := &m.claims[i]
		c.LMC = min(c.LMC, MaxLMC)
		if c.LID > MaxUnicastLID {
			m.noteClaim(ClaimTooHigh, i)
			c.LID = 0
		}
	}
	return m
}

// width returns the number of LIDs that a port gets.
func (m *lidManager) width(endPort PortIndex) uint16 { return 1 << m.lmc(endPort) }

func (m *lidManager) lmc(endPort PortIndex) uint8 {
	if m.isPlainPort0(endPort) {
		return 0
	}
	return m.o.LMC
}

func aligned(lid, width uint16) bool { return lid&(width-1) == 0 }

// begin determines the remembered LIDs and the free ranges of LIDs (osm_lid_mgr_init and lid_mgr_init_sweep).
func (m *lidManager) begin() {
	switch {
	case m.o.Reassign:
		m.table = &GUID2LID{}
	case m.o.OutOfStandby && !m.o.Honor:
		m.table.clear()
	}
	if m.table.used == nil {
		m.table.used = make([]bool, MaxUnicastLID+1)
		m.validate()
	}
	if m.o.Reassign {
		m.free = []LIDRange{{1, MaxUnicastLID}}
		return
	}
	m.holder = make([]int32, MaxUnicastLID+1)
	for i := range m.f.EndPorts {
		m.markClaim(i)
		m.checkRecord(i)
	}
	m.findFree()
}

// validate drops records that are invalid at this LMC (lid_mgr_validate_db). If two records have the same LID, it keeps
// the record that comes later in OpenSM's table.
func (m *lidManager) validate() {
	width := uint16(1) << m.o.LMC
	records := slices.Collect(m.table.Records())
	for _, r := range slices.Backward(records) {
		lids, ok := m.table.Get(r.GUID)
		if !ok {
			m.note(LIDNote{Kind: RecordUnreadable, GUID: r.GUID, Record: r})
			continue
		}
		kind := RecordKept
		switch {
		case lids.Min > lids.Max || lids.Min == 0 || r.GUID == 0:
			kind = RecordIllegal
		case lids.Min != lids.Max && !aligned(lids.Min, width):
			kind = RecordMisaligned
		case m.anyUsed(lids):
			kind = RecordTaken
		}
		if kind != RecordKept {
			m.note(LIDNote{Kind: kind, GUID: r.GUID, LIDs: lids, Record: r})
			m.forget(r.GUID)
			continue
		}
		for lid := lids.Min; lid <= lids.Max && lid < lids.Min+width; lid++ {
			m.table.used[lid] = true
		}
	}
}

func (m *lidManager) forget(guid uint64) {
	if m.table.Delete(guid) {
		m.written = true
	}
}

func (m *lidManager) anyUsed(r LIDRange) bool {
	return slices.Contains(m.table.used[r.Min:r.Max+1], true)
}

// markClaim records end port i as the holder of the LIDs that it reports. It records at most the number of LIDs that a
// port gets in this subnet.
func (m *lidManager) markClaim(i int) {
	c := m.claims[i]
	last := c.LID + 1<<c.LMC - 1
	if last > MaxUnicastLID {
		return
	}
	width := uint16(1) << m.o.LMC
	m.table.top = max(m.table.top, last)
	for lid := c.LID; lid <= last; lid++ {
		m.holder[lid] = 0
		if lid < c.LID+width {
			m.holder[lid] = int32(i) + 1
		}
	}
}

// checkRecord drops the remembered record of end port i if the record is misaligned or has too few LIDs for the port.
func (m *lidManager) checkRecord(i int) {
	e := m.f.EndPorts[i]
	guid := m.f.Ports[e].GUID
	lids, ok := m.table.Get(guid)
	width := m.width(e)
	if !ok || width == 1 || (aligned(lids.Min, width) && lids.Max-lids.Min+1 >= width) {
		return
	}
	m.note(LIDNote{Kind: RecordUnfit, GUID: guid, LIDs: lids})
	m.forget(guid)
	for lid := lids.Min; lid <= lids.Max; lid++ {
		m.table.used[lid] = false
	}
}

// findFree lists the free ranges of LIDs. A LID is free if it is not remembered and no port keeps it.
func (m *lidManager) findFree() {
	var now LIDRange
	lid := uint16(1)
	for ; lid <= MaxUnicastLID; lid++ {
		last, kept := m.keeps(lid)
		switch {
		case !kept && now.Min == 0:
			now = LIDRange{lid, lid}
		case !kept:
			now.Max = lid
		case now.Min != 0:
			m.free = append(m.free, now)
			now = LIDRange{}
		}
		lid = last
	}
	if now.Min != 0 {
		m.free = append(m.free, LIDRange{now.Min, MaxUnicastLID})
	}
}

// keeps reports whether a LID is taken. It also returns the last LID to which the same answer applies.
func (m *lidManager) keeps(lid uint16) (last uint16, kept bool) {
	if m.table.used[lid] {
		return lid, true
	}
	i := m.holder[lid] - 1
	if i < 0 {
		return lid, false
	}
	e := m.f.EndPorts[i]
	if _, ok := m.table.Get(m.f.Ports[e].GUID); ok {
		return lid, false
	}
	claim, width := m.claims[i], m.width(e)
	if !aligned(claim.LID, width) {
		return lid, false
	}
	last = claim.LID + width - 1
	if m.isPlainPort0(e) {
		last = claim.LID + 1<<claim.LMC - 1
	}
	if last > claim.LID && m.anyUsed(LIDRange{claim.LID + 1, last}) {
		return lid, false
	}
	return max(lid, last), true
}

func (m *lidManager) isPlainPort0(endPort PortIndex) bool {
	n := &m.f.Nodes[m.f.Ports[endPort].Node]
	return n.IsSwitch() && (!n.EnhancedPort0 || !m.o.LMCESP0)
}

// assign assigns LIDs to all end ports. It begins with the SM's port.
func (m *lidManager) assign() {
	sm := PortIndex(None)
	if m.f.SMPort != None {
		sm = m.f.EndPortOf(m.f.SMPort)
	}
	if i := slices.Index(m.f.EndPorts, sm); i >= 0 {
		m.give(i)
		m.smLID = m.given[i].Min
	}
	for i, e := range m.f.EndPorts {
		if e != sm {
			m.give(i)
		}
	}
}

// give assigns the LIDs of end port i (lid_mgr_get_port_lid).
func (m *lidManager) give(i int) {
	e := m.f.EndPorts[i]
	lids := m.choose(i, m.width(e))
	m.given[i] = lids
	if m.table.Set(m.f.Ports[e].GUID, lids) {
		m.written = true
	}
	m.table.top = max(m.table.top, lids.Max)
	for lid := lids.Min; lid <= lids.Max; lid++ {
		m.table.used[lid] = true
	}
}

func (m *lidManager) choose(i int, width uint16) LIDRange {
	guid, claim := m.f.Ports[m.f.EndPorts[i]].GUID, m.claims[i].LID
	if !m.o.Reassign {
		if r, ok := m.table.Get(guid); ok {
			if claim != 0 && claim != r.Min {
				m.noteClaim(ClaimRemembered, i)
			}
			return LIDRange{r.Min, r.Min + width - 1}
		}
		own := LIDRange{claim, claim + width - 1}
		switch {
		case claim == 0:
		case !aligned(claim, width):
			m.noteClaim(ClaimMisaligned, i)
		case m.anyUsed(own):
			m.noteClaim(ClaimTaken, i)
		default:
			return own
		}
	}
	r, ok := m.takeFree(width)
	if !ok {
		m.unserved++
		m.note(LIDNote{Kind: NoLIDsLeft, GUID: guid})
	}
	return r
}

// takeFree removes width LIDs from the first free range that is large enough, and returns them
// (lid_mgr_find_free_lid_range).
func (m *lidManager) takeFree(width uint16) (LIDRange, bool) {
	for i, r := range m.free {
		first := (r.Min + width - 1) &^ (width - 1)
		last := first + width - 1
		if last > r.Max {
			continue
		}
		if last == r.Max {
			m.free = slices.Delete(m.free, i, i+1)
		} else {
			m.free[i].Min = last + 1
		}
		return LIDRange{first, last}, true
	}
	return LIDRange{}, false
}
