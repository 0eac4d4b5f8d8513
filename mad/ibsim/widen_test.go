// SPDX-License-Identifier: Apache-2.0

package ibsim_test

import (
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// places is how many of its places ibsim says are taken.
func places(s *ibsimtest.Sim) int { return strings.Count(s.Console("Attached"), "Client ") }

// carry asks some thousand questions and returns the most places that were taken
// meanwhile.
func carry(t *testing.T, s *ibsimtest.Sim, c *mad.Client) int {
	t.Helper()
	b := c.NewBatch(t.Context())
	most := 0
	for i := range 4000 {
		b.Go(mad.Request{Attr: mad.AttrNodeInfo}, func(r *mad.Reply) {
			if r.Err != nil {
				t.Error(r.Err)
			}
			if i%1000 == 999 {
				most = max(most, places(s))
			}
		})
	}
	if err := b.Wait(); err != nil {
		t.Fatal(err)
	}
	return most
}

// A transport with much to carry takes up to four of ibsim's ten places, never one
// of the last four, and gives them back.
func TestWidens(t *testing.T) {
	s := ibsimtest.Start(t, netFile)
	dial := func() *mad.Client { return client(t, ibsim.Options{Name: s.Name}, mad.Fast()) }
	first := dial()
	if n := places(s); n != 1 {
		t.Errorf("%d places at first, want 1", n)
	}
	if n := carry(t, s, first); n != 4 {
		t.Errorf("%d places with much to carry, want 4", n)
	}
	second := dial()
	if n := carry(t, s, second); n != 6 {
		t.Errorf("%d places with a second transport, want 6", n)
	}
	third := dial()
	if n := carry(t, s, third); n != 7 {
		t.Errorf("%d places with a third transport, want 7", n)
	}
	for range 1200 {
		if places(s) == 3 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if n := places(s); n != 3 {
		t.Errorf("%d places when there was nothing to carry, want 3", n)
	}
	if n := carry(t, s, first); n != 6 {
		t.Errorf("%d places with much to carry again, want 6", n)
	}
	for _, c := range []*mad.Client{first, second, third} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := places(s); n != 0 {
		t.Errorf("%d places at last, want 0", n)
	}
}

func TestWidensRemote(t *testing.T) {
	s := ibsimtest.Start(t, netFile, ibsimtest.Remote())
	c := client(t, ibsim.Options{Host: "127.0.0.1", Port: s.Port}, mad.Fast())
	if n := carry(t, s, c); n != 4 {
		t.Errorf("%d places with much to carry, want 4", n)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if n := places(s); n != 0 {
		t.Errorf("%d places at last, want 0", n)
	}
}
