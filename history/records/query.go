// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/internal/base/when"
)

// ErrNoPort reports that a file has no samples of a port.
var ErrNoPort = errors.New("nothing was recorded of this port")

// consistently calls the function read with a connection on which all queries see the same state of the file.
func (s *Store) consistently(ctx context.Context, read func(*sql.Conn) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	err = read(conn)
	_, end := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	return errors.Join(err, end)
}

// span is a period that begins after since and ends at until, in milliseconds since 1970.
type span struct{ since, until int64 }

// each calls the function visit for the samples of a block that end in a span, level by level, in the order of time
// within a level. It skips rolled-up samples if the samples from which they were made still exist. If the argument
// ofHours is set, it visits only the samples of the hourly level, including all rolled-up samples.
func (s *Store) each(ctx context.Context, from querier, subnet int64, block int, in span, ofHours bool,
	visit func(row, *block) error) error {
	if in.until <= in.since {
		return nil
	}
	for level := seconds; level <= hours; level++ {
		upTo := in.until // the end of the rolled-up samples to visit
		switch {
		case ofHours && level < hours:
			continue
		case !ofHours && level > seconds:
			gone, err := setting(ctx, from, removedTo(level-1))
			if err != nil {
				return err
			}
			upTo = gone
		}
		if err := s.visit(ctx, from, row{subnet: subnet, block: block, level: level}, in, upTo, visit); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) visit(ctx context.Context, from querier, r row, in span, upTo int64,
	visit func(row, *block) error) error {
	rows, err := from.QueryContext(ctx, `SELECT rolled, what, began, until, data FROM sample
		WHERE subnet = ? AND block = ? AND level = ? AND until > ? AND until <= ? AND (rolled = 0 OR until <= ?)
		ORDER BY until`, r.subnet, r.block, r.level, in.since, in.until, upTo)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var b block
	for rows.Next() {
		var what int64
		var packed sql.RawBytes
		if err := rows.Scan(&r.rolled, &what, &r.began, &r.until, &packed); err != nil {
			return err
		}
		r.what = counters.Set(what)
		if err := s.decode(&b, packed); err != nil {
			at := when.Text(time.UnixMilli(r.until))
			return fmt.Errorf("block %d of %s: damaged: %w", r.block, at, err)
		}
		if err := visit(r, &b); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Port returns the samples of a port that end after since and not after until, oldest first. For each period it returns
// the samples of the finest level that still exists. The error is [ErrNoPort] if the file does not have the port.
func (s *Store) Port(ctx context.Context, subnet string, k counters.Key, since, until time.Time) ([]Sample, error) {
	var all []Sample
	err := s.consistently(ctx, func(conn *sql.Conn) error {
		id, number, name, err := s.numberOf(ctx, conn, subnet, k)
		if err != nil {
			return err
		}
		nth := uint16(number % perBlock)
		return s.each(ctx, conn, id, number/perBlock, span{since.UnixMilli(), until.UnixMilli()}, false,
			func(r row, b *block) error {
				if b.has(nth) {
					all = append(all, b.sample(r, nth, k, name))
				}
				return nil
			})
	})
	slices.SortStableFunc(all, func(a, b Sample) int { return a.Until.Compare(b.Until) })
	if errors.Is(err, ErrNoPort) {
		return nil, err
	}
	return all, s.failed("read counters", err)
}

// sample returns the sample of the port with number nth in a block.
func (b *block) sample(r row, nth uint16, k counters.Key, name string) Sample {
	x := Sample{Key: k, Name: name, Until: time.UnixMilli(r.until)}
	millis := b.base
	if v, ok := at(b.others, nth); ok {
		millis = v
	}
	x.Seconds = float64(millis) / 1000
	for c := range b.what.All() {
		x.Increase[c], _ = at(b.columns[c], nth)
	}
	var sets [numSets]counters.Set
	for i := range sets {
		v, _ := at(b.sets[i], nth)
		sets[i] = counters.Set(v) & b.what
	}
	x.Has = b.what &^ sets[missing]
	x.Cleared, x.Stopped, x.Wrapped = sets[cleared], sets[stopped], sets[wrapped]
	return x
}
