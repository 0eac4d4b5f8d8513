// SPDX-License-Identifier: Apache-2.0

// Package when parses and formats times in the forms that operators use.
package when

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Text returns a time as date and time of day in the local zone. See [Format].
func Text(t time.Time) string { return Format(t, time.DateTime) }

// Clock returns the time of day in the local zone. See [Format].
func Clock(t time.Time) string { return Format(t, time.TimeOnly) }

// Format returns a time in the local zone in a layout. If the clocks of the zone show the time twice, because they were
// put back, the offset from UTC follows.
func Format(t time.Time, layout string) string { return format(t.Local(), layout) }

// format is [Format] in the zone of t.
func format(t time.Time, layout string) string {
	if isRepeated(t) {
		layout += offset
	}
	return t.Format(layout)
}

// offset is the layout of the offset from UTC.
const offset = " -07:00"

// isRepeated reports whether clocks in the zone of t show the same date and time at another time.
func isRepeated(t time.Time) bool {
	start, end := t.ZoneBounds()
	_, now := t.Zone()
	if !end.IsZero() {
		if _, after := end.Zone(); !t.Add(time.Duration(now-after) * time.Second).Before(end) {
			return true
		}
	}
	if start.IsZero() {
		return false
	}
	_, before := start.Add(-1).Zone()
	return t.Add(-time.Duration(before-now) * time.Second).Before(start)
}

// maxDays is the maximum age of a time, in days before now.
const maxDays = 36500

// Help describes the accepted times.
const Help = "a time is 03:00 or 03:00:15, the last time of day that has passed; yesterday 22:00; 2026-11-22 or " +
	"2026-11-22T03:00; 90s, 20m, 2h, 3d or 1w ago; or now"

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
		"2006-01-02 15:04", time.DateOnly, time.DateTime + offset, "2006-01-02 15:04" + offset} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	if days, d, ok := length(text); ok {
		return now.AddDate(0, 0, -days).Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time (%s)", text, Help)
}

// length parses a length of time: a number of weeks or days, or another duration.
func length(text string) (days int, d time.Duration, ok bool) {
	for unit, factor := range map[string]int{"w": 7, "d": 1} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.Atoi(number)
			return factor * n, 0, err == nil && n >= 0 && n <= maxDays/factor
		}
	}
	d, err := time.ParseDuration(text)
	return 0, d, err == nil && d >= 0
}

// HelpAhead describes the times that [ParseAhead] accepts.
const HelpAhead = "a time is 06:00, the next one; 2026-11-22 or 2026-11-22T03:00; or 90s, 20m, 2h, 3d or 1w from now"

// ParseAhead parses a time in the future.
func ParseAhead(text string, now time.Time) (time.Time, error) {
	if days, d, ok := length(text); ok && days+int(d) > 0 {
		return now.AddDate(0, 0, days).Add(d), nil
	}
	t, err := Parse(text, now)
	if _, clock := time.Parse("15:04", text); clock == nil {
		t = t.AddDate(0, 0, 1)
	}
	if err != nil || !t.After(now) {
		return time.Time{}, fmt.Errorf("%q is not a time after now (%s)", text, HelpAhead)
	}
	return t, nil
}

// Earlier returns the earlier of two times.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
