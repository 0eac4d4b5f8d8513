// SPDX-License-Identifier: Apache-2.0

// Package ibsim is a [mad.Transport] to a running ibsim, the InfiniBand
// network simulator that Debian ships in ibsim-utils. It speaks ibsim's own
// socket protocol, as umad2sim does for programs that use libibumad, over
// sockets of the same machine or over UDP (ibsim -r).
//
// An ibsim serves ten clients at most.
package ibsim
