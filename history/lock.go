// SPDX-License-Identifier: Apache-2.0

package history

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
)

// ErrLocked says that another console commits to the subnet.
var ErrLocked = errors.New("another console is writing to this subnet")

// Lock is held by the one console that commits to a subnet, or records it. The system releases it
// when the process ends, however that comes about.
type Lock struct{ file *os.File }

// How often, and how long after one another, a lock is tried: those who look whether somebody has it keep it for a
// moment.
const (
	lockTries = 5
	lockPause = 2 * time.Millisecond
)

// Lock takes the lock of a subnet. The error is [ErrLocked] where another one has it.
func (s *Store) Lock(subnet string) (*Lock, error) {
	for try := 1; ; try++ {
		l, err := s.flock(subnet, unix.LOCK_EX)
		if try == lockTries || !errors.Is(err, ErrLocked) {
			return l, err
		}
		time.Sleep(lockPause)
	}
}

// Locked reports whether a console commits to the subnet. Any number of them may look at once.
func (s *Store) Locked(subnet string) (bool, error) {
	l, err := s.flock(subnet, unix.LOCK_SH)
	switch {
	case errors.Is(err, ErrLocked):
		return true, nil
	case err != nil:
		return false, err
	}
	return false, l.Unlock()
}

// flock takes the lock of a subnet, shared or alone, if it can be had at once.
func (s *Store) flock(subnet string, how int) (*Lock, error) {
	if s.why != nil {
		return nil, s.why
	}
	sum := sha256.Sum256([]byte(subnet))
	path := filepath.Join(filepath.Dir(s.path), fmt.Sprintf("commit-%x.lock", sum[:8]))
	return flock(path, how, ErrLocked)
}

// flock takes a lock, shared or alone; the error is taken where another one has it.
func flock(path string, how int, taken error) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the subnet: %w", files.Err(err))
	}
	err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, errors.Join(taken, f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock %s: %w", fabric.Escape(path), err), f.Close())
	}
	return &Lock{f}, nil
}

// ErrRecording says that another process records a subnet.
var ErrRecording = errors.New("another ibconsole records this subnet")

// LockRecording takes the lock of what records a subnet into a folder. The error is [ErrRecording] where another one
// has it.
func LockRecording(dir, subnet string) (*Lock, error) {
	sum := sha256.Sum256([]byte(subnet))
	return flock(filepath.Join(dir, fmt.Sprintf("record-%x.lock", sum[:8])), unix.LOCK_EX, ErrRecording)
}

// Unlock gives the lock back.
func (l *Lock) Unlock() error { return l.file.Close() }
