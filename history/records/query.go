// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"example.org/ibconsole/fabric/counters"
)

// ErrNoPort says that nothing was recorded of a port.
var ErrNoPort = errors.New("nothing was recorded of it")

// fine are the samples of some time without those that add up others that are there, too; and coarse those of hours.
const (
	fine = `(rolled = 0 OR level = 1 AND until <= ifnull((SELECT value FROM setting WHERE name = 'seconds gone to'), 0)
		OR level = 2 AND until <= ifnull((SELECT value FROM setting WHERE name = 'minutes gone to'), 0))`
	coarse = `level = 2`
)

// reading runs what reads the file as it is at one time.
func (s *Store) reading(ctx context.Context, read func(*sql.Conn) error) error {
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

// each visits the samples of a subnet that a condition chooses, in an order.
func (s *Store) each(ctx context.Context, from querier, where, order string, visit func(row, *block) error, args ...any) error {
	rows, err := from.QueryContext(ctx, "SELECT subnet, level, rolled, block, what, began, until, data FROM sample WHERE "+where+" ORDER BY "+order, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var b block
	for rows.Next() {
		var r row
		var what int64
		var packed sql.RawBytes
		if err := rows.Scan(&r.subnet, &r.level, &r.rolled, &r.block, &what, &r.began, &r.until, &packed); err != nil {
			return err
		}
		r.what = counters.Set(what)
		if err := s.unfold(&b, packed); err != nil {
			return fmt.Errorf("block %d of %s: damaged: %w", r.block, time.UnixMilli(r.until).Format(time.DateTime), err)
		}
		if err := visit(r, &b); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Port are the samples of a port that end after since and by until, the oldest first and the finest that there are.
// The error is [ErrNoPort] where the file does not have it.
func (s *Store) Port(ctx context.Context, subnet string, k counters.Key, since, until time.Time) ([]Sample, error) {
	var all []Sample
	err := s.reading(ctx, func(conn *sql.Conn) error {
		id, number, name, err := s.numberOf(ctx, conn, subnet, k)
		if err != nil {
			return err
		}
		nth := uint16(number % perBlock)
		return s.each(ctx, conn, "subnet = ? AND block = ? AND until > ? AND until <= ? AND "+fine, "until", func(r row, b *block) error {
			if b.has(nth) {
				all = append(all, b.sample(r, nth, k, name))
			}
			return nil
		}, id, number/perBlock, since.UnixMilli(), until.UnixMilli())
	})
	if errors.Is(err, ErrNoPort) {
		return nil, err
	}
	return all, s.failed("read counters", err)
}

// sample is what a block has of one of its ports.
func (b *block) sample(r row, nth uint16, k counters.Key, name string) Sample {
	x := Sample{Key: k, Name: name, Until: time.UnixMilli(r.until)}
	millis := b.base
	if v, odd := at(b.odd, nth); odd {
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
