// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"cmp"
	"slices"
)

// sortKeys sorts rows by numbers.
type sortKeys struct{ list, spare []sortKey }

type sortKey struct {
	key uint64
	row int32
}

// begin allocates n rows.
func (k *sortKeys) begin(n int) { k.list = slices.Grow(k.list[:0], n)[:n] }

// The method take sets the sort keys of rows[from:to] to the numbers that the function order returns. If the argument
// down is set, the order is reversed.
func (k *sortKeys) take(rows []int32, from, to int, order func(row int) int64, down bool) {
	var turn uint64 = 1 << 63 // so that negative numbers come first
	if down {
		turn = ^turn
	}
	for i := from; i < to; i++ {
		k.list[i] = sortKey{uint64(order(int(rows[i]))) ^ turn, rows[i]}
	}
}

const fewKeys = 256 // up to this number of keys a comparison sort is faster

// sort sorts the rows by their keys. The sort is stable. It takes O(rows) time for each byte in which keys differ.
func (k *sortKeys) sort() {
	if len(k.list) <= fewKeys {
		slices.SortStableFunc(k.list, func(a, b sortKey) int { return cmp.Compare(a.key, b.key) })
		return
	}
	var differ uint64
	for i := range k.list {
		differ |= k.list[i].key ^ k.list[0].key
	}
	k.spare = slices.Grow(k.spare[:0], len(k.list))[:len(k.list)]
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff != 0 {
			k.deal(shift)
		}
	}
}

// deal sorts by one byte of the keys.
func (k *sortKeys) deal(shift int) {
	var at [257]int
	for i := range k.list {
		at[k.list[i].key>>shift&0xff+1]++
	}
	for b := range 256 {
		at[b+1] += at[b]
	}
	for _, key := range k.list {
		b := key.key >> shift & 0xff
		k.spare[at[b]] = key
		at[b]++
	}
	k.list, k.spare = k.spare, k.list
}
