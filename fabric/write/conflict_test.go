// SPDX-License-Identifier: Apache-2.0

package write

import (
	"strings"
	"testing"
)

// TestConflictsAsText checks that a list ends with the number of further conflicts, and that no route has no port
// number.
func TestConflictsAsText(t *testing.T) {
	var c Conflicts
	for i := range 16 {
		c.Add("sw1", 1, "LID 12", i, 255, 5)
	}
	c.Add("sw1", 1, "LID of port 1", 255, 4, 5)
	if got := c.First(5); strings.Count(got, "sw1") != 5 || !strings.HasSuffix(got, " and 12 more") ||
		!strings.HasPrefix(got, "sw1: LID 12 was 0, is no route and would become 5, ") {
		t.Errorf("%q", got)
	}
	if got := c.List[16].String(); got != "sw1: LID of port 1 was 255, is 4 and would become 5" {
		t.Errorf("%q", got)
	}
	six := Conflicts{Count: 6, List: c.List[:6]}
	if got := six.First(5); strings.Count(got, "sw1") != 6 || strings.Contains(got, "more") {
		t.Errorf("six of five: %q", got)
	}
}
