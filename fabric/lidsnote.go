// SPDX-License-Identifier: Apache-2.0

package fabric

import "fmt"

// LIDNoteKind is why a record or a port's LIDs could not stay.
type LIDNoteKind uint8

// What OpenSM finds wrong with records of guid2lid and with LIDs that ports have.
const (
	RecordKept       LIDNoteKind = iota
	RecordUnreadable             // stays in the file and has no effect
	RecordIllegal                // no range of unicast LIDs
	RecordMisaligned             // a range that does not begin at a multiple of 2^LMC
	RecordTaken                  // LIDs that another record has
	RecordUnfit                  // too few LIDs for its port, or misaligned
	ClaimTooHigh                 // a port has a LID that is no unicast LID
	ClaimRemembered              // a port has another LID than the remembered one
	ClaimMisaligned              // a port's LID is no multiple of 2^LMC
	ClaimTaken                   // a port's LIDs are another one's, too
	NoLIDsLeft                   // there are no LIDs left for a port
)

// LIDNote is one thing noticed while LIDs were assigned.
type LIDNote struct {
	Kind   LIDNoteKind
	GUID   uint64     // that of the record or the port
	LIDs   LIDRange   // those of the record, or those that the port had
	Record GUIDRecord // the record as it was read, but with RecordUnfit and later kinds
}

// String says what was noticed, what OpenSM does with it, and names the error in OpenSM's log if there is one.
func (n LIDNote) String() string {
	guid := fmt.Sprintf("0x%016x", n.GUID)
	switch n.Kind {
	case RecordUnreadable:
		return fmt.Sprintf("guid2lid: %s %s: no LIDs that OpenSM can read under this key; it passes the record over "+
			"(ERR 0311)",
			clip(n.Record.Key), clip(n.Record.Value))
	case RecordIllegal:
		return fmt.Sprintf("guid2lid: %s: %d to %d is no range of unicast LIDs; OpenSM drops the record (ERR 0312)",
			guid, n.LIDs.Min, n.LIDs.Max)
	case RecordMisaligned:
		return fmt.Sprintf("guid2lid: %s: %s do not begin at a multiple of the LIDs of a port; OpenSM drops the "+
			"record (ERR 0313)", guid, n.LIDs)
	case RecordTaken:
		return fmt.Sprintf("guid2lid: %s: another record has one of %s; OpenSM drops this one (ERR 0314)", guid, n.LIDs)
	case RecordUnfit:
		return fmt.Sprintf("guid2lid: %s: %s do not fit the LMC; OpenSM drops the record", guid, n.LIDs)
	case ClaimTooHigh:
		return fmt.Sprintf("port %s has LID %d, which is no unicast LID; for OpenSM it has none (ERR 0F04)", guid,
			n.LIDs.Min)
	case ClaimRemembered:
		return fmt.Sprintf("port %s has LID %d, but guid2lid gives it another one", guid, n.LIDs.Min)
	case ClaimMisaligned:
		return fmt.Sprintf("port %s has LID %d, which is no multiple of the LIDs of a port; it gets others", guid,
			n.LIDs.Min)
	case ClaimTaken:
		return fmt.Sprintf("port %s has LID %d, but not all LIDs from there on are free; it gets others", guid,
			n.LIDs.Min)
	case NoLIDsLeft:
		return fmt.Sprintf("port %s: no LIDs left; OpenSM gives it LID 0 (ERR 0307)", guid)
	}
	return ""
}

func (m *lidManager) note(n LIDNote) { m.notes = append(m.notes, n) }

func (m *lidManager) noteClaim(kind LIDNoteKind, i int) {
	c := m.claims[i]
	last := c.LID + 1<<c.LMC - 1
	m.note(LIDNote{Kind: kind, GUID: m.f.Ports[m.f.EndPorts[i]].GUID, LIDs: LIDRange{c.LID, last}})
}

// clip makes a text of a file fit for a message.
func clip(s string) string {
	if len(s) > 40 {
		return Escape(s[:37]) + "..."
	}
	return Escape(s)
}
