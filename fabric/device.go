// SPDX-License-Identifier: Apache-2.0

package fabric

import "example.org/ibconsole/mad"

const vendorBull = 0x119f

// MayAdapt reports whether a switch of a vendor may know the attributes of adaptive routing, which are NVIDIA's own.
func MayAdapt(vendor uint32) bool { return vendor == VendorMellanox }

// KnowsFDR10 reports whether OpenSM 3.3.23 and ibnetdiscover ask such a node for MellanoxExtendedPortInfo,
// without which FDR10 looks like QDR (rdma-core, libibnetdisc, is_mlnx_ext_port_info_supported).
func KnowsFDR10(vendor uint32, device uint16) bool {
	switch d := device; {
	case d >= 0xc738 && d <= 0xc73b, d == 0xc839, d == 0xcb20, d == 0xcf08, d == 0xcf09, d == 0xd2f0, d == 0xa2d2,
		d >= 0x1003 && d <= 0x101b:
		return true
	case vendor != vendorBull:
		return false
	}
	switch d := device; d {
	case 0x1b02, 0x1b33, 0x1b40, 0x1b41, 0x1b50, 0x1b60, 0x1b61, 0x1b73, 0x1b83, 0x1b93, 0x1b94, 0x1ba0, 0x1bb4,
		0x1bb5, 0x1bf0:
		return true
	default:
		return d >= 0x1bc4 && d <= 0x1bc6 || d >= 0x1bd0 && d <= 0x1bd5
	}
}

// qdr is QDR in PortInfo's LinkSpeedActive, which FDR10 looks like.
const qdr = 4

// MayBeFDR10 reports whether such a node's port that says QDR has to be asked for MellanoxExtendedPortInfo.
func MayBeFDR10(port *mad.PortInfo, vendor uint32, device uint16) bool {
	return port.LinkSpeedActive == qdr && port.LinkSpeedExtActive == 0 && KnowsFDR10(vendor, device)
}
