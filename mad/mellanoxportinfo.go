// SPDX-License-Identifier: Apache-2.0

package mad

// MellanoxFDR10 is FDR10 in the speed fields of [MellanoxExtendedPortInfo].
const MellanoxFDR10 = 1

// MellanoxExtendedPortInfo is Mellanox's own attribute, by which a link at FDR10 is told from one at QDR; the
// attribute modifier is the port. Layout as in OpenSM's ib_mlnx_ext_port_info_t:
//
//	 0  reserved            3
//	 3  StateChangeEnable   1
//	 4  reserved            3
//	 7  LinkSpeedSupported  1
//	 8  reserved            3
//	11  LinkSpeedEnabled    1
//	12  reserved            3
//	15  LinkSpeedActive     1
//	16  reserved           48
type MellanoxExtendedPortInfo struct {
	StateChangeEnable  uint8
	LinkSpeedSupported uint8
	LinkSpeedEnabled   uint8
	LinkSpeedActive    uint8

	spare [DataSize]byte
}

func (*MellanoxExtendedPortInfo) AttrID() AttrID { return AttrMellanoxExtendedPortInfo }

// FDR10 says that the link runs at FDR10.
func (a *MellanoxExtendedPortInfo) FDR10() bool { return a.LinkSpeedActive&MellanoxFDR10 != 0 }

func (a *MellanoxExtendedPortInfo) UnmarshalBinary(b []byte) error {
	if err := checkLength(AttrMellanoxExtendedPortInfo, b); err != nil {
		return err
	}
	copy(a.spare[:], b)
	for i, field := range a.fields() {
		at := 3 + 4*i
		*field = b[at]
		a.spare[at] = 0
	}
	return nil
}

func (a *MellanoxExtendedPortInfo) AppendBinary(dst []byte) ([]byte, error) {
	dst, b := grow(dst)
	copy(b, a.spare[:])
	for i, field := range a.fields() {
		b[3+4*i] = *field
	}
	return dst, nil
}

// fields are at bytes 3, 7, 11 and 15.
func (a *MellanoxExtendedPortInfo) fields() [4]*uint8 {
	return [...]*uint8{&a.StateChangeEnable, &a.LinkSpeedSupported, &a.LinkSpeedEnabled, &a.LinkSpeedActive}
}
