// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/mad"
)

// ErrRunning reports that a capture is already running.
var ErrRunning = errors.New("a capture is already running")

// Options controls a capture.
type Options struct {
	Overwrite bool // replace an existing file
	// Keys are replaced by 0 wherever a MAD contains them, in addition to the keys that the package comment lists.
	Keys []uint64
	// OnError, if set, is called at most once, in a separate goroutine, with the error that ends writing. If it is nil,
	// [Transport.Stop] returns the error.
	OnError func(error)
}

// Transport carries MADs over another transport, and can write them to a file. It is safe for concurrent use.
type Transport struct {
	inner mad.Transport
	lid   atomic.Uint32
	on    atomic.Pointer[recorder]

	mu   sync.Mutex // of Start and Stop
	last Stats
}

var _ mad.Holder = (*Transport)(nil)

// Wrap returns a transport that carries MADs over t. No capture is running yet.
func Wrap(t mad.Transport) *Transport { return &Transport{inner: t} }

// SetLID sets the LID of the local port. The transport also learns the LID from PortInfo answers of the port.
func (t *Transport) SetLID(lid uint16) { t.lid.Store(uint32(lid)) }

// Start begins a capture to a new file. If the file exists, the error wraps [fs.ErrExist]. If a capture is running, it
// wraps [ErrRunning]. The error contains the name of the file.
func (t *Transport) Start(path string, opts Options) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.on.Load(); r != nil {
		return fmt.Errorf("capture to %s: %w to %s", plain.Escape(path), ErrRunning, plain.Escape(r.path))
	}
	f, err := create(path, opts.Overwrite)
	if err != nil {
		return err
	}
	t.on.Store(record(f, path, fileHeaderLen, opts))
	return nil
}

// Stop ends a running capture and closes the file. It returns the error of writing unless [Options].OnError has
// received it.
func (t *Transport) Stop() (Stats, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.on.Swap(nil)
	if r == nil {
		return t.last, nil
	}
	err := r.stop()
	t.last = r.counts()
	return t.last, err
}

// Continue takes over a running capture from another transport. After that, the other transport captures nothing.
func (t *Transport) Continue(from *Transport) {
	from.mu.Lock()
	r, last := from.on.Swap(nil), from.last
	from.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.on.Store(r)
	t.last = last
}

// Capturing returns the file of the running capture. The result running is false if no capture is running.
func (t *Transport) Capturing() (path string, running bool) {
	if r := t.on.Load(); r != nil {
		return r.path, true
	}
	return "", false
}

// Stats returns the counts of the running capture, or of the last capture.
func (t *Transport) Stats() Stats {
	if r := t.on.Load(); r != nil {
		return r.counts()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// Send implements [mad.Transport].
func (t *Transport) Send(f *mad.Frame) error {
	if r := t.on.Load(); r != nil {
		r.sent(f, uint16(t.lid.Load()))
	}
	return t.inner.Send(f)
}

// Hold implements [mad.Holder] if the transport below implements it. Otherwise it sends the frame.
func (t *Transport) Hold(f *mad.Frame) error {
	inner, ok := t.inner.(mad.Holder)
	if !ok {
		return t.Send(f)
	}
	if r := t.on.Load(); r != nil {
		r.sent(f, uint16(t.lid.Load()))
	}
	return inner.Hold(f)
}

// Recv implements [mad.Transport]. If the transport below returned a request to the sender, the request was never on
// the wire and is not captured.
func (t *Transport) Recv(f *mad.Frame) error {
	if err := t.inner.Recv(f); err != nil || f.Status != 0 {
		return err
	}
	t.learn(&f.Data)
	if r := t.on.Load(); r != nil {
		r.received(f, uint16(t.lid.Load()))
	}
	return nil
}

// Interrupt implements [mad.Interrupter] if the transport below implements it.
func (t *Transport) Interrupt() bool {
	inner, ok := t.inner.(mad.Interrupter)
	return ok && inner.Interrupt()
}

// Close implements [mad.Transport]. It also ends the capture.
func (t *Transport) Close() error {
	_, err := t.Stop()
	return errors.Join(t.inner.Close(), err)
}

// learn takes the LID of the local port from answers that contain the PortInfo of this port. Such an answer has a
// directed route without hops and is for port 0. On a channel adapter, port 0 means the port that received the request.
func (t *Transport) learn(m *[mad.Size]byte) {
	const (
		directionBit = 0x8000
		extended     = 1 << 31 // the client supports extended speeds
		offLID       = mad.OffData + 16
	)
	be := binary.BigEndian
	if mad.Class(m[mad.OffClass]) == mad.ClassSMPDirected && m[mad.OffHopCount] == 0 &&
		mad.Method(m[mad.OffMethod]) == mad.MethodGetResp && attrOf(m) == mad.AttrPortInfo &&
		be.Uint16(m[mad.OffStatus:])&^directionBit == 0 && be.Uint32(m[mad.OffMod:])&^extended == 0 {
		t.SetLID(be.Uint16(m[offLID:]))
	}
}
