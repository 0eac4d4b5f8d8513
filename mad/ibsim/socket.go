// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// endpoints are the addresses of one ibsim and of one client of it.
type endpoints interface {
	// control and data are the addresses of ibsim, data that for one client.
	control() unix.Sockaddr
	data(client uint32) unix.Sockaddr
	// ownControl and ownData are where the client's sockets are bound.
	ownControl() unix.Sockaddr
	ownData() unix.Sockaddr
	// id tells ibsim where the client's data socket is.
	id(data *os.File) (uint32, error)
	family() int
}

// local is an ibsim on this machine. Its addresses are in the abstract name
// space and end with a NUL that counts.
type local struct {
	name   string
	number uint32 // of the client's sockets
}

func (l local) family() int               { return unix.AF_UNIX }
func (l local) control() unix.Sockaddr    { return l.address("ctl") }
func (l local) ownControl() unix.Sockaddr { return l.address(fmt.Sprintf("ctl%d", l.number)) }
func (l local) ownData() unix.Sockaddr    { return l.address(fmt.Sprintf("in%d", l.number)) }
func (l local) data(client uint32) unix.Sockaddr {
	return l.address(fmt.Sprintf("out%d", client))
}

func (l local) id(*os.File) (uint32, error) { return l.number, nil }

func (l local) address(socket string) unix.Sockaddr {
	return &unix.SockaddrUnix{Name: fmt.Sprintf("@%s:%s\x00", l.name, socket)}
}

// remote is an ibsim -r: control at one UDP port, clients' data at the next.
type remote struct {
	ip   [4]byte
	port uint16
}

func (r remote) family() int               { return unix.AF_INET }
func (r remote) control() unix.Sockaddr    { return &unix.SockaddrInet4{Addr: r.ip, Port: int(r.port)} }
func (r remote) ownControl() unix.Sockaddr { return &unix.SockaddrInet4{} }
func (r remote) ownData() unix.Sockaddr    { return &unix.SockaddrInet4{} }
func (r remote) data(client uint32) unix.Sockaddr {
	return &unix.SockaddrInet4{Addr: r.ip, Port: int(r.port) + 1 + int(client)}
}

func (r remote) id(data *os.File) (uint32, error) {
	var port int
	err := onFD(data, func(fd int) error {
		sa, err := unix.Getsockname(fd)
		if in, ok := sa.(*unix.SockaddrInet4); ok {
			port = in.Port
		}
		return err
	})
	return uint32(port), err
}

// open returns a datagram socket bound to own.
func open(family int, own unix.Sockaddr) (*os.File, error) {
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := unix.Bind(fd, own); err != nil {
		_ = unix.Close(fd)
		return nil, os.NewSyscallError("bind", err)
	}
	return os.NewFile(uintptr(fd), "socket of ibsim"), nil
}

func connect(f *os.File, to unix.Sockaddr) error {
	return onFD(f, func(fd int) error { return os.NewSyscallError("connect", unix.Connect(fd, to)) })
}

func onFD(f *os.File, do func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = do(int(fd)) }); err != nil {
		return err
	}
	return inner
}
