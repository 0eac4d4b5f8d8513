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
