// SPDX-License-Identifier: Apache-2.0

package mad

import "time"

// window is how much may be in flight. A window of answers adds one; a loss, which shows late, halves it.
type window struct {
	size     float64
	min, max float64
	cut      time.Duration // when it was last halved
}

func newWindow(low, high int) window {
	const start = 4
	return window{size: float64(min(max(low, start), high)), min: float64(low), max: float64(high)}
}

// limit is how much may be in flight now.
func (w *window) limit() int { return int(w.size) }

// answered takes an answer to a first try, with so much in flight. A window that is not used does not grow.
func (w *window) answered(used int) {
	if w.size >= w.max || 2*used < w.limit() {
		return
	}
	w.size = min(w.size+1/w.size, w.max)
}

// lost takes a loss of what was sent at a time. What was sent before the last halving does not count.
func (w *window) lost(sent, now time.Duration) {
	if sent < w.cut {
		return
	}
	w.size = max(w.size/2, w.min)
	w.cut = now
}
