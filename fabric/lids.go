// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"errors"
	"fmt"
	"slices"
)

// ErrNoLIDs says that the unicast LIDs do not suffice for the ports of a subnet.
var ErrNoLIDs = errors.New("more end ports than unicast LIDs")

// MaxLMC is the highest LID mask control (IBA 1.2.1, 4.1.3).
const MaxLMC = 7

// LIDOptions are what decides which LIDs OpenSM gives, by the names of its options.
type LIDOptions struct {
	// LMC gives every port 2^LMC LIDs, 0 to 7 (lmc). Port 0 of a switch has one,
	// unless it is an enhanced port 0 and LMCESP0 is set (lmc_esp0).
	LMC     uint8
	LMCESP0 bool

	// GUID2LID is what OpenSM remembers: its file guid2lid where it starts, else
	// what the assignment before returned. Nil is nothing. It is not changed.
	GUID2LID *GUID2LID

	// Reassign starts anew: on its first sweep as master OpenSM then takes
	// neither what it remembers nor what ports have (reassign_lids).
	Reassign bool

	// OutOfStandby says that OpenSM was standby and becomes master. It then forgets what it remembers, unless
	// Honor is set: then it reads guid2lid again (honor_guid2lid_file), and GUID2LID is to be what it reads.
	OutOfStandby, Honor bool

	// Claims are the LIDs that ports say they have, in the order of EndPorts. A fabric's own LIDs, which are
	// taken where Claims is nil, never contradict one another; those of a live subnet may.
	Claims []LIDClaim
}

// LIDClaim is the LID and the LMC of a port's PortInfo.
type LIDClaim struct {
	LID uint16
	LMC uint8
}

// LIDAssignment is what [AssignLIDsWith] found.
type LIDAssignment struct {
	Fabric *Fabric    // with the LIDs and LMCs given, and the SM's LID at every end port
	LIDs   []LIDRange // those of EndPorts; 0 to 0 where they ran out
	Top    uint16     // the highest LID of OpenSM's tables: that a port had or was given since it started
	// GUID2LID is what OpenSM remembers from now on, and writes where Written is
	// set; else it leaves the file as it is.
	GUID2LID *GUID2LID
	Written  bool
	Notes    []LIDNote // which records and which ports' LIDs could not stay, and why
}

// Remembered is what OpenSM remembers of GUID2LID when it has read it on a subnet, without the records that it drops.
func (o LIDOptions) Remembered(f *Fabric) *GUID2LID {
	m := newLIDManager(f, o)
	m.begin()
	return m.table
}

// AssignLIDs gives every end port of the subnet one LID as OpenSM does at LMC 0 without remembering anything:
// a port keeps the LID it has; the others get the lowest free ones, the SM's port first and the rest in the
// order of EndPorts. It returns f itself where every port has a LID already. It fails with [ErrNoLIDs] where
// there are too few. O(ports + LIDs).
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

// AssignLIDsWith gives the end ports of the subnet their LIDs as OpenSM does on a sweep (osm_lid_mgr.c). The
// SM's port comes first, then the others in the order of EndPorts, and each takes the first of these:
//
//   - the LIDs that OpenSM remembers for it,
//   - the LIDs it has, if they are aligned and not remembered for another port,
//   - the first free range, aligned if it is of more than one LID.
//
// Where LIDs run out it fails with [ErrNoLIDs], and where two ports end up with one LID, which OpenSM does
// not always prevent, with a [PortError]. The assignment is returned with either error, but without a Fabric
// after the latter. O(ports + LIDs).
func AssignLIDsWith(f *Fabric, o LIDOptions) (*LIDAssignment, error) {
	if o.LMC > MaxLMC {
		return nil, fmt.Errorf("LMC %d, expected 0 to %d", o.LMC, MaxLMC)
	}
	if o.Claims != nil && len(o.Claims) != len(f.EndPorts) {
		return nil, fmt.Errorf("%d claims of LIDs for %d end ports", len(o.Claims), len(f.EndPorts))
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
		return a, fmt.Errorf("%d ports without: %w", m.unserved, ErrNoLIDs)
	}
	return a, nil
}
