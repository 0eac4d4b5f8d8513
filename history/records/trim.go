// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"database/sql"
	"time"

	"example.org/ibconsole/internal/base/sqlfile"
	"example.org/ibconsole/internal/base/when"
)

// DefaultSize is the default maximum of the bytes in use in the file.
const DefaultSize = 2 << 30

// The number of days for which samples of minutes and hours are kept, if the size of the file allows it.
const (
	MinuteDays = 14
	HourDays   = 400
)

// ages is, by level, the time for which samples are kept, if the size of the file allows it.
var ages = [...]time.Duration{
	seconds: 24 * time.Hour, minutes: MinuteDays * 24 * time.Hour, hours: HourDays * 24 * time.Hour,
}

// removedTo returns the name of a setting. Its value is the time up to which samples of a level and of the levels below
// have been removed.
func removedTo(level int) string {
	return [...]string{"seconds gone to", "minutes gone to", "hours gone to"}[level]
}

const sizeSetting = "size"

// Size returns the maximum of the bytes in use in the file.
func (s *Store) Size(ctx context.Context) (int64, error) {
	size, err := setting(ctx, s.db, sizeSetting)
	if size == 0 {
		size = DefaultSize
	}
	return size, s.failed("read the setting", err)
}

// SetSize sets the maximum of the bytes in use in the file.
func (s *Store) SetSize(ctx context.Context, size int64) error {
	err := s.change(ctx, func(tx *sql.Tx) error { return set(ctx, tx, sizeSetting, size) })
	return s.failed("write the setting", err)
}

// Used returns the number of bytes in use in the file.
func (s *Store) Used(ctx context.Context) (int64, error) {
	used, err := sqlfile.Used(ctx, s.db)
	return used, s.failed("read the size", err)
}

// trimmedAt is the name of a setting. Its value is the time from which Trim last counted ages. It advances by at most
// maxAdvance in each call, so a clock that is set far ahead for some hours removes nothing.
const (
	trimmedAt  = "trimmed at"
	maxAdvance = time.Hour
)

// ageFrom returns the time from which ages are counted.
func (s *Store) ageFrom(ctx context.Context, now time.Time) (time.Time, error) {
	last, err := setting(ctx, s.db, trimmedAt)
	if err != nil {
		return now, err
	}
	if last != 0 {
		now = when.Earlier(now, time.UnixMilli(last).Add(maxAdvance))
	}
	if d := now.UnixMilli() - last; d >= 0 && d < slots[minutes] {
		return now, nil
	}
	return now, s.change(ctx, func(tx *sql.Tx) error { return set(ctx, tx, trimmedAt, now.UnixMilli()) })
}

// Trim removes samples that are older than the limit of their level. If too many bytes of the file are in use, it also
// removes the oldest samples of seconds that have been rolled up. If this is not enough, samples of minutes follow,
// then samples of hours. Trim removes slightly more than necessary, so that it need not remove samples each time.
func (s *Store) Trim(ctx context.Context, now time.Time) error {
	now, err := s.ageFrom(ctx, now)
	if err != nil {
		return s.failed("trim the records", err)
	}
	for level, age := range ages {
		if err := s.trimTo(ctx, level, now.Add(-age).UnixMilli()); err != nil {
			return s.failed("trim the records", err)
		}
	}
	if err := s.trimLedger(ctx, now.Add(-ages[hours]).UnixMilli()); err != nil {
		return s.failed("trim the problems", err)
	}
	bound, err := s.Size(ctx)
	if err != nil {
		return err
	}
	used, err := s.Used(ctx)
	if err != nil || used <= bound {
		return err
	}
	for bound -= bound / 20; err == nil && used > bound; used, err = s.Used(ctx) {
		level, to, err := s.oldest(ctx)
		if err != nil || to == 0 {
			return s.failed("trim the records", err)
		}
		if err := s.drop(ctx, level, to); err != nil {
			return s.failed("trim the records", err)
		}
	}
	return err
}

// trimTo removes the samples of a level before a time. It removes only samples that have been rolled up, except on
// level hours, whose samples are never rolled up.
func (s *Store) trimTo(ctx context.Context, level int, to int64) error {
	if level < hours {
		rolled, err := setting(ctx, s.db, rolledTo(level+1))
		if err != nil {
			return err
		}
		to = min(to, rolled)
	}
	first, err := s.first(ctx, level)
	if err != nil || first == 0 || first > to {
		return err
	}
	return s.drop(ctx, level, to/slots[hours]*slots[hours])
}

// first returns the time at which the oldest sample of a level ends, 0 if the level has no samples.
func (s *Store) first(ctx context.Context, level int) (int64, error) {
	var first sql.NullInt64
	err := s.db.QueryRowContext(ctx, "SELECT min(until) FROM sample WHERE level = ?", level).Scan(&first)
	return first.Int64, err
}

// oldest returns the samples to remove next: those of a level up to a time. The time is 0 if there are no samples.
func (s *Store) oldest(ctx context.Context) (level int, to int64, err error) {
	var firsts [hours + 1]int64
	for level := range firsts {
		if firsts[level], err = s.first(ctx, level); err != nil {
			return 0, 0, err
		}
	}
	steps := [...]int64{seconds: 10 * slots[minutes], minutes: slots[hours], hours: 24 * slots[hours]}
	for level := range hours {
		rolled, err := setting(ctx, s.db, rolledTo(level+1))
		if err != nil {
			return 0, 0, err
		}
		if first := firsts[level]; first != 0 && first <= rolled {
			return level, min((first+steps[level]-1)/steps[level]*steps[level], rolled), nil
		}
	}
	if first := firsts[hours]; first != 0 {
		return hours, (first + steps[hours] - 1) / steps[hours] * steps[hours], nil
	}
	return hours, max(firsts[seconds], firsts[minutes]), nil // not rolled up yet, but too much
}

// drop removes the samples of a level, and of the levels below, up to a time.
func (s *Store) drop(ctx context.Context, level int, to int64) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		for l := seconds; l <= level; l++ {
			if _, err := tx.ExecContext(ctx, "DELETE FROM sample WHERE level = ? AND until <= ?", l, to); err != nil {
				return err
			}
			gone, err := setting(ctx, tx, removedTo(l))
			if err != nil {
				return err
			}
			if err := set(ctx, tx, removedTo(l), max(gone, to)); err != nil {
				return err
			}
		}
		return nil
	})
}
