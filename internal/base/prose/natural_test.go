// SPDX-License-Identifier: Apache-2.0

package prose_test

import (
	"slices"
	"testing"

	"example.org/ibconsole/internal/base/prose"
)

func TestNatural(t *testing.T) {
	got := []string{"leaf-10", "leaf-9", "leaf-09", "spine-1", "leaf-1a", "leaf", "10", "9", "leaf-1"}
	slices.SortFunc(got, prose.Natural)
	want := []string{"9", "10", "leaf", "leaf-1", "leaf-1a", "leaf-9", "leaf-09", "leaf-10", "spine-1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNaturalOfPairs checks the order of two names, also of names that differ only in leading zeros.
func TestNaturalOfPairs(t *testing.T) {
	for _, order := range [][]string{{"n2", "n10"}, {"a", "b"}, {"n2/1", "n2/9", "n2/10"}, {"n1", "n01"}, {"n", "n1"},
		{"n1a", "n01b"}, {"", "0"}} {
		for i := 1; i < len(order); i++ {
			a, b := order[i-1], order[i]
			if prose.Natural(a, b) >= 0 || prose.Natural(b, a) <= 0 {
				t.Errorf("%q does not come before %q", a, b)
			}
		}
	}
}
