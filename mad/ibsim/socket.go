// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"fmt"
	"math/rand/v2"
	"os"

	"golang.org/x/sys/unix"
)

// endpoints provides the socket addresses of an ibsim and of its clients.
type endpoints interface {
	// control returns the address of ibsim's control socket. data returns the address of ibsim's data socket for one
	// client.
	control() unix.Sockaddr
	data(client uint32) unix.Sockaddr
	// ownControl and ownData return the local addresses of the sockets with a number.
	ownControl(number uint32) unix.Sockaddr
	ownData(number uint32) unix.Sockaddr
	// socketID returns the number by which ibsim finds the data socket fd.
	socketID(number uint32, fd int) (uint32, error)
	family() int
}

// local is an ibsim on this machine. Its socket addresses are in the abstract namespace. They end with a NUL byte that
// is part of the name.
type local struct{ name string }

func (l local) family() int                       { return unix.AF_UNIX }
func (l local) control() unix.Sockaddr            { return l.address("ctl") }
func (l local) ownControl(n uint32) unix.Sockaddr { return l.address(fmt.Sprintf("ctl%d", n)) }
func (l local) ownData(n uint32) unix.Sockaddr    { return l.address(fmt.Sprintf("in%d", n)) }
func (l local) data(client uint32) unix.Sockaddr {
	return l.address(fmt.Sprintf("out%d", client))
}

func (l local) socketID(number uint32, _ int) (uint32, error) { return number, nil }

func (l local) address(socket string) unix.Sockaddr {
	return &unix.SockaddrUnix{Name: fmt.Sprintf("@%s:%s\x00", l.name, socket)}
}

// remote is an ibsim that was started with -r. The control socket has one UDP port. The UDP ports for the data of
// clients follow it.
type remote struct {
	ip   [4]byte
	port uint16
}

func (r remote) family() int                     { return unix.AF_INET }
func (r remote) control() unix.Sockaddr          { return &unix.SockaddrInet4{Addr: r.ip, Port: int(r.port)} }
func (r remote) ownControl(uint32) unix.Sockaddr { return &unix.SockaddrInet4{} }
func (r remote) ownData(uint32) unix.Sockaddr    { return &unix.SockaddrInet4{} }
func (r remote) data(client uint32) unix.Sockaddr {
	return &unix.SockaddrInet4{Addr: r.ip, Port: int(r.port) + 1 + int(client)}
}

func (r remote) socketID(_ uint32, fd int) (uint32, error) {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	return uint32(sa.(*unix.SockaddrInet4).Port), nil
}

// firstNumber is greater than all process IDs. The library umad2sim uses process IDs as the numbers of its sockets.
const firstNumber = 1 << 23

func newNumber() uint32 { return firstNumber + rand.Uint32N(1<<30) }

// open returns a datagram socket that is bound to an address.
func open(family int, own unix.Sockaddr) (int, error) {
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, os.NewSyscallError("socket", err)
	}
	if err := unix.Bind(fd, own); err != nil {
		_ = unix.Close(fd)
		return -1, os.NewSyscallError("bind", err)
	}
	return fd, nil
}

// openControl returns a socket for control messages.
func openControl(at endpoints) (*os.File, error) {
	fd, err := open(at.family(), at.ownControl(newNumber()))
	if err != nil {
		return nil, err
	}
	if err := unix.Connect(fd, at.control()); err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("connect", err)
	}
	return os.NewFile(uintptr(fd), "socket of ibsim"), nil
}
