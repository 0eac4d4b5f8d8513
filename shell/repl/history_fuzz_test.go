// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"strings"
	"testing"
	"unicode"
)

// FuzzHistory checks that lines of a file of the history are printable and not too many.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("route\ncheck reach\n write on\n\x1b]52;c;eA==\a\n"), false)
	f.Add([]byte("cut\nroute\nroute\n"), true)
	f.Fuzz(func(t *testing.T, text []byte, cut bool) {
		h := &history{}
		if n := h.parse(text, cut); n < len(h.lines) || len(h.lines) > 2*historySize {
			t.Errorf("%d of %d lines", len(h.lines), n)
		}
		for _, line := range h.lines {
			if strings.IndexFunc(line, unicode.IsControl) >= 0 {
				t.Errorf("%q", line)
			}
		}
	})
}
