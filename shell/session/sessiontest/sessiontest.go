// SPDX-License-Identifier: Apache-2.0

// Package sessiontest opens sessions for tests.
package sessiontest

import (
	"context"
	"testing"

	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// Open opens a source and reads its subnet. The end of the test closes the session.
func Open(t *testing.T, from string) *session.Session {
	t.Helper()
	return OpenIn(t, from, "")
}

// OpenIn is [Open] with a folder for the history.
func OpenIn(t *testing.T, from, dir string) *session.Session {
	t.Helper()
	src, err := source.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(context.Background(), src, session.Options{StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}
