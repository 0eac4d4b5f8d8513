// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"encoding/binary"

	"example.org/ibconsole/mad"
)

const pathSize = 64

// Components of a [PathRecord].
const (
	PathServiceID Mask = 1<<0 | 1<<1
	PathDGID      Mask = 1 << 2
	PathSGID      Mask = 1 << 3
	PathDLID      Mask = 1 << 4
	PathSLID      Mask = 1 << 5
	PathNumPath   Mask = 1 << 12
	PathPKey      Mask = 1 << 13
	PathQoSClass  Mask = 1 << 14
	PathSL        Mask = 1 << 15
)

// PathRecord is a path between two ports (IBA 15.2.5.16):
//
//	 0  ServiceID        8      48  TrafficClass  1
//	 8  DGID            16      49  Reversible    1 bit, highest first
//	24  SGID            16          NumPath       7 bits
//	40  DLID             2      50  PKey          2
//	42  SLID             2      52  QoSClass     12 bits, SL 4
//	44  RawTraffic   1 bit      54  MTU           selector 2 bits, value 6
//	    reserved    3 bits      55  Rate          likewise
//	    FlowLabel  20 bits      56  LifeTime      likewise
//	47  HopLimit         1      57  Preference    1
//	                            58  reserved      6
type PathRecord struct {
	ServiceID        uint64
	DGID, SGID       mad.GID
	DLID, SLID       uint16
	RawTraffic       bool
	FlowLabel        uint32 // 20 bits
	HopLimit         uint8
	TrafficClass     uint8
	Reversible       bool
	NumPath          uint8 // 7 bits; in a request the maximum number of paths
	PKey             mad.PKey
	QoSClass         uint16 // 12 bits
	SL               uint8  // 4 bits
	MTUSelector      Selector
	MTU              mad.MTU
	RateSelector     Selector
	Rate             Rate
	LifeTimeSelector Selector
	LifeTime         uint8 // 6 bits; 4.096 us * 2^n
	Preference       uint8
}

func (*PathRecord) AttrID() mad.AttrID { return AttrPathRecord }

func (r *PathRecord) UnmarshalBinary(b []byte) error {
	if err := check("PathRecord", b, pathSize-6); err != nil {
		return err
	}
	be := binary.BigEndian
	r.ServiceID = be.Uint64(b[0:])
	copy(r.DGID[:], b[8:])
	copy(r.SGID[:], b[24:])
	r.DLID, r.SLID = be.Uint16(b[40:]), be.Uint16(b[42:])
	word := be.Uint32(b[44:])
	r.RawTraffic, r.FlowLabel, r.HopLimit = word>>31 != 0, word>>8&0xfffff, uint8(word)
	r.TrafficClass = b[48]
	r.Reversible, r.NumPath = b[49]>>7 != 0, b[49]&0x7f
	r.PKey = mad.PKey(be.Uint16(b[50:]))
	class := be.Uint16(b[52:])
	r.QoSClass, r.SL = class>>4, uint8(class&0xf)
	var mtu, rate uint8
	r.MTUSelector, mtu = unbound(b[54])
	r.RateSelector, rate = unbound(b[55])
	r.LifeTimeSelector, r.LifeTime = unbound(b[56])
	r.MTU, r.Rate = mad.MTU(mtu), Rate(rate)
	r.Preference = b[57]
	return nil
}

func (r *PathRecord) AppendBinary(dst []byte) ([]byte, error) {
	var b [pathSize]byte
	be := binary.BigEndian
	be.PutUint64(b[0:], r.ServiceID)
	copy(b[8:], r.DGID[:])
	copy(b[24:], r.SGID[:])
	be.PutUint16(b[40:], r.DLID)
	be.PutUint16(b[42:], r.SLID)
	be.PutUint32(b[44:], uint32(bit(r.RawTraffic, 7))<<24|r.FlowLabel&0xfffff<<8|uint32(r.HopLimit))
	b[48] = r.TrafficClass
	b[49] = bit(r.Reversible, 7) | r.NumPath&0x7f
	be.PutUint16(b[50:], uint16(r.PKey))
	be.PutUint16(b[52:], r.QoSClass<<4|uint16(r.SL&0xf))
	b[54] = bound(r.MTUSelector, uint8(r.MTU))
	b[55] = bound(r.RateSelector, uint8(r.Rate))
	b[56] = bound(r.LifeTimeSelector, r.LifeTime)
	b[57] = r.Preference
	return append(dst, b[:]...), nil
}
