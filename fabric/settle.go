// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"
	"slices"
)

// ResolveConflicts removes the identifiers that [Builder.Build] would refuse from ports of the subnet. It returns an
// error for each such port.
//
// If two ports have the same LID, the port that was added later loses the LID. A port also loses a LID that is not a
// unicast LID or does not fit its LMC. If two ports have the same port GUID, the later port gets the GUID of its node
// plus the port number, or the next free GUID. O(ports log ports).
func (b *Builder) ResolveConflicts() []*PortError {
	f := &b.f
	stated := f.SMPort
	f.SMPort = b.smPort()
	ends := f.reach()
	f.SMPort = stated
	slices.Sort(ends)
	s := resolver{
		f: f, ends: ends, byGUID: make(map[uint64]PortIndex, len(ends)),
		byLID: slices.Repeat([]PortIndex{None}, MaxUnicastLID+1),
	}
	for _, e := range ends {
		s.guid(e)
		s.lid(e)
	}
	return s.errors
}

type resolver struct {
	f    *Fabric
	ends []PortIndex
	// stated holds the GUIDs of all end ports. It is nil until a GUID occurs twice.
	stated map[uint64]bool
	byGUID map[uint64]PortIndex
	byLID  []PortIndex
	errors []*PortError
}

func (s *resolver) add(e PortIndex, claim PortClaim, msg string) {
	p := &s.f.Ports[e]
	s.errors = append(s.errors, &PortError{Node: p.Node, Num: p.Num, Claim: claim, Msg: msg})
}

func (s *resolver) guid(e PortIndex) {
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
		s.add(e, ClaimsGUID, fmt.Sprintf("%s, which is treated as 0x%016x", msg, guid))
	}
	s.byGUID[p.GUID] = e
}

func (s *resolver) lid(e PortIndex) {
	p := &s.f.Ports[e]
	if p.LID == 0 {
		return
	}
	claim, fault := ClaimsNothing, s.f.lidFault(e)
	if fault == "" {
		for i := range uint16(1) << p.LMC {
			if first := s.byLID[p.LID+i]; first != None {
				claim, fault = ClaimsLID, s.f.sameLID(p.LID+i, first, e)
				break
			}
		}
	}
	if fault != "" {
		s.add(e, claim, fault+", whose LID is ignored")
		p.LID, p.LMC = 0, 0
		return
	}
	for i := range uint16(1) << p.LMC {
		s.byLID[p.LID+i] = e
	}
}
