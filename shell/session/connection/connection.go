// SPDX-License-Identifier: Apache-2.0

// Package connection manages the connection of a session to its subnet. It opens the connection, detects its loss and
// opens it again. A packet capture continues when the connection is opened again.
package connection

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/capture"
	"example.org/ibconsole/mad/sa"
)

// Errors of a session without a connection.
var (
	// ErrOffline means that the source of the session is a file, not a subnet.
	ErrOffline = errors.New("the source is a file: switches cannot be read or written")
	// ErrUnopened means that the source has not been opened yet.
	ErrUnopened = errors.New("the subnet has not been read yet; hint: run 'sweep'")
)

// LostError means that the connection of a session to its subnet is lost. The next sweep opens it again.
type LostError struct {
	Source string // the source's name, escaped
	Err    error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the connection to %s is lost: %v; hint: run 'sweep'", e.Source, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// OpenError means that a source cannot be opened.
type OpenError struct {
	Source string // the source's name, escaped
	Err    error
}

func (e *OpenError) Error() string { return fmt.Sprintf("open %s: %v", e.Source, e.Err) }

func (e *OpenError) Unwrap() error { return e.Err }

// Options configures a connection.
type Options struct {
	Source string                                       // the source's name, escaped
	Dial   func(context.Context) (mad.Transport, error) // opens the source, nil for a file
	Client mad.ClientOptions
	Keys   []uint64 // are not written to captures
	// Live reports whether the subnet exists independently of the session. Only the connection to such a subnet can be
	// lost. The function Lost is called with the cause of such a loss. It must not call methods of the connection.
	Live bool
	Lost func(why error)
}

// Connection is a connection to a subnet. Its methods are safe for concurrent use.
type Connection struct {
	opt Options

	opening sync.Mutex // held while a line is opened or the connection is closed
	closed  bool       // guarded by opening

	mu sync.Mutex
	// line is the line that was opened last, or nil before the first. The field down is the cause of its loss, or nil
	// while it works.
	line     *Line
	down     error
	watchers sync.WaitGroup // the goroutines that wait for the end of a line
}

// Line is a transport that was opened, with its client. It is usable until the connection is lost.
type Line struct {
	Client  *mad.Client
	capture *capture.Transport
}

// New returns a connection that is not open yet.
func New(opt Options) *Connection { return &Connection{opt: opt} }

// Online reports whether the source is a subnet. Otherwise it is a file.
func (c *Connection) Online() bool { return c.opt.Dial != nil }

// last returns the line that was opened last, or nil before the first.
func (c *Connection) last() *Line {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.line
}

// Client returns the current client, or nil if there is none.
func (c *Connection) Client() *mad.Client {
	if l := c.last(); l != nil {
		return l.Client
	}
	return nil
}

// Line returns the current line. It does not open a line: if there is none, it returns [ErrOffline], [ErrUnopened] or a
// [LostError].
func (c *Connection) Line() (*Line, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.Online():
		return nil, ErrOffline
	case c.down != nil:
		return nil, &LostError{c.opt.Source, c.down}
	case c.line == nil:
		return nil, ErrUnopened
	}
	return c.line, nil
}

// Open opens a new line, which replaces the current line. A running capture continues. A closed connection is not
// opened again, so that its port stays free.
func (c *Connection) Open(ctx context.Context) error {
	c.opening.Lock()
	defer c.opening.Unlock()
	return c.open(ctx)
}

// open opens a new line, with c.opening held.
func (c *Connection) open(ctx context.Context) error {
	if c.closed {
		return &OpenError{c.opt.Source, mad.ErrClosed}
	}
	old := c.last()
	old.close()
	transport, err := c.opt.Dial(ctx)
	if err != nil {
		return &OpenError{c.opt.Source, err}
	}
	l := &Line{capture: capture.Wrap(transport)}
	if l.Client, err = mad.NewClient(l.capture, c.opt.Client); err != nil {
		return errors.Join(err, transport.Close())
	}
	if old != nil {
		l.capture.Continue(old.capture)
	}
	c.mu.Lock()
	c.line, c.down = l, nil
	c.mu.Unlock()
	c.watchers.Go(func() {
		<-l.Client.Done()
		if err := l.Client.Err(); !errors.Is(err, mad.ErrClosed) {
			c.lose(l, err)
		}
	})
	return nil
}

// close releases the port of a line, which the next line may need. A running capture continues.
func (l *Line) close() {
	if l == nil {
		return
	}
	kept := capture.Wrap(nil)
	kept.Continue(l.capture)
	_ = l.Client.Close() // a lost transport has nothing left to release
	l.capture.Continue(kept)
}

// Reopen returns the current line. If there is none or it is lost, Reopen opens a new line.
func (c *Connection) Reopen(ctx context.Context) (*Line, error) {
	c.opening.Lock()
	defer c.opening.Unlock()
	l, err := c.Line()
	if _, lost := errors.AsType[*LostError](err); !lost && !errors.Is(err, ErrUnopened) {
		return l, err
	}
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	return c.last(), nil
}

// Failed returns err, the error of an operation on l. If err means that the connection is lost, Failed records the
// loss.
func (c *Connection) Failed(l *Line, err error) error {
	if err == nil || !c.opt.Live {
		return err
	}
	if dead := l.Client.Err(); dead != nil {
		c.lose(l, dead)
	} else if errors.Is(err, mad.ErrBroken) || errors.Is(err, mad.ErrSilent) || errors.Is(err, sweep.ErrLocal) {
		c.lose(l, err)
	}
	return err
}

// lose records that a line is lost.
func (c *Connection) lose(l *Line, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.line == l && c.down == nil {
		c.down = why
		c.opt.Lost(why)
	}
}

// Close closes the connection and releases its port, also that of a line that is being opened.
func (c *Connection) Close() error {
	c.opening.Lock()
	defer c.opening.Unlock()
	c.closed = true
	l := c.last()
	if l == nil {
		return nil
	}
	err := l.Client.Close()
	c.watchers.Wait()
	return err
}

// ErrNoCapture means that no capture is running.
var ErrNoCapture = errors.New("no capture is running; hint: run 'capture FILE'")

// Capture writes every MAD that is sent or received from now on to a new file, in a format that Wireshark reads.
func (c *Connection) Capture(path string, failed func(error)) error {
	l := c.last()
	if l == nil {
		return ErrOffline
	}
	return l.capture.Start(path, capture.Options{OnError: failed, Keys: c.opt.Keys})
}

// Capturing returns the file of the running capture, or "" if none is running.
func (c *Connection) Capturing() string {
	if l := c.last(); l != nil {
		if path, running := l.capture.Capturing(); running {
			return path
		}
	}
	return ""
}

// StopCapture ends the capture and returns its file and statistics.
func (c *Connection) StopCapture() (path string, stats capture.Stats, err error) {
	if path = c.Capturing(); path == "" {
		return "", stats, ErrNoCapture
	}
	stats, err = c.last().capture.Stop()
	return path, stats, err
}

// SA returns a client for the SA of the master SM. The master may change between calls.
func (c *Connection) SA(ctx context.Context) (*sa.Client, error) {
	l, err := c.Line()
	if err != nil {
		return nil, err
	}
	client, err := sa.New(ctx, l.Client)
	if errors.Is(err, sa.ErrNoSM) {
		return nil, fmt.Errorf("%w; hint: run 'doctor'", err)
	}
	return client, c.Failed(l, err)
}

// Unanswered returns the error of a request to the SA. It wraps a timeout in an error that names the SA.
func Unanswered(err error) error {
	if errors.Is(err, mad.ErrTimeout) {
		return fmt.Errorf("the subnet administration does not respond: %w; hint: run 'doctor'", err)
	}
	return err
}
