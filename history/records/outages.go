// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/when"
)

// outageSchema has the outages of links. A time is in milliseconds since 1970, 0 if unknown. The column up is 0 while
// the link is down. The column pairs is -1 if unknown.
const outageSchema = `
CREATE TABLE outage (
	subnet INTEGER NOT NULL REFERENCES subnet,
	guid   INTEGER NOT NULL,
	port   INTEGER NOT NULL,
	name   TEXT NOT NULL,
	peer_guid INTEGER NOT NULL,
	peer_port INTEGER NOT NULL,
	peer_name TEXT NOT NULL,
	was_up INTEGER NOT NULL,
	down   INTEGER NOT NULL,
	seen   INTEGER NOT NULL,
	up     INTEGER NOT NULL,
	pairs  INTEGER NOT NULL,
	PRIMARY KEY (subnet, guid, port, peer_guid, peer_port, down)
) WITHOUT ROWID;
CREATE INDEX outage_by_up ON outage (subnet, up);
`

// Outage is a time in which a link was down. Sweeps find its beginning and its end, so both are bounded by two sweeps.
type Outage struct {
	A, B fabric.End // A is the end with the lower GUID and port
	// WasUp is the last time at which the link was found up before the outage, zero if unknown. Down and Seen are the
	// first and the last time at which it was found down. Up is the first time at which it was up again, zero while it
	// is down.
	WasUp, Down, Seen, Up time.Time
	// Pairs is the number of pairs of end ports whose paths used the link before, -1 if unknown.
	Pairs int64
}

// AtLeast returns a lower bound of the length of the outage in a period.
func (o *Outage) AtLeast(since, until time.Time) time.Duration {
	return max(0, when.Earlier(o.Seen, until).Sub(when.Later(o.Down, since)))
}

// End returns the time at which the link was up again, or the time in the argument until while it is down.
func (o *Outage) End(until time.Time) time.Time {
	if o.Up.IsZero() {
		return until
	}
	return o.Up
}

// AtMost returns an upper bound of the length of the outage in a period, and false if there is none.
func (o *Outage) AtMost(since, until time.Time) (time.Duration, bool) {
	return max(0, when.Earlier(o.End(until), until).Sub(when.Later(o.WasUp, since))), !o.WasUp.IsZero()
}

// Contains reports whether the link may have been down at a time.
func (o *Outage) Contains(t time.Time) bool {
	from := o.WasUp
	if from.IsZero() {
		from = o.Down
	}
	return !t.Before(from) && (o.Up.IsZero() || !t.After(o.Up))
}

// normalized returns the outage with its ends in order.
func (o Outage) normalized() Outage {
	if o.A.GUID > o.B.GUID || o.A.GUID == o.B.GUID && o.A.Port > o.B.Port {
		o.A, o.B = o.B, o.A
	}
	return o
}

// SameLink reports whether two outages are of one link.
func (o *Outage) SameLink(x *Outage) bool {
	a, b := o.normalized(), x.normalized()
	return a.A.GUID == b.A.GUID && a.A.Port == b.A.Port && a.B.GUID == b.B.GUID && a.B.Port == b.B.Port
}

// LinkChange is a link that went down or came up, as a sweep found it. WasUp and Pairs are those of an [Outage].
type LinkChange struct {
	When  time.Time
	Up    bool
	A, B  fabric.End
	WasUp time.Time
	Pairs int64
}

// ObserveLinks stores the outages of links. The changes since the last call are in the order of time. The argument down
// lists the links that the last sweep did not find, and the argument when is the time of that sweep. The WasUp and
// Pairs of these links are stored with new outages. If the function isUp returns true for the link of an open outage,
// the link has come back. O(open outages + changes + missing links).
func (s *Store) ObserveLinks(ctx context.Context, subnet string, when time.Time, changes []LinkChange, down []Outage,
	isUp func(a, b fabric.End) bool) error {
	err := s.record(ctx, func(tx *sql.Tx) error {
		id, err := addSubnet(ctx, tx, subnet)
		if err != nil {
			return err
		}
		open, err := takeDown(ctx, tx, id)
		if err != nil {
			return err
		}
		return putOutages(ctx, tx, id, updatedOutages(open, when, changes, down, isUp))
	})
	return s.failed("store the outages of links", err)
}

// takeDown removes the outages of links that are down from the file and returns them.
func takeDown(ctx context.Context, tx *sql.Tx, subnet int64) ([]Outage, error) {
	down, err := outages(ctx, tx, subnet, "up = 0")
	if err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM outage WHERE subnet = ? AND up = 0", subnet)
	}
	return down, err
}

func putOutages(ctx context.Context, tx *sql.Tx, subnet int64, all []Outage) error {
	for i := range all {
		o := &all[i]
		if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO outage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			subnet, int64(o.A.GUID), o.A.Port, o.A.Name, int64(o.B.GUID), o.B.Port, o.B.Name, milliseconds(o.WasUp),
			milliseconds(o.Down), milliseconds(o.Seen), milliseconds(o.Up), o.Pairs); err != nil {
			return err
		}
	}
	return nil
}

// shift adds a duration to all known times.
func (o *Outage) shift(by time.Duration) {
	for _, t := range []*time.Time{&o.WasUp, &o.Down, &o.Seen, &o.Up} {
		if !t.IsZero() {
			*t = t.Add(by)
		}
	}
}

// updatedOutages returns open outages after observations, and the outages that these add.
func updatedOutages(open []Outage, swept time.Time, changes []LinkChange, down []Outage,
	isUp func(a, b fabric.End) bool) []Outage {
	all := slices.Clone(open)
	find := func(x *Outage) *Outage {
		for i := range all {
			if all[i].Up.IsZero() && all[i].SameLink(x) {
				return &all[i]
			}
		}
		return nil
	}
	for _, c := range changes {
		x := Outage{A: c.A, B: c.B, WasUp: c.WasUp, Down: c.When, Seen: c.When, Pairs: c.Pairs}.normalized()
		switch o := find(&x); {
		case c.Up && o != nil:
			o.Up = c.When
		case !c.Up && o == nil:
			all = append(all, x)
		case !c.Up:
			o.Seen = when.Later(o.Seen, c.When)
		}
	}
	for i := range down {
		if o := find(&down[i]); o != nil {
			o.Seen = when.Later(o.Seen, swept)
			continue
		}
		x := down[i].normalized()
		x.Down, x.Seen = swept, swept
		all = append(all, x)
	}
	for i := range all {
		if o := &all[i]; o.Up.IsZero() && isUp(o.A, o.B) {
			o.Up = swept
		}
	}
	return all
}

// Outages returns the outages of links of a subnet that lasted at some time from since to until, in the order in which
// they began.
func (s *Store) Outages(ctx context.Context, subnet string, since, until time.Time) ([]Outage, error) {
	id, err := subnetID(ctx, s.db, subnet)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	var all []Outage
	if err == nil {
		all, err = outages(ctx, s.db, id, "down <= ? AND (up = 0 OR up > ?)", until.UnixMilli(), since.UnixMilli())
	}
	return all, s.failed("read the outages of links", err)
}

func outages(ctx context.Context, from querier, subnet int64, condition string, args ...any) ([]Outage, error) {
	if have, err := versionOf(ctx, from); err != nil || have < withOutages {
		return nil, err
	}
	rows, err := from.QueryContext(ctx, "SELECT guid, port, name, peer_guid, peer_port, peer_name, was_up, down, "+
		"seen, up, pairs FROM outage WHERE subnet = ? AND "+condition+" ORDER BY down, guid, port",
		append([]any{subnet}, args...)...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []Outage
	for rows.Next() {
		var o Outage
		var guid, peer, wasUp, down, seen, up int64
		if err := rows.Scan(&guid, &o.A.Port, &o.A.Name, &peer, &o.B.Port, &o.B.Name, &wasUp, &down, &seen, &up,
			&o.Pairs); err != nil {
			return nil, err
		}
		o.A.GUID, o.B.GUID = uint64(guid), uint64(peer)
		o.WasUp, o.Down, o.Seen, o.Up = fromMilliseconds(wasUp), time.UnixMilli(down), time.UnixMilli(seen),
			fromMilliseconds(up)
		all = append(all, o)
	}
	return all, rows.Err()
}
