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

// ErrRunning says that a capture is running already.
var ErrRunning = errors.New("a capture is running")

// Options say how to capture.
type Options struct {
	Overwrite bool // let the new file take the place of one that is there
	// OnError is told, in a goroutine of its own, why nothing more is written, at
	// most once. Without it [Transport.Stop] returns the error.
	OnError func(error)
}

// Transport carries MADs for another transport and can write them to a file. Methods go from any goroutine.
type Transport struct {
	inner mad.Transport
	lid   atomic.Uint32
	on    atomic.Pointer[recorder]

	mu   sync.Mutex // of Start and Stop
	last Stats
}

var _ mad.Holder = (*Transport)(nil)

// Wrap returns a transport that carries for t. It captures nothing yet.
func Wrap(t mad.Transport) *Transport { return &Transport{inner: t} }

// SetLID says the LID of the port of the transport, which learns it too when the port answers for PortInfo.
func (t *Transport) SetLID(lid uint16) { t.lid.Store(uint32(lid)) }

// Start begins to write to a new file. Where that is not possible the error says why and names the file; it
// wraps [fs.ErrExist] for a file that is there already, and [ErrRunning].
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
	t.on.Store(record(f, path, fileHeaderLen, opts.OnError))
	return nil
}

// Stop ends the capture, if any, and closes the file. It returns what [Options.OnError] has not been told.
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

// Continue takes a capture that is running over from another transport, which then captures nothing.
func (t *Transport) Continue(from *Transport) {
	from.mu.Lock()
	r, last := from.on.Swap(nil), from.last
	from.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.on.Store(r)
	t.last = last
}

// Capturing returns the file of the capture that is running.
func (t *Transport) Capturing() (path string, running bool) {
	if r := t.on.Load(); r != nil {
		return r.path, true
	}
	return "", false
}

// Stats count the MADs of the capture that is running, or else of the last one.
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

// Hold implements [mad.Holder], where the transport below can.
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

// Recv implements [mad.Transport]. A request that is handed back was not on the wire and is not captured.
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

// Interrupt implements [mad.Interrupter], where the transport below can.
func (t *Transport) Interrupt() bool {
	inner, ok := t.inner.(mad.Interrupter)
	return ok && inner.Interrupt()
}

// Close implements [mad.Transport]. It ends the capture, too.
func (t *Transport) Close() error {
	_, err := t.Stop()
	return errors.Join(t.inner.Close(), err)
}

// learn takes the port's LID from what it answers for its own PortInfo: by the
// directed route without hops, for port 0, which is an adapter's own port too.
func (t *Transport) learn(m *[mad.Size]byte) {
	const (
		directionBit = 0x8000
		extended     = 1 << 31 // the asker knows extended speeds
		offLID       = mad.OffData + 16
	)
	be := binary.BigEndian
	if mad.Class(m[mad.OffClass]) == mad.ClassSMPDirected && m[mad.OffHopCount] == 0 &&
		mad.Method(m[mad.OffMethod]) == mad.MethodGetResp && attrOf(m) == mad.AttrPortInfo &&
		be.Uint16(m[mad.OffStatus:])&^directionBit == 0 && be.Uint32(m[mad.OffMod:])&^extended == 0 {
		t.SetLID(be.Uint16(m[offLID:]))
	}
}
