// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"example.org/ibconsole/fabric/counters"
)

// Total holds the counts of a port in a period. It lists only counters that grew or have their maximum value.
type Total struct {
	Key    counters.Key
	Name   string
	Counts []Count
}

// Count is the increase of a counter.
type Count struct {
	Counter  counters.Counter
	Increase uint64
	Seconds  float64 // the time of the readings with this counter
	AtLeast  bool    // it was cleared or has its maximum value
	// First and Last are the ends of the first and the last sample in which the counter grew.
	First, Last time.Time
}

// PerSecond returns the rate.
func (c *Count) PerSecond() float64 {
	if c.Seconds <= 0 {
		return 0
	}
	return float64(c.Increase) / c.Seconds
}

// Totals returns [Recorded.Totals].
func (s *Store) Totals(ctx context.Context, subnet string, what counters.Set, since, until time.Time) ([]Total, error) {
	r, err := s.Recorded(ctx, subnet, what, since, until)
	return r.Totals, err
}

// Recorded returns the recorded counts of some counters of a subnet. It uses the samples that end after since and not
// after until. For whole hours it reads the samples of level hours.
func (s *Store) Recorded(ctx context.Context, subnet string, what counters.Set, since, until time.Time) (Recorded,
	error) {
	all := Recorded{Since: since, Until: until, Read: map[counters.Key]bool{},
		Seconds: map[counters.Key]float64{}}
	var times coverage
	err := s.consistently(ctx, func(conn *sql.Conn) error {
		p, err := s.find(ctx, conn, subnet)
		if err != nil || p.id == 0 {
			return err
		}
		to, err := setting(ctx, conn, rolledTo(hours))
		if err != nil {
			return err
		}
		from, by := since.UnixMilli(), until.UnixMilli()
		hour := slots[hours]
		whole, end := (from+hour-1)/hour*hour, min(by/hour*hour, to) // the whole hours
		if end < whole {
			whole, end = by, by
		}
		for block := 0; block*perBlock < len(p.keys); block++ {
			t := newTally(what, block, &times)
			err := errors.Join(
				s.each(ctx, conn, p.id, block, span{from, whole}, false, t.add),
				s.each(ctx, conn, p.id, block, span{whole, end}, true, t.add),
				s.each(ctx, conn, p.id, block, span{end, by}, false, t.add))
			if err != nil {
				return err
			}
			all.Totals = t.appendTotals(&p, all.Totals)
			t.readPorts(&p, &all)
		}
		return nil
	})
	all.Spans = times.spans(since, until)
	return all, s.failed("read counters", err)
}

// tally adds the counts of a block's ports.
type tally struct {
	what   counters.Set
	block  int
	millis map[counters.Set]*[perBlock]uint64 // by the counters that were read
	counts map[counters.Counter]*[perBlock]tallied
	least  [perBlock]counters.Set
	most   [perBlock]counters.Set // counters that have their maximum value
	times  *coverage
}

type tallied struct {
	grown       uint64
	first, last int64
}

func newTally(what counters.Set, block int, times *coverage) *tally {
	return &tally{what: what, block: block, times: times, millis: map[counters.Set]*[perBlock]uint64{},
		counts: map[counters.Counter]*[perBlock]tallied{}}
}

func (t *tally) add(r row, b *block) error {
	if t.what&b.what != 0 {
		t.times.add(span{r.began, r.until})
	}
	millis := t.millis[b.what]
	if millis == nil {
		millis = new([perBlock]uint64)
		t.millis[b.what] = millis
	}
	for nth := range uint16(perBlock) {
		if b.has(nth) {
			millis[nth] += b.base
		}
	}
	for _, x := range b.others {
		millis[x.nth] += x.v - b.base
	}
	for c := range (t.what & b.what).All() {
		if len(b.columns[c]) == 0 {
			continue
		}
		counts := t.counts[c]
		if counts == nil {
			counts = new([perBlock]tallied)
			t.counts[c] = counts
		}
		for _, x := range b.columns[c] {
			at := &counts[x.nth]
			at.grown = plus(at.grown, x.v)
			if at.last = max(at.last, r.until); at.first == 0 || r.until < at.first {
				at.first = r.until
			}
		}
	}
	for _, list := range [][]value{b.sets[cleared], b.sets[stopped]} {
		for _, x := range list {
			t.least[x.nth] |= counters.Set(x.v)
		}
	}
	for _, x := range b.sets[stopped] {
		t.most[x.nth] |= counters.Set(x.v)
	}
	return nil
}

// appendTotals appends the totals of ports that have a counter that grew or has its maximum value.
func (t *tally) appendTotals(p *ports, all []Total) []Total {
	first := t.block * perBlock
	for nth := range min(perBlock, len(p.keys)-first) {
		total := Total{Key: p.keys[first+nth], Name: p.names[first+nth]}
		for c := range t.what.All() {
			n := Count{Counter: c, AtLeast: t.least[nth].Has(c)}
			if counts := t.counts[c]; counts != nil {
				at := &counts[nth]
				n.Increase, n.First, n.Last = at.grown, time.UnixMilli(at.first), time.UnixMilli(at.last)
			}
			if n.Increase == 0 && !t.most[nth].Has(c) {
				continue
			}
			for what, millis := range t.millis {
				if what.Has(c) {
					n.Seconds += float64(millis[nth]) / 1000
				}
			}
			total.Counts = append(total.Counts, n)
		}
		if len(total.Counts) > 0 {
			all = append(all, total)
		}
	}
	return all
}

// readPorts adds the ports with samples, and the time that these cover.
func (t *tally) readPorts(p *ports, all *Recorded) {
	first := t.block * perBlock
	for what, millis := range t.millis {
		if what&t.what == 0 {
			continue
		}
		for nth := range min(perBlock, len(p.keys)-first) {
			if millis[nth] > 0 {
				all.Read[p.keys[first+nth]] = true
				all.Seconds[p.keys[first+nth]] += float64(millis[nth]) / 1000
			}
		}
	}
}

// Span returns the beginning of the first sample and the end of the last sample of a subnet. It reads only the first
// and the last sample of each block.
func (s *Store) Span(ctx context.Context, subnet string) (began, until time.Time, found bool, err error) {
	err = s.consistently(ctx, func(conn *sql.Conn) error {
		p, err := s.find(ctx, conn, subnet)
		if err != nil {
			return err
		}
		first, last := int64(math.MaxInt64), int64(0)
		for block := 0; block*perBlock < len(p.keys); block++ {
			var a, b sql.NullInt64
			const of = " FROM sample WHERE subnet = ?1 AND block = ?2 AND level = ?3 ORDER BY until"
			for level := seconds; level <= hours; level++ {
				err := conn.QueryRowContext(ctx, "SELECT (SELECT began"+of+" LIMIT 1), (SELECT until"+of+
					" DESC LIMIT 1)", p.id, block, level).Scan(&a, &b)
				if err != nil {
					return err
				}
				if a.Valid {
					first, last, found = min(first, a.Int64), max(last, b.Int64), true
				}
			}
		}
		began, until = time.UnixMilli(first), time.UnixMilli(last)
		return nil
	})
	if err != nil || !found {
		return time.Time{}, time.Time{}, false, s.failed("read counters", err)
	}
	return began, until, true, nil
}
