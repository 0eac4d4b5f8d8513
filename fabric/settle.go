// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"slices"
)

// ResolveConflicts takes from ports of the subnet what [Builder.Build] would refuse, and says
// of each port what: of two with one LID the first that was added keeps it and the
// other has none, as has one whose LID is no unicast LID or does not fit its LMC; of
// two with one port GUID the second gets that of its node and its number, or the
// next one that is free. O(ports log ports).
func (b *Builder) ResolveConflicts() []*PortError {
	f := &b.f
	stated := f.SMPort
	f.SMPort = b.smPort()
	ends := f.reach()
	f.SMPort = stated
	slices.Sort(ends)
	s := settler{
		f: f, ends: ends, byGUID: make(map[uint64]PortIndex, len(ends)),
		byLID: slices.Repeat([]PortIndex{None}, MaxUnicastLID+1),
	}
	for _, e := range ends {
		s.guid(e)
		s.lid(e)
	}
	return s.found
}

type settler struct {
	f    *Fabric
	ends []PortIndex
	// stated are the GUIDs of all ends, nil until one is there twice.
	stated map[uint64]bool
	byGUID map[uint64]PortIndex
	byLID  []PortIndex
	found  []*PortError
}

func (s *settler) add(e PortIndex, claim PortClaim, msg string) {
	p := &s.f.Ports[e]
	s.found = append(s.found, &PortError{Node: p.Node, Num: p.Num, Claim: claim, Msg: msg})
}

func (s *settler) guid(e PortIndex) {
	p := &s.f.Ports[e]
	if first, taken := s.byGUID[p.GUID]; taken {
		if s.stated == nil {
			s.stated = make(map[uint64]bool, len(s.ends))
			for _, e := range s.ends {
				s.stated[s.f.Ports[e].GUID] = true
			}
		}
		msg := s.f.sameGUID(p.GUID, first, e)
		n := &s.f.Nodes[p.Node]
		guid := n.GUID + uint64(p.Num)
		for s.stated[guid] || guid == 0 {
			guid++
		}
		p.GUID, s.stated[guid] = guid, true
		if n.IsSwitch() {
			for i := range n.Slots() {
				s.f.Ports[i].GUID = guid
			}
		}
		s.add(e, ClaimsGUID, fmt.Sprintf("%s, which is taken as 0x%016x", msg, guid))
	}
	s.byGUID[p.GUID] = e
}

func (s *settler) lid(e PortIndex) {
	p := &s.f.Ports[e]
	if p.LID == 0 {
		return
	}
	claim, why := ClaimsNothing, s.f.unfit(e)
	if why == "" {
		for i := range uint16(1) << p.LMC {
			if first := s.byLID[p.LID+i]; first != None {
				claim, why = ClaimsLID, s.f.sameLID(p.LID+i, first, e)
				break
			}
		}
	}
	if why != "" {
		s.add(e, claim, why+", which is taken without a LID")
		p.LID, p.LMC = 0, 0
		return
	}
	for i := range uint16(1) << p.LMC {
		s.byLID[p.LID+i] = e
	}
}
