// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"testing"
)

// TestHistogram has a bar for each of a few numbers. Of 21 numbers up to 1,000, a bar has a range of 100: the next
// width above 1,000/16.
func TestHistogram(t *testing.T) {
	of := func(paths ...int64) (ports []Port) {
		for _, n := range paths {
			ports = append(ports, Port{Paths: &n})
		}
		return ports
	}
	many := []int64{1000}
	for n := int64(100); n < 120; n++ {
		many = append(many, n)
	}
	for _, c := range []struct {
		paths []int64
		want  []bar
	}{
		{nil, nil},
		{[]int64{0, 12345, 0}, []bar{{"0", 2}, {"12,345", 1}}},
		{many, []bar{{"1-100", 1}, {"101-200", 19}, {"...", 0}, {"901-1,000", 1}}},
		{append(many, 0), []bar{{"0", 1}, {"1-100", 1}, {"101-200", 19}, {"...", 0}, {"901-1,000", 1}}},
	} {
		if got := histogram(of(c.paths...)); !slices.Equal(got, c.want) {
			t.Errorf("%d: %v, want %v", c.paths, got, c.want)
		}
	}
}
