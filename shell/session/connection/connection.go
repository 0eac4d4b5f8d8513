// SPDX-License-Identifier: Apache-2.0

// Package connection is a session's connection to its subnet: opened, lost, and opened
// again, with a capture that outlives all of them.
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

// Errors of a connection that is not there.
var (
	// ErrOffline says that there is no subnet behind a session, only a file.
	ErrOffline = errors.New("a file has no switches to read or write")
	// ErrUnopened says that nothing has been read from the source yet.
	ErrUnopened = errors.New("the subnet has not been read yet (try: sweep)")
)

// LostError says that a session has no connection to its subnet any more. The next sweep opens one again.
type LostError struct {
	Source string // the source's name, escaped
	Err    error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the connection to %s is lost: %v (try: sweep)", e.Source, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// OpenError says that a source cannot be opened.
type OpenError struct {
	Source string // the source's name, escaped
	Err    error
}

func (e *OpenError) Error() string { return fmt.Sprintf("open %s: %v", e.Source, e.Err) }

func (e *OpenError) Unwrap() error { return e.Err }

// Options say what to connect to.
type Options struct {
	Source string                                       // the source's name, escaped
	Dial   func(context.Context) (mad.Transport, error) // opens the source, nil where that is a file
	Client mad.ClientOptions
	// Live says that the subnet goes on without the session, so that a connection to it
	// can be lost. Lost is told why one is, and must not ask the connection.
	Live bool
	Lost func(why error)
}

// Connection is a connection to a subnet. Its operations, which may open it, run one
// at a time; all else may be called at any time.
type Connection struct {
	opt Options

	mu sync.Mutex
	// line is the last that was opened, nil before that, and down why it carries nothing any more.
	line      *Line
	down      error
	listening sync.WaitGroup // the goroutines that wait for the ends of lines
}

// Line is what carries requests, until it is lost.
type Line struct {
	Client  *mad.Client
	capture *capture.Transport
}

// New is a connection that is not open yet.
func New(opt Options) *Connection { return &Connection{opt: opt} }

// Online reports whether there is a subnet behind the connection, not a file.
func (c *Connection) Online() bool { return c.opt.Dial != nil }

// last is the last line, nil before there was one.
func (c *Connection) last() *Line {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.line
}

// Client is the client there is now, nil for none.
func (c *Connection) Client() *mad.Client {
	if l := c.last(); l != nil {
		return l.Client
	}
	return nil
}

// Line is the line for an operation that does not open one again.
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

// Open opens a line, in place of one that there is. A capture that runs goes on.
func (c *Connection) Open(ctx context.Context) error {
	old := c.last()
	old.hangUp()
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
	c.listening.Go(func() {
		<-l.Client.Done()
		if err := l.Client.Err(); !errors.Is(err, mad.ErrClosed) {
			c.lose(l, err)
		}
	})
	return nil
}

// hangUp gives back what a line holds, which the next one may need. A capture that runs goes on.
func (l *Line) hangUp() {
	if l == nil {
		return
	}
	kept := capture.Wrap(nil)
	kept.Continue(l.capture)
	_ = l.Client.Close() // of what is gone nothing can be given back
	l.capture.Continue(kept)
}

// Reopen returns the line, which it opens if that is not open yet, or was lost.
func (c *Connection) Reopen(ctx context.Context) (*Line, error) {
	l, err := c.Line()
	if _, lost := errors.AsType[*LostError](err); !lost && !errors.Is(err, ErrUnopened) {
		return l, err
	}
	if err := c.Open(ctx); err != nil {
		return nil, err
	}
	return c.last(), nil
}

// Failed returns the error of an operation on l, and takes note of it where it says that the line is lost.
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

// lose takes note that a line does not carry any more.
func (c *Connection) lose(l *Line, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.line == l && c.down == nil {
		c.down = why
		c.opt.Lost(why)
	}
}

// Close gives back the port.
func (c *Connection) Close() error {
	l := c.last()
	if l == nil {
		return nil
	}
	err := l.Client.Close()
	c.listening.Wait()
	return err
}

// ErrNoCapture says that no capture runs.
var ErrNoCapture = errors.New("no capture is running (try: capture FILE)")

// Capture begins to write every MAD that is sent and received to a new file, in a form that Wireshark reads.
func (c *Connection) Capture(path string, failed func(error)) error {
	l := c.last()
	if l == nil {
		return ErrOffline
	}
	return l.capture.Start(path, capture.Options{OnError: failed})
}

// Capturing returns the file of the capture that runs, "" if none does.
func (c *Connection) Capturing() string {
	if l := c.last(); l != nil {
		if path, running := l.capture.Capturing(); running {
			return path
		}
	}
	return ""
}

// StopCapture ends the capture.
func (c *Connection) StopCapture() (path string, stats capture.Stats, err error) {
	if path = c.Capturing(); path == "" {
		return "", stats, ErrNoCapture
	}
	stats, err = c.last().capture.Stop()
	return path, stats, err
}

// SA returns a client of the subnet administration of the master subnet manager, which may be another one each time.
func (c *Connection) SA(ctx context.Context) (*sa.Client, error) {
	l, err := c.Line()
	if err != nil {
		return nil, err
	}
	client, err := sa.New(ctx, l.Client)
	if errors.Is(err, sa.ErrNoSM) {
		return nil, fmt.Errorf("%w (try: doctor)", err)
	}
	return client, c.Failed(l, err)
}

// Unanswered returns the error of a request to the subnet administration, and names that where it did not answer.
func Unanswered(err error) error {
	if errors.Is(err, mad.ErrTimeout) {
		return fmt.Errorf("the subnet administration does not answer: %w (try: doctor)", err)
	}
	return err
}
