// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"testing"
)

// TestCorrelation compares Pearson's coefficient with values computed by hand.
func TestCorrelation(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want float64
		ok   bool
	}{
		{[]float64{1, 2, 3}, []float64{2, 4, 6}, 1, true},
		{[]float64{1, 2, 3}, []float64{3, 2, 1}, -1, true},
		{[]float64{0, 1, 0, 1}, []float64{0, 0, 1, 1}, 0, true},
		{[]float64{1, 2}, []float64{5, 5}, 0, false},
		{nil, nil, 0, false},
	} {
		if got, ok := Correlation(c.x, c.y); ok != c.ok || got-c.want > 1e-12 || c.want-got > 1e-12 {
			t.Errorf("%v, %v: %g, %v, expected %g, %v", c.x, c.y, got, ok, c.want, c.ok)
		}
	}
}
