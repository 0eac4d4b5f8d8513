// SPDX-License-Identifier: Apache-2.0

package ibsim_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// places returns the number of clients that ibsim lists.
func clients(s *ibsimtest.Sim) int { return strings.Count(s.Console("Attached"), "Client ") }

// busy sends requests by a client until stop is called or the test ends.
func busy(t *testing.T, c *mad.Client) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			b := c.NewBatch(t.Context())
			for range 500 {
				b.Go(mad.Request{Attr: mad.AttrNodeInfo}, func(r *mad.Reply) {
					if r.Err != nil {
						t.Error(r.Err)
					}
				})
			}
			if err := b.Wait(); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// settle waits until ibsim has the given number of clients.
func settle(t *testing.T, s *ibsimtest.Sim, want int, when string) {
	t.Helper()
	n := clients(s)
	for end := time.Now().Add(time.Minute); n != want && time.Now().Before(end); n = clients(s) {
		time.Sleep(10 * time.Millisecond)
	}
	if n != want {
		t.Errorf("%d clients %s, want %d", n, when, want)
	}
}

// A busy transport uses up to seven of ibsim's ten clients, none of the last three, and disconnects them later.
func TestWidens(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	dial := func() *mad.Client { return client(t, ibsim.Options{Name: s.Name}, mad.Fast()) }
	first := dial()
	if n := clients(s); n != 1 {
		t.Errorf("%d clients at first, want 1", n)
	}
	var all []*mad.Client
	var stop []func()
	add := func(c *mad.Client, want int, when string) {
		all, stop = append(all, c), append(stop, busy(t, c))
		settle(t, s, want, when)
	}
	add(first, 7, "while busy")
	add(dial(), 8, "with a second transport")
	add(dial(), 9, "with a third transport")
	for _, f := range stop {
		f()
	}
	settle(t, s, 3, "while idle")
	again := busy(t, first)
	settle(t, s, 9, "when busy again")
	again()
	for _, c := range all {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	settle(t, s, 0, "at last")
}

func TestWidensRemote(t *testing.T) {
	s := ibsimtest.Start(t, netFile, ibsimtest.Remote())
	c := client(t, ibsim.Options{Host: "127.0.0.1", Port: s.Port}, mad.Fast())
	stop := busy(t, c)
	settle(t, s, 7, "while busy")
	stop()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	settle(t, s, 0, "at last")
}
