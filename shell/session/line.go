// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/capture"
)

// LostError says that a session has no connection to its subnet any more. The next
// sweep opens one again.
type LostError struct {
	Source Source
	Err    error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the connection to %s is lost: %v (try: sweep)", fabric.Escape(e.Source.String()), e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// ErrUnopened says that nothing has been read from the source yet.
var ErrUnopened = errors.New("the subnet has not been read yet (try: sweep)")

// OpenError says that a source cannot be opened.
type OpenError struct {
	Source Source
	Err    error
}

func (e *OpenError) Error() string {
	return fmt.Sprintf("open %s: %v", fabric.Escape(e.Source.String()), e.Err)
}

func (e *OpenError) Unwrap() error { return e.Err }

// line is a connection to a subnet.
type line struct {
	client  *mad.Client
	capture *capture.Transport
}

// online says that there is a subnet behind the session, not a file.
func (s *Session) online() bool { return s.dial != nil }

// hangUp gives back what the session's line holds, which the next one may need. A capture
// that runs goes on.
func (s *Session) hangUp() {
	if s.line == nil {
		return
	}
	kept := capture.Wrap(nil)
	kept.Continue(s.line.capture)
	_ = s.line.client.Close() // of what is gone nothing can be given back
	s.line.capture.Continue(kept)
}

// connect makes the session's line. A capture that runs goes on.
func (s *Session) connect(ctx context.Context) error {
	s.hangUp()
	transport, err := s.dial(ctx)
	if err != nil {
		return &OpenError{s.state.Source, err}
	}
	l := &line{capture: capture.Wrap(transport)}
	if l.client, err = mad.NewClient(l.capture, s.options); err != nil {
		return errors.Join(err, transport.Close())
	}
	if s.line != nil {
		l.capture.Continue(s.line.capture)
	}
	s.mu.Lock()
	s.line, s.down = l, nil
	s.mu.Unlock()
	s.listening.Go(func() {
		<-l.client.Done()
		if err := l.client.Err(); !errors.Is(err, mad.ErrClosed) {
			s.lose(l, err)
		}
	})
	return nil
}

// wire is the line for an operation that does not open one again.
func (s *Session) wire() (*line, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.online():
		return nil, ErrOffline
	case s.down != nil:
		return nil, &LostError{s.state.Source, s.down}
	case s.line == nil:
		return nil, ErrUnopened
	}
	return s.line, nil
}

// reconnect opens the line if it is not open yet, and again if it was lost. What is known of the subnet
// stays old until a sweep has seen it.
func (s *Session) reconnect(ctx context.Context) error {
	var lost *LostError
	if _, err := s.wire(); !errors.As(err, &lost) && !errors.Is(err, ErrUnopened) {
		return err
	}
	return s.connect(ctx)
}

// failed returns the error of an operation on l, and takes note of it where it
// says that the line is lost.
func (s *Session) failed(l *line, err error) error {
	if err == nil || !s.state.Source.Live() {
		return err
	}
	if dead := l.client.Err(); dead != nil {
		s.lose(l, dead)
	} else if errors.Is(err, mad.ErrBroken) || errors.Is(err, mad.ErrSilent) || errors.Is(err, sweep.ErrLocal) {
		s.lose(l, err)
	}
	return err
}

// lose takes note that a line does not carry any more. Nothing is written by
// another one until the user says so again.
func (s *Session) lose(l *line, why error) {
	s.update(ChangeLive|ChangeSettings, func(st *State) {
		if s.line != l || s.down != nil {
			return
		}
		s.down = why
		st.Lost, st.WriteOn = why.Error(), false
		st.note("the connection is lost: %v", why)
	})
}
