// SPDX-License-Identifier: Apache-2.0

package history

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/sqlfile"
	"example.org/ibconsole/internal/base/when"
)

// ErrLocked reports that another console is writing to the subnet.
var ErrLocked = errors.New("another console is writing to this subnet")

// Lock is held by the only console that may write to a subnet, or by the only process that may record it. The operating
// system releases the lock when the process ends for any reason.
type Lock struct {
	file    *os.File
	isNamed bool // the file contains the holder
}

// The number of attempts to get a lock, and the pause between two attempts. [Store.Locked] in another process holds the
// lock only for a moment.
const (
	lockTries = 5
	lockPause = 2 * time.Millisecond
)

// Lock takes the lock of a subnet and writes the name of this process into the lock file. If another console has the
// lock, the error wraps [ErrLocked] and contains the name of that console.
func (s *Store) Lock(subnet string) (*Lock, error) {
	for try := 1; ; try++ {
		l, err := s.flock(subnet, unix.LOCK_EX)
		switch {
		case err == nil:
			l.name()
			return l, nil
		case !errors.Is(err, ErrLocked):
			return nil, err
		case try == lockTries:
			return nil, s.taken(subnet)
		}
		time.Sleep(lockPause)
	}
}

// taken returns an error that wraps [ErrLocked] and contains the name of the console that has the lock of a subnet.
func (s *Store) taken(subnet string) error {
	who, err := os.ReadFile(s.lockPath(subnet))
	if err != nil || len(who) == 0 {
		return ErrLocked
	}
	return fmt.Errorf("%w: %s", ErrLocked, fabric.Escape(strings.TrimSpace(string(who))))
}

// name writes this process into the lock file. Other processes show the text if they find the file locked. Errors are
// ignored, because the text is only informative.
func (l *Lock) name() {
	who := strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	l.isNamed = true
	_ = l.file.Truncate(0)
	_, _ = fmt.Fprintf(l.file, "process %d of %s, since %s\n", os.Getpid(), who, when.Text(time.Now()))
}

// Locked returns an error if a console is writing to the subnet. The error wraps [ErrLocked] and contains the name of
// that console. Several processes may call Locked at the same time.
func (s *Store) Locked(subnet string) error {
	l, err := s.flock(subnet, unix.LOCK_SH)
	switch {
	case errors.Is(err, ErrLocked):
		return s.taken(subnet)
	case err != nil:
		return err
	}
	return l.Unlock()
}

// flock takes the lock of a subnet if it is free. The argument how selects a shared or an exclusive lock.
func (s *Store) flock(subnet string, how int) (*Lock, error) {
	if s.readOnly != nil {
		return nil, s.readOnly
	}
	return flock(s.lockPath(subnet), how, ErrLocked)
}

func (s *Store) lockPath(subnet string) string {
	sum := sha256.Sum256([]byte(subnet))
	return filepath.Join(filepath.Dir(s.path), fmt.Sprintf("commit-%x.lock", sum[:8]))
}

// flock takes a lock. The argument how selects a shared or an exclusive lock. If another process has the lock, flock
// returns an error that wraps the argument taken.
func flock(path string, how int, taken error) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NONBLOCK, 0o600) // the path may be a named pipe
	if errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EROFS) {
		f, err = os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the subnet: %w", files.Err(err))
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(),
			fmt.Errorf("lock the subnet: %s is %w", fabric.Escape(path), sqlfile.ErrIrregular))
	}
	err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, errors.Join(taken, f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("lock %s: %w", fabric.Escape(path), err), f.Close())
	}
	return &Lock{file: f}, nil
}

// ErrRecording reports that another process is recording a subnet.
var ErrRecording = errors.New("another ibconsole records this subnet")

// LockRecording takes the lock for recording a subnet into a folder. If another process has the lock, the error wraps
// [ErrRecording].
func LockRecording(dir, subnet string) (*Lock, error) {
	sum := sha256.Sum256([]byte(subnet))
	return flock(filepath.Join(dir, fmt.Sprintf("record-%x.lock", sum[:8])), unix.LOCK_EX, ErrRecording)
}

// Unlock releases the lock.
func (l *Lock) Unlock() error {
	if l.isNamed {
		_ = l.file.Truncate(0) // the file remains, without a holder
	}
	return l.file.Close()
}
