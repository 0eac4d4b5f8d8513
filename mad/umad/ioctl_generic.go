// SPDX-License-Identifier: Apache-2.0

//go:build !ppc64 && !ppc64le && !mips && !mipsle && !mips64 && !mips64le && !sparc64

package umad

// The direction bits of an ioctl number (include/uapi/asm-generic/ioctl.h).
const (
	iocDirection = 30
	iocNone      = 0
	iocWrite     = 1
	iocRead      = 2
)
