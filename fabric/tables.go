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
	// Adaptive is what switches that route adaptively hold, nil where none does or nobody knows.
	Adaptive *Adaptive
	MFT      *MFT   // the multicast forwarding tables, nil where they were neither read nor computed
	Origin   string // where they come from: "minhop", "live", a file name
}

// LiveOrigin is the Origin of tables that were read from switches.
const LiveOrigin = "live"

// Unread says what is not known of tables that were read from a subnet. Of tables that
// were computed all is known.
type Unread struct {
	SLs   bool // those of paths: the subnet manager has them, not the switches
	SL2VL bool // the mappings of some ports, or of all
	// Groups says of a check that it depends on the SL of a multicast group which nobody told.
	Groups bool
}

// Any says that an SL or a VL is not known.
func (u Unread) Any() bool { return u.SLs || u.SL2VL || u.Groups }

// String says it in words: "the service levels of paths were not read".
func (u Unread) String() string {
	switch {
	case u.SLs && u.SL2VL:
		return "the service levels of paths and the SL2VL tables were not read"
	case u.SLs:
		return "the service levels of paths were not read"
	case u.SL2VL:
		return "the SL2VL tables were not read"
	case u.Groups:
		return "the service levels of multicast groups were not told"
	}
	return ""
}

// NewTables wraps computed tables: every switch of the subnet is known, its top at the highest LID.
func NewTables(f *Fabric, lft *LFT, origin string) *Tables {
	t := &Tables{
		Fabric: f, LFT: lft, Origin: origin, Top: make([]uint16, len(f.Switches)), Known: make([]bool, len(f.Switches)),
	}
	for s, n := range f.Switches {
		t.Top[s] = lft.MaxLID
		t.Known[s] = f.Nodes[n].InSubnet
	}
	return t
}

// NotRead returns the switches of the subnet whose tables are not known.
func (t *Tables) NotRead() []NodeIndex {
	var list []NodeIndex
	for sw, known := range t.Known {
		if n := t.Fabric.Switches[sw]; !known && t.Fabric.Nodes[n].InSubnet {
			list = append(list, n)
		}
	}
	return list
}

// MulticastKnown reports whether the multicast table of a switch is known, of tables that have some.
func (t *Tables) MulticastKnown(sw SwitchIndex) bool { return t.Known[sw] && t.MFT.WasRead(sw) }

// MulticastPartial reports whether the multicast table of a switch in the subnet was not read, though others were.
func (t *Tables) MulticastPartial() bool {
	if t.MFT == nil {
		return false
	}
	for sw, n := range t.Fabric.Switches {
		if t.Fabric.Nodes[n].InSubnet && !t.MFT.WasRead(SwitchIndex(sw)) {
			return true
		}
	}
	return false
}

// Partial reports whether the table of a switch in the subnet is not known.
func (t *Tables) Partial() bool { return len(t.NotRead()) > 0 }

// Port returns the egress port of a switch for a LID, NoPath above its top.
func (t *Tables) Port(sw SwitchIndex, lid uint16) uint8 {
	if lid > t.Top[sw] {
		return NoPath
	}
	return t.LFT.Port(sw, lid)
}

// SL returns the SL of the paths from one LID to another; known is false where those are
// Unread.
func (t *Tables) SL(src, dst uint16) (sl uint8, known bool) {
	switch {
	case t.Unread.SLs:
		return 0, false
	case t.SLs == nil:
		return 0, true
	}
	return t.SLs.SL(src, dst), true
}

// MayHaveSL reports whether a path may have an SL: the one of the tables, or another of
// those among which they are spread.
func (t *Tables) MayHaveSL(src, dst uint16, sl uint8) bool {
	if spread, ok := t.SLs.(SpreadSLs); ok {
		first, n := spread.Range(src, dst)
		return sl >= first && sl-first < n
	}
	is, known := t.SL(src, dst)
	return known && sl == is
}
