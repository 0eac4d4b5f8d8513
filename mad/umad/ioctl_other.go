// SPDX-License-Identifier: Apache-2.0

//go:build ppc64 || ppc64le || mips || mipsle || mips64 || mips64le || sparc64

package umad

// The direction bits of an ioctl number (arch/powerpc/include/uapi/asm/ioctl.h and similar files).
const (
	iocDirection = 29
	iocNone      = 1
	iocRead      = 2
	iocWrite     = 4
)
