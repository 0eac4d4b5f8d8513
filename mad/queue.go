// SPDX-License-Identifier: Apache-2.0

package mad

// job is a request that waits for its turn.
type job struct {
	batch    *Batch
	request  Request
	callback func(*Reply)
}

// queue is a first in, first out ring that grows.
type queue struct {
	jobs  []job // a power of two
	first int
	n     int
}

func (q *queue) len() int { return q.n }

func (q *queue) push(j *job) {
	if q.n == len(q.jobs) {
		q.grow()
	}
	q.jobs[(q.first+q.n)&(len(q.jobs)-1)] = *j
	q.n++
}

// front is the first job of a queue that is not empty, until it is dropped.
func (q *queue) front() *job { return &q.jobs[q.first] }

// drop takes the first job out of a queue that is not empty.
func (q *queue) drop() {
	x := &q.jobs[q.first]
	x.batch, x.callback, x.request.GSI = nil, nil, nil
	q.first = (q.first + 1) & (len(q.jobs) - 1)
	q.n--
}

func (q *queue) grow() {
	jobs := make([]job, max(16, 2*len(q.jobs)))
	n := copy(jobs, q.jobs[q.first:])
	copy(jobs[n:], q.jobs[:q.first])
	q.jobs, q.first = jobs, 0
}

func (q *queue) clear() { *q = queue{} }
