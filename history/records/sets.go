// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"
)

// setSchema has the sets of hosts over time. The column ended is 0 while the set is defined. Times are in milliseconds
// since 1970.
const setSchema = `
CREATE TABLE hostset (
	subnet  INTEGER NOT NULL REFERENCES subnet,
	name    TEXT NOT NULL,
	began   INTEGER NOT NULL,
	seen    INTEGER NOT NULL,
	ended   INTEGER NOT NULL,
	hosts   TEXT NOT NULL,
	PRIMARY KEY (subnet, name, began)
) WITHOUT ROWID;
`

// HostSet is a named set of hosts, such as those of a job, over time.
type HostSet struct {
	Name  string
	Hosts string // a host list as of Slurm
	// Began is the first time at which it was defined, and Seen the last one. Ended is the first time at which it was
	// no longer defined, zero while it is.
	Began, Seen, Ended time.Time
}

// Until returns the end of the time in which the set is known to have been defined, as of now. It is zero if the set is
// defined now.
func (h *HostSet) Until(now time.Time) time.Time {
	end := h.Ended
	if end.IsZero() {
		end = now
	}
	switch {
	case end.Sub(h.Seen) > Unobserved:
		return h.Seen
	case h.Ended.IsZero():
		return time.Time{}
	}
	return h.Ended
}

// ObserveSets stores the sets of hosts of a subnet that are defined at a time. A set of another name or with other
// hosts begins then, and a set that is no longer defined ends. O(defined sets).
func (s *Store) ObserveSets(ctx context.Context, subnet string, when time.Time, defined []HostSet) error {
	err := s.record(ctx, func(tx *sql.Tx) error {
		id, err := addSubnet(ctx, tx, subnet)
		if err != nil {
			return err
		}
		open, err := hostSets(ctx, tx, id, "ended = 0")
		if err != nil {
			return err
		}
		fresh := slices.Clone(defined)
		for i := range open {
			h := &open[i]
			at := slices.IndexFunc(fresh, func(x HostSet) bool { return x.Name == h.Name && x.Hosts == h.Hosts })
			if at < 0 || when.Sub(h.Seen) > Unobserved {
				h.Ended = when
			} else {
				fresh = slices.Delete(fresh, at, at+1)
				h.Seen = when
			}
		}
		for _, h := range fresh {
			open = append(open, HostSet{Name: h.Name, Hosts: h.Hosts, Began: when, Seen: when})
		}
		for i := range open {
			h := &open[i]
			if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO hostset VALUES (?, ?, ?, ?, ?, ?)", id, h.Name,
				h.Began.UnixMilli(), h.Seen.UnixMilli(), milliseconds(h.Ended), h.Hosts); err != nil {
				return err
			}
		}
		return nil
	})
	return s.failed("store the sets of hosts", err)
}

// HostSets returns the sets of hosts of a subnet that were defined at some time from since to until, in the order in
// which they began.
func (s *Store) HostSets(ctx context.Context, subnet string, since, until time.Time) ([]HostSet, error) {
	id, err := subnetID(ctx, s.db, subnet)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	var all []HostSet
	if err == nil {
		all, err = hostSets(ctx, s.db, id, "began <= ? AND (ended = 0 OR ended > ?)", until.UnixMilli(),
			since.UnixMilli())
	}
	return all, s.failed("read the sets of hosts", err)
}

func hostSets(ctx context.Context, from querier, subnet int64, condition string, args ...any) ([]HostSet, error) {
	if have, err := versionOf(ctx, from); err != nil || have < withSets {
		return nil, err
	}
	rows, err := from.QueryContext(ctx, "SELECT name, began, seen, ended, hosts FROM hostset WHERE subnet = ? AND "+
		condition+" ORDER BY began, name", append([]any{subnet}, args...)...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []HostSet
	for rows.Next() {
		var h HostSet
		var began, seen, ended int64
		if err := rows.Scan(&h.Name, &began, &seen, &ended, &h.Hosts); err != nil {
			return nil, err
		}
		h.Began, h.Seen, h.Ended = time.UnixMilli(began), time.UnixMilli(seen), fromMilliseconds(ended)
		all = append(all, h)
	}
	return all, rows.Err()
}
