// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"fmt"
	"time"

	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
)

// pace measures how fast the operation that runs gets on.
type pace struct {
	busy  string
	began time.Time
	from  int
}

func (p *pace) note(st *session.State, now time.Time) {
	if st.Busy != p.busy || st.Done < p.from {
		*p = pace{st.Busy, now, st.Done}
	}
}

// text is the rate and the time left, "" while nothing can be said of them.
func (p *pace) text(st *session.State, now time.Time) string {
	took := now.Sub(p.began)
	done := st.Done - p.from
	if done <= 0 || took < 300*time.Millisecond || st.Total <= 0 {
		return ""
	}
	rate := float64(done) / took.Seconds()
	left := max(time.Duration(float64(st.Total-st.Done)/rate*float64(time.Second)), 0)
	return fmt.Sprintf("%s/s, %s left", draw.Thousands(int(rate+0.5)), draw.Seconds(left.Round(100*time.Millisecond)))
}
