// SPDX-License-Identifier: Apache-2.0

package fabric

// Tables holds forwarding tables and related tables. They were read from switches, computed by an engine, or loaded
// from a file. Tables are read-only once made.
type Tables struct {
	Fabric *Fabric // the subnet whose switch indexes and LIDs the tables use
	LFT    *LFT
	Top    []uint16 // by switch: LinearFDBTop; entries above it have no effect
	Known  []bool   // by switch: whether its table was read or computed; if not, its row is all NoPath
	// SL2VL holds the SL2VL tables. It is nil if they were neither read nor computed. Every packet then takes VL 0,
	// unless Unread.SL2VL is set.
	SL2VL  *SL2VL
	SLs    PathSLs // the SLs of paths, nil for SL 0 everywhere, unless they are Unread
	Unread Unread  // which of these two are unknown
	// LifeTimes holds the LifeTimeValue of SwitchInfo by switch, see [mad.SwitchInfo]. It is nil if it was not read.
	LifeTimes []uint8
	// Adaptive holds the adaptive routing of the switches. It is nil if it was not read or no switch routes adaptively.
	Adaptive *Adaptive
	MFT      *MFT   // the multicast forwarding tables, nil if they were neither read nor computed
	Origin   string // where the tables come from: "minhop", "live", a file name
}

// LiveOrigin is the Origin of tables that were read from switches.
const LiveOrigin = "live"

// Unread marks the parts of tables that were not read. All parts of computed tables are known.
type Unread struct {
	SLs   bool // the SLs of paths; the subnet manager has them, not the switches
	SL2VL bool // the mappings of some or all ports
	// Groups is set by a check whose result depends on the unknown SL of a multicast group.
	Groups bool
}

// Any reports whether an SL or a VL is unknown.
func (u Unread) Any() bool { return u.SLs || u.SL2VL || u.Groups }

// String describes the unread parts, for example "the service levels of paths were not read".
func (u Unread) String() string {
	switch {
	case u.SLs && u.SL2VL:
		return "the service levels of paths and the SL2VL tables were not read"
	case u.SLs:
		return "the service levels of paths were not read"
	case u.SL2VL:
		return "the SL2VL tables were not read"
	case u.Groups:
		return "the service levels of multicast groups are unknown"
	}
	return ""
}

// NewTables returns computed tables. Every switch of the subnet is Known, and its LinearFDBTop is the highest LID.
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

// MulticastKnown reports whether the multicast table of a switch is known. The tables must have an MFT.
func (t *Tables) MulticastKnown(sw SwitchIndex) bool { return t.Known[sw] && t.MFT.WasRead(sw) }

// MulticastPartial reports whether the multicast tables of some switches of the subnet were read, but not those of all.
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

// Partial reports whether the table of any switch in the subnet is unknown.
func (t *Tables) Partial() bool { return len(t.NotRead()) > 0 }

// Port returns the egress port of a switch for a LID. It returns NoPath for a LID above the LinearFDBTop of the switch.
func (t *Tables) Port(sw SwitchIndex, lid uint16) uint8 {
	if lid > t.Top[sw] {
		return NoPath
	}
	return t.LFT.Port(sw, lid)
}

// SL returns the SL of the path from one LID to another. The result known is false if SLs were not read.
func (t *Tables) SL(src, dst uint16) (sl uint8, known bool) {
	switch {
	case t.Unread.SLs:
		return 0, false
	case t.SLs == nil:
		return 0, true
	}
	return t.SLs.SL(src, dst), true
}

// SLRange returns the SLs that a path may have. The range is empty if SLs were not read.
func (t *Tables) SLRange(src, dst uint16) SLRange {
	if t.Unread.SLs {
		return SLRange{}
	}
	return RangeOf(t.SLs, src, dst)
}

// MayHaveSL reports whether packets on a path may have an SL.
func (t *Tables) MayHaveSL(src, dst uint16, sl uint8) bool {
	return t.SLRange(src, dst).Has(sl)
}
