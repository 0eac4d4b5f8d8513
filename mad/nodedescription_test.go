// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"strings"
	"testing"
)

func TestNodeDescription(t *testing.T) {
	// What ibsim 0.10 answers to smpquery -D nodedesc 0,1.
	b := golden(t, `6c656166206f6e65`)
	checkAttribute(t, b, NewNodeDescription("leaf one"))
}

func TestNodeDescriptionString(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"sw1", "sw1"},
		{"one\x00two", "one"},
		{"\x00hidden", ""},
		{"\x1b[2J\xff", "\x1b[2J\xff"},
		{long, long[:64]},
	} {
		d := NewNodeDescription(c.text)
		if got := d.String(); got != c.want {
			t.Errorf("description of %q is %q, want %q", c.text, got, c.want)
		}
	}
}

func FuzzNodeDescription(f *testing.F) { fuzzAttribute[NodeDescription](f) }
