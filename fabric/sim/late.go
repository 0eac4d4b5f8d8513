// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"container/heap"
	"time"

	"example.org/ibconsole/mad"
)

// lateQueue holds answers that are still on their way, the first one due on top.
type lateQueue []lateFrame

type lateFrame struct {
	due   time.Time
	frame mad.Frame
}

// Len, Less, Swap, Push and Pop implement [heap.Interface].
func (q lateQueue) Len() int           { return len(q) }
func (q lateQueue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q lateQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *lateQueue) Push(x any)        { *q = append(*q, x.(lateFrame)) }
func (q *lateQueue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

func (q *lateQueue) push(due time.Time, f *mad.Frame) { heap.Push(q, lateFrame{due, *f}) }

// pop appends the frames that are due to out and returns when the next one is.
func (q *lateQueue) pop(now time.Time, out []mad.Frame) ([]mad.Frame, time.Time) {
	for len(*q) > 0 && !(*q)[0].due.After(now) {
		out = append(out, heap.Pop(q).(lateFrame).frame)
	}
	if len(*q) == 0 {
		return out, time.Time{}
	}
	return out, (*q)[0].due
}
