// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"errors"
	"io/fs"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHeldIsUsedByOneAtATime checks that a held device has one user at a time, because its duplicates share one queue
// of packets, and that packets for the previous user are discarded.
func TestHeldIsUsedByOneAtATime(t *testing.T) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fds[1]) }()
	const path = "/dev/infiniband/umad0"
	h := &HeldDevices{devices: map[string]*heldDevice{path: {fd: fds[0]}}}
	fd, one, err := h.take(path, fs.ErrPermission)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.take(path, fs.ErrPermission); !errors.Is(err, unix.EBUSY) {
		t.Errorf("taken twice: %v", err)
	}
	if err := unix.Close(fd); err != nil {
		t.Fatal(err)
	}
	h.giveBack(one)
	if _, err := unix.Write(fds[1], []byte("late")); err != nil {
		t.Fatal(err)
	}
	fd, _, err = h.take(path, fs.ErrPermission)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	if n, err := unix.Read(fd, make([]byte, 8)); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("read %d bytes of the previous user, %v", n, err)
	}
	if _, _, err := h.take("/dev/infiniband/umad1", fs.ErrPermission); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a device that is not held: %v", err)
	}
	var none *HeldDevices
	if _, _, err := none.take(path, fs.ErrPermission); err != fs.ErrPermission || none.has(path) {
		t.Errorf("none held: %v", err)
	}
}
