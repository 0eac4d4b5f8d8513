// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"encoding/binary"

	"example.org/ibconsole/mad"
)

const (
	smInfoSize = 32
	smInfoUsed = 4 + 21
)

// Components of an [SMInfoRecord] that are asked by.
const (
	SMInfoLID Mask = 1 << 0
)

// SMInfoRecord is a subnet manager (IBA 15.2.5.10):
//
//	 0  LID      2
//	 2  reserved 2
//	 4  Info    21  the first bytes of SMInfo
//	25  padding  7
type SMInfoRecord struct {
	LID  uint16
	Info mad.SMInfo
}

func (*SMInfoRecord) AttrID() mad.AttrID { return AttrSMInfoRecord }

func (r *SMInfoRecord) UnmarshalBinary(b []byte) error {
	if err := check("SMInfoRecord", b, smInfoUsed); err != nil {
		return err
	}
	var info [mad.DataSize]byte
	copy(info[:], b[4:smInfoUsed])
	r.LID = binary.BigEndian.Uint16(b)
	return r.Info.UnmarshalBinary(info[:])
}

func (r *SMInfoRecord) AppendBinary(dst []byte) ([]byte, error) {
	var b [smInfoSize]byte
	var room [mad.DataSize]byte
	binary.BigEndian.PutUint16(b[0:], r.LID)
	info, err := r.Info.AppendBinary(room[:0])
	copy(b[4:smInfoUsed], info)
	return append(dst, b[:]...), err
}
