// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/files"
)

const (
	historySize  = 1000     // lines
	historyBytes = 1 << 20  // read from the end of the file
	historyLine  = 16 << 10 // the longest line, in bytes
)

// history holds the entered lines, oldest first, and the file that stores them. Several consoles may append to the same
// file.
type history struct {
	path    string // "" for no file
	lines   []string
	private func(line string) bool // reports whether a line must not be saved; may be nil
}

// openHistory opens or creates the file. If it returns an error, the history is usable but saves nothing.
func openHistory(path string) (*history, error) {
	h := &history{path: path}
	if path == "" {
		return h, nil
	}
	if err := h.load(); err != nil {
		h.path = ""
		return h, fmt.Errorf("keep the history: %w", err)
	}
	return h, nil
}

func (h *history) open() (*os.File, error) {
	// Open it without blocking, because the path may be a named pipe.
	f, err := os.OpenFile(h.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, files.Err(err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), fmt.Errorf("%s is not a regular file", fabric.Escape(h.path)))
	}
	return f, nil
}

func (h *history) load() (err error) {
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return files.Err(err)
	}
	f, err := h.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Chmod(0o600); err != nil {
		return err
	}
	locked := lock(f)
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	skipped := max(0, size-historyBytes)
	text, err := io.ReadAll(io.NewSectionReader(f, skipped, historyBytes))
	if err != nil {
		return err
	}
	count := h.parse(text, skipped > 0)
	if locked && (skipped > 0 || count > 2*historySize) {
		return h.shorten(f)
	}
	return nil
}

// lock locks the file until the file is closed. It returns false if another console holds the lock for long, or if the
// file system has no locks. Without the lock, lines may be appended, but the file must not be shortened.
func lock(f *os.File) bool {
	for range 20 {
		_, err := ignoringEINTR(func() (int, error) {
			return 0, unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		})
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return err == nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

// parse adds the lines of text and returns their number. If the argument cut is set, the first line is incomplete and
// parse skips it.
func (h *history) parse(text []byte, cut bool) int {
	if cut {
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	count := 0
	for line := range strings.Lines(string(text)) {
		count++
		h.remember(strings.TrimSuffix(line, "\n"))
	}
	return count
}

// shorten replaces the contents of the file by the lines that history holds.
func (h *history) shorten(f *os.File) error {
	text := strings.Join(h.lines, "\n") + "\n"
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteString(text)
	return err
}

// remember adds a line to the history and returns true. It ignores a line that repeats the last line, is blank, begins
// with a blank, is too long, or is not printable.
func (h *history) remember(line string) bool {
	if strings.TrimSpace(line) == "" || line[0] == ' ' || len(line) > historyLine ||
		!utf8.ValidString(line) || strings.IndexFunc(line, unicode.IsControl) >= 0 {
		return false
	}
	if n := len(h.lines); n > 0 && h.lines[n-1] == line {
		return false
	}
	h.lines = append(h.lines, line)
	if len(h.lines) > 2*historySize {
		h.lines = append(h.lines[:0], h.lines[len(h.lines)-historySize:]...)
	}
	return true
}

// add remembers a line and appends it to the file, unless the line is private. After an error, the file is no longer
// used.
func (h *history) add(line string) error {
	if !h.remember(line) || h.path == "" || h.private != nil && h.private(line) {
		return nil
	}
	if err := h.append(line); err != nil {
		h.path = ""
		return fmt.Errorf("keep the history: %w", err)
	}
	return nil
}

func (h *history) append(line string) (err error) {
	f, err := h.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lock(f)
	_, err = f.WriteString(line + "\n")
	return err
}

// recent returns a copy of the last lines. go-prompt may change the copy.
func (h *history) recent() []string {
	lines := h.lines[max(0, len(h.lines)-historySize):]
	return append(make([]string, 0, len(lines)+1), lines...)
}
