// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/internal/wire"
)

const pathSize = 64

// Components of a [PathRecord].
const (
	PathServiceID        Mask = 3 << 0 // both parts
	PathDGID             Mask = 1 << 2
	PathSGID             Mask = 1 << 3
	PathDLID             Mask = 1 << 4
	PathSLID             Mask = 1 << 5
	PathRawTraffic       Mask = 1 << 6
	PathFlowLabel        Mask = 1 << 8
	PathHopLimit         Mask = 1 << 9
	PathTrafficClass     Mask = 1 << 10
	PathReversible       Mask = 1 << 11
	PathNumPath          Mask = 1 << 12
	PathPKey             Mask = 1 << 13
	PathQoSClass         Mask = 1 << 14
	PathSL               Mask = 1 << 15
	PathMTUSelector      Mask = 1 << 16
	PathMTU              Mask = 1 << 17
	PathRateSelector     Mask = 1 << 18
	PathRate             Mask = 1 << 19
	PathLifeTimeSelector Mask = 1 << 20
	PathLifeTime         Mask = 1 << 21
	PathPreference       Mask = 1 << 22
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
	NumPath          uint8 // 7 bits; of a question how many are wanted
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

// AttrID returns [AttrPathRecord].
func (*PathRecord) AttrID() mad.AttrID { return AttrPathRecord }

// UnmarshalBinary decodes the record; see [Record].
func (r *PathRecord) UnmarshalBinary(b []byte) error {
	if err := check("PathRecord", b, pathSize-6); err != nil {
		return err
	}
	r.fields(wire.Decode(b))
	return nil
}

// AppendBinary appends the record's 64 bytes; see [Record].
func (r *PathRecord) AppendBinary(dst []byte) ([]byte, error) {
	dst, l := wire.Append(dst, pathSize)
	r.fields(l)
	return dst, nil
}

func (r *PathRecord) fields(l *wire.Layout) {
	wire.Bits(l, 64, &r.ServiceID)
	l.Bytes(r.DGID[:])
	l.Bytes(r.SGID[:])
	wire.Bits(l, 16, &r.DLID, &r.SLID)
	l.Flags(&r.RawTraffic)
	l.Skip(3)
	wire.Bits(l, 20, &r.FlowLabel)
	wire.Bits(l, 8, &r.HopLimit, &r.TrafficClass)
	l.Flags(&r.Reversible)
	wire.Bits(l, 7, &r.NumPath)
	wire.Bits(l, 16, &r.PKey)
	wire.Bits(l, 12, &r.QoSClass)
	wire.Bits(l, 4, &r.SL)
	wire.Bits(l, 2, &r.MTUSelector)
	wire.Bits(l, 6, &r.MTU)
	wire.Bits(l, 2, &r.RateSelector)
	wire.Bits(l, 6, &r.Rate)
	wire.Bits(l, 2, &r.LifeTimeSelector)
	wire.Bits(l, 6, &r.LifeTime)
	wire.Bits(l, 8, &r.Preference)
}
