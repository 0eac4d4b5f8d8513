// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric/problems"
)

// ledgerSchema has the problems of subnets over time. An episode of a problem is open while closed is 0. The spans of
// observed are the periods in which problems were looked for. Times are in milliseconds since 1970.
const ledgerSchema = `
CREATE TABLE problem (
	subnet   INTEGER NOT NULL REFERENCES subnet,
	id       TEXT NOT NULL,
	opened   INTEGER NOT NULL,
	seen     INTEGER NOT NULL,
	closed   INTEGER NOT NULL,
	severity INTEGER NOT NULL,
	kind     TEXT NOT NULL,
	guid     INTEGER NOT NULL,
	port     INTEGER NOT NULL,
	name     TEXT NOT NULL,
	what     TEXT NOT NULL,
	try      TEXT NOT NULL,
	PRIMARY KEY (subnet, id, opened)
) WITHOUT ROWID;
CREATE INDEX problem_by_closed ON problem (subnet, closed);
CREATE TABLE observed (
	subnet INTEGER NOT NULL REFERENCES subnet,
	began  INTEGER NOT NULL,
	until  INTEGER NOT NULL,
	PRIMARY KEY (subnet, began)
) WITHOUT ROWID;
CREATE TABLE acknowledged (
	subnet INTEGER NOT NULL REFERENCES subnet,
	id     TEXT NOT NULL,
	given  INTEGER NOT NULL,
	until  INTEGER NOT NULL,
	who    TEXT NOT NULL,
	reason TEXT NOT NULL,
	PRIMARY KEY (subnet, id, given)
) WITHOUT ROWID;
`

// Episode is a problem from the time at which it was found until the time at which it was no longer found.
type Episode struct {
	problems.Problem // Since is the time at which the problem began
	// Seen is the last time at which it was found. Closed is the first time at which it was looked for and not found,
	// zero while it is open.
	Seen, Closed time.Time
}

// Acknowledgement silences a problem from Given to Until.
type Acknowledgement struct {
	ID           string
	Given, Until time.Time
	Who, Reason  string
}

// Unobserved is the time after which two observations are no longer one period.
const Unobserved = 5 * time.Minute

// Observe stores the problems of a subnet that were found at a time. It returns the episodes that opened and closed.
// Problems that have one ID are one episode. O(open episodes + found).
func (s *Store) Observe(ctx context.Context, subnet string, when time.Time,
	found []problems.Problem) (opened, closed []Episode, err error) {
	err = s.change(ctx, func(tx *sql.Tx) error {
		opened, closed = nil, nil
		id, err := addSubnet(ctx, tx, subnet)
		if err != nil {
			return err
		}
		last, err := extend(ctx, tx, id, when)
		if err != nil {
			return err
		}
		open, err := episodes(ctx, tx, id, "closed = 0")
		if err != nil {
			return err
		}
		present := distinct(found)
		for _, e := range open {
			i := slices.IndexFunc(present, func(p problems.Problem) bool { return p.ID() == e.ID() })
			if i < 0 {
				e.Seen, e.Closed = last, when
				closed = append(closed, e)
			} else {
				e.Severity, e.What, e.Try, e.Seen = present[i].Severity, present[i].What, present[i].Try, when
				present = slices.Delete(present, i, i+1)
			}
			if err := putEpisode(ctx, tx, id, e); err != nil {
				return err
			}
		}
		for _, p := range present {
			e := Episode{Problem: p, Seen: when}
			if e.Since, err = began(ctx, tx, id, p, when); err != nil {
				return err
			}
			opened = append(opened, e)
			if err := putEpisode(ctx, tx, id, e); err != nil {
				return err
			}
		}
		return nil
	})
	return opened, closed, s.failed("store the problems", err)
}

// distinct returns problems with distinct IDs. Several problems of one ID become one with the worst severity.
func distinct(found []problems.Problem) []problems.Problem {
	var out []problems.Problem
	at, more := map[string]int{}, map[string]int{}
	for _, p := range found {
		id := p.ID()
		i, known := at[id]
		if !known {
			at[id] = len(out)
			out = append(out, p)
			continue
		}
		more[id]++
		out[i].Severity = min(out[i].Severity, p.Severity)
	}
	for id, n := range more {
		out[at[id]].What += fmt.Sprintf(" (and %d more)", n)
	}
	return out
}

// began returns the beginning of a new episode: the time that the problem gives, if it is after the previous episode
// and not in the future.
func began(ctx context.Context, tx *sql.Tx, subnet int64, p problems.Problem, when time.Time) (time.Time, error) {
	if p.Since.IsZero() || p.Since.After(when) {
		return when, nil
	}
	var closed sql.NullInt64
	err := tx.QueryRowContext(ctx, "SELECT max(closed) FROM problem WHERE subnet = ? AND id = ?", subnet,
		p.ID()).Scan(&closed)
	if p.Since.UnixMilli() <= closed.Int64 {
		return when, err
	}
	return p.Since, err
}

// extend extends the last observed period to a time, or begins another one. It returns the time of the previous
// observation, or when if there is none.
func extend(ctx context.Context, tx *sql.Tx, subnet int64, when time.Time) (last time.Time, err error) {
	var from, until int64
	err = tx.QueryRowContext(ctx, "SELECT began, until FROM observed WHERE subnet = ? ORDER BY until DESC LIMIT 1",
		subnet).Scan(&from, &until)
	none := errors.Is(err, sql.ErrNoRows)
	if err != nil && !none {
		return when, err
	}
	now := when.UnixMilli()
	if none || now-until > Unobserved.Milliseconds() || now < until {
		from = now
	}
	_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO observed VALUES (?, ?, ?)", subnet, from, now)
	if none {
		return when, err
	}
	return time.UnixMilli(min(until, now)), err
}

func putEpisode(ctx context.Context, tx *sql.Tx, subnet int64, e Episode) error {
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO problem VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", subnet,
		e.ID(), e.Since.UnixMilli(), e.Seen.UnixMilli(), milliseconds(e.Closed), e.Severity, e.Kind, int64(e.At.GUID),
		e.At.Port, e.At.Name, e.What, e.Try)
	return err
}

func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMilliseconds(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// episodes returns the episodes of a subnet for which a condition holds, in the order in which they opened.
func episodes(ctx context.Context, from querier, subnet int64, condition string, args ...any) ([]Episode, error) {
	rows, err := from.QueryContext(ctx, "SELECT opened, seen, closed, severity, kind, guid, port, name, what, try "+
		"FROM problem WHERE subnet = ? AND "+condition+" ORDER BY opened, severity, id",
		append([]any{subnet}, args...)...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []Episode
	for rows.Next() {
		var e Episode
		var opened, seen, closed, guid int64
		if err := rows.Scan(&opened, &seen, &closed, &e.Severity, &e.Kind, &guid, &e.At.Port, &e.At.Name, &e.What,
			&e.Try); err != nil {
			return nil, err
		}
		e.At.GUID = uint64(guid)
		e.Since, e.Seen, e.Closed = time.UnixMilli(opened), time.UnixMilli(seen), fromMilliseconds(closed)
		all = append(all, e)
	}
	return all, rows.Err()
}

// Problems returns the episodes of a subnet that were open at some time from since to until, in the order in which they
// opened, and the periods in which problems were looked for.
func (s *Store) Problems(ctx context.Context, subnet string, since, until time.Time) (all []Episode, observed []Span,
	err error) {
	id, err := subnetID(ctx, s.db, subnet)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, nil
	}
	from, to := since.UnixMilli(), until.UnixMilli()
	if err == nil {
		all, err = episodes(ctx, s.db, id, "opened <= ? AND (closed = 0 OR closed > ?)", to, from)
	}
	if err == nil {
		observed, err = s.observed(ctx, id, from, to)
	}
	return all, observed, s.failed("read the problems", err)
}

func (s *Store) observed(ctx context.Context, subnet, from, to int64) ([]Span, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT began, until FROM observed WHERE subnet = ? AND began <= ? AND "+
		"until >= ? "+
		"ORDER BY began", subnet, to, from)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []Span
	for rows.Next() {
		var began, until int64
		if err := rows.Scan(&began, &until); err != nil {
			return nil, err
		}
		all = append(all, Span{time.UnixMilli(max(began, from)), time.UnixMilli(min(until, to))})
	}
	return all, rows.Err()
}

// Acknowledge stores that a problem is silenced. An Until that is not after Given ends earlier acknowledgements.
func (s *Store) Acknowledge(ctx context.Context, subnet string, a Acknowledgement) error {
	err := s.change(ctx, func(tx *sql.Tx) error {
		id, err := addSubnet(ctx, tx, subnet)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO acknowledged VALUES (?, ?, ?, ?, ?, ?)", id, a.ID,
			a.Given.UnixMilli(), a.Until.UnixMilli(), a.Who, a.Reason)
		return err
	})
	return s.failed("store the acknowledgement", err)
}

// Acknowledgements returns all acknowledgements of a subnet since a time, in the order in which they were given.
func (s *Store) Acknowledgements(ctx context.Context, subnet string, since time.Time) ([]Acknowledgement, error) {
	id, err := subnetID(ctx, s.db, subnet)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	var all []Acknowledgement
	if err == nil {
		all, err = s.acknowledgements(ctx, id, since.UnixMilli())
	}
	return all, s.failed("read the acknowledgements", err)
}

func (s *Store) acknowledgements(ctx context.Context, subnet, since int64) ([]Acknowledgement, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, given, until, who, reason FROM acknowledged WHERE subnet = ? AND "+
		"given >= ? ORDER BY given", subnet, since)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []Acknowledgement
	for rows.Next() {
		var a Acknowledgement
		var given, until int64
		if err := rows.Scan(&a.ID, &given, &until, &a.Who, &a.Reason); err != nil {
			return nil, err
		}
		a.Given, a.Until = time.UnixMilli(given), time.UnixMilli(until)
		all = append(all, a)
	}
	return all, rows.Err()
}

// InForce returns the acknowledgement of each problem that is silenced at a time: the last one given, unless it has
// ended.
func InForce(all []Acknowledgement, when time.Time) map[string]Acknowledgement {
	last := map[string]Acknowledgement{}
	for _, a := range all {
		if !a.Given.After(when) {
			last[a.ID] = a
		}
	}
	for id, a := range last {
		if !a.Until.After(when) {
			delete(last, id)
		}
	}
	return last
}

// trimLedger removes the episodes and outages that ended before a time, and older observations and acknowledgements.
func (s *Store) trimLedger(ctx context.Context, before int64) error {
	var first sql.NullInt64
	if err := s.db.QueryRowContext(ctx, "SELECT min(until) FROM observed").Scan(&first); err != nil {
		return err
	}
	if !first.Valid || first.Int64 >= before {
		return nil
	}
	return s.change(ctx, func(tx *sql.Tx) error {
		for _, statement := range []string{
			"DELETE FROM problem WHERE closed > 0 AND closed < ?", "DELETE FROM observed WHERE until < ?",
			"DELETE FROM acknowledged WHERE until < ?", "DELETE FROM outage WHERE up > 0 AND up < ?",
		} {
			if _, err := tx.ExecContext(ctx, statement, before); err != nil {
				return err
			}
		}
		return nil
	})
}
