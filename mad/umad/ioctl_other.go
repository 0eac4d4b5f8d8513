// SPDX-License-Identifier: Apache-2.0

//go:build ppc64 || ppc64le || mips || mipsle || mips64 || mips64le || sparc64

package umad

// Which way an ioctl's argument goes (arch/powerpc/include/uapi/asm/ioctl.h and its like).
const (
	iocDirection = 29
	iocNone      = 1
	iocRead      = 2
	iocWrite     = 4
)
