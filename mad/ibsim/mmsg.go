// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// messages holds packets that are sent or received together by one system call, because a call costs more than a
// packet.
type messages struct {
	packets []packet
	headers []mmsghdr // of packets
}

// mmsghdr is the kernel's struct mmsghdr.
type mmsghdr struct {
	header unix.Msghdr
	length uint32
}

// resize changes the capacity to n packets. It keeps the packets that are already there.
func (m *messages) resize(n int) {
	m.packets = append(make([]packet, 0, n), m.packets...)[:n]
	m.headers = make([]mmsghdr, n)
	for i := range m.headers {
		iov := &unix.Iovec{Base: &m.packets[i][0]}
		iov.SetLen(packetSize)
		m.headers[i].header.Iov = iov
		m.headers[i].header.SetIovlen(1)
	}
}

// send sends a range of packets. The argument to is the index after the last packet. It sends as many as possible
// without waiting. It returns EAGAIN if it sent none.
func (m *messages) send(fd, from, to int) (int, error) {
	return transfer(unix.SYS_SENDMMSG, fd, m.headers[from:to])
}

// receive stores the packets that are available, without waiting. It returns EAGAIN if there are none.
func (m *messages) receive(fd int) (int, error) { return transfer(unix.SYS_RECVMMSG, fd, m.headers) }

// transfer makes a raw system call. Go's scheduler does not notice the call, which is acceptable because the call does
// not wait.
func transfer(call uintptr, fd int, headers []mmsghdr) (int, error) {
	n, _, errno := unix.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(headers))),
		uintptr(len(headers)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	switch errno {
	case 0:
		return int(n), nil
	case unix.ENOBUFS, unix.EINTR:
		return 0, unix.EAGAIN
	}
	return 0, errno
}
