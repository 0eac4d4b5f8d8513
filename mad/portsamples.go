// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

const portSamplesControlSize = 76

// PortSamplesControl controls the sampling of counters of a port (IBA 16.1.3.3). A Set starts a run of samples, a Get
// only reads. Offsets are in bytes:
//
//	0  OpCode          1      12  OptionMask            8
//	1  PortSelect      1      20  VendorMask            8
//	2  Tick            1      28  other fields         40
//	3  other fields    9      68  SamplesOnlyOptionMask 8
type PortSamplesControl struct {
	PortSelect uint8
	// Tick is the unit of time of XmitWait: Tick+1 symbol times.
	Tick       uint8
	OptionMask uint64 // optional attributes that the port has

	data [portSamplesControlSize]byte // of the other fields
}

func (*PortSamplesControl) AttrID() AttrID { return AttrPortSamplesControl }

func (a *PortSamplesControl) UnmarshalBinary(b []byte) error {
	if err := checkAtLeast("PortSamplesControl", b, portSamplesControlSize); err != nil {
		return err
	}
	copy(a.data[:], b)
	a.PortSelect, a.Tick, a.OptionMask = b[1], b[2], binary.BigEndian.Uint64(b[12:])
	a.data[1], a.data[2] = 0, 0
	clear(a.data[12:20])
	return nil
}

func (a *PortSamplesControl) AppendBinary(dst []byte) ([]byte, error) {
	b := a.data
	b[1], b[2] = a.PortSelect, a.Tick
	binary.BigEndian.PutUint64(b[12:], a.OptionMask)
	return append(dst, b[:]...), nil
}
