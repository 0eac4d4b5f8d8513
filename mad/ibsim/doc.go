// SPDX-License-Identifier: Apache-2.0

// Package ibsim is a [mad.Transport] to a running ibsim, the InfiniBand network simulator of Debian's ibsim-utils. It
// uses ibsim's own socket protocol, as umad2sim does for programs with libibumad, over sockets of the same machine or
// over UDP (ibsim -r).
//
// ibsim answers subnet and performance management. It passes requests to a subnet administration to the program at that
// LID, where umad2sim truncates an answer after one MAD of 256 bytes: longer tables end with mad.ErrTruncated.
// [Options].Traps requests traps.
//
// An ibsim serves ten clients. A transport is one of them; while it is busy it registers up to seven if they are free.
package ibsim
