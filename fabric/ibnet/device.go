// SPDX-License-Identifier: Apache-2.0

package ibnet

const vendorBull = 0x119f

// hasExtendedPortInfo says whether OpenSM 3.3.23 and ibnetdiscover ask a device
// for Mellanox's ExtendedPortInfo, without which FDR10 looks like QDR.
func hasExtendedPortInfo(vendor uint32, device uint16) bool {
	switch d := device; {
	case d >= 0xc738 && d <= 0xc73b, d == 0xc839, d == 0xcb20, d == 0xcf08, d == 0xcf09, d == 0xd2f0:
		return true
	case d >= 0x1003 && d <= 0x101b, d == 0xa2d2:
		return true
	}
	if vendor != vendorBull {
		return false
	}
	switch device {
	case 0x1b02, 0x1b33, 0x1b40, 0x1b41, 0x1b50, 0x1b60, 0x1b61, 0x1b73, 0x1b83, 0x1b93, 0x1b94,
		0x1ba0, 0x1bb4, 0x1bb5, 0x1bc4, 0x1bc5, 0x1bc6, 0x1bd0, 0x1bd1, 0x1bd2, 0x1bd3, 0x1bd4, 0x1bd5, 0x1bf0:
		return true
	}
	return false
}
