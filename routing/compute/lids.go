// SPDX-License-Identifier: Apache-2.0

package compute

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
)

// LIDs control the LIDs that ports get.
type LIDs struct {
	fabric.LIDOptions
	// Chosen is set if the user chose the LMC. Otherwise the LMC of the subnet is used.
	Chosen bool
	// FoundFile is the escaped name of the GUID2LID file if the program found the file without being told its name.
	// Otherwise it is "". See [LIDs.WithoutContradictions].
	FoundFile string
	// Remember passes the LIDs of ports on to the next job, even if all ports have LIDs.
	Remember bool
}

// assignment is a subnet whose ports have LIDs.
type assignment struct {
	fabric *fabric.Fabric
	// top is the highest LID for which OpenSM's tables have entries.
	top   uint16
	notes []string
	// next controls the next assignment. It is nil if all ports had LIDs already and Remember is not set.
	next *LIDs
}

// assign assigns LIDs to the ports of the job's subnet. It reuses the LIDs that the subnet manager remembers from
// earlier assignments.
func (job *Job) assign() (assignment, error) {
	if job.Past.LIDs != nil {
		return job.Past.LIDs.assign(job.Fabric)
	}
	a, err := job.LIDs.assign(job.Fabric)
	if a.next == nil || !job.Failed {
		return a, err
	}
	for _, e := range job.Base.EndPorts { // failed ports may come back
		if p := &job.Base.Ports[e]; p.LID != 0 {
			a.next.GUID2LID.Reserve(p.GUID, p.LIDRange())
		}
	}
	return a, err
}

// assign assigns LIDs to the ports of f.
func (o LIDs) assign(f *fabric.Fabric) (assignment, error) {
	if !o.Chosen {
		o.LMC = f.MaxLMC()
	}
	if o.LMC == 0 && !o.Reassign && o.GUID2LID == nil && f.MaxLMC() == 0 && !o.Remember && !LackLIDs(f) {
		return assignment{fabric: f, top: f.MaxLID}, nil
	}
	a, err := fabric.AssignLIDsWith(f, o.LIDOptions)
	if err != nil {
		return assignment{}, fmt.Errorf("assign LIDs: %w", err)
	}
	out := assignment{fabric: a.Fabric, top: a.Top, next: &o}
	o.Chosen, o.Reassign, o.GUID2LID = true, false, a.GUID2LID
	for _, n := range a.Notes {
		out.notes = append(out.notes, n.String())
	}
	if fabric.SameLIDs(f, a.Fabric) {
		out.fabric = f
	}
	return out, nil
}

// WithoutContradictions returns o without the records of FoundFile that contradict the LIDs of ports of f. A record
// contradicts if its port has another LID, or if another port has its LID. The result note names the file, or is "" if
// no record contradicts.
func (o LIDs) WithoutContradictions(f *fabric.Fabric) (out LIDs, note string) {
	if o.FoundFile == "" {
		return o, ""
	}
	var held [fabric.MaxUnicastLID + 1]uint64 // the GUIDs of ports
	for _, e := range f.EndPorts {
		p := &f.Ports[e]
		for lid := p.LIDRange().Min; p.LID != 0 && lid <= p.LIDRange().Max; lid++ {
			held[lid] = p.GUID
		}
	}
	t, dropped, example := o.GUID2LID.Clone(), 0, ""
	for _, r := range slices.Collect(t.Records()) {
		if !r.Readable {
			continue
		}
		contradicts := ""
		if e := f.PortByGUID(r.GUID); e != fabric.None && f.Ports[e].LID != 0 && f.Ports[e].LID != r.LIDs.Min {
			contradicts = fmt.Sprintf("%s has LID %d and not %d", f.PortName(e), f.Ports[e].LID, r.LIDs.Min)
		}
		for lid := r.LIDs.Min; contradicts == "" && lid <= min(r.LIDs.Max, fabric.MaxUnicastLID); lid++ {
			if held[lid] != 0 && held[lid] != r.GUID {
				contradicts = fmt.Sprintf("%s has LID %d, which the file gives port 0x%016x",
					f.PortName(f.PortByGUID(held[lid])), lid, r.GUID)
			}
		}
		if contradicts == "" {
			continue
		}
		t.Delete(r.GUID)
		if dropped++; example == "" {
			example = contradicts
		}
	}
	o.GUID2LID, note = t, ""
	if dropped > 0 {
		note = fmt.Sprintf("%s contradicts the LIDs of the subnet, which stay: %d of its records are not used, "+
			"for example: %s", o.FoundFile, dropped, example)
	}
	return o, note
}

// LackLIDs reports whether an end port of the subnet has no LID.
func LackLIDs(f *fabric.Fabric) bool {
	return slices.ContainsFunc(f.EndPorts, func(e fabric.PortIndex) bool { return f.Ports[e].LID == 0 })
}

// remembering returns o extended by the LIDs of another state of the subnet, for ports that have no LID in f.
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

// After returns the control by which OpenSM assigns LIDs to ports of f after it has assigned the LIDs of an earlier
// subnet. A port without LIDs gets the LIDs that it had in the earlier subnet. The LIDs of removed ports stay reserved.
// The argument since is the subnet of a later routing, or nil. Ports of f that got LIDs in that subnet keep these LIDs.
func (o LIDs) After(was, since, f *fabric.Fabric) LIDs {
	if was.MaxLID == 0 || o.Reassign {
		return o
	}
	if !o.Chosen {
		o.LMC, o.Chosen = max(was.MaxLMC(), f.MaxLMC()), true
	}
	o.GUID2LID = o.GUID2LID.Clone()
	taken := map[uint16]bool{}
	remember := func(from *fabric.Fabric, reserve bool) {
		for _, e := range from.EndPorts {
			port, now := &from.Ports[e], f.PortByGUID(from.Ports[e].GUID)
			if _, known := o.GUID2LID.Get(port.GUID); known || port.LID == 0 || now == fabric.None && !reserve ||
				now != fabric.None && f.Ports[now].LID != 0 {
				continue
			}
			lids := port.LIDRange()
			free := true
			for lid := lids.Min; lid <= lids.Max; lid++ {
				free = free && !taken[lid] && f.PortByLID(lid) == fabric.None
			}
			for lid := lids.Min; free && lid <= lids.Max; lid++ {
				taken[lid] = true
			}
			if free {
				o.GUID2LID.Set(port.GUID, lids)
			}
		}
	}
	remember(was, true)
	if since != nil {
		remember(since, false)
	}
	return o
}

// upTo extends tables to the LID top, which no port has any more. It raises the values of LinearFDBTop, too.
func upTo(t *fabric.Tables, top uint16) *fabric.Tables {
	if top <= t.LFT.MaxLID {
		return t
	}
	g := *t
	g.LFT = t.LFT.Grown(top)
	g.Top = slices.Repeat([]uint16{top}, len(t.Top))
	return &g
}
