// SPDX-License-Identifier: Apache-2.0

package umad

// The ioctls of ib_user_mad_ioctl.h, and the sizes of their arguments in bytes.
const (
	magic = 0x1b

	sizeAgentID  = 4
	sizeRequest  = 28
	sizeRequest2 = 40

	registerAgent   = iocRead<<iocDirection | iocWrite<<iocDirection | sizeRequest<<16 | magic<<8 | 1
	unregisterAgent = iocWrite<<iocDirection | sizeAgentID<<16 | magic<<8 | 2
	enablePKey      = iocNone<<iocDirection | magic<<8 | 3
	registerAgent2  = iocRead<<iocDirection | iocWrite<<iocDirection | sizeRequest2<<16 | magic<<8 | 4
)
