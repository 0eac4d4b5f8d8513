// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"errors"
	"sync"

	"github.com/c-bata/go-prompt"
	"golang.org/x/sys/unix"
)

// idleAfter is how many milliseconds without a byte end an escape sequence. It
// bounds how long the reading of a key holds up go-prompt too.
const idleAfter = 20

// wakeKey is a key nobody types, F24. It makes go-prompt leave its Input.
var wakeKey = []byte("\x1b[\x24;2~")

var errNoKey = errors.New("no key")

// ending is why go-prompt has returned from its Input.
type ending uint8

const (
	endedByLine  ending = iota
	endedByEOF          // Ctrl-D
	endedByWake         // the window has another size
	endedByClose        // the loop is to end
)

// keyboard is the terminal as go-prompt's ConsoleParser. What follows an Enter
// is kept for the next Input, for go-prompt would lose it.
type keyboard struct {
	in, out int
	before  unix.Termios // the mode to go back to

	mu     sync.Mutex
	keys   keys
	raw    bool
	gate   bool // a key that may end the Input is on its way: none after it
	last   byte // the last key, if it was that one
	awake  bool // go-prompt has seen the wakeKey
	wake   bool // asked to send it
	closed bool // asked to send it, for good
	empty  bool // the line has been dropped before that
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

// Setup makes the terminal raw and asks it to mark what is pasted.
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

// TearDown gives the terminal back as it was.
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

// Read returns the next key, or an error where there is none now.
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

// key takes a key from those read.
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

// fail ends the Input because the terminal is gone.
func (k *keyboard) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed, k.err = true, err
}

// close drops the line and ends the Input, now and every later one at once.
func (k *keyboard) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
}

// redraw ends the Input, for it to be begun again. After a stop the terminal is no longer raw.
func (k *keyboard) redraw() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wake = k.raw
}

// interrupt does what Ctrl-C does in a line.
func (k *keyboard) interrupt() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys.clear()
	if k.raw {
		k.keys.add([]byte{keyCtrlC})
	}
}

// onWake runs when go-prompt comes to the wakeKey.
func (k *keyboard) onWake() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.awake = true
}

// onCtrlD runs when go-prompt has taken a Ctrl-D as deleting a character.
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

func (k *keyboard) ended() (ending, error) {
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
