// SPDX-License-Identifier: Apache-2.0

// Package ibsim is a [mad.Transport] to a running ibsim, the InfiniBand network simulator that Debian ships
// in ibsim-utils. It speaks ibsim's own socket protocol, as umad2sim does for programs that use libibumad,
// over sockets of the same machine or over UDP (ibsim -r).
//
// ibsim answers subnet and performance management; what is for a subnet administration it hands to the
// program that sits at that LID, and umad2sim there cuts an answer off after one MAD of 256 bytes: longer
// tables come with mad.ErrTruncated. Traps come in with [Options].Traps.
//
// An ibsim serves ten clients. A transport is one, and while it has much to carry up to seven if there is room.
package ibsim
