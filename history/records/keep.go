// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
)

// Sample holds the counts of a port between two readings, or in a period. Key identifies the port, because the port
// index may be that of another fabric. Stored data, packets and waits are rounded.
type Sample struct {
	counters.Delta
	Key   counters.Key
	Name  string
	Until time.Time // of the later reading
}

// Samples returns the increases of the ports in a reading as samples.
func Samples(r *counters.Reading, deltas []counters.Delta) []Sample {
	read := make(map[fabric.PortIndex]time.Time, len(r.Ports))
	for i := range r.Ports {
		read[r.Ports[i].Port] = r.Ports[i].At
	}
	out := make([]Sample, 0, len(deltas))
	for i := range deltas {
		d := &deltas[i]
		out = append(out, Sample{*d, counters.KeyOf(r.Fabric, d.Port), r.Fabric.PortName(d.Port), read[d.Port]})
	}
	return out
}

// Round is the result of one reading of a subnet's ports. It includes the interval between readings.
type Round struct {
	Subnet  string
	What    counters.Set
	Every   time.Duration
	Samples []Sample
}

// The levels of samples: samples of at most 30 seconds, samples of at most 30 minutes, and longer samples.
const (
	seconds = iota
	minutes
	hours
)

// slots holds, by level, the length of the periods to which samples are rolled up, in milliseconds. Samples are not
// rolled up to seconds.
var slots = [...]int64{seconds: 0, minutes: 60_000, hours: 3_600_000}

// level returns the level to which the samples of the round belong.
func (r *Round) level() int {
	switch {
	case r.Every <= 30*time.Second:
		return seconds
	case r.Every <= 30*time.Minute:
		return minutes
	}
	return hours
}

// Keep stores a round. Once it has returned nil, the round survives a crash. After an error no part of the round is
// stored.
func (s *Store) Keep(ctx context.Context, r Round) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.record(ctx, func(tx *sql.Tx) error {
		p, err := s.loadPorts(ctx, tx, r.Subnet)
		if err != nil {
			return err
		}
		if err := p.assignNumbers(ctx, tx, r.Subnet, r.Samples); err != nil {
			return err
		}
		s.ports[r.Subnet] = p
		return s.keep(ctx, tx, p, &r)
	})
	if err != nil {
		delete(s.ports, r.Subnet) // its numbers may not be in the file
	}
	return s.failed("keep counters", err)
}

func (s *Store) keep(ctx context.Context, tx *sql.Tx, p *ports, r *Round) error {
	var rolled [hours + 1]int64
	for level := minutes; level <= hours; level++ {
		var err error
		if rolled[level], err = setting(ctx, tx, rolledTo(level)); err != nil {
			return err
		}
	}
	order := make([]int, len(r.Samples))
	for i := range order {
		order[i] = i
	}
	nth := func(i int) int { return p.nth[r.Samples[i].Key] }
	slices.SortFunc(order, func(a, b int) int { return nth(a) - nth(b) })
	for len(order) > 0 {
		of := nth(order[0]) / perBlock
		n := slices.IndexFunc(order, func(i int) bool { return nth(i)/perBlock != of })
		if n < 0 {
			n = len(order)
		}
		row := row{subnet: p.id, level: r.level(), block: of, what: r.What, began: math.MaxInt64}
		s.sums.reset()
		s.sums.what = r.What
		for _, i := range order[:n] {
			x := &r.Samples[i]
			s.sums.sample(uint16(nth(i)%perBlock), r.What, x)
			row.until = max(row.until, x.Until.UnixMilli())
			row.began = min(row.began, x.Until.UnixMilli()-int64(1000*x.Seconds))
		}
		// If a period has already been rolled up, for example because the clock was set back, its samples belong to the
		// level to which it was rolled up.
		for row.level < hours && row.until <= rolled[row.level+1] {
			row.level++
		}
		if err := s.insert(ctx, tx, row, s.sums.block()); err != nil {
			return err
		}
		order = order[n:]
	}
	return nil
}

// sample adds what one port counted.
func (s *sum) sample(nth uint16, what counters.Set, x *Sample) {
	s.present[nth] = true
	s.millis[nth] += uint64(max(1000*x.Seconds, 0))
	for c := range (x.Has & what).All() {
		s.grown[c][nth] = plus(s.grown[c][nth], x.Increase[c])
	}
	for i, set := range [numSets]counters.Set{cleared: x.Cleared, stopped: x.Stopped, wrapped: x.Wrapped,
		missing: ^x.Has} {
		s.sets[i][nth] |= set & what
	}
}

// row is a row of the SQL table of samples, without the column data.
type row struct {
	subnet       int64
	level        int
	rolled       bool
	block        int
	what         counters.Set
	began, until int64
}

func (s *Store) insert(ctx context.Context, tx *sql.Tx, r row, b *block) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO sample (subnet, level, rolled, block, what, began, until, data) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		r.subnet, r.level, r.rolled, r.block, int64(r.what), r.began, r.until, s.encode(b))
	return err
}

// Traffic contains the stored counters of data and packets. The unicast counters are not stored, because they follow
// from the others.
var Traffic = counters.Data &^ counters.Of(counters.UnicastXmitPackets, counters.UnicastRcvPackets)
