// SPDX-License-Identifier: Apache-2.0

package records

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/ibconsole/fabric/counters"
)

// TestCode checks values worked out by hand, and the order and the error of all.
func TestCode(t *testing.T) {
	for v, want := range map[uint64]uint64{
		0: 0, 1: 1, 511: 511, 512: 512, 513: 514, 515: 516, 1023: 1024, 1024: 1024,
		1<<40 + 1: 1 << 40, math.MaxUint64: 511 << 55,
	} {
		if got := decode(code(v)); got != want {
			t.Errorf("%d becomes %d, want %d", v, got, want)
		}
	}
	last := uint64(0)
	for c := range uint16(55*256 + 512) {
		v := decode(c)
		if c > 0 && v <= last || code(v) != c {
			t.Fatalf("code %d is %d after %d, whose code is %d", c, v, last, code(v))
		}
		last = v
	}
}

// FuzzUnpack checks that decoded data is encoded to the same data, and that nothing panics.
func FuzzUnpack(f *testing.F) {
	var s sum
	s.what = counters.All
	for nth := range uint16(1000) {
		x := Sample{Delta: counters.Delta{Seconds: 60, Has: counters.All}}
		if nth%3 == 0 {
			x.Increase[nth%uint16(counters.NumCounters)] = uint64(nth) << (nth % 50)
			x.Cleared = counters.Set(nth)
		}
		if nth == 7 {
			x.Seconds, x.Has = 600, counters.Errors
		}
		s.sample(nth, counters.All, &x)
	}
	packed, fine := s.block().append()
	f.Add(packed, fine)
	f.Add(packed[:len(packed)/2], fine)
	f.Add(packed, fine[:len(fine)/2])
	f.Fuzz(func(t *testing.T, data, fine []byte) {
		var b, again block
		if b.unpack(data, fine) != nil {
			return
		}
		first, digits := b.append()
		if err := again.unpack(first, digits); err != nil {
			t.Fatal(err)
		}
		second, last := again.append()
		if diff := cmp.Diff([][]byte{first, digits}, [][]byte{second, last}); diff != "" {
			t.Error(diff)
		}
		var s sum
		s.add(&b)
		if err := again.unpack(s.block().append()); err != nil {
			t.Error(err)
		}
	})
}
