// SPDX-License-Identifier: Apache-2.0

package pathdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Magic is the beginning of a database file: seven letters and the version of the format.
const Magic = "IBPATHS\x02"

// checkMagic returns an error unless b begins with the magic of a database or difference of this version.
func checkMagic(b []byte, magic, what string) error {
	const letters = 7
	switch {
	case len(b) < len(magic) || string(b[:letters]) != magic[:letters]:
		return fmt.Errorf("byte 0: not a %s: it must begin with %s and the version", what, magic[:letters])
	case b[letters] != magic[letters]:
		return fmt.Errorf("byte %d: a %s of version %d, but this program supports version %d; hint: build it "+
			"again", letters, what,
			b[letters], magic[letters])
	}
	return nil
}

// The head of a file has the magic, the identity of the database, the number of the current state, and two slots. A
// slot holds the position of a state. State n is in slot n mod 2.
const (
	offID      = 8
	offCurrent = 16
	offSlots   = 32
	slotSize   = 32
	headSize   = 128
)

// Segments follow the head. A segment has a header, a payload, and a table with a CRC32C for each page of the payload:
//
//	0  "SEGMENT\x01"
//	8  length of the payload
//
// A CRC32C of header and table follows the table.
const (
	segmentMagic  = "SEGMENT\x01"
	segmentHeader = 16
	page          = 4096
)

// maxSize is the maximum size of a file in bytes. References to blocks cannot address more.
const maxSize = 1 << (refBits + 2)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// slot is the position of a state.
type slot struct {
	State uint64
	Root  uint64 // the position of the root in the file
	End   uint64 // the length of the file with this state
}

// slotAt returns the position of the slot for a state.
func slotAt(state uint64) uint64 { return offSlots + (state&1)*slotSize }

// bytes returns the encoded slot for a file that begins with head. The checksum covers the head up to the identity. So
// a slot of one file is not valid in another file.
func (s slot) bytes(head []byte) []byte {
	le := binary.LittleEndian
	b := le.AppendUint64(nil, s.State)
	b = le.AppendUint64(b, s.Root)
	b = le.AppendUint64(b, s.End)
	b = le.AppendUint32(b, crc32.Update(checksum(head[:offCurrent]), castagnoli, b))
	return le.AppendUint32(b, 0)
}

// readSlot returns the slot of a state.
func readSlot(file []byte, state uint64) (slot, error) {
	le := binary.LittleEndian
	at := slotAt(state)
	b := file[at : at+slotSize]
	s := slot{le.Uint64(b[0:]), le.Uint64(b[8:]), le.Uint64(b[16:])}
	if !bytes.Equal(b, s.bytes(file)) || s.State != state {
		return s, fmt.Errorf("bytes %d to %d: the slot of state %d or the identity at byte %d is damaged", at,
			at+slotSize-1, state, offID)
	}
	return s, nil
}

// root holds the positions and sizes of the parts of a state. Positions are offsets from the start of the file.
type root struct {
	State  uint64
	Built  int64 // seconds since 1970
	Prefix uint64
	// The numbers of elements.
	Ports, Switches, LIDs, Groups, Rows, Classes, PKeys, PKeySets uint32
	Width                                                         uint32 // of a switch's row in wires
	OriginLen                                                     uint32
	LifeTime                                                      uint32
	HasTrace                                                      uint32
	// SLMask marks the bits of an SL that come from the partition. The other bits come from the class.
	SLMask, Zero uint32
	// The positions of the tables.
	OffPorts, OffSwitches, OffLIDs, OffGroups, OffClasses, OffPKeySets, OffPKeys, OffWires, OffOrigin uint64
	// The positions of the directories of rows.
	OffRecords, OffTrace uint64
}

var rootSize = uint64(binary.Size(root{})) + 4

func (r *root) append(b []byte) []byte {
	start := len(b)
	b, _ = binary.Append(b, binary.LittleEndian, r)
	return binary.LittleEndian.AppendUint32(b, checksum(b[start:]))
}

func readRoot(b []byte, s slot) (r root, err error) {
	if s.Root < headSize || s.Root%4 != 0 || s.Root > uint64(len(b)) || uint64(len(b))-s.Root < rootSize {
		return r, fmt.Errorf("the root of state %d is at byte %d, but the file has %d bytes", s.State, s.Root, len(b))
	}
	b = b[s.Root : s.Root+rootSize]
	n := len(b) - 4
	if binary.LittleEndian.Uint32(b[n:]) != checksum(b[:n]) {
		return r, fmt.Errorf("byte %d: the root of state %d is damaged", s.Root, s.State)
	}
	_, err = binary.Decode(b[:n], binary.LittleEndian, &r)
	if err == nil && r.State != s.State {
		err = fmt.Errorf("byte %d: the root belongs to state %d, expected state %d", s.Root, r.State, s.State)
	}
	return r, err
}

// Sizes of the tables' elements.
const (
	portSize   = 32
	switchSize = 16
	lidSize    = 8
	groupSize  = 4
	classSize  = 8
	wireSize   = 4
	pKeySize   = 4
	setSize    = 4
	dirSize    = 8
	refSize    = 4
)

// none is the index that stands for no element.
const none = 0xffffffff

// toPort is a bit that marks an end port in the table of wires. The table describes the peer of each switch port: the
// index of a switch, the index of an end port with toPort, or none.
const toPort = 0x80000000

// PortFlags holds the flags of a port.
type PortFlags uint8

// The flags of ports.
const (
	// SwitchPort is port 0 of a switch.
	SwitchPort PortFlags = 1 << iota
	// RouterPort is a port of a router.
	RouterPort
	// Gone marks a port that existed when the database was built, but no longer exists.
	Gone
)

// port is an end port in the form in which the file contains it.
type port struct {
	guid       uint64
	row        uint32 // of the records, none if it is not attached to a switch
	sw         uint32 // the switch that it belongs to or is attached to, none if there is none
	peer       uint32 // the port at the other end, none if that is a switch
	pKeys      uint32 // the number of a set, none for the default partition only
	lid        uint16
	lmc        uint8
	rate       uint8
	mtu        uint8
	switchPort uint8
	flags      PortFlags
}

func (p *port) put(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b[0:], p.guid)
	le.PutUint32(b[8:], p.row)
	le.PutUint32(b[12:], p.sw)
	le.PutUint32(b[16:], p.peer)
	le.PutUint32(b[20:], p.pKeys)
	le.PutUint16(b[24:], p.lid)
	b[26], b[27], b[28], b[29], b[30], b[31] = p.lmc, p.rate, p.mtu, p.switchPort, uint8(p.flags), 0
}

func readPort(b []byte) port {
	le := binary.LittleEndian
	return port{
		guid: le.Uint64(b[0:]), row: le.Uint32(b[8:]), sw: le.Uint32(b[12:]), peer: le.Uint32(b[16:]),
		pKeys: le.Uint32(b[20:]),
		lid:   le.Uint16(b[24:]), lmc: b[26], rate: b[27], mtu: b[28], switchPort: b[29], flags: PortFlags(b[30]),
	}
}

// lid describes a LID: its port, its group, and its index in the group. A group has the LIDs of one switch.
type lid struct {
	port  uint32
	group uint16
	at    uint16
}

const noGroup = 0xffff

// Class holds the properties of a path between two switches. Many paths have the same class.
type Class struct {
	// Hops is the number of links from the first switch to the last switch.
	Hops uint8
	// Rate and MTU are the codes of the path's limits, 0 for no limit. They do not include the links at both ends.
	Rate, MTU uint8
	// SL is the first of Spread consecutive SLs. The pairs of LIDs are distributed over these SLs.
	SL, Spread uint8
	Reaches    bool
}

func (c Class) put(b []byte) {
	b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7] = c.Hops, c.Rate, c.MTU, c.SL, c.Spread, 0, 0, 0
	if c.Reaches {
		b[5] = 1
	}
}

func readClass(b []byte) Class {
	return Class{Hops: b[0], Rate: b[1], MTU: b[2], SL: b[3], Spread: b[4], Reaches: b[5] == 1}
}
