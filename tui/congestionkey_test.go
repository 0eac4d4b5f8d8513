// SPDX-License-Identifier: Apache-2.0

package tui

import "testing"

// TestCongestionShowsItsAnswer checks that the answer of the key for congestion is shown, and not only logged.
func TestCongestionShowsItsAnswer(t *testing.T) {
	if j := (&job{text: "congestion"}); !j.wantsAnswer() {
		t.Error("the answer of congestion is not shown")
	}
}
