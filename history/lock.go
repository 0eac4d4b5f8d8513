// SPDX-License-Identifier: Apache-2.0

package history

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/files"
)

// ErrLocked says that another console commits to the subnet.
var ErrLocked = errors.New("another console is writing to this subnet")

// Lock is held by the one console that commits to a subnet. The system releases it
// when the process ends, however that comes about.
type Lock struct{ file *os.File }

// Lock takes the lock of a subnet. The error is [ErrLocked] where another one has it.
func (s *Store) Lock(subnet string) (*Lock, error) {
	if s.why != nil {
		return nil, s.why
	}
	sum := sha256.Sum256([]byte(subnet))
	path := filepath.Join(filepath.Dir(s.path), fmt.Sprintf("commit-%x.lock", sum[:8]))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the subnet: %w", files.Err(err))
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, errors.Join(ErrLocked, f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock %s: %w", fabric.Escape(path), err), f.Close())
	}
	return &Lock{f}, nil
}

// Unlock gives the lock back.
func (l *Lock) Unlock() error { return l.file.Close() }
