// SPDX-License-Identifier: Apache-2.0

package mad

import "encoding/binary"

// The kernel cuts answers of the subnet administration into segments for programs with libibumad, and
// acknowledges those that come. umad2sim, which stands for the kernel where ibsim is the subnet, does not: the
// program's whole answer arrives as one packet, cut off after 256 bytes, with the header as the program left it
// for the kernel to fill in; and an acknowledgement to the kernel is one more request to the program.

// ControlsSegments reports whether a MAD is for a kernel's segmentation alone.
func ControlsSegments(m *[Size]byte) bool {
	return segmented(m) && m[OffRMPPType] != RMPPData
}

// CompleteSegment makes an answer of length bytes that no kernel has cut into segments the first and last of its
// segments, as the kernel does. One that may have been cut off gets a status. Others stay as they are.
func CompleteSegment(m *[Size]byte, length uint64) {
	be := binary.BigEndian
	if !segmented(m) || m[OffRMPPType] != 0 || be.Uint32(m[OffSegment:]) != 0 || length < OffSAData {
		return
	}
	m[OffRMPPVersion], m[OffRMPPType] = rmppVersion, RMPPData
	m[OffRMPPFlags] |= RMPPFirst | RMPPLast
	m[OffRMPPStatus] = 0
	if length >= Size {
		length = Size
		m[OffRMPPStatus] = uint8(RMPPNoResources)
	}
	be.PutUint32(m[OffSegment:], 1)
	be.PutUint32(m[OffLength:], uint32(length-OffSMKey))
}
