// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"encoding/binary"

	"example.org/ibconsole/mad"
)

// Offsets in a MAD of subnet administration.
const (
	offClass   = 1
	offRMPP    = 24 // version, type, flags, status
	offSegment = 28
	offPayload = 32
	offClassHd = 36
	offSAData  = 56
)

// The kernel cuts answers into segments for programs that use libibumad, and
// acknowledges them. umad2sim, which stands for the kernel, does not: the
// program's whole answer arrives as one packet, cut off after 256 bytes, with
// the header as the program left it for the kernel to fill in. And what is an
// acknowledgement to the kernel is one more request to the program.

// isControl says whether the MAD is for a kernel's segmentation alone.
func isControl(m *[mad.Size]byte) bool {
	return segmented(m) && m[offRMPP+1] != mad.RMPPData
}

func segmented(m *[mad.Size]byte) bool {
	return mad.Class(m[offClass]) == mad.ClassSA && m[offRMPP+2]&mad.RMPPActive != 0
}

// fillIn does for an answer of length bytes what the kernel does: it makes it the
// first and last of its segments. One that may have been cut off gets a status.
func fillIn(m *[mad.Size]byte, length uint64) {
	be := binary.BigEndian
	if !segmented(m) || be.Uint32(m[offSegment:]) != 0 || length < offSAData {
		return
	}
	m[offRMPP], m[offRMPP+1] = 1, mad.RMPPData
	m[offRMPP+2] |= mad.RMPPFirst | mad.RMPPLast
	m[offRMPP+3] = 0
	if length >= mad.Size {
		length = mad.Size
		m[offRMPP+3] = uint8(mad.RMPPNoResources)
	}
	be.PutUint32(m[offSegment:], 1)
	be.PutUint32(m[offPayload:], uint32(length-offClassHd))
}
