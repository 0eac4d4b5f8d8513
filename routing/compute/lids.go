// SPDX-License-Identifier: Apache-2.0

package compute

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
)

// LIDs say which LIDs ports get.
type LIDs struct {
	fabric.LIDOptions
	// Chosen says that LMC is; else it is what the subnet has.
	Chosen bool
}

// assignment is a subnet whose ports have LIDs.
type assignment struct {
	fabric *fabric.Fabric
	// top is the highest LID that OpenSM's tables have entries for.
	top   uint16
	notes []string
}

// assign gives the ports of f their LIDs.
func (o LIDs) assign(f *fabric.Fabric) (assignment, error) {
	if !o.Chosen {
		o.LMC = f.MaxLMC()
	}
	if o.LMC == 0 && !o.Reassign && o.GUID2LID == nil && f.MaxLMC() == 0 {
		g, err := fabric.AssignLIDs(f)
		if err != nil {
			return assignment{}, fmt.Errorf("assign LIDs: %w", err)
		}
		return assignment{fabric: g, top: g.MaxLID}, nil
	}
	a, err := fabric.AssignLIDsWith(f, o.LIDOptions)
	if err != nil {
		return assignment{}, fmt.Errorf("assign LIDs: %w", err)
	}
	out := assignment{fabric: a.Fabric, top: a.Top}
	for _, n := range a.Notes {
		out.notes = append(out.notes, n.String())
	}
	if fabric.SameLIDs(f, a.Fabric) {
		out.fabric = f
	}
	return out, nil
}

// remembering also gives ports of f that have no LID the one that they had in another
// picture of the subnet.
func (o LIDs) remembering(f, was *fabric.Fabric) LIDs {
	if o.GUID2LID != nil {
		return o
	}
	remembered, found := &fabric.GUID2LID{}, false
	for _, e := range f.EndPorts {
		port := &f.Ports[e]
		old := was.PortByGUID(port.GUID)
		if port.LID == 0 && old != fabric.None && was.Ports[old].LID != 0 {
			remembered.Set(port.GUID, was.Ports[old].LIDRange())
			found = true
		}
	}
	if !found {
		return o
	}
	o.GUID2LID = remembered
	if !o.Chosen {
		o.LMC, o.Chosen = max(f.MaxLMC(), was.MaxLMC()), true
	}
	return o
}

// After is what OpenSM gives ports of f that has given a subnet its LIDs before: those of ports that are gone stay
// theirs. Ports of f that had LIDs in since, a routing after that, keep them; since may be nil. Where the subnet
// has none, or cannot have any, it is o.
func (o LIDs) After(was, since, f *fabric.Fabric) LIDs {
	if was.MaxLID == 0 {
		return o
	}
	if !o.Chosen {
		o.LMC, o.Chosen = was.MaxLMC(), true
	}
	if a, err := fabric.AssignLIDsWith(was, o.LIDOptions); err == nil {
		o.GUID2LID, o.Reassign = a.GUID2LID, false
	}
	for _, e := range f.EndPorts {
		if since == nil || o.GUID2LID == nil {
			break
		}
		if at := since.PortByGUID(f.Ports[e].GUID); at != fabric.None && since.Ports[at].LID != 0 {
			o.GUID2LID.Remember(since.Ports[at].GUID, since.Ports[at].LIDRange())
		}
	}
	return o
}

// upTo gives tables entries, and switches a LinearFDBTop, up to a LID that a port
// had and that none has any more.
func upTo(t *fabric.Tables, top uint16) *fabric.Tables {
	if top <= t.LFT.MaxLID {
		return t
	}
	g := *t
	g.LFT = t.LFT.Grown(top)
	g.Top = slices.Repeat([]uint16{top}, len(t.Top))
	return &g
}
