// SPDX-License-Identifier: Apache-2.0

package targets

import (
	"slices"
	"testing"
	"time"

	"example.org/ibconsole/mad"
)

func TestWorstTargetsComeFirst(t *testing.T) {
	targets := []mad.TargetStats{
		{Sent: 1, MaxRTT: time.Millisecond},
		{Sent: 2, Retried: 1, MaxRTT: time.Second},
		{Sent: 3, TimedOut: 1, Retried: 2},
		{Sent: 4, MaxRTT: time.Second},
		{Sent: 5, Retried: 9},
	}
	slices.SortStableFunc(targets, worstFirst)
	var got []uint64
	for _, s := range targets {
		got = append(got, s.Sent)
	}
	if want := []uint64{3, 5, 2, 4, 1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
