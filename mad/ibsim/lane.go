// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// lane is one of ibsim's places for clients and the socket that goes with it.
type lane struct {
	client uint32
	fd     int
}

// lanes are those of a transport.
type lanes struct {
	use  sync.RWMutex // held for reading while the descriptors of all are used
	all  []lane       // none: closed
	poll *os.File     // an epoll of all of them
	wait syscall.RawConn
}

// open makes the lanes, none as yet, ready.
func (s *lanes) open() error {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return os.NewSyscallError("fcntl", err)
	}
	s.poll = os.NewFile(uintptr(fd), "epoll of ibsim's sockets")
	s.wait, err = s.poll.SyscallConn()
	return err
}

func (s *lanes) add(l lane) error {
	s.use.Lock()
	defer s.use.Unlock()
	err := onFD(s.wait, func(fd int) error {
		return unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, l.fd, &unix.EpollEvent{Events: unix.EPOLLIN})
	})
	if err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	s.all = append(s.all, l)
	return nil
}

// drop takes all lanes but the first so many out of use and returns them.
func (s *lanes) drop(keep int) []lane {
	s.use.Lock()
	defer s.use.Unlock()
	keep = min(keep, len(s.all))
	gone := s.all[keep:]
	s.all = s.all[:keep:keep]
	return gone
}

// close makes a receiver that waits return.
func (s *lanes) close() {
	if s.poll != nil {
		_ = s.poll.Close()
	}
}

func onFD(conn syscall.RawConn, do func(fd int) error) error {
	var inner error
	if err := conn.Control(func(fd uintptr) { inner = do(int(fd)) }); err != nil {
		return err
	}
	return inner
}
