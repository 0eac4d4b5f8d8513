// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// Target is the destination of requests: a LID, or a directed route if LID is 0.
type Target struct {
	LID  uint16
	Path Path
}

func (r *Request) target() Target {
	if r.LID != 0 {
		return Target{LID: r.LID}
	}
	return Target{Path: r.Path}
}

// goesTo reports whether t is the destination of the request.
func (r *Request) goesTo(t *Target) bool {
	return r.LID == t.LID && (r.LID != 0 || r.Path == t.Path)
}

// TargetStats counts the requests and answers of a client at one target.
type TargetStats struct {
	Target                  Target
	InFlight                int           // requests now
	Waiting                 int           // requests that wait until fewer to this target are in flight
	Sent                    uint64        // frames, including retries
	Retried                 uint64        // frames sent again
	Received                uint64        // answers that ended a request
	TimedOut                uint64        // requests that failed without an answer
	Late                    uint64        // answers to no outstanding request: late or repeated
	Silent                  int           // consecutive requests without an answer, up to now
	MinRTT, MeanRTT, MaxRTT time.Duration // response times of the answered tries
}

const (
	// maxTargets is the maximum number of targets that a client remembers. Each takes some 200 bytes. If there are
	// more, a new target replaces an idle one that has not been used recently.
	maxTargets = 1 << 16

	// silentAfter is a number of consecutive requests. If a target did not answer this many, and the last one was less
	// than silentFor ago, further requests are sent to it only once until it answers. Otherwise a dead switch would
	// delay a sweep by minutes.
	silentAfter = 4
	silentFor   = 10 * time.Second
	// quietAfter is a number of consecutive tries. If a target did not answer this many, or has never answered, losses
	// at this target do not show how busy the subnet is.
	quietAfter = 3
)

// target holds the state of a [Target].
type target struct {
	key      Target
	stats    TargetStats // without the fields that are kept below
	inFlight int
	first    int32 // first and last waiting job in Client.parked; -1 for none
	last     int32
	waiting  int
	lost     int // consecutive tries without an answer
	sum      time.Duration
	answers  uint64 // number of response times in sum
	failedAt time.Duration
	used     bool // since the hand last passed
}

// targets is a table of bounded size.
type targets struct {
	index map[Target]int32
	all   []*target
	fresh []target // allocated, not yet used
	limit int
	hand  int // of the clock algorithm that finds a target to drop
}

// slab is the number of targets that are allocated at a time.
const slab = 64

func newTargets(limit int) targets { return targets{index: map[Target]int32{}, limit: limit} }

// find returns the index of the target of a request. It first checks the index in the argument guess. The result is
// valid until the next call of find, and as long as requests to the target are in flight or waiting.
func (t *targets) find(r *Request, guess int32) int32 {
	if uint(guess) >= uint(len(t.all)) || !r.goesTo(&t.all[guess].key) {
		key, known := r.target(), false
		if guess, known = t.index[key]; !known {
			guess = t.add(key)
		}
	}
	t.all[guess].used = true
	return guess
}

func (t *targets) add(key Target) int32 {
	i := len(t.all)
	if i >= t.limit {
		i = t.victim()
	}
	if i < len(t.all) {
		delete(t.index, t.all[i].key)
	} else {
		if len(t.fresh) == 0 {
			t.fresh = make([]target, slab)
		}
		t.all, t.fresh = append(t.all, &t.fresh[0]), t.fresh[1:]
	}
	*t.all[i] = target{key: key, first: -1, last: -1}
	t.index[key] = int32(i)
	return int32(i)
}

// victim returns the index of the target to drop. This is an idle target that was not used since the clock hand last
// passed it. If all targets are busy, victim returns the index of a new target.
func (t *targets) victim() int {
	for range 2 * len(t.all) {
		t.hand = (t.hand + 1) % len(t.all)
		x := t.all[t.hand]
		if x.inFlight == 0 && x.waiting == 0 {
			if !x.used {
				return t.hand
			}
			x.used = false
		}
	}
	return len(t.all)
}

// onAnswer records an answer with the response time rtt, which is 0 if it is unknown.
func (t *target) onAnswer(rtt time.Duration) {
	t.stats.Received++
	t.stats.Silent, t.lost = 0, 0
	if rtt <= 0 {
		return
	}
	if t.answers == 0 || rtt < t.stats.MinRTT {
		t.stats.MinRTT = rtt
	}
	t.stats.MaxRTT = max(t.stats.MaxRTT, rtt)
	t.sum += rtt
	t.answers++
}

// tries returns the maximum number of times to send a request to the target, at most limit.
func (t *target) tries(limit int, now time.Duration) int {
	if t.stats.Silent >= silentAfter && now-t.failedAt < silentFor {
		return 1
	}
	return limit
}

// showsLoad reports whether a loss at the target shows how busy the subnet is.
func (t *target) showsLoad() bool { return t.stats.Received > 0 && t.lost <= quietAfter }

func (t *target) report() TargetStats {
	s := t.stats
	s.Target, s.InFlight, s.Waiting = t.key, t.inFlight, t.waiting
	if t.answers > 0 {
		s.MeanRTT = t.sum / time.Duration(t.answers)
	}
	return s
}

// Targets returns the statistics of each target. LIDs are listed before directed routes. A client remembers at most
// 65,536 targets and drops those that have not been used recently. O(n log n).
func (c *Client) Targets() []TargetStats {
	c.mu.Lock()
	out := make([]TargetStats, len(c.targets.all))
	for i := range out {
		out[i] = c.targets.all[i].report()
	}
	c.mu.Unlock()
	slices.SortStableFunc(out, func(a, b TargetStats) int {
		x, y := &a.Target, &b.Target
		return cmp.Or(cmp.Compare(x.LID-1, y.LID-1), // LID 0 becomes the greatest
			cmp.Compare(x.Path.n, y.Path.n), bytes.Compare(x.Path.hops[:], y.Path.hops[:]))
	})
	return out
}

// parking holds the jobs whose targets have the maximum number of requests in flight. Each target has a linked list of
// jobs.
type parking struct {
	places []place
	free   int32
	n      int // jobs
}

// keptPlaces is the maximum number of places whose memory is kept when no job waits.
const keptPlaces = 1 << 14

type place struct {
	job  job
	next int32
}

// park appends j to the jobs that wait for t.
func (p *parking) park(t *target, j *job) {
	i := p.free
	if i < 0 {
		i = int32(len(p.places))
		p.places = append(p.places, place{next: -1})
	}
	p.free = p.places[i].next
	p.places[i] = place{*j, -1}
	if t.last < 0 {
		t.first = i
	} else {
		p.places[t.last].next = i
	}
	t.last = i
	t.waiting++
	p.n++
}

// unpark moves the job that has waited longest for t to its batch, and returns the batch. A job must be waiting for t.
func (p *parking) unpark(t *target) *Batch {
	x := &p.places[t.first]
	b := x.job.batch
	b.woken.push(&x.job)
	p.remove(t, -1)
	return b
}

// remove removes from the list of t the job that follows a place (argument before). If this argument is -1, it removes
// the first job.
func (p *parking) remove(t *target, before int32) {
	i := t.first
	if before >= 0 {
		i = p.places[before].next
	}
	next := p.places[i].next
	if before >= 0 {
		p.places[before].next = next
	} else {
		t.first = next
	}
	if next < 0 {
		t.last = before
	}
	p.places[i] = place{next: p.free}
	p.free = i
	t.waiting--
	if p.n--; p.n == 0 && len(p.places) > keptPlaces {
		*p = parking{free: -1}
	}
}

// drop removes the jobs of batch b that wait for t.
func (p *parking) drop(t *target, b *Batch) {
	before := int32(-1)
	for i := t.first; i >= 0; {
		next := p.places[i].next
		if p.places[i].job.batch == b {
			p.remove(t, before)
		} else {
			before = i
		}
		i = next
	}
}
