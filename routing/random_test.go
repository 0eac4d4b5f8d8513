// SPDX-License-Identifier: Apache-2.0

package routing

import "testing"

// TestRandomIsGlibcs compares with random() after srandom() in glibc 2.36: the first four numbers, and the 10,000th.
func TestRandomIsGlibcs(t *testing.T) {
	for _, c := range []struct {
		seed uint32
		want [5]uint32
	}{
		{1, [5]uint32{1804289383, 846930886, 1681692777, 1714636915, 1908609430}},
		{305419896, [5]uint32{457715892, 232396016, 1235909654, 1279099110, 370768878}},
		{2147483649, [5]uint32{1081815585, 5219348, 1080917272, 1083470877, 1077368336}},
		{4294967295, [5]uint32{254925627, 1205188300, 366127624, 1401405153, 1100600380}},
		{8, [5]uint32{757547896, 1695630744, 1945246242, 94247549, 1249341650}},
		{2147483647, [5]uint32{1065668062, 2142264300, 1066566375, 1064012770, 1070115311}},
	} {
		r := NewRandom(c.seed)
		var got [5]uint32
		for i := range got[:4] {
			got[i] = r.Next()
		}
		for range 9995 {
			r.Next()
		}
		if got[4] = r.Next(); got != c.want {
			t.Errorf("seed %d: %d, want %d", c.seed, got, c.want)
		}
	}
}
