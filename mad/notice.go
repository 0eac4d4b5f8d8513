// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"fmt"

	"example.org/ibconsole/mad/internal/wire"
)

// NoticeType says how much a [Notice] matters (IBA 13.4.8.2).
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

// String returns the type's name.
func (t NoticeType) String() string {
	if name, ok := noticeTypes[t]; ok {
		return name
	}
	return fmt.Sprintf("type %d", uint8(t))
}

var noticeTypes = map[NoticeType]string{
	NoticeFatal: "fatal", NoticeUrgent: "urgent", NoticeSecurity: "security",
	NoticeSM: "subnet management", NoticeInfo: "informational", NoticeEmpty: "empty",
}

// Numbers of the generic traps of subnet management agents (IBA 14.2.5.1).
const (
	TrapGIDInService    = 64
	TrapGIDOutOfService = 65
	TrapGroupCreated    = 66
	TrapGroupDeleted    = 67
	TrapLinkState       = 128 // a switch's link came up or went down
	TrapLinkIntegrity   = 129
	TrapBufferOverrun   = 130
	TrapFlowControl     = 131
	TrapCapabilityMask  = 144
	TrapSystemImageGUID = 145
	TrapBadMKey         = 256
	TrapBadPKey         = 257
	TrapBadQKey         = 258
	TrapBadPKeyAtSwitch = 259
	noticeDetails       = 54
)

// Notice is what a port reports by itself (IBA 13.4.8.2):
//
//	 0  Generic    1 bit, highest first
//	    Type       7 bits
//	 1  Producer   3  of a generic notice a [NodeType], else the vendor's id
//	 4  Trap       2  of a generic notice the trap's number, else the device id
//	 6  IssuerLID  2
//	 8  Toggle     1 bit
//	    Count      15 bits
//	10  Details   54  as the trap lays them out
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

// AttrID returns [AttrNotice].
func (*Notice) AttrID() AttrID { return AttrNotice }

// UnmarshalBinary decodes the attribute; see [Attribute].
func (a *Notice) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrNotice, b); err != nil {
		return err
	}
	a.fields(wire.Decode(b))
	return nil
}

// AppendBinary appends the attribute's 64 bytes; see [Attribute].
func (a *Notice) AppendBinary(dst []byte) ([]byte, error) {
	dst, l := wire.Append(dst, DataSize)
	a.fields(l)
	return dst, nil
}

func (a *Notice) fields(l *wire.Layout) {
	l.Flags(&a.Generic)
	wire.Bits(l, 7, &a.Type)
	wire.Bits(l, 24, &a.Producer)
	wire.Bits(l, 16, &a.Trap, &a.IssuerLID)
	l.Flags(&a.Toggle)
	wire.Bits(l, 15, &a.Count)
	l.Bytes(a.Details[:])
}

// LID is the LID that the details of a generic trap name, 0 where they name
// none: of a link's state and of changes the node's, of violations the first.
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

// Port is the number of the port that the details of a generic trap name, and
// whether they name one.
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

// GID is the GID that the details of traps 64 to 67 name, and whether they do.
func (a *Notice) GID() (g GID, ok bool) {
	if !a.Generic || a.Trap < TrapGIDInService || a.Trap > TrapGroupDeleted {
		return g, false
	}
	copy(g[:], a.Details[6:])
	return g, true
}

// String says what was reported and by whom: "link state changed at LID 3".
func (a *Notice) String() string {
	if !a.Generic {
		return fmt.Sprintf("%v notice of vendor 0x%06x, device 0x%04x, from LID %d", a.Type, a.Producer, a.Trap, a.IssuerLID)
	}
	what := a.what()
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

func (a *Notice) what() string {
	if what, ok := trapNames[a.Trap]; ok {
		return what
	}
	return fmt.Sprintf("trap %d", a.Trap)
}

var trapNames = map[uint16]string{
	TrapGIDInService:    "port came into service",
	TrapGIDOutOfService: "port went out of service",
	TrapGroupCreated:    "multicast group created",
	TrapGroupDeleted:    "multicast group deleted",
	TrapLinkState:       "link state changed",
	TrapLinkIntegrity:   "local link integrity threshold reached",
	TrapBufferOverrun:   "excessive buffer overrun",
	TrapFlowControl:     "flow control watchdog ran out",
	TrapCapabilityMask:  "capabilities or description changed",
	TrapSystemImageGUID: "system image GUID changed",
	TrapBadMKey:         "bad M_Key",
	TrapBadPKey:         "bad P_Key",
	TrapBadPKeyAtSwitch: "bad P_Key",
	TrapBadQKey:         "bad Q_Key",
}
