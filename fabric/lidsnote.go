// SPDX-License-Identifier: Apache-2.0

package fabric

import "fmt"

// LIDNoteKind is the reason why a record of guid2lid or the LIDs of a port were rejected.
type LIDNoteKind uint8

// The faults that OpenSM detects in records of guid2lid and in the LIDs of ports.
const (
	RecordKept       LIDNoteKind = iota
	RecordUnreadable             // stays in the file and has no effect
	RecordIllegal                // not a range of unicast LIDs
	RecordMisaligned             // a range that does not begin at a multiple of 2^LMC
	RecordTaken                  // has LIDs of another record
	RecordUnfit                  // too few LIDs for its port, or misaligned
	ClaimTooHigh                 // the LID of a port is not a unicast LID
	ClaimRemembered              // the LID of a port is not the remembered one
	ClaimMisaligned              // the LID of a port is not a multiple of 2^LMC
	ClaimTaken                   // another port has LIDs of the port
	NoLIDsLeft                   // no LIDs are left for a port
)

// LIDNote reports a record of guid2lid that was rejected, or a port whose LIDs were rejected.
type LIDNote struct {
	Kind   LIDNoteKind
	GUID   uint64     // of the record or the port
	LIDs   LIDRange   // of the record, or the previous LIDs of the port
	Record GUIDRecord // the record as it was read, except with RecordUnfit and later kinds
}

// String describes the fault and how OpenSM handles it. It includes the error number in OpenSM's log, if there is one.
func (n LIDNote) String() string {
	guid := fmt.Sprintf("0x%016x", n.GUID)
	switch n.Kind {
	case RecordUnreadable:
		return fmt.Sprintf("guid2lid: %s %s: OpenSM cannot read LIDs under this key and skips the record (ERR 0311)",
			clip(n.Record.Key), clip(n.Record.Value))
	case RecordIllegal:
		return fmt.Sprintf("guid2lid: %s: %d to %d is not a range of unicast LIDs; OpenSM drops the record (ERR 0312)",
			guid, n.LIDs.Min, n.LIDs.Max)
	case RecordMisaligned:
		return fmt.Sprintf("guid2lid: %s: %s do not begin at a multiple of 2^LMC; OpenSM drops the record (ERR 0313)",
			guid, n.LIDs)
	case RecordTaken:
		return fmt.Sprintf("guid2lid: %s: another record has one of %s; OpenSM drops the record (ERR 0314)", guid,
			n.LIDs)
	case RecordUnfit:
		return fmt.Sprintf("guid2lid: %s: %s do not fit the LMC; OpenSM drops the record", guid, n.LIDs)
	case ClaimTooHigh:
		return fmt.Sprintf("port %s has LID %d, which is not a unicast LID; OpenSM ignores it (ERR 0F04)", guid,
			n.LIDs.Min)
	case ClaimRemembered:
		return fmt.Sprintf("port %s has LID %d, but guid2lid assigns it another LID", guid, n.LIDs.Min)
	case ClaimMisaligned:
		return fmt.Sprintf("port %s has LID %d, which is not a multiple of 2^LMC; it gets other LIDs", guid, n.LIDs.Min)
	case ClaimTaken:
		return fmt.Sprintf("port %s has LID %d, but not all LIDs of its range are free; it gets other LIDs", guid,
			n.LIDs.Min)
	case NoLIDsLeft:
		return fmt.Sprintf("port %s: no LIDs left; OpenSM assigns LID 0 (ERR 0307)", guid)
	}
	return ""
}

func (m *lidManager) note(n LIDNote) { m.notes = append(m.notes, n) }

func (m *lidManager) noteClaim(kind LIDNoteKind, i int) {
	c := m.claims[i]
	last := c.LID + 1<<c.LMC - 1
	m.note(LIDNote{Kind: kind, GUID: m.f.Ports[m.f.EndPorts[i]].GUID, LIDs: LIDRange{c.LID, last}})
}

// clip returns a text of a file for use in a message: escaped and at most 40 bytes long.
func clip(s string) string {
	if len(s) > 40 {
		return Escape(s[:37]) + "..."
	}
	return Escape(s)
}
