// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Size is the size of a MAD in bytes. DataSize is the size of the attribute data in an SMP in bytes.
const (
	Size     = 256
	DataSize = 64
)

// Special LIDs (IBA 4.1.3).
const (
	PermissiveLID  = 0xffff
	LastUnicastLID = 0xbfff // greatest LID of a port
)

// Errors of the decoders.
var (
	ErrLength = errors.New("wrong length")  // of an encoded packet or attribute
	ErrHops   = errors.New("too many hops") // of a directed route: more than [MaxHops]
)

// Class is a management class.
type Class uint8

// Management classes (IBA 13.4.4).
const (
	ClassSMPLID      Class = 0x01
	ClassSMPDirected Class = 0x81
	ClassSA          Class = 0x03 // subnet administration
	ClassPerf        Class = 0x04 // performance management
)

// isSMP reports whether MADs of the class are SMPs. It returns true for 0, the default class.
func (c Class) isSMP() bool { return c == 0 || c == ClassSMPLID || c == ClassSMPDirected }

// version returns the class version that this package implements.
func (c Class) version() uint8 {
	if c == ClassSA {
		return 2
	}
	return 1
}

// dataAt returns the offset of the attribute in a MAD of the class.
func (c Class) dataAt() int {
	if c == ClassSA {
		return OffSAData
	}
	return OffData
}

// Method is the method of a request or an answer (IBA 13.4.5).
type Method uint8

// The methods of the subnet management classes (IBA 14.2.4) and of other classes.
const (
	MethodGet         Method = 0x01
	MethodSet         Method = 0x02
	MethodSend        Method = 0x03
	MethodTrap        Method = 0x05
	MethodTrapRepress Method = 0x07
	MethodGetResp     Method = 0x81
	// Subnet administration (IBA 15.2.2).
	MethodGetTable     Method = 0x12
	MethodGetTableResp Method = 0x92
	MethodDelete       Method = 0x15
	MethodDeleteResp   Method = 0x95
	MethodResponse     Method = 0x80 // bit set in answers
)

// String returns the name of the method in IBA, without the prefix of the class.
func (m Method) String() string { return named(methods, m, "method 0x%02x") }

var methods = map[Method]string{
	MethodGet:          "Get",
	MethodSet:          "Set",
	MethodSend:         "Send",
	MethodTrap:         "Trap",
	MethodTrapRepress:  "TrapRepress",
	MethodGetResp:      "GetResp",
	MethodGetTable:     "GetTable",
	MethodGetTableResp: "GetTableResp",
	MethodDelete:       "Delete",
	MethodDeleteResp:   "DeleteResp",
}

// The offsets of fields in a MAD. The offsets from OffDrSLID on are for directed-route SMPs (IBA 13.4.2, 14.2.1.1).
const (
	OffBaseVersion  = 0
	OffClass        = 1
	OffClassVersion = 2
	OffMethod       = 3
	OffStatus       = 4
	OffHopPointer   = 6
	OffHopCount     = 7
	OffTID          = 8
	OffAttr         = 16
	OffMod          = 20
	OffBody         = 24 // end of the header that all classes share
	OffMKey         = 24 // also that of the board and congestion classes
	OffDrSLID       = 32
	OffDrDLID       = 34
	OffData         = 64
	OffInitialPath  = 128
	OffReturnPath   = 192

	directionBit = 0x8000
)

// SMP is a subnet management packet, either LID routed or directed-route (IBA 14.2.1.1 and 14.2.1.2):
//
//	  0  BaseVersion   1
//	  1  Class         1  0x01 LID routed, 0x81 by directed route
//	  2  ClassVersion  1
//	  3  Method        1
//	  4  Status        2  the highest bit of a directed route is Direction
//	  6  HopPointer    1  \ directed routes; else 0
//	  7  HopCount      1  /
//	  8  TID           8
//	 16  Attr          2
//	 18  reserved      2
//	 20  Mod           4
//	 24  MKey          8
//	 32  DrSLID        2  \ directed routes; else reserved
//	 34  DrDLID        2  /
//	 36  reserved     28
//	 64  Data         64
//	128  InitialPath  64  \ directed routes; else reserved
//	192  ReturnPath   64  /
//
// Numbers are big-endian. The reserved bytes 18, 19 and 36 to 63 are encoded as 0 and not decoded.
type SMP struct {
	BaseVersion  uint8
	Class        Class
	ClassVersion uint8
	Method       Method
	Status       Status
	Direction    bool // set on the way back
	HopPointer   uint8
	HopCount     uint8
	TID          uint64
	Attr         AttrID
	Mod          uint32
	MKey         uint64
	DrSLID       uint16
	DrDLID       uint16
	Data         [DataSize]byte
	InitialPath  [MaxHops + 1]uint8 // from index 1
	ReturnPath   [MaxHops + 1]uint8 // from index 1
}

// UnmarshalBinary decodes the 256 bytes of a MAD. The error wraps [ErrLength] or [ErrHops].
func (s *SMP) UnmarshalBinary(b []byte) error {
	if len(b) != Size {
		return fmt.Errorf("SMP: %w: %d bytes, want %d", ErrLength, len(b), Size)
	}
	if Class(b[OffClass]) == ClassSMPDirected && b[OffHopCount] > MaxHops {
		return fmt.Errorf("SMP: %w: %d, at most %d are possible", ErrHops, b[OffHopCount], MaxHops)
	}
	be := binary.BigEndian
	status := be.Uint16(b[OffStatus:])
	s.BaseVersion = b[OffBaseVersion]
	s.Class = Class(b[OffClass])
	s.ClassVersion = b[OffClassVersion]
	s.Method = Method(b[OffMethod])
	s.Status = Status(status &^ directionBit)
	s.Direction = status&directionBit != 0
	s.HopPointer = b[OffHopPointer]
	s.HopCount = b[OffHopCount]
	s.TID = be.Uint64(b[OffTID:])
	s.Attr = AttrID(be.Uint16(b[OffAttr:]))
	s.Mod = be.Uint32(b[OffMod:])
	s.MKey = be.Uint64(b[OffMKey:])
	s.DrSLID = be.Uint16(b[OffDrSLID:])
	s.DrDLID = be.Uint16(b[OffDrDLID:])
	copy(s.Data[:], b[OffData:])
	copy(s.InitialPath[:], b[OffInitialPath:])
	copy(s.ReturnPath[:], b[OffReturnPath:])
	return nil
}

// Put encodes the packet into b.
func (s *SMP) Put(b *[Size]byte) {
	be := binary.BigEndian
	status := uint16(s.Status) &^ directionBit
	if s.Direction {
		status |= directionBit
	}
	b[OffBaseVersion] = s.BaseVersion
	b[OffClass] = uint8(s.Class)
	b[OffClassVersion] = s.ClassVersion
	b[OffMethod] = uint8(s.Method)
	be.PutUint16(b[OffStatus:], status)
	b[OffHopPointer] = s.HopPointer
	b[OffHopCount] = s.HopCount
	be.PutUint64(b[OffTID:], s.TID)
	be.PutUint32(b[OffAttr:], uint32(s.Attr)<<16)
	be.PutUint32(b[OffMod:], s.Mod)
	be.PutUint64(b[OffMKey:], s.MKey)
	be.PutUint16(b[OffDrSLID:], s.DrSLID)
	be.PutUint16(b[OffDrDLID:], s.DrDLID)
	clear(b[OffDrDLID+2 : OffData])
	copy(b[OffData:], s.Data[:])
	copy(b[OffInitialPath:], s.InitialPath[:])
	copy(b[OffReturnPath:], s.ReturnPath[:])
}

// SetPath makes the packet an outgoing directed-route packet: the hop pointer is 0, and DrSLID and DrDLID are
// permissive.
func (s *SMP) SetPath(p Path) {
	s.Class = ClassSMPDirected
	s.HopPointer = 0
	s.HopCount = p.n
	s.DrSLID, s.DrDLID = PermissiveLID, PermissiveLID
	s.InitialPath = [MaxHops + 1]uint8{}
	copy(s.InitialPath[1:], p.hops[:p.n])
	s.ReturnPath = [MaxHops + 1]uint8{}
}
