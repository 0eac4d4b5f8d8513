// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"example.org/ibconsole/mad"
)

// Types of control messages.
const (
	ctlError      = 0 // of a reply, and of a probe
	ctlConnect    = 1
	ctlDisconnect = 2
)

const (
	ctlMagic    = 0xdeadbeef
	ctlHeader   = 16
	ctlSize     = ctlHeader + 64
	nodeIDSize  = 32
	connectSize = 12 + nodeIDSize
	offSequence = ctlSize - 4
)

var (
	errRefused  = errors.New("refused")
	errNotIbsim = errors.New("the answer is not from ibsim")
)

// control is a control message:
//
//	 0  magic     4  0xdeadbeef
//	 4  client    4
//	 8  type      4
//	12  length    4  of the valid data
//	16  data     64  the last four bytes, which ibsim returns
//	                 unchanged, identify the message of a reply
//
// Numbers are in the byte order of ibsim's machine, which is assumed to be little-endian.
type control struct {
	client   uint32
	kind     uint32
	data     []byte
	sequence uint32
}

func (c *control) encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, ctlSize)
	le.PutUint32(b[0:], ctlMagic)
	le.PutUint32(b[4:], c.client)
	le.PutUint32(b[8:], c.kind)
	le.PutUint32(b[12:], uint32(copy(b[ctlHeader:], c.data)))
	le.PutUint32(b[offSequence:], c.sequence)
	return b
}

// reply is the reply to a control message.
type reply struct {
	kind     uint32
	sequence uint32
	data     []byte
}

func decodeReply(b []byte) (reply, error) {
	le := binary.LittleEndian
	if len(b) != ctlSize || le.Uint32(b) != ctlMagic {
		return reply{}, errNotIbsim
	}
	return reply{le.Uint32(b[8:]), le.Uint32(b[offSequence:]), b[ctlHeader:]}, nil
}

// to returns the data of the reply if the reply answers a message of the given type.
func (r *reply) to(kind uint32) ([]byte, error) {
	switch r.kind {
	case kind:
		return r.data, nil
	case ctlError:
		return nil, errRefused
	default:
		return nil, fmt.Errorf("%w: type %d, want %d", errNotIbsim, r.kind, kind)
	}
}

// connectData returns the data of a connect message:
//
//	 0  id      4  of the client's sockets; in the reply, of the client
//	 4  qp      4
//	 8  issm    4  1: receive the requests to a subnet manager
//	12  node   32  node to attach to, NUL-terminated; empty: ibsim chooses
func connectData(id uint32, node string, issm bool) []byte {
	b := make([]byte, connectSize)
	binary.LittleEndian.PutUint32(b, id)
	if issm {
		b[8] = 1
	}
	copy(b[12:connectSize-1], node)
	return b
}

func decodeConnect(b []byte) (id uint32, node string) {
	text, _, _ := bytes.Cut(b[12:connectSize], []byte{0})
	return binary.LittleEndian.Uint32(b), string(text)
}

// The offsets in a packet:
//
//	 0  dlid    4  the LID big-endian in the first two bytes
//	 4  slid    4  likewise; 0: ibsim fills it in
//	 8  dqp     4  big-endian
//	12  sqp     4  big-endian
//	16  status  4  big-endian; 110: ibsim had no path to the destination
//	20  padding 4
//	24  length  8  big-endian
//	32  MAD   256
const (
	offDLID    = 0
	offSLID    = 4
	offDQP     = 8
	offSQP     = 12
	offStatus  = 16
	offLength  = 24
	offMAD     = 32
	packetSize = offMAD + mad.Size
)

type packet [packetSize]byte

func (p *packet) encode(f *mad.Frame) {
	be := binary.BigEndian
	clear(p[:offLength])
	be.PutUint16(p[offDLID:], f.DLID)
	if f.DLID == mad.PermissiveLID {
		be.PutUint16(p[offSLID:], mad.PermissiveLID)
	}
	be.PutUint32(p[offDQP:], f.QP)
	be.PutUint32(p[offSQP:], f.QP)
	be.PutUint64(p[offLength:], mad.Size)
	copy(p[offMAD:], f.Data[:])
}

func (p *packet) decode(f *mad.Frame) {
	be := binary.BigEndian
	f.DLID = be.Uint16(p[offDLID:])
	f.SLID = be.Uint16(p[offSLID:])
	f.QP = be.Uint32(p[offSQP:])
	f.SL, f.PKey = 0, 0
	f.Status = be.Uint32(p[offStatus:])
	f.Timeout = 0
	copy(f.Data[:], p[offMAD:])
	if length := be.Uint64(p[offLength:]); f.Status == 0 && length < mad.Size {
		clear(f.Data[length:]) // umad2sim sends uninitialized memory
	}
	if f.Status == 0 {
		mad.CompleteSegment(&f.Data, be.Uint64(p[offLength:]))
	}
}
