// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"container/heap"
	"time"

	"example.org/ibconsole/mad"
)

// lateQueue holds answers still on their way and tables to be looked after, the first one due on top.
type lateQueue []lateFrame

type lateFrame struct {
	due   time.Time
	frame mad.Frame
	again *transfer // nil for an answer
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

func (q *lateQueue) push(due time.Time, f *mad.Frame) { heap.Push(q, lateFrame{due: due, frame: *f}) }

func (q *lateQueue) remind(due time.Time, t *transfer) { heap.Push(q, lateFrame{due: due, again: t}) }

func (q *lateQueue) pop() lateFrame { return heap.Pop(q).(lateFrame) }
