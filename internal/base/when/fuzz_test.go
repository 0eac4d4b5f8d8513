// SPDX-License-Identifier: Apache-2.0

package when

import (
	"testing"
	"time"
)

// FuzzParse checks that times of day and lengths of time are in the past or the future, as requested.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"now", "03:00", "03:00:15", "yesterday 22:00", "today", "2026-11-22", "2026-11-22T03:00",
		"2026-11-22 03:00:00 +01:00", "90s", "20m", "3d", "1w", "36500d", "-1s", "25:00",
	} {
		f.Add(text, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		now := time.Unix(seconds%4_000_000_000, 0).UTC()
		past, err := Parse(text, now)
		if _, isLong := time.ParseDuration(text); err == nil && isLong == nil && past.After(now) {
			t.Errorf("%q before %v is %v", text, now, past)
		}
		if ahead, err := ParseAhead(text, now); err == nil && ahead.Before(now) {
			t.Errorf("%q from %v on is %v", text, now, ahead)
		}
	})
}
