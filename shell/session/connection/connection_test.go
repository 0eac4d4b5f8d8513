// SPDX-License-Identifier: Apache-2.0

package connection_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/session/connection"
)

// port is a transport that nothing answers. It counts how many are open.
type port struct {
	mad.Transport
	open   *atomic.Int32
	closed chan struct{}
	once   sync.Once
}

func (p *port) Recv(*mad.Frame) error {
	<-p.closed
	return mad.ErrClosed
}

func (p *port) Close() error {
	p.once.Do(func() {
		p.open.Add(-1)
		close(p.closed)
	})
	return nil
}

// TestCloseWhileOpening checks that no port stays open if a connection is closed while it is being opened or reopened.
func TestCloseWhileOpening(t *testing.T) {
	var open atomic.Int32
	for range 200 {
		c := connection.New(connection.Options{Dial: func(context.Context) (mad.Transport, error) {
			open.Add(1)
			return &port{open: &open, closed: make(chan struct{})}, nil
		}})
		var all sync.WaitGroup
		all.Go(func() { _ = c.Open(t.Context()) })
		all.Go(func() { _, _ = c.Reopen(t.Context()) })
		all.Go(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		if err := c.Open(t.Context()); !errors.Is(err, mad.ErrClosed) {
			t.Fatalf("opened after it was closed: %v", err)
		}
		if n := open.Load(); n != 0 {
			t.Fatalf("%d ports stay open", n)
		}
	}
}
