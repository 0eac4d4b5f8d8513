// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"golang.org/x/sys/unix"
)

// ErrHeldGone says that a device which was opened before root was given up carries nothing any more.
var ErrHeldGone = errors.New("the device that was opened before root was given up is gone: start the program again")

// Held are umad devices that a program opened while it might, for itself to use when it may not open them any more,
// until the program ends. The nil value holds none. Its methods may be called from any goroutine.
type Held struct {
	mu      sync.Mutex
	devices map[string]*held
}

// held is one device. All its duplicates are one open file to the kernel, so that one is used at a time.
type held struct {
	fd    int
	busy  bool
	pkeys bool // the kernel was asked for P_Key indexes, which it takes once
}

// Hold opens the umad devices of all ports that it can, registers nothing and leaves issm devices alone: opening one
// says that a subnet manager runs there.
func Hold(root string) *Held {
	h := &Held{devices: map[string]*held{}}
	ports, _ := Ports(root) // one that cannot be read is none to use
	for _, p := range ports {
		for _, device := range append(p.Planes, p) {
			if device.Umad == "" {
				continue
			}
			path := devicePath(root, device.Umad)
			if fd, err := openFile(path); err == nil {
				h.devices[path] = &held{fd: fd}
			}
		}
	}
	return h
}

// has reports whether a device is held.
func (h *Held) has(path string) bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.devices[path] != nil
}

// take returns a descriptor of a device to use, refused where it is not held.
func (h *Held) take(path string, refused error) (int, *held, error) {
	if h == nil {
		return -1, nil, refused
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.devices[path]
	switch {
	case one == nil:
		return -1, nil, fmt.Errorf("%w (root was given up when the program began: start it again)", refused)
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

// giveBack lets a device be used again.
func (h *Held) giveBack(one *held) {
	if one == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	one.busy = false
}

// drain reads what came for those who used a device before.
func drain(fd int) {
	var b [receiveSize]byte
	for {
		if n, err := retry(func() (int, error) { return unix.Read(fd, b[:]) }); n <= 0 || err != nil {
			return
		}
	}
}
