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

// places is how many of its places ibsim says are taken.
func places(s *ibsimtest.Sim) int { return strings.Count(s.Console("Attached"), "Client ") }

// busy keeps a client asking until stop is called or the test ends.
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

// settle waits until so many places are taken.
func settle(t *testing.T, s *ibsimtest.Sim, want int, when string) {
	t.Helper()
	n := places(s)
	for end := time.Now().Add(time.Minute); n != want && time.Now().Before(end); n = places(s) {
		time.Sleep(10 * time.Millisecond)
	}
	if n != want {
		t.Errorf("%d places %s, want %d", n, when, want)
	}
}

// A transport with much to carry takes up to seven of ibsim's ten places, never one
// of the last three, and gives them back.
func TestWidens(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	dial := func() *mad.Client { return client(t, ibsim.Options{Name: s.Name}, mad.Fast()) }
	first := dial()
	if n := places(s); n != 1 {
		t.Errorf("%d places at first, want 1", n)
	}
	var all []*mad.Client
	var stop []func()
	add := func(c *mad.Client, want int, when string) {
		all, stop = append(all, c), append(stop, busy(t, c))
		settle(t, s, want, when)
	}
	add(first, 7, "with much to carry")
	add(dial(), 8, "with a second transport")
	add(dial(), 9, "with a third transport")
	for _, f := range stop {
		f()
	}
	settle(t, s, 3, "when there was nothing to carry")
	again := busy(t, first)
	settle(t, s, 9, "with much to carry again")
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
	settle(t, s, 7, "with much to carry")
	stop()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	settle(t, s, 0, "at last")
}
