// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"golang.org/x/sys/unix"
)

// ErrHeldGone reports that a device that was opened before giving up root no longer works.
var ErrHeldGone = errors.New("the device opened before giving up root no longer works (restart the program)")

// HeldDevices holds umad devices that a program opened while it had the permission. The program can use them after it
// has lost the permission, until it ends. A nil HeldDevices holds no devices. Its methods are safe for concurrent use.
type HeldDevices struct {
	mu      sync.Mutex
	devices map[string]*heldDevice
}

// heldDevice is one held device. To the kernel all its duplicates are the same open file, so only one duplicate is used
// at a time.
type heldDevice struct {
	fd    int
	busy  bool
	pkeys bool // P_Key indexes are enabled, which the kernel accepts once
}

// Hold opens the umad devices of all ports, as far as it can. It registers nothing. It does not open issm devices,
// because a port would then claim to have a subnet manager.
func Hold(root string) *HeldDevices {
	h := &HeldDevices{devices: map[string]*heldDevice{}}
	ports, _ := Ports(root) // ports that cannot be read are unusable
	for _, p := range ports {
		for _, device := range append(p.Planes, p) {
			if device.Umad == "" {
				continue
			}
			path := devicePath(root, device.Umad)
			if fd, err := openFile(path); err == nil {
				h.devices[path] = &heldDevice{fd: fd}
			}
		}
	}
	return h
}

// has reports whether a device is held.
func (h *HeldDevices) has(path string) bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.devices[path] != nil
}

// take returns a duplicate descriptor of a held device. If the device is not held, it returns the error refused.
func (h *HeldDevices) take(path string, refused error) (int, *heldDevice, error) {
	if h == nil {
		return -1, nil, refused
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.devices[path]
	switch {
	case one == nil:
		return -1, nil, fmt.Errorf("%w (root was given up at start: restart the program)", refused)
	case one.busy:
		return -1, nil, &fs.PathError{Op: "open", Path: path, Err: unix.EBUSY}
	}
	fd, err := retry(func() (int, error) { return unix.FcntlInt(uintptr(one.fd), unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil {
		return -1, nil, &fs.PathError{Op: "dup", Path: path, Err: err}
	}
	one.busy = true
	drain(fd)
	return fd, one, nil
}

// giveBack makes a device available again.
func (h *HeldDevices) giveBack(one *heldDevice) {
	if one == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	one.busy = false
}

// drain discards the packets that were meant for previous users of a device.
func drain(fd int) {
	var b [receiveSize]byte
	for {
		if n, err := retry(func() (int, error) { return unix.Read(fd, b[:]) }); n <= 0 || err != nil {
			return
		}
	}
}
