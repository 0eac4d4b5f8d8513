// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"errors"
	"sync"

	"github.com/c-bata/go-prompt"
	"golang.org/x/sys/unix"
)

// idleAfter is the time without a byte, in milliseconds, after which an escape sequence counts as complete. It also
// limits the time for which reading a key blocks go-prompt.
const idleAfter = 20

// wakeKey is the key F24, which users do not press. It makes go-prompt return from Input.
var wakeKey = []byte("\x1b[\x24;2~")

var errNoKey = errors.New("no key")

// inputEnd is the reason why go-prompt returned from Input.
type inputEnd uint8

const (
	endedByLine  inputEnd = iota
	endedByEOF            // Ctrl-D
	endedByWake           // the size of the window changed
	endedByClose          // the loop ends
)

// keyboard implements go-prompt's ConsoleParser for the terminal. It keeps the bytes after an Enter for the next Input,
// because go-prompt would lose them.
type keyboard struct {
	in, out int
	before  unix.Termios // the mode to restore

	mu     sync.Mutex
	keys   keys
	raw    bool
	gate   bool // the last key may end the Input: return no other
	last   byte // the last key if gate is set
	awake  bool // go-prompt received the wakeKey
	wake   bool // send the wakeKey
	closed bool // send the wakeKey in every Input
	empty  bool // the line was dropped before that
	err    error
}

var _ prompt.ConsoleParser = (*keyboard)(nil)

func (k *keyboard) open(in, out int) error {
	before, err := unix.IoctlGetTermios(in, unix.TCGETS)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.in, k.out, k.before = in, out, *before
	k.keys.clear()
	k.wake, k.closed, k.empty, k.err = false, false, false, nil
	return nil
}

// Setup sets the terminal to raw mode and enables bracketed paste.
func (k *keyboard) Setup() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gate, k.awake, k.wake, k.last = false, false, false, 0
	if err := setMode(k.in, rawMode(k.before)); err != nil {
		k.closed, k.err = true, err
		return err
	}
	k.raw = true
	k.write("\x1b[?2004h")
	return nil
}

// TearDown restores the terminal.
func (k *keyboard) TearDown() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.raw {
		k.write("\x1b[?2004l")
	}
	k.raw = false
	return setMode(k.in, k.before)
}

func (k *keyboard) write(s string) {
	_, _ = ignoringEINTR(func() (int, error) { return unix.Write(k.out, []byte(s)) })
}

// GetWinSize returns the size of the window.
func (k *keyboard) GetWinSize() *prompt.WinSize {
	rows, columns := windowSize(k.out)
	return &prompt.WinSize{Row: rows, Col: columns}
}

// Read returns the next key, or an error if no key arrives within idleAfter.
func (k *keyboard) Read() ([]byte, error) {
	if key, err := k.key(false); key != nil || err != nil {
		return key, err
	}
	ready, err := awaitInput(k.in, idleAfter)
	if err == nil && ready {
		err = k.fill()
	}
	if err != nil {
		k.fail(err)
	}
	key, err := k.key(!ready)
	if key == nil && err == nil {
		err = errNoKey
	}
	return key, err
}

// key returns the next of the keys that were read.
func (k *keyboard) key(idle bool) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.gate {
		return nil, errNoKey
	}
	if k.closed && !k.empty {
		k.empty = true
		return []byte{keyCtrlC}, nil
	}
	if k.wake || k.closed {
		k.gate = true
		return wakeKey, nil
	}
	key := k.keys.next(idle)
	if len(key) == 1 && (key[0] == keyEnter || key[0] == keyCtrlD) {
		k.gate, k.last = true, key[0]
	}
	return key, nil
}

func (k *keyboard) fill() error {
	buffer := make([]byte, 4096)
	n, err := ignoringEINTR(func() (int, error) { return unix.Read(k.in, buffer) })
	switch {
	case errors.Is(err, unix.EAGAIN):
		return nil
	case err != nil:
		return err
	case n == 0:
		return unix.EIO
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys.add(buffer[:n])
	return nil
}

// fail ends the current Input with an error of the terminal.
func (k *keyboard) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed, k.err = true, err
}

// close drops the current line. It ends this call of Input and every later call.
func (k *keyboard) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
}

// redraw ends the current Input, so that a new Input draws the line again. It does nothing if the terminal is no longer
// raw, which is so after a stop.
func (k *keyboard) redraw() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wake = k.raw
}

// interrupt acts as Ctrl-C in a line.
func (k *keyboard) interrupt() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys.clear()
	if k.raw {
		k.keys.add([]byte{keyCtrlC})
	}
}

// onWake is called when go-prompt receives the wakeKey.
func (k *keyboard) onWake() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.awake = true
}

// onCtrlD is called when a Ctrl-D deleted a character in go-prompt, and so did not end the input.
func (k *keyboard) onCtrlD() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last == keyCtrlD {
		k.gate, k.last = false, 0
	}
}

func (k *keyboard) isAwake() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.awake
}

func (k *keyboard) ended() (inputEnd, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed && (k.awake || k.err != nil):
		return endedByClose, k.err
	case k.awake:
		return endedByWake, nil
	case k.last == keyCtrlD:
		return endedByEOF, nil
	}
	return endedByLine, nil
}
