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

// device is an open character device. Its methods are safe for concurrent use.
type device struct {
	path string
	fd   int
	wake int // eventfd that ends a wait

	// general is the separate device of the general services, if the port has one. Then read also returns packets of
	// general, and close also closes general.
	general *device

	from *HeldDevices // source of fd if it is a duplicate of a held descriptor
	held *heldDevice

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

// openDevice opens a device. If this process may not open the device, openDevice duplicates the held one.
func openDevice(path string, h *HeldDevices) (*device, error) {
	var one *heldDevice
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
	return &device{path: path, fd: fd, wake: wake, from: h, held: one}, nil
}

// usePKeys enables P_Key indexes. The kernel accepts this only once for each open file.
func (d *device) usePKeys() error {
	if d.held != nil && d.held.pkeys {
		return nil
	}
	err := d.ioctl(enablePKey, nil)
	if d.held != nil {
		d.held.pkeys = err == nil
	}
	return err
}

// mayOpen checks whether this process may open the device or already holds it. It does not open the device.
func mayOpen(path string, h *HeldDevices) error {
	if h.has(path) {
		return nil
	}
	err := unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK|unix.W_OK, unix.AT_EACCESS)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}

// close makes a waiting read return, calls the function last, and closes the device. Further calls do nothing.
func (d *device) close(last func()) error {
	if d.closed.Swap(true) {
		return nil
	}
	werr := d.wakeReader()
	d.use.Lock()
	defer d.use.Unlock()
	last()
	defer d.from.giveBack(d.held)
	return errors.Join(os.NewSyscallError("eventfd", werr), os.NewSyscallError("close", unix.Close(d.fd)),
		os.NewSyscallError("close", unix.Close(d.wake)))
}

// ioctl makes an ioctl request to the device. The length of arg must be the length that is encoded in the request.
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

// interrupt makes a waiting read return [mad.ErrInterrupted]. If no read is waiting, it affects the next read that
// would have to wait.
func (d *device) interrupt() {
	d.use.RLock()
	defer d.use.RUnlock()
	if !d.closed.Load() {
		_ = d.wakeReader()
	}
}

// wakeReader makes wake readable.
func (d *device) wakeReader() error {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, err := unix.Write(d.wake, one[:])
	return err
}

// read waits for a packet. If the device is closed, the error is [fs.ErrClosed].
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

// readOne reads an available packet. The error is EAGAIN if there is none.
func (d *device) readOne(b []byte) (int, error) {
	n, err := retry(func() (int, error) { return unix.Read(d.fd, b) })
	if d.general != nil && errors.Is(err, unix.EAGAIN) {
		return d.general.readOne(b)
	}
	return n, err
}

// wait waits until a packet is available or the device is closed.
func (d *device) wait() error {
	fds := []unix.PollFd{{Fd: int32(d.wake), Events: unix.POLLIN}, {Fd: int32(d.fd), Events: unix.POLLIN}}
	if d.general != nil {
		fds = append(fds, unix.PollFd{Fd: int32(d.general.fd), Events: unix.POLLIN})
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

// retry calls the function again as long as a signal interrupts the call.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
