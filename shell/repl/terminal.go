// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// canEdit reports whether go-prompt can edit lines. go-prompt draws on file descriptor 1 and requires /dev/tty.
func canEdit(o *Options) bool {
	term := os.Getenv("TERM")
	if term == "" || term == "dumb" || o.Out.Fd() != uintptr(unix.Stdout) || !isTerminal(o.Out) {
		return false
	}
	fd, err := ignoringEINTR(func() (int, error) {
		return unix.Open("/dev/tty", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	})
	if err != nil {
		return false
	}
	_ = unix.Close(fd)
	return true
}

// rawMode returns the mode of a terminal in which every key press is read at once. The handling of output does not
// change.
func rawMode(t unix.Termios) unix.Termios {
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.IEXTEN | unix.ISIG
	t.Cflag = t.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return t
}

func setMode(fd int, t unix.Termios) error {
	_, err := ignoringEINTR(func() (int, error) { return 0, unix.IoctlSetTermios(fd, unix.TCSETS, &t) })
	return err
}

// windowSize returns the rows and columns of a terminal. If the size is unknown, as on a serial line, it returns 24 and
// 80.
func windowSize(fd int) (rows, columns uint16) {
	size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if err != nil || size.Row == 0 || size.Col == 0 {
		return 24, 80
	}
	return size.Row, size.Col
}

// awaitInput waits until fd is readable, for at most the given number of milliseconds. It reports whether fd is
// readable.
func awaitInput(fd int, milliseconds int) (bool, error) {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, milliseconds)
	if errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return n > 0, err
}

func ignoringEINTR(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
