// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// Target is where requests go to, by LID, or by directed route where LID is 0.
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

// is reports whether the request goes to t.
func (r *Request) is(t *Target) bool {
	return r.LID == t.LID && (r.LID != 0 || r.Path == t.Path)
}

// TargetStats count what a client has done with one target.
type TargetStats struct {
	Target                  Target
	InFlight                int           // requests now
	Waiting                 int           // requests that wait until fewer are in flight to this target
	Sent                    uint64        // frames, those sent again among them
	Retried                 uint64        // frames sent again
	Received                uint64        // answers that ended a request
	TimedOut                uint64        // requests that failed without an answer
	Late                    uint64        // answers to nothing outstanding: too late, or repeated
	Silent                  int           // requests in a row, up to now, that failed without an answer
	MinRTT, MeanRTT, MaxRTT time.Duration // of answers, from the try that they answer
}

const (
	// maxTargets is how many targets a client remembers, some 200 bytes each. One
	// with nothing in flight that was not used for long makes room for a new one.
	maxTargets = 1 << 16

	// A target that left this many requests in a row without an answer, the last no longer ago than that, is
	// asked once and not again until it answers: a dead switch must not take minutes of a sweep.
	silentAfter = 4
	silentFor   = 10 * time.Second
	// One that left this many tries in a row, or all, without an answer does not tell how busy the subnet is.
	quietAfter = 3
)

// target is what a client knows of a [Target].
type target struct {
	key      Target
	stats    TargetStats // without what is kept below
	inFlight int
	first    int32 // of the jobs that wait, in Client.parked; -1: none
	last     int32
	waiting  int
	lost     int // tries in a row without an answer
	sum      time.Duration
	answers  uint64 // that sum is of
	failedAt time.Duration
	used     bool // since the hand last passed
}

// targets is a table of targets that does not grow without bounds.
type targets struct {
	index map[Target]int32
	all   []*target
	fresh []target // room for more
	most  int
	hand  int // where to look for one to forget
}

// slab is how many targets are allocated at a time.
const slab = 64

func newTargets(most int) targets { return targets{index: map[Target]int32{}, most: most} }

// find returns the number of a request's target, guess if that is it. The number
// is good until the next find, and as long as something is in flight or waits.
func (t *targets) find(r *Request, guess int32) int32 {
	if uint(guess) >= uint(len(t.all)) || !r.is(&t.all[guess].key) {
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
	if i >= t.most {
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

// victim returns the target to forget: one that is idle and was not used since
// the hand last passed it. If all are busy it returns a place for one more.
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

// answered takes an answer that came so long after its try, 0 if that is not known.
func (t *target) answered(rtt time.Duration) {
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

// tries is how often to ask the target, of at most so many times.
func (t *target) tries(most int, now time.Duration) int {
	if t.stats.Silent >= silentAfter && now-t.failedAt < silentFor {
		return 1
	}
	return most
}

// tells reports whether a loss on the path to the target tells how busy the subnet is.
func (t *target) tells() bool { return t.stats.Received > 0 && t.lost <= quietAfter }

func (t *target) report() TargetStats {
	s := t.stats
	s.Target, s.InFlight, s.Waiting = t.key, t.inFlight, t.waiting
	if t.answers > 0 {
		s.MeanRTT = t.sum / time.Duration(t.answers)
	}
	return s
}

// Targets returns what the client has done with each target, LIDs first, then directed routes, in order. It
// remembers some 65,000 targets, and forgets those first that were not used for the longest. O(n log n).
func (c *Client) Targets() []TargetStats {
	c.mu.Lock()
	out := make([]TargetStats, len(c.targets.all))
	for i := range out {
		out[i] = c.targets.all[i].report()
	}
	c.mu.Unlock()
	slices.SortStableFunc(out, func(a, b TargetStats) int {
		x, y := &a.Target, &b.Target
		return cmp.Or(boolCompare(x.LID == 0, y.LID == 0), cmp.Compare(x.LID, y.LID),
			cmp.Compare(x.Path.n, y.Path.n), bytes.Compare(x.Path.hops[:], y.Path.hops[:]))
	})
	return out
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// parking holds jobs whose targets have as much in flight as they may: a linked list a target, one slab.
type parking struct {
	places []place
	free   int32
	n      int // jobs
}

// keptPlaces is how many places are kept when no job waits.
const keptPlaces = 1 << 14

type place struct {
	job  job
	next int32
}

// park makes j wait for t.
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

// leave hands the job that has waited longest for t, of which there is one, to its batch.
func (p *parking) leave(t *target) *Batch {
	x := &p.places[t.first]
	b := x.job.batch
	b.woken.push(&x.job)
	p.remove(t, -1)
	return b
}

// remove takes out the job of t that comes after place before, -1 for the first.
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

// drop forgets the jobs of batch b that wait for t.
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
