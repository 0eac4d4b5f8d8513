// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// device is an open character device. Its methods may be called from any goroutine.
type device struct {
	path string
	fd   int
	wake int // an eventfd that is readable once the device is closed

	beside *device // another one whose packets read also returns, and which is closed with this one; nil for none

	from *Held // where fd is a duplicate of one that is held
	one  *held

	use    sync.RWMutex // held for reading while fd is used
	closed atomic.Bool
}

// openFile opens a device for reading and writing.
func openFile(path string) (int, error) {
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0) })
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// openDevice opens a device, or takes the one that is held where this process may not.
func openDevice(path string, h *Held) (*device, error) {
	var one *held
	fd, err := openFile(path)
	if errors.Is(err, fs.ErrPermission) {
		fd, one, err = h.take(path, err)
	}
	if err != nil {
		return nil, err
	}
	wake, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		_ = unix.Close(fd)
		h.giveBack(one)
		return nil, os.NewSyscallError("eventfd", err)
	}
	return &device{path: path, fd: fd, wake: wake, from: h, one: one}, nil
}

// usePKeys asks the kernel for P_Key indexes, which it takes once of an open file.
func (d *device) usePKeys() error {
	if d.one != nil && d.one.pkeys {
		return nil
	}
	err := d.ioctl(enablePKey, nil)
	if d.one != nil {
		d.one.pkeys = err == nil
	}
	return err
}

// mayOpen reports whether this process may open the device or holds it, without opening it.
func mayOpen(path string, h *Held) error {
	if h.has(path) {
		return nil
	}
	err := unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK|unix.W_OK, unix.AT_EACCESS)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}

// close makes a waiting read return, then closes the device after a last use. Again, it does nothing.
func (d *device) close(last func()) error {
	if d.closed.Swap(true) {
		return nil
	}
	werr := d.tell()
	d.use.Lock()
	defer d.use.Unlock()
	last()
	defer d.from.giveBack(d.one)
	return errors.Join(os.NewSyscallError("eventfd", werr), os.NewSyscallError("close", unix.Close(d.fd)),
		os.NewSyscallError("close", unix.Close(d.wake)))
}

// ioctl hands arg, which must be as long as the request says, to the device.
func (d *device) ioctl(request uint, arg []byte) error {
	_, err := retry(func() (int, error) {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(d.fd), uintptr(request),
			uintptr(unsafe.Pointer(unsafe.SliceData(arg))))
		if errno != 0 {
			return 0, errno
		}
		return 0, nil
	})
	return err
}

// write writes one packet.
func (d *device) write(b []byte) error {
	d.use.RLock()
	defer d.use.RUnlock()
	if d.closed.Load() {
		return fs.ErrClosed
	}
	n, err := retry(func() (int, error) { return unix.Write(d.fd, b) })
	if err == nil && n != len(b) {
		err = fmt.Errorf("%w: %d of %d bytes", io.ErrShortWrite, n, len(b))
	}
	return err
}

// interrupt makes a read that waits, or else the next one that would have to, return [mad.ErrInterrupted].
func (d *device) interrupt() {
	d.use.RLock()
	defer d.use.RUnlock()
	if !d.closed.Load() {
		_ = d.tell()
	}
}

// tell makes wake readable.
func (d *device) tell() error {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, err := unix.Write(d.wake, one[:])
	return err
}

// read waits for a packet. The error is [fs.ErrClosed] once the device is closed.
func (d *device) read(b []byte) (int, error) {
	d.use.RLock()
	defer d.use.RUnlock()
	for {
		if d.closed.Load() {
			return 0, fs.ErrClosed
		}
		n, err := d.readOne(b)
		switch {
		case errors.Is(err, unix.EAGAIN):
		case err == nil && n == 0:
			return 0, io.ErrUnexpectedEOF
		default:
			return n, err
		}
		if err := d.wait(); err != nil {
			return 0, err
		}
	}
}

// readOne reads what has come. The error is EAGAIN where nothing has.
func (d *device) readOne(b []byte) (int, error) {
	n, err := retry(func() (int, error) { return unix.Read(d.fd, b) })
	if d.beside != nil && errors.Is(err, unix.EAGAIN) {
		return d.beside.readOne(b)
	}
	return n, err
}

// wait returns when there is something to read or the device is closed, or an error.
func (d *device) wait() error {
	fds := []unix.PollFd{{Fd: int32(d.wake), Events: unix.POLLIN}, {Fd: int32(d.fd), Events: unix.POLLIN}}
	if d.beside != nil {
		fds = append(fds, unix.PollFd{Fd: int32(d.beside.fd), Events: unix.POLLIN})
	}
	if _, err := retry(func() (int, error) { return unix.Poll(fds, -1) }); err != nil {
		return os.NewSyscallError("poll", err)
	}
	for _, fd := range fds[1:] {
		if fd.Revents&unix.POLLIN == 0 && fd.Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0 {
			return unix.EIO
		}
	}
	if fds[0].Revents != 0 && !d.closed.Load() {
		var count [8]byte
		_, _ = unix.Read(d.wake, count[:])
		return mad.ErrInterrupted
	}
	return nil
}

// retry calls again what a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
