// SPDX-License-Identifier: Apache-2.0

// Package ibsim is a [mad.Transport] to a running ibsim, the InfiniBand network simulator of Debian's ibsim-utils. It
// uses ibsim's socket protocol, as umad2sim does for programs with libibumad. The sockets are local, or UDP sockets
// (ibsim -r).
//
// ibsim answers subnet and performance management requests itself. It passes requests to a subnet administration to the
// program at that LID. The library umad2sim of that program truncates an answer after one MAD of 256 bytes, so longer
// tables end with mad.ErrTruncated. [Options].Traps requests traps.
//
// An ibsim serves ten clients. A transport is normally one client. While it is busy, it registers up to seven clients
// if they are free.
package ibsim
