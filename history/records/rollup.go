// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"database/sql"
	"time"

	"example.org/ibconsole/fabric/counters"
)

// rolledTo returns the name of a setting. Its value is the time up to which samples have been rolled up to a level.
func rolledTo(level int) string { return [...]string{"", "minutes to", "hours to"}[level] }

// slack is, by level, the time after the end of a slot during which samples of the slot may still be stored, in
// milliseconds. A round of ten minutes, for example, is stored only at its end. A slot is a period to which samples are
// rolled up.
var slack = [...]int64{minutes: 60_000, hours: 15 * 60_000}

// RollUp combines the samples of level seconds of past minutes, and those of level minutes of past hours. A slot (a
// minute or an hour) is rolled up either completely or not at all. After an interruption the next call continues.
func (s *Store) RollUp(ctx context.Context, now time.Time) error {
	for level := minutes; level <= hours; level++ {
		for {
			more, err := s.rollSlot(ctx, level, now.UnixMilli()-slack[level])
			if err != nil {
				return s.failed("roll up counters", err)
			}
			if !more {
				break
			}
		}
	}
	return nil
}

// rollSlot rolls up the oldest remaining slot. It returns false if no remaining slot ended before the given time.
func (s *Store) rollSlot(ctx context.Context, level int, by int64) (more bool, err error) {
	to, err := setting(ctx, s.db, rolledTo(level))
	if err != nil {
		return false, err
	}
	var first sql.NullInt64
	if err := s.db.QueryRowContext(ctx, "SELECT min(until) FROM sample WHERE level = ? AND until > ?", level-1,
		to).Scan(&first); err != nil || !first.Valid {
		return false, err
	}
	length := slots[level]
	end := (first.Int64 + length - 1) / length * length // a slot has the samples that ended after its start
	if end > by {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return true, s.change(ctx, func(tx *sql.Tx) error {
		if err := s.rollUp(ctx, tx, level, end-length, end); err != nil {
			return err
		}
		return set(ctx, tx, rolledTo(level), end)
	})
}

// rollUp adds the samples of a slot that have the same subnet, block and set of counters.
func (s *Store) rollUp(ctx context.Context, tx *sql.Tx, level int, from, to int64) error {
	rows, err := tx.QueryContext(ctx,
		`SELECT subnet, block, what, began, until, data FROM sample WHERE level = ? AND until > ? AND until <= ?
		ORDER BY subnet, block, what, until`, level-1, from, to)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var all row // the row being added up
	var b block
	s.sums.reset()
	flush := func() error {
		if all.until == 0 {
			return nil
		}
		return s.insert(ctx, tx, all, s.sums.block())
	}
	for rows.Next() {
		r := row{level: level, rolled: true}
		var packed sql.RawBytes
		var what int64
		if err := rows.Scan(&r.subnet, &r.block, &what, &r.began, &r.until, &packed); err != nil {
			return err
		}
		r.what = counters.Set(what)
		if r.subnet != all.subnet || r.block != all.block || r.what != all.what {
			if err := flush(); err != nil {
				return err
			}
			s.sums.reset()
			all = r
		}
		all.began, all.until = min(all.began, r.began), max(all.until, r.until)
		if err := s.decode(&b, packed); err != nil {
			return err
		}
		s.sums.add(&b)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return flush()
}
