// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"fmt"
)

// NoticeType is the severity or kind of a [Notice] (IBA 13.4.8.2).
type NoticeType uint8

// Types of notices.
const (
	NoticeFatal    NoticeType = 0
	NoticeUrgent   NoticeType = 1
	NoticeSecurity NoticeType = 2
	NoticeSM       NoticeType = 3
	NoticeInfo     NoticeType = 4
	NoticeEmpty    NoticeType = 0x7f
)

func (t NoticeType) String() string { return named(noticeTypes, t, "type %d") }

var noticeTypes = map[NoticeType]string{
	NoticeFatal:    "fatal",
	NoticeUrgent:   "urgent",
	NoticeSecurity: "security",
	NoticeSM:       "subnet management",
	NoticeInfo:     "informational",
	NoticeEmpty:    "empty",
}

// The numbers of the generic traps of subnet management agents (IBA 14.2.5.1).
const (
	TrapGIDInService     = 64
	TrapGIDOutOfService  = 65
	TrapGroupCreated     = 66
	TrapGroupDeleted     = 67
	TrapLinkState        = 128 // a switch's link came up or went down
	TrapLinkIntegrity    = 129
	TrapBufferOverrun    = 130
	TrapFlowControl      = 131
	TrapCapabilityMask   = 144
	TrapSystemImageGUID  = 145
	TrapBadMKey          = 256
	TrapBadPKey          = 257
	TrapBadQKey          = 258
	TrapBadPKeyAtSwitch  = 259
	noticeDetails        = 54
	noticeDetailsAt      = 10
	noticeGenericProduct = 0xffffff
)

// Notice is an event that a port reports without a request (IBA 13.4.8.2):
//
//	 0  Generic    1 bit, highest first
//	    Type       7 bits
//	 1  Producer   3  generic: a [NodeType]; otherwise the vendor ID
//	 4  Trap       2  generic: the trap number; otherwise the device ID
//	 6  IssuerLID  2
//	 8  Toggle     1 bit
//	    Count      15 bits
//	10  Details   54  layout depends on the trap
type Notice struct {
	Generic   bool
	Type      NoticeType
	Producer  uint32 // 24 bits
	Trap      uint16
	IssuerLID uint16
	Toggle    bool
	Count     uint16 // 15 bits
	Details   [noticeDetails]byte
}

func (*Notice) AttrID() AttrID { return AttrNotice }

func (a *Notice) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrNotice, b); err != nil {
		return err
	}
	be := binary.BigEndian
	a.Generic = bit(b[0], 7)
	a.Type = NoticeType(b[0] & 0x7f)
	a.Producer = be.Uint32(b[0:]) & noticeGenericProduct
	a.Trap = be.Uint16(b[4:])
	a.IssuerLID = be.Uint16(b[6:])
	count := be.Uint16(b[8:])
	a.Toggle, a.Count = count>>15 != 0, count&0x7fff
	copy(a.Details[:], b[noticeDetailsAt:])
	return nil
}

func (a *Notice) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	be := binary.BigEndian
	be.PutUint32(b[0:], a.Producer&noticeGenericProduct)
	b[0] = flag(a.Generic, 7) | uint8(a.Type)&0x7f
	be.PutUint16(b[4:], a.Trap)
	be.PutUint16(b[6:], a.IssuerLID)
	be.PutUint16(b[8:], uint16(flag(a.Toggle, 7))<<8|a.Count&0x7fff)
	copy(b[noticeDetailsAt:], a.Details[:])
	return dst, nil
}

// LID returns the LID in the details of a generic trap, 0 if the trap has none. For link states and other changes it is
// the LID of the node. For violations it is the first of the two LIDs.
func (a *Notice) LID() uint16 {
	if !a.Generic {
		return 0
	}
	be := binary.BigEndian
	switch a.Trap {
	case TrapLinkState:
		return be.Uint16(a.Details[0:])
	case TrapLinkIntegrity, TrapBufferOverrun, TrapFlowControl, TrapCapabilityMask, TrapSystemImageGUID,
		TrapBadMKey, TrapBadPKey, TrapBadQKey, TrapBadPKeyAtSwitch:
		return be.Uint16(a.Details[2:])
	}
	return 0
}

// Port returns the port number in the details of a generic trap. It returns false if the trap has no port number.
func (a *Notice) Port() (uint8, bool) {
	switch {
	case !a.Generic:
	case a.Trap == TrapLinkIntegrity, a.Trap == TrapBufferOverrun, a.Trap == TrapFlowControl:
		return a.Details[4], true
	case a.Trap == TrapBadPKeyAtSwitch:
		return a.Details[50], true
	}
	return 0, false
}

// GID returns the GID in the details of the traps 64 to 67. ok is false for other traps.
func (a *Notice) GID() (g GID, ok bool) {
	if !a.Generic || a.Trap < TrapGIDInService || a.Trap > TrapGroupDeleted {
		return g, false
	}
	copy(g[:], a.Details[6:])
	return g, true
}

// String returns the event and its place, for example "link state changed at LID 3".
func (a *Notice) String() string {
	if !a.Generic {
		return fmt.Sprintf("%v notice of vendor 0x%06x, device 0x%04x, from LID %d", a.Type, a.Producer, a.Trap,
			a.IssuerLID)
	}
	what := named(traps, a.Trap, "trap %d")
	if g, ok := a.GID(); ok {
		return fmt.Sprintf("%s: %v", what, g)
	}
	lid := a.LID()
	if lid == 0 {
		lid = a.IssuerLID
	}
	if port, ok := a.Port(); ok {
		return fmt.Sprintf("%s at LID %d port %d", what, lid, port)
	}
	return fmt.Sprintf("%s at LID %d", what, lid)
}

// traps describes the generic traps.
var traps = map[uint16]string{
	TrapGIDInService:    "port came into service",
	TrapGIDOutOfService: "port went out of service",
	TrapGroupCreated:    "multicast group created",
	TrapGroupDeleted:    "multicast group deleted",
	TrapLinkState:       "link state changed",
	TrapLinkIntegrity:   "local link integrity threshold reached",
	TrapBufferOverrun:   "excessive buffer overrun",
	TrapFlowControl:     "flow control watchdog expired",
	TrapCapabilityMask:  "capabilities or description changed",
	TrapSystemImageGUID: "system image GUID changed",
	TrapBadMKey:         "bad M_Key",
	TrapBadPKey:         "bad P_Key",
	TrapBadPKeyAtSwitch: "bad P_Key",
	TrapBadQKey:         "bad Q_Key",
}
