// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNoLIDs reports that a subnet needs more unicast LIDs than exist.
var ErrNoLIDs = errors.New("more end ports than unicast LIDs")

// MaxLMC is the maximum LID mask control (IBA 1.2.1, 4.1.3).
const MaxLMC = 7

// LIDOptions holds the options that determine which LIDs OpenSM assigns. The names in parentheses are OpenSM's.
type LIDOptions struct {
	// LMC gives every port 2^LMC LIDs. LMC is from 0 to 7 (option lmc). Port 0 of a switch has a single LID, unless
	// port 0 is enhanced and LMCESP0 is set (option lmc_esp0).
	LMC     uint8
	LMCESP0 bool

	// GUID2LID holds the LIDs that OpenSM remembers. When OpenSM starts, these are the LIDs in the file guid2lid. Later
	// they are the result of the previous assignment. Nil means no remembered LIDs. GUID2LID is not modified.
	GUID2LID *GUID2LID

	// Reassign makes AssignLIDsWith ignore remembered LIDs and the LIDs that ports have. OpenSM does so on its first
	// sweep as master (reassign_lids).
	Reassign bool

	// OutOfStandby is set when OpenSM changes from standby to master. OpenSM then forgets remembered LIDs. If Honor is
	// set (option honor_guid2lid_file), OpenSM reads guid2lid again, and GUID2LID must be the content of the file.
	OutOfStandby, Honor bool

	// Claims holds the LIDs that ports report, in the order of EndPorts. Claims of a live subnet may conflict. Nil
	// means the LIDs of the fabric; these LIDs never conflict.
	Claims []LIDClaim
}

// LIDClaim holds the LID and the LMC in the PortInfo of a port.
type LIDClaim struct {
	LID uint16
	LMC uint8
}

// LIDAssignment is the result of [AssignLIDsWith].
type LIDAssignment struct {
	Fabric *Fabric    // with the assigned LIDs and LMCs, and the SM's LID at every end port
	LIDs   []LIDRange // of EndPorts; 0 to 0 for a port without LIDs
	Top    uint16     // the highest LID in OpenSM's tables: the highest LID of any port since OpenSM started
	// GUID2LID holds the LIDs that OpenSM remembers from now on. OpenSM writes these LIDs to the file if Written is
	// set.
	GUID2LID *GUID2LID
	Written  bool
	Notes    []LIDNote // the records and LIDs of ports that were rejected
}

// Remembered returns the records of GUID2LID that OpenSM keeps after it has read the file for a subnet.
func (o LIDOptions) Remembered(f *Fabric) *GUID2LID {
	m := newLIDManager(f, o)
	m.begin()
	return m.table
}

// AssignLIDs gives every end port of the subnet one LID, as OpenSM does at LMC 0 without remembered LIDs. A port keeps
// its LID. Ports without a LID get the lowest free LIDs: first the port of the SM, then the other ports in the order of
// EndPorts. If every port already has a LID, AssignLIDs returns f. It returns [ErrNoLIDs] if there are too few free
// LIDs. O(ports + LIDs).
func AssignLIDs(f *Fabric) (*Fabric, error) {
	if !slices.ContainsFunc(f.EndPorts, func(e PortIndex) bool { return f.Ports[e].LID == 0 }) {
		return f, nil
	}
	a, err := AssignLIDsWith(f, LIDOptions{})
	if err != nil {
		return nil, err
	}
	return a.Fabric, nil
}

// AssignLIDsWith assigns LIDs to the end ports of the subnet as OpenSM does on a sweep (osm_lid_mgr.c). The port of the
// SM comes first, then the other ports in the order of EndPorts. Each port takes the first available LIDs in this list:
//
//   - the LIDs that OpenSM remembers for it,
//   - its own LIDs, if these LIDs are aligned and not remembered for another port,
//   - the first free range of LIDs, aligned if the range has at least 2 LIDs.
//
// It returns [ErrNoLIDs] if LIDs run out, and a [PortError] if two ports get the same LID. OpenSM does not always
// prevent equal LIDs. With either error AssignLIDsWith also returns the assignment; with a PortError, the assignment
// has no Fabric. O(ports + LIDs).
func AssignLIDsWith(f *Fabric, o LIDOptions) (*LIDAssignment, error) {
	if o.LMC > MaxLMC {
		return nil, fmt.Errorf("LMC %d, expected 0 to %d", o.LMC, MaxLMC)
	}
	if o.Claims != nil && len(o.Claims) != len(f.EndPorts) {
		return nil, fmt.Errorf("%d LIDs are given for %d end ports", len(o.Claims), len(f.EndPorts))
	}
	m := newLIDManager(f, o)
	m.begin()
	m.assign()
	a := &LIDAssignment{LIDs: m.given, Top: m.table.top, GUID2LID: m.table, Written: m.written, Notes: m.notes}
	g := f.copy()
	for i, e := range f.EndPorts {
		p := &g.Ports[e]
		p.LID, p.LMC = m.given[i].Min, m.lmc(e)
		p.SMLID = m.smLID
	}
	if err := g.finish(); err != nil {
		return a, fmt.Errorf("assign LIDs as OpenSM does: %w", err)
	}
	a.Fabric = g
	if m.unserved > 0 {
		return a, fmt.Errorf("%d ports without a LID: %w", m.unserved, ErrNoLIDs)
	}
	return a, nil
}
