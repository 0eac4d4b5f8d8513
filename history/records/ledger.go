// SPDX-License-Identifier: Apache-2.0

package records

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
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

// evidenceSchema adds the column for [Episode.Evidence], encoded in JSON.
const evidenceSchema = "ALTER TABLE problem ADD COLUMN evidence TEXT NOT NULL DEFAULT '';\n"

// Episode is a problem from the time at which it was found until the time at which it was no longer found.
type Episode struct {
	problems.Problem // Since is the time at which the problem began
	// Seen is the last time at which it was found. Closed is the first time at which it was looked for and not found,
	// zero while it is open.
	Seen, Closed time.Time
	// Evidence is the evidence over time: the first, the last, and up to 14 of those between, spread over the time.
	Evidence []Evidence
}

// Evidence is the severity and the description of a problem from the time When on.
type Evidence struct {
	When     time.Time         `json:"when"`
	Severity problems.Severity `json:"severity"`
	What     string            `json:"what"`
}

// mostEvidence is the maximum number of elements of [Episode.Evidence].
const mostEvidence = 16

// find sets what was found at a time. A change of figures that change each minute is no evidence. If there is too much
// evidence, it removes the one that is closest to its neighbours in time.
func (e *Episode) find(p *problems.Problem, when time.Time) {
	e.Severity, e.At, e.What, e.Try, e.Seen = p.Severity, p.At, p.What, p.Try, when
	if n := len(e.Evidence); n > 0 && e.Evidence[n-1].Severity == p.Severity {
		last := e.Evidence[n-1].What
		if last == p.What || p.Kind.HasFigures() && problems.SameButFigures(last, p.What) {
			return
		}
	}
	e.Evidence = append(e.Evidence, Evidence{when, p.Severity, p.What})
	if len(e.Evidence) <= mostEvidence {
		return
	}
	closest, least := 1, time.Duration(math.MaxInt64)
	for i := 1; i < len(e.Evidence)-1; i++ {
		if d := e.Evidence[i+1].When.Sub(e.Evidence[i-1].When); d < least {
			closest, least = i, d
		}
	}
	e.Evidence = slices.Delete(e.Evidence, closest, closest+1)
}

// shift adds a duration to all times.
func (e *Episode) shift(by time.Duration) {
	e.Since, e.Seen = e.Since.Add(by), e.Seen.Add(by)
	for i := range e.Evidence {
		e.Evidence[i].When = e.Evidence[i].When.Add(by)
	}
}

// Acknowledgement silences a problem from Given to Until.
type Acknowledgement struct {
	ID           string
	Given, Until time.Time
	Who, Reason  string
}

// Unobserved is the time after which two observations are no longer one period.
const Unobserved = 5 * time.Minute

// Observe stores the problems of a subnet that were found at a time. A problem that was not found closes if the
// function isChecked returns true for the problem. Observe returns the episodes that opened and closed. Problems with
// the same ID are one episode. O(open episodes + found).
func (s *Store) Observe(ctx context.Context, subnet string, when time.Time, found []problems.Problem,
	isChecked func(*problems.Problem) bool) (opened, closed []Episode, err error) {
	err = s.record(ctx, func(tx *sql.Tx) error {
		opened, closed = nil, nil
		id, err := addSubnet(ctx, tx, subnet)
		if err != nil {
			return err
		}
		if err := extend(ctx, tx, id, when); err != nil {
			return err
		}
		all, err := takeOpen(ctx, tx, id)
		if err != nil {
			return err
		}
		present := distinct(found)
		for k := range all {
			e := &all[k]
			i := slices.IndexFunc(present, func(p problems.Problem) bool { return p.ID() == e.ID() })
			switch {
			case i >= 0:
				e.find(&present[i], when)
				present = slices.Delete(present, i, i+1)
			case isChecked(&e.Problem):
				e.Closed = when
				closed = append(closed, *e)
			}
		}
		for i := range present {
			e := Episode{Problem: present[i]}
			if e.Since, err = began(ctx, tx, id, e.Problem, when); err != nil {
				return err
			}
			e.find(&present[i], when)
			opened = append(opened, e)
		}
		return putEpisodes(ctx, tx, id, append(all, opened...))
	})
	return opened, closed, s.failed("store the problems", err)
}

// takeOpen removes the open episodes of a subnet from the file and returns them.
func takeOpen(ctx context.Context, tx *sql.Tx, subnet int64) ([]Episode, error) {
	open, err := episodes(ctx, tx, subnet, "closed = 0")
	if err == nil {
		_, err = tx.ExecContext(ctx, "DELETE FROM problem WHERE subnet = ? AND closed = 0", subnet)
	}
	return open, err
}

// SetClock adapts the times of open problems, outages and sets of hosts of a subnet to a clock that was set by a step
// since the last observation, so that their lengths stay true. If the step is unknown, it is 0. If the argument now is
// before the last observation nevertheless, the clock was set back by at least that time. Then the lengths are lower
// bounds.
func (s *Store) SetClock(ctx context.Context, subnet string, now time.Time, step time.Duration) error {
	err := s.record(ctx, func(tx *sql.Tx) error {
		id, err := addSubnet(ctx, tx, subnet)
		if err != nil {
			return err
		}
		last, err := setting(ctx, tx, lastObserved(id))
		if err != nil {
			return err
		}
		bounded := step != 0
		if back := now.UnixMilli() - last; !bounded && back < 0 {
			step = time.Duration(back) * time.Millisecond
		}
		if max(step, -step) < shortestStep {
			return nil
		}
		open, err := takeOpen(ctx, tx, id)
		if err != nil {
			return err
		}
		for i := range open {
			open[i].shift(step)
		}
		down, err := takeDown(ctx, tx, id)
		if err != nil {
			return err
		}
		for i := range down {
			down[i].shift(step)
			if !bounded {
				down[i].WasUp = time.Time{}
			}
		}
		_, err = tx.ExecContext(ctx, "UPDATE hostset SET began = began + ?1, seen = seen + ?1 WHERE subnet = ?2 AND "+
			"ended = 0", step.Milliseconds(), id)
		return errors.Join(err, putEpisodes(ctx, tx, id, open), putOutages(ctx, tx, id, down))
	})
	return s.failed("store a change of the clock", err)
}

// shortestStep is the minimum change of the clock to which times are adapted.
const shortestStep = time.Second

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

// extend extends the observed period before a time, or begins another one.
func extend(ctx context.Context, tx *sql.Tx, subnet int64, when time.Time) error {
	var from, until int64
	now := when.UnixMilli()
	err := tx.QueryRowContext(ctx, "SELECT began, until FROM observed WHERE subnet = ? AND until <= ? "+
		"ORDER BY until DESC LIMIT 1", subnet, now).Scan(&from, &until)
	if errors.Is(err, sql.ErrNoRows) || err == nil && now-until > Unobserved.Milliseconds() {
		from, err = now, nil
	}
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO observed VALUES (?, ?, ?)", subnet, from, now)
	return errors.Join(err, set(ctx, tx, lastObserved(subnet), now))
}

// lastObserved returns the name of a setting. Its value is the time of the last observation of a subnet.
func lastObserved(subnet int64) string { return fmt.Sprintf("observed %d", subnet) }

func putEpisodes(ctx context.Context, tx *sql.Tx, subnet int64, all []Episode) error {
	for i := range all {
		e := &all[i]
		evidence, err := json.Marshal(e.Evidence)
		if err != nil {
			return err
		}
		const insert = "INSERT OR REPLACE INTO problem VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
		if _, err := tx.ExecContext(ctx, insert, subnet, e.ID(), e.Since.UnixMilli(), e.Seen.UnixMilli(),
			milliseconds(e.Closed), e.Severity, e.Kind, int64(e.At.GUID), e.At.Port, e.At.Name, e.What, e.Try,
			evidence); err != nil {
			return err
		}
	}
	return nil
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
	have, err := versionOf(ctx, from)
	if err != nil || have < withLedger {
		return nil, err
	}
	column := prose.When(have < withEvidence, "NULL", "evidence")
	rows, err := from.QueryContext(ctx, "SELECT opened, seen, closed, severity, kind, guid, port, name, what, try, "+
		column+" FROM problem WHERE subnet = ? AND "+condition+" ORDER BY opened, severity, id",
		append([]any{subnet}, args...)...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []Episode
	for rows.Next() {
		var e Episode
		var opened, seen, closed, guid int64
		var evidence sql.RawBytes
		if err := rows.Scan(&opened, &seen, &closed, &e.Severity, &e.Kind, &guid, &e.At.Port, &e.At.Name, &e.What,
			&e.Try, &evidence); err != nil {
			return nil, err
		}
		if len(evidence) > 0 {
			if err := json.Unmarshal(evidence, &e.Evidence); err != nil {
				return nil, fmt.Errorf("damaged evidence: %w", err)
			}
		}
		e.At.GUID = uint64(guid)
		e.Since, e.Seen, e.Closed = time.UnixMilli(opened), time.UnixMilli(seen), fromMilliseconds(closed)
		if e.Evidence == nil { // stored by version 3
			e.Evidence = []Evidence{{e.Seen, e.Severity, e.What}}
		}
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
	if have, err := versionOf(ctx, s.db); err != nil || have < withLedger {
		return nil, err
	}
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
		x := Span{time.UnixMilli(max(began, from)), time.UnixMilli(min(until, to))}
		if n := len(all); n > 0 && !x.Since.After(all[n-1].Until) { // the clock was set back
			all[n-1].Until = when.Later(all[n-1].Until, x.Until)
		} else {
			all = append(all, x)
		}
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
		if have, err := versionOf(ctx, tx); err != nil || have < withLedger {
			return errors.Join(err, fmt.Errorf("the format has version %d; only a recorder upgrades it", have))
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
	if have, err := versionOf(ctx, s.db); err != nil || have < withLedger {
		return nil, err
	}
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

// trimLedger removes the episodes, outages and sets of hosts that ended before a time, and older observations and
// acknowledgements.
func (s *Store) trimLedger(ctx context.Context, before int64) error {
	have, err := versionOf(ctx, s.db)
	if err != nil || have < withLedger {
		return err
	}
	var first sql.NullInt64
	if err := s.db.QueryRowContext(ctx, "SELECT min(until) FROM observed").Scan(&first); err != nil {
		return err
	}
	if !first.Valid || first.Int64 >= before {
		return nil
	}
	return s.change(ctx, func(tx *sql.Tx) error {
		statements := []string{"DELETE FROM problem WHERE closed > 0 AND closed < ?",
			"DELETE FROM observed WHERE until < ?", "DELETE FROM acknowledged WHERE until < ?"}
		if have >= withOutages {
			statements = append(statements, "DELETE FROM outage WHERE up > 0 AND up < ?")
		}
		if have >= withSets {
			statements = append(statements, "DELETE FROM hostset WHERE ended > 0 AND ended < ?")
		}
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, statement, before); err != nil {
				return err
			}
		}
		return nil
	})
}
