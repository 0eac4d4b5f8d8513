// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"encoding/binary"

	"example.org/ibconsole/mad"
)

const (
	memberSize = 56
	memberUsed = 52
)

// Components of an [MCMemberRecord].
const (
	MemberMGID         Mask = 1 << 0
	MemberPortGID      Mask = 1 << 1
	MemberQKey         Mask = 1 << 2
	MemberMLID         Mask = 1 << 3
	MemberTrafficClass Mask = 1 << 6
	MemberPKey         Mask = 1 << 7
	MemberSL           Mask = 1 << 12
	MemberFlowLabel    Mask = 1 << 13
	MemberJoinState    Mask = 1 << 16
)

// The bits of MCMemberRecord.JoinState (IBA 15.2.5.17).
const (
	JoinFull     = 1 << 0
	JoinNone     = 1 << 1 // non-member: sends and receives but does not keep the group alive
	JoinSendOnly = 1 << 2
	JoinSendFull = 1 << 3 // send-only full member, of later releases
)

// MCMemberRecord describes the membership of a port in a multicast group (IBA 15.2.5.17):
//
//	 0  MGID         16      42  Rate       selector 2 bits, value 6
//	16  PortGID      16      43  LifeTime   likewise
//	32  QKey          4      44  SL 4 bits, FlowLabel 20, HopLimit 8
//	36  MLID          2      48  Scope 4 bits, JoinState 4
//	38  MTU  selector 2 bits 49  ProxyJoin  1 bit, highest first
//	         value 6         50  reserved   2
//	39  TrafficClass  1      52  padding    4
//	40  PKey          2
type MCMemberRecord struct {
	MGID             mad.GID
	PortGID          mad.GID // all zero for untrusted clients
	QKey             uint32
	MLID             uint16
	MTUSelector      Selector
	MTU              mad.MTU
	TrafficClass     uint8
	PKey             mad.PKey
	RateSelector     Selector
	Rate             Rate
	LifeTimeSelector Selector
	LifeTime         uint8  // 6 bits; 4.096 us * 2^n
	SL               uint8  // 4 bits
	FlowLabel        uint32 // 20 bits
	HopLimit         uint8
	Scope            uint8 // 4 bits
	JoinState        uint8 // 4 bits: JoinFull, ...
	ProxyJoin        bool
}

func (*MCMemberRecord) AttrID() mad.AttrID { return AttrMCMemberRecord }

func (r *MCMemberRecord) UnmarshalBinary(b []byte) error {
	if err := check("MCMemberRecord", b, memberUsed); err != nil {
		return err
	}
	be := binary.BigEndian
	copy(r.MGID[:], b[0:])
	copy(r.PortGID[:], b[16:])
	r.QKey = be.Uint32(b[32:])
	r.MLID = be.Uint16(b[36:])
	var mtu, rate uint8
	r.MTUSelector, mtu = unbound(b[38])
	r.TrafficClass = b[39]
	r.PKey = mad.PKey(be.Uint16(b[40:]))
	r.RateSelector, rate = unbound(b[42])
	r.LifeTimeSelector, r.LifeTime = unbound(b[43])
	r.MTU, r.Rate = mad.MTU(mtu), Rate(rate)
	word := be.Uint32(b[44:])
	r.SL, r.FlowLabel, r.HopLimit = uint8(word>>28), word>>8&0xfffff, uint8(word)
	r.Scope, r.JoinState = b[48]>>4, b[48]&0xf
	r.ProxyJoin = b[49]&0x81 != 0 // OpenSM sets the lowest bit
	return nil
}

func (r *MCMemberRecord) AppendBinary(dst []byte) ([]byte, error) {
	var b [memberSize]byte
	be := binary.BigEndian
	copy(b[0:], r.MGID[:])
	copy(b[16:], r.PortGID[:])
	be.PutUint32(b[32:], r.QKey)
	be.PutUint16(b[36:], r.MLID)
	b[38], b[39] = bound(r.MTUSelector, uint8(r.MTU)), r.TrafficClass
	be.PutUint16(b[40:], uint16(r.PKey))
	b[42], b[43] = bound(r.RateSelector, uint8(r.Rate)), bound(r.LifeTimeSelector, r.LifeTime)
	be.PutUint32(b[44:], uint32(r.SL)<<28|r.FlowLabel&0xfffff<<8|uint32(r.HopLimit))
	b[48] = r.Scope<<4 | r.JoinState&0xf
	b[49] = bit(r.ProxyJoin, 7)
	return append(dst, b[:]...), nil
}
