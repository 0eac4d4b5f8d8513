// SPDX-License-Identifier: Apache-2.0

package entries

import "testing"

// TestFiguresText checks that large counts are whole numbers in text.
func TestFiguresText(t *testing.T) {
	const want = "13284 nodes, 0 unanswered, 21520080 entries, 147.6ms"
	got := figuresText(map[string]float64{"nodes": 13284, "holes": 0, "entries": 21520080, "seconds": 0.14759})
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := figuresText(map[string]float64{"seconds": 7.987e-05}); got != "80µs" {
		t.Errorf("of a short time: %q", got)
	}
}
