// SPDX-License-Identifier: Apache-2.0

package plain_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"example.org/ibconsole/internal/base/plain"
)

// Characters that affect a terminal, in text that stays unchanged; want is written by hand.
const (
	text = "a\tµ€😀\\x\n\x1b]52;c;QQ==\a\r\x00\x7f\u0085\x9b\u202e\U000e0001\xff\xe2\x82"
	want = "a\tµ€😀\\x\n\\x1b]52;c;QQ==\\x07\\x0d\\x00\\x7f\\u0085\\x9b\\u202e\\U000e0001\\xff\\xe2\\x82"
)

// TestWriter writes text at once, split at each position and into single bytes, also within runes.
func TestWriter(t *testing.T) {
	check := func(parts ...string) {
		t.Helper()
		var b strings.Builder
		err := plain.Text(&b, func(w io.Writer) error {
			for _, part := range parts {
				if n, err := io.WriteString(w, part); n != len(part) || err != nil {
					t.Errorf("%d, %v", n, err)
				}
			}
			return nil
		})
		if err != nil || b.String() != want {
			t.Errorf("%q: %q, %v, want %q", parts, b.String(), err, want)
		}
	}
	check(text)
	for i := range text {
		check(text[:i], text[i:])
	}
	check(strings.Split(text, "")...)
	var bytes []string
	for i := range len(text) {
		bytes = append(bytes, text[i:i+1])
	}
	check(bytes...)
}

// TestJSON checks that escaped JSON has the same value.
func TestJSON(t *testing.T) {
	from := map[string]string{"name": "µ\x1b\r\n\x7f\u0085\u202e\U000e0001\\"}
	line, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	out := plain.EscapeJSON(line)
	if want := `{"name":"µ\u001b\r\n\u007f\u0085\u202e\udb40\udc01\\"}`; string(out) != want {
		t.Errorf("%s, want %s", out, want)
	}
	var to map[string]string
	if err := json.Unmarshal(out, &to); err != nil || to["name"] != from["name"] {
		t.Errorf("%q, %v", to, err)
	}
}
