// SPDX-License-Identifier: Apache-2.0

package shell

import "testing"

// Counts of large subnets are whole numbers to people, too.
func TestFiguresText(t *testing.T) {
	const want = "13284 nodes, 0 unanswered, 21520080 entries, 0.1476 seconds"
	got := figuresText(map[string]float64{"nodes": 13284, "holes": 0, "entries": 21520080, "seconds": 0.14759})
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestKeysArePrivate(t *testing.T) {
	for line, want := range map[string]bool{"sa groups key=0x17": true, "sa groups": false, "paths build pkey=0x8001": false} {
		if Private(line) != want {
			t.Errorf("%s: %v", line, !want)
		}
	}
}
