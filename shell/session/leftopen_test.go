// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"testing"
)

// TestCommitLeftByAnother: a console that goes on finds, at each kind of reading, that another one left a commit
// open or ended it, and does not take one that is under way for one that was left. Many may look at once.
func TestCommitLeftByAnother(t *testing.T) {
	for name, read := range map[string]func(*Session) error{
		"full":  func(s *Session) error { _, err := s.Sweep(t.Context()); return err },
		"light": func(s *Session) error { _, err := s.SweepLight(t.Context()); return err },
	} {
		t.Run(name, func(t *testing.T) {
			n := newSubnet(t, "fattree:2,8", false)
			a, b := n.console(), n.console()
			says := func() string {
				t.Helper()
				if err := read(a); err != nil {
					t.Fatal(err)
				}
				return a.State().Interrupted
			}
			n.route(b, ways[0]...)
			meanwhile := ""
			err := n.cut(9, errRefused, func(ctx context.Context) error {
				n.wire.then = func() { meanwhile = says() }
				_, err := b.Commit(ctx, yes)
				return err
			})
			if err == nil || meanwhile != "" {
				t.Fatalf("%v; meanwhile the other console says %q", err, meanwhile)
			}
			says()
			expectOpen(t, a)
			c := n.console()
			expectOpen(t, c)
			if _, err := c.Resume(t.Context(), yes); err != nil {
				t.Fatal(err)
			}
			if text := says(); text != "" {
				t.Fatalf("after the end it says %q", text)
			}
		})
	}
}
