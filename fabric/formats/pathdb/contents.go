// SPDX-License-Identifier: Apache-2.0

package pathdb

import (
	"iter"
	"time"
)

// Info describes a database. It contains the sizes of the database's parts in bytes.
type Info struct {
	State    uint64    `json:"state"` // 1, incremented by each change
	Origin   string    `json:"origin"`
	Built    time.Time `json:"built"`
	Prefix   uint64    `json:"-"`
	LifeTime uint8     `json:"-"`
	Ports    int       `json:"ports"`
	LIDs     int       `json:"lids"`
	Switches int       `json:"switches"`
	Rows     int       `json:"rows"`
	Groups   int       `json:"-"`
	Classes  int       `json:"classes"`
	PKeySets int       `json:"-"`
	HasTrace bool      `json:"-"`
	// The following sizes are in bytes. Tables is the size of the ports, LIDs and other tables. Records and Trace are
	// the sizes of the references, blocks and vectors of each matrix; shared parts are counted once. Rest is the size
	// of data of older states and of checksums.
	Tables  int `json:"table_bytes"`
	Records int `json:"record_bytes"`
	Trace   int `json:"trace_bytes"`
	Rest    int `json:"rest_bytes"`
	Whole   int `json:"bytes"`
}

// Info returns the description of a view. O(rows x groups).
func (v *View) Info() Info {
	r := &v.root
	i := Info{
		Built: time.Unix(r.Built, 0).UTC(), Origin: v.origin(), State: r.State, Prefix: r.Prefix,
		LifeTime: uint8(r.LifeTime),
		Ports:    int(r.Ports), Switches: int(r.Switches), Rows: int(r.Rows), Groups: int(r.Groups),
		Classes:  int(r.Classes),
		PKeySets: int(r.PKeySets), HasTrace: r.HasTrace == 1, Whole: len(v.data),
	}
	for l := range r.LIDs {
		if v.lid(uint16(l)).port != none {
			i.LIDs++
		}
	}
	i.Tables = int(r.Ports*portSize + r.Switches*switchSize + r.LIDs*lidSize + r.Groups*groupSize +
		r.Classes*classSize + r.PKeys*pKeySize +
		(r.PKeySets+1)*setSize + r.OriginLen)
	counted := map[uint64]bool{}
	i.Records = v.sizeOf(r.OffRecords, r.Rows, counted)
	if i.HasTrace {
		i.Trace = v.sizeOf(r.OffTrace, r.Switches, counted) + int(r.Switches*r.Width*wireSize)
	}
	i.Rest = i.Whole - i.Tables - i.Records - i.Trace
	return i
}

func (v *View) origin() string {
	return string(v.data[v.root.OffOrigin : v.root.OffOrigin+uint64(v.root.OriginLen)])
}

// sizeOf returns the size of those parts of a matrix that the map counted does not contain yet.
func (v *View) sizeOf(dir uint64, rows uint32, counted map[uint64]bool) int {
	size := int(rows) * dirSize
	tiles := (v.root.Groups + TileGroups - 1) / TileGroups
	once := func(at uint64, n int) bool {
		if counted[at] {
			return false
		}
		counted[at] = true
		size += n
		return true
	}
	for row := range rows {
		at := word64(v.data, dir+uint64(row)*dirSize)
		if !once(at, int(tiles)*refSize) {
			continue
		}
		for tile := range tiles {
			ref := word(v.data, at+uint64(tile)*refSize)
			groups := min(TileGroups, v.root.Groups-tile*TileGroups)
			if !once(uint64(ref&refMask)*4, 4+words(ref>>refBits, groups)) {
				continue
			}
			for g := range groups {
				g += tile * TileGroups
				if sym := symbol(v.data, dir, row, g); sym >= constants {
					vector := uint64(sym-constants) * 4
					once(vector, 4+words(word(v.data, vector)&0xff, v.groupSize(g)))
				}
			}
		}
	}
	return size
}

// words returns the size in bytes of n fields of the given number of bits. The fields are packed into 32-bit words.
func words(bits, n uint32) int { return int(bits*n+31) / 32 * 4 }

// Ports yields all end ports with their indexes.
func (v *View) Ports() iter.Seq2[PortIndex, Port] {
	return func(yield func(PortIndex, Port) bool) {
		for i := range v.root.Ports {
			if !yield(PortIndex(i), v.Port(PortIndex(i))) {
				return
			}
		}
	}
}

// Port returns an end port.
func (v *View) Port(i PortIndex) Port {
	p := v.port(uint32(i))
	return Port{
		GUID: p.guid, LID: p.lid, LMC: p.lmc, Rate: p.rate, MTU: p.mtu, Flags: p.flags,
		Switch: int32(p.sw), Peer: int32(p.peer), SwitchPort: p.switchPort, Row: int32(p.row), PKeys: int32(p.pKeys),
	}
}

// Switches returns the GUIDs of the switches, by index.
func (v *View) Switches() []uint64 {
	out := make([]uint64, v.root.Switches)
	for i := range out {
		out[i] = word64(v.data, v.root.OffSwitches+uint64(i)*switchSize)
	}
	return out
}

// PKeySets returns the sets of P_Keys, by number.
func (v *View) PKeySets() [][]PKey {
	out := make([][]PKey, v.root.PKeySets)
	for i := range out {
		set := v.pKeys(uint32(i))
		for k := range set.n {
			out[i] = append(out[i], v.pKey(uint32(i), set.first+k))
		}
	}
	return out
}

// Groups returns the groups of LIDs in the order of the file. Each group has the LIDs of one switch.
func (v *View) Groups() []Group {
	out := make([]Group, v.root.Groups)
	for i := range out {
		out[i].LIDs = make([]uint16, v.groupSize(uint32(i)))
	}
	for l := range v.root.LIDs {
		if e := v.lid(uint16(l)); e.group != noGroup {
			out[e.group].LIDs[e.at] = uint16(l)
		}
	}
	return out
}
