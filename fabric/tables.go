// SPDX-License-Identifier: Apache-2.0

package fabric

// Tables are forwarding tables, read-only once made: held by switches, computed by an engine, or loaded.
type Tables struct {
	Fabric *Fabric // the subnet whose switch indexes and LIDs the tables use
	LFT    *LFT
	Top    []uint16 // the LinearFDBTop of each switch; entries above it do not count
	Known  []bool   // of each switch whether its table was read or computed; else its row is all NoPath
	// SL2VL are the mappings of SLs to VLs, nil where they were neither read nor computed: every packet then
	// takes VL 0, unless they are Unread.
	SL2VL  *SL2VL
	SLs    PathSLs // the SLs of paths, nil for SL 0 everywhere, unless they are Unread
	Unread Unread  // which of these two nobody knows
	MFT    *MFT    // the multicast forwarding tables, nil where they were neither read nor computed
	Origin string  // where they come from: "minhop", "live", a file name
}

// Unread says what is not known of tables read from a subnet. Of those that were computed all is known.
type Unread struct {
	SLs   bool // those of paths: the subnet manager has them, not the switches
	SL2VL bool // the mappings of some ports, or of all
}

// Any says that something is not known.
func (u Unread) Any() bool { return u.SLs || u.SL2VL }

// String says it in words: "the service levels of paths were not read".
func (u Unread) String() string {
	switch {
	case u.SLs && u.SL2VL:
		return "the service levels of paths and the SL2VL tables were not read"
	case u.SLs:
		return "the service levels of paths were not read"
	case u.SL2VL:
		return "the SL2VL tables were not read"
	}
	return ""
}

// NewTables wraps computed tables: every switch of the subnet is known, its top at the highest LID.
func NewTables(f *Fabric, lft *LFT, origin string) *Tables {
	t := &Tables{Fabric: f, LFT: lft, Origin: origin, Top: make([]uint16, len(f.Switches)), Known: make([]bool, len(f.Switches))}
	for s, n := range f.Switches {
		t.Top[s] = lft.MaxLID
		t.Known[s] = f.Nodes[n].InSubnet
	}
	return t
}

// Port is the egress port of a switch for a LID, NoPath above its top.
func (t *Tables) Port(sw SwitchIndex, lid uint16) uint8 {
	if lid > t.Top[sw] {
		return NoPath
	}
	return t.LFT.Port(sw, lid)
}
