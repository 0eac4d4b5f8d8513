// SPDX-License-Identifier: Apache-2.0

package pathdb

import (
	"encoding/binary"
	"errors"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
)

// Reasons for which there is no record.
var (
	ErrSource      = errors.New("no port has the source address")
	ErrDestination = errors.New("no port has the destination address")
	ErrNoPath      = errors.New("the tables have no path")
	ErrPartition   = errors.New("the two ports are not members of the requested partition")
	ErrSL          = errors.New("no path has the requested SL")
)

// Record is a path record. It holds the properties that a sender needs for packets on the path.
type Record struct {
	SLID, DLID uint16
	PKey       uint16
	// SL is one of SLs, the SLs that OpenSM may return for the path.
	SL  uint8
	SLs fabric.SLRange
	// MTU, Rate and LifeTime are codes as in a PathRecord (IBA 1.2.1, 15.2.5.16).
	MTU, Rate, LifeTime uint8
	// Hops is the number of links on the path.
	Hops uint8
}

// Want restricts a query to certain paths. The zero value allows any path.
type Want struct {
	// PKey selects a partition by the lower 15 bits of its P_Key. The value 0 allows any partition that both ports
	// share.
	PKey uint16
	// SL is an SL plus 1; 0 for any.
	SL uint8
}

// PortIndex identifies a port of a view.
type PortIndex uint32

func (v *View) port(i uint32) port {
	at := v.root.OffPorts + uint64(i)*portSize
	return readPort(v.data[at : at+portSize])
}

func (v *View) lid(l uint16) lid {
	b := v.data[v.root.OffLIDs+uint64(l)*lidSize:]
	le := binary.LittleEndian
	return lid{le.Uint32(b), le.Uint16(b[4:]), le.Uint16(b[6:])}
}

func (v *View) groupSize(g uint32) uint32 { return word(v.data, v.root.OffGroups+uint64(g)*groupSize) }

func (v *View) class(i uint16) (c Class) {
	if uint32(i) >= v.root.Classes {
		return c
	}
	at := v.root.OffClasses + uint64(i)*classSize
	return readClass(v.data[at : at+classSize])
}

// ByLID returns the port that has a LID.
func (v *View) ByLID(l uint16) (PortIndex, bool) {
	if uint32(l) >= v.root.LIDs {
		return 0, false
	}
	i := v.lid(l).port
	return PortIndex(i), i != none
}

// ByGUID returns the port with this port GUID. O(log ports).
func (v *View) ByGUID(guid uint64) (PortIndex, bool) {
	lo, hi := uint32(0), v.root.Ports
	for lo < hi {
		mid := lo + (hi-lo)/2
		if word64(v.data, v.root.OffPorts+uint64(mid)*portSize) < guid {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return PortIndex(lo), lo < v.root.Ports && word64(v.data, v.root.OffPorts+uint64(lo)*portSize) == guid
}

// ByGID returns the port with this GID. The GID must have the prefix of the subnet.
func (v *View) ByGID(gid [16]byte) (PortIndex, bool) {
	if binary.BigEndian.Uint64(gid[:8]) != v.root.Prefix {
		return 0, false
	}
	return v.ByGUID(binary.BigEndian.Uint64(gid[8:]))
}

// Query returns the record of the path from one LID to another. Query allocates nothing. O(1).
func (v *View) Query(slid, dlid uint16, want Want) (Record, error) {
	from, ok := v.ByLID(slid)
	if !ok {
		return Record{}, ErrSource
	}
	to, ok := v.ByLID(dlid)
	if !ok {
		return Record{}, ErrDestination
	}
	src, dst := v.port(uint32(from)), v.port(uint32(to))
	r := Record{SLID: slid, DLID: dlid, LifeTime: uint8(v.root.LifeTime)}
	c, ok := v.between(&src, from, to, dlid)
	if !ok {
		return r, ErrNoPath
	}
	if from == to {
		r.LifeTime = 0
	}
	r.Hops = c.Hops
	if from != to {
		r.Hops += ends(&src, &dst)
	}
	r.Rate = slower(c.Rate, slower(src.rate, dst.rate))
	r.MTU = least(c.MTU, least(src.mtu, dst.mtu))
	key, ok := v.partition(src.pKeys, dst.pKeys, want.PKey)
	if !ok {
		return r, ErrPartition
	}
	r.PKey = uint16(key.Key)
	if r.SL, r.SLs, ok = v.levels(c, key.SL, slid, dlid, want.SL); !ok {
		return r, ErrSL
	}
	return r, nil
}

// ends returns the number of links between switches and the two ports: from the source to the first switch, and from
// the last switch to the destination. If the ports are linked directly, the result is 1.
func ends(src, dst *port) (n uint8) {
	if src.sw == none {
		return 1
	}
	if src.flags&SwitchPort == 0 {
		n++
	}
	if dst.flags&SwitchPort == 0 {
		n++
	}
	return n
}

// between returns the class of the path to a LID without the links at both ends. The path of a port to itself has an
// SL, too.
func (v *View) between(src *port, from, to PortIndex, dlid uint16) (Class, bool) {
	switch {
	case src.flags&Gone != 0:
		return Class{}, false
	case src.peer == uint32(to):
		return Class{Spread: 1}, true
	case src.sw == none:
		return Class{Spread: 1}, from == to
	}
	l := v.lid(dlid)
	if l.group == noGroup {
		return Class{}, from == to
	}
	c := v.class(value(v.data, symbol(v.data, v.root.OffRecords, src.row, uint32(l.group)), l.at))
	if from == to {
		return Class{SL: c.SL, Spread: c.Spread}, true
	}
	return c, c.Reaches
}

// PartitionBits returns a mask of the SL bits that come from the partition.
func (v *View) PartitionBits() uint8 { return uint8(v.root.SLMask) }

// levels returns the service level for a pair of LIDs in a partition, all levels that OpenSM may return for it, and
// whether the request allows one of them. The argument want is 0 if the request allows any level, otherwise it is the
// requested SL plus 1. The bits that come from the partition are taken from the requested SL, because
// osm_sa_path_record.c passes the requested SL to the engine, not the SL of the partition.
func (v *View) levels(c Class, partition uint8, slid, dlid uint16, want uint8) (sl uint8, all fabric.SLRange, ok bool) {
	mask := v.PartitionBits()
	all = fabric.SLRange{First: c.SL, N: max(1, c.Spread)}
	if want > 0 {
		all.First &^= mask
		return want - 1, fabric.OneSL(want - 1), all.Has((want - 1) &^ mask)
	}
	sl = fabric.SpreadSL(all, slid, dlid)&^mask | partition&mask
	if mask != 0 { // engines that take bits have single SLs
		all = fabric.OneSL(sl)
	}
	return sl, all, true
}

// partition returns the first P_Key of the source whose partition the destination is also in. At least one of the two
// ports must be a full member (IBA 1.2.1, 10.9.3).
func (v *View) partition(src, dst uint32, want uint16) (PKey, bool) {
	wanted := mad.PKey(want).Partition()
	own, theirs := v.pKeys(src), v.pKeys(dst)
	for i := range own.n {
		k := v.pKey(src, own.first+i)
		number := k.Key.Partition()
		if number == 0 || wanted != 0 && number != wanted {
			continue
		}
		for j := range theirs.n {
			other := v.pKey(dst, theirs.first+j).Key
			if other.Partition() == number && (k.Key|other)&mad.PKeyFull != 0 {
				return k, true
			}
		}
	}
	return PKey{}, false
}

// keys is a range of n P_Keys.
type keys struct{ first, n uint32 }

func (v *View) pKeys(set uint32) keys {
	if set == none {
		return keys{0, 1}
	}
	at := v.root.OffPKeySets + uint64(set)*setSize
	first := word(v.data, at)
	return keys{first, word(v.data, at+setSize) - first}
}

// pKey returns the P_Key at index i. If the port has no set, it returns the P_Key of the default partition.
func (v *View) pKey(set, i uint32) PKey {
	if set == none {
		return PKey{Key: mad.PKeyDefault}
	}
	w := word(v.data, v.root.OffPKeys+uint64(i)*pKeySize)
	return PKey{Key: mad.PKey(w), SL: uint8(w >> 16)}
}

// Paths appends the records of the paths from one port to another to the slice dst. There is one record for each LID of
// the destination. The LIDs of the source are used in turn, as in OpenSM.
func (v *View) Paths(dst []Record, from, to PortIndex, want Want) ([]Record, error) {
	src, other := v.port(uint32(from)), v.port(uint32(to))
	var queryErr error
	for i := range uint16(1) << other.lmc {
		r, err := v.Query(src.lid+i&(1<<src.lmc-1), other.lid+i, want)
		if err != nil {
			queryErr = err
			continue
		}
		dst = append(dst, r)
	}
	if len(dst) > 0 {
		queryErr = nil
	}
	return dst, queryErr
}

func least(a, b uint8) uint8 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Gbps returns the rate of a rate code in Gb/s, or 0 for a code that has no rate.
func Gbps(code uint8) float64 { return sa.Rate(code).Gbps() }

// RateCode returns the code of the fastest rate that does not exceed gbps, in Gb/s.
func RateCode(gbps float64) (code uint8) {
	best := 0.0
	for c := range uint8(64) {
		// The speed of a link can be slightly below the rate of its code.
		if g := Gbps(c); g > best && g <= gbps*1.01 {
			best, code = g, c
		}
	}
	return code
}

// slower returns the slower of two rate codes. The code 0 means no limit.
func slower(a, b uint8) uint8 {
	if a == 0 || b != 0 && Gbps(b) < Gbps(a) {
		return b
	}
	return a
}
