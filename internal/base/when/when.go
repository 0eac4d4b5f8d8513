// SPDX-License-Identifier: Apache-2.0

// Package when parses times in the forms that operators use.
package when

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxDays is the maximum age of a time, in days before now.
const maxDays = 36500

// Help describes the accepted times.
const Help = "a time is 03:00 or 03:00:15, which mean the last such time; yesterday 22:00; 2026-11-22 or " +
	"2026-11-22T03:00; 90s, 20m, 2h or 3d ago; or now"

// Parse parses a time in the past.
func Parse(text string, now time.Time) (time.Time, error) {
	if text == "now" {
		return now, nil
	}
	day, clock, _ := strings.Cut(text, " ")
	ago, named := map[string]int{"yesterday": 1, "today": 0}[day]
	if !named {
		clock = text
	}
	if named && clock == "" {
		clock = "00:00"
	}
	for _, layout := range []string{time.TimeOnly, "15:04"} {
		t, err := time.ParseInLocation(layout, clock, now.Location())
		if err != nil {
			continue
		}
		y, m, d := now.Date()
		at := time.Date(y, m, d-ago, t.Hour(), t.Minute(), t.Second(), 0, now.Location())
		if !named && at.After(now) {
			at = at.AddDate(0, 0, -1)
		}
		return at, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime,
		"2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= maxDays {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time (%s)", text, Help)
}
