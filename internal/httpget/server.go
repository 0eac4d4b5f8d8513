// SPDX-License-Identifier: Apache-2.0

// Package httpget answers GET of one path over HTTP/1.1 (RFC 9112) without TLS, one request a connection. It stands in for
// net/http, whose TLS and HTTP/2 are a sixth of the whole program.
package httpget

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Answer is what is said to a request: a document, or why there is none.
type Answer struct {
	Type  string // its media type
	Write func(io.Writer) error
}

// ErrBusy is a handler's error that makes the answer 503, where others make it 500.
var ErrBusy = errors.New("busy")

// Handler answers a request by what its header Accept says. Its context ends when the server is closed.
type Handler func(ctx context.Context, accept string) (Answer, error)

// Server serves one path.
type Server struct {
	listener net.Listener
	path     string
	handler  Handler
	cancel   context.CancelFunc
	ended    sync.WaitGroup
	room     chan struct{} // has room for as many connections as there may be
}

const (
	mostConnections = 32
	toAsk           = 5 * time.Second // for a request to be there
	toTell          = time.Minute     // for its answer to be gone
)

// Start serves a path on a listener until Close, which closes that.
func Start(l net.Listener, path string, h Handler) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{listener: l, path: path, handler: h, cancel: cancel, room: make(chan struct{}, mostConnections)}
	s.ended.Go(func() { s.accept(ctx) })
	return s
}

// Close stops at once; an answer that is under way is cut short.
func (s *Server) Close() error {
	s.cancel()
	err := s.listener.Close()
	s.ended.Wait()
	return err
}

func (s *Server) accept(ctx context.Context) {
	for {
		select {
		case s.room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		c, err := s.listener.Accept()
		if err != nil {
			<-s.room
			if errors.Is(err, net.ErrClosed) {
				return
			}
			select { // there may be files to open again soon
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		s.ended.Go(func() {
			defer func() { <-s.room }()
			s.serve(ctx, c)
		})
	}
}

// serve answers the one request of a connection.
func (s *Server) serve(ctx context.Context, c net.Conn) {
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	_ = c.SetDeadline(time.Now().Add(toAsk))
	q, err := readRequest(c)
	if err != nil {
		if status := statusError(0); errors.As(err, &status) {
			_ = say(c, status)
		}
		return
	}
	_ = c.SetDeadline(time.Now().Add(toTell))
	_ = s.reply(ctx, c, q) // else whoever asked has gone
}

func (s *Server) reply(ctx context.Context, c io.Writer, q *request) error {
	switch {
	case q.path != s.path:
		return say(c, statusNotFound)
	case q.method != "GET" && q.method != "HEAD":
		return say(c, statusNotAllowed)
	}
	a, err := s.handler(ctx, q.header.Get("Accept"))
	switch {
	case errors.Is(err, ErrBusy):
		return say(c, statusBusy)
	case err != nil:
		return say(c, statusServerError)
	}
	return a.send(c, q)
}

// say answers by a status alone.
func say(c io.Writer, status statusError) error {
	allow := ""
	if status == statusNotAllowed {
		allow = "Allow: GET, HEAD\r\n"
	}
	_, err := fmt.Fprintf(c, "HTTP/1.1 %v\r\nConnection: close\r\n%sContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n\r\n%v\n", status, allow, len(status.Error())+1, status)
	return err
}

// send sends a document in chunks, so that one that is cut short does not pass for a whole one.
func (a *Answer) send(c io.Writer, q *request) error {
	coding := "Transfer-Encoding: chunked\r\n"
	if q.minor == 0 {
		coding = ""
	}
	if _, err := fmt.Fprintf(c, "HTTP/1.1 %v\r\nConnection: close\r\nContent-Type: %s\r\n%s\r\n", statusOK, a.Type, coding); err != nil || q.method == "HEAD" {
		return err
	}
	if coding == "" {
		return a.Write(c)
	}
	b := bufio.NewWriterSize(chunks{c}, 32<<10)
	if err := a.Write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(c, "0\r\n\r\n")
	return err
}

// chunks writes each piece as a chunk (RFC 9112, section 7.1).
type chunks struct{ w io.Writer }

func (c chunks) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil // an empty chunk would be the last
	}
	if _, err := fmt.Fprintf(c.w, "%x\r\n", len(b)); err != nil {
		return 0, err
	}
	n, err := c.w.Write(b)
	if err != nil {
		return n, err
	}
	_, err = io.WriteString(c.w, "\r\n")
	return n, err
}
