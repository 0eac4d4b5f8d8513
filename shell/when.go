// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// whenHelp says which times there are.
const whenHelp = "a time is 03:00 or 03:00:15, the last one that there was; 2026-11-22 or 2026-11-22T03:00; 90s, 20m, 2h or 3d ago; or now"

// when reads a time.
func when(text string, now time.Time) (time.Time, error) {
	if text == "now" {
		return now, nil
	}
	for _, layout := range []string{time.TimeOnly, "15:04"} {
		t, err := time.ParseInLocation(layout, text, now.Location())
		if err != nil {
			continue
		}
		y, m, d := now.Date()
		at := time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, now.Location())
		if at.After(now) {
			at = at.AddDate(0, 0, -1)
		}
		return at, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04", time.DateOnly} {
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
	return time.Time{}, fmt.Errorf("%q is no time (%s)", text, whenHelp)
}

// whenOption is the time that an option gives.
func (c *call) whenOption(name, otherwise string, now time.Time) (time.Time, error) {
	t, err := when(c.Option(name, otherwise), now)
	if err != nil {
		return t, c.Misused("%s: %v", name, err)
	}
	return t, nil
}
