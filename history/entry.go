// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/fabric/losses"
	"example.org/ibconsole/fabric/problems"
)

// Kind is the origin of an entry.
type Kind string

// The kinds of entries.
const (
	Sweep  Kind = "sweep"
	Route  Kind = "route"
	Load   Kind = "load"
	Commit Kind = "commit"
)

// ErrNoEntry reports that the history has no entry with a number.
var ErrNoEntry = errors.New("there is no such entry")

// Entry describes a snapshot.
type Entry struct {
	ID   int64 `json:"id"`
	Kind Kind  `json:"kind"`
	// Subnet identifies the subnet. The caller chooses the text.
	Subnet string `json:"subnet"`
	// Began is the time at which the state was first read. Until is the time at which it was last read unchanged.
	Began time.Time `json:"began"`
	Until time.Time `json:"until"`
	Who   string    `json:"who"`
	// Source names the place from which the fabric was read. Engine and Options state how it was routed.
	Source  string `json:"source,omitempty"`
	Engine  string `json:"engine,omitempty"`
	Options string `json:"options,omitempty"`
	Note    string `json:"note,omitempty"`
	// Simulated describes the simulated changes in the fabric of the entry, "" if there are none.
	Simulated string `json:"whatif,omitempty"`
	// Figures holds numbers by name, such as the numbers of nodes, entries and changed entries.
	Figures map[string]float64 `json:"figures,omitempty"`
	// Tables is set if the entry has forwarding tables.
	Tables bool `json:"tables"`
	// Events lists the changes that were found when the state was first read, and events while the state lasted.
	Events []Event `json:"-"`
	// Seen holds other results of the sweep. It is nil if they are unknown.
	Seen *Seen `json:"-"`
}

// Seen holds results of a sweep other than fabric and tables.
type Seen struct {
	// Lost lists what the subnet has lost.
	Lost losses.List `json:"lost,omitempty"`
	// Managers lists the subnet managers in no particular order.
	Managers []problems.Manager `json:"managers"`
}

func packSeen(s *Seen) (string, error) {
	if s == nil {
		return "", nil
	}
	text, err := json.Marshal(s)
	return string(text), err
}

func unpackSeen(text string) (*Seen, error) {
	if text == "" {
		return nil, nil
	}
	s := &Seen{}
	return s, json.Unmarshal([]byte(text), s)
}

// sameManagers reports whether two sweeps found the same subnet managers. If the managers of a sweep are unknown, they
// count as the same.
func sameManagers(a, b *Seen) bool {
	if a == nil || b == nil {
		return true
	}
	sorted := func(s *Seen) []problems.Manager {
		return slices.SortedFunc(slices.Values(s.Managers), func(x, y problems.Manager) int {
			return cmp.Or(cmp.Compare(x.GUID, y.GUID), cmp.Compare(x.State, y.State))
		})
	}
	return slices.EqualFunc(sorted(a), sorted(b), func(x, y problems.Manager) bool {
		return x.GUID == y.GUID && x.State == y.State
	})
}

// Snapshot is an entry with its fabric and tables.
type Snapshot struct {
	Entry
	Fabric *fabric.Fabric
	Tables *fabric.Tables // nil for none
	// Halfway has the values that the switches hold while a commit to this snapshot is written and that are neither the
	// old nor the new ones. It is nil for none, and in snapshots that were read.
	Halfway *fabric.Tables
}

// Add stores a fabric with its tables and returns the number of the entry. The tables may be nil. If e is a sweep with
// the same results as the last sweep of the subnet, Add extends the time of that entry instead. The subnet managers are
// among the compared results. Add also removes entries beyond the limits of [Store.Retention].
func (s *Store) Add(ctx context.Context, e Entry, f *fabric.Fabric, t *fabric.Tables) (id int64, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		w, err := s.writer(ctx, tx)
		if err != nil {
			return err
		}
		id, err = w.add(tx, e, f, t)
		return err
	})
	if err == nil {
		err = s.keep(ctx)
	}
	return id, failed("write the history", err)
}

type content struct {
	fabric       int64
	tables, rest sql.NullInt64
}

func (w *writer) content(f *fabric.Fabric, t *fabric.Tables) (c content, err error) {
	if c.fabric, err = w.blob(snapshot.EncodeFabric(f)); err != nil || t == nil {
		return c, err
	}
	manifest, err := w.manifest(t)
	if err != nil {
		return c, err
	}
	if c.tables.Int64, err = w.blob(manifest); err != nil {
		return c, err
	}
	c.tables.Valid = true
	if more := snapshot.EncodeRest(t); len(more) > 0 {
		c.rest.Valid = true
		c.rest.Int64, err = w.blob(more)
	}
	return c, err
}

func (w *writer) add(tx *sql.Tx, e Entry, f *fabric.Fabric, t *fabric.Tables) (int64, error) {
	c, err := w.content(f, t)
	if err != nil {
		return 0, err
	}
	if e.Kind == Sweep {
		if id, err := w.extend(tx, &e, c); err != nil || id != 0 {
			return id, err
		}
	}
	return w.enter(tx, &e, c)
}

func (w *writer) enter(tx *sql.Tx, e *Entry, c content) (int64, error) {
	figures, err := json.Marshal(e.Figures)
	if err != nil {
		return 0, err
	}
	found, err := packEvents(e.Events)
	if err != nil {
		return 0, err
	}
	seen, err := packSeen(e.Seen)
	if err != nil {
		return 0, err
	}
	res, err := tx.ExecContext(w.ctx,
		`INSERT INTO entry (kind, subnet, began, until, who, source, engine, options, note, figures, fabric, tables,
			rest, events, simulated, seen)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Kind, e.Subnet, e.Began.UnixNano(), e.Until.UnixNano(), e.Who, e.Source, e.Engine, e.Options, e.Note,
		string(figures), c.fabric, c.tables, c.rest, found, e.Simulated, seen)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// extend extends the time of the subnet's last sweep if the new sweep has the same results. It returns the number of
// the last sweep, or 0 if the results differ.
func (w *writer) extend(tx *sql.Tx, e *Entry, c content) (int64, error) {
	var id int64
	var old content
	var text string
	err := tx.QueryRowContext(w.ctx,
		`SELECT id, fabric, tables, rest, seen FROM entry WHERE subnet = ? AND kind = ? ORDER BY id DESC LIMIT 1`,
		e.Subnet, Sweep).Scan(&id, &old.fabric, &old.tables, &old.rest, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil || old != c {
		return 0, err
	}
	was, err := unpackSeen(text)
	if err != nil || !sameManagers(was, e.Seen) {
		return 0, err
	}
	if e.Seen != nil {
		if text, err = packSeen(e.Seen); err != nil {
			return 0, err
		}
	}
	_, err = tx.ExecContext(w.ctx, "UPDATE entry SET until = max(until, ?), seen = ? WHERE id = ?",
		e.Until.UnixNano(), text, id)
	if err == nil {
		err = w.addEvents(tx, id, e.Events)
	}
	return id, err
}

func (s *Store) entryColumns() string {
	return "id, kind, subnet, began, until, who, source, engine, options, note, figures, tables IS NOT NULL, " +
		s.events + ", " + s.simulated + ", " + s.seen
}

type scanner interface{ Scan(into ...any) error }

func scanEntry(row scanner, more ...any) (e Entry, err error) {
	var began, until int64
	var figures, found, seen string
	into := []any{&e.ID, &e.Kind, &e.Subnet, &began, &until, &e.Who, &e.Source, &e.Engine, &e.Options, &e.Note,
		&figures, &e.Tables, &found, &e.Simulated, &seen}
	if err := row.Scan(append(into, more...)...); err != nil {
		return e, err
	}
	e.Began, e.Until = time.Unix(0, began), time.Unix(0, until)
	if e.Events, err = unpackEvents(found); err != nil {
		return e, err
	}
	if e.Seen, err = unpackSeen(seen); err != nil {
		return e, err
	}
	return e, json.Unmarshal([]byte(figures), &e.Figures)
}

// List returns the entries of a subnet, newest first. If the argument subnet is "", it returns the entries of all
// subnets. A positive limit is the maximum number of entries.
func (s *Store) List(ctx context.Context, subnet string, limit int) ([]Entry, error) {
	if limit <= 0 {
		limit = -1
	}
	rows, err := s.db.QueryContext(ctx, "SELECT "+s.entryColumns()+" FROM entry WHERE ? IN (subnet, '') ORDER BY id "+
		"DESC LIMIT ?", subnet, limit)
	if err != nil {
		return nil, failed("read the history", s.withPath(err))
	}
	defer func() { _ = rows.Close() }()
	var all []Entry
	for rows.Next() {
		e, err := scanEntry(rows)
		if err != nil {
			return nil, failed("read the history", s.withPath(err))
		}
		all = append(all, e)
	}
	return all, failed("read the history", s.withPath(rows.Err()))
}

// Load reads the snapshot with a number. The error wraps [ErrNoEntry] if there is no such entry.
func (s *Store) Load(ctx context.Context, id int64) (*Snapshot, error) {
	snap, err := s.load(ctx, id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("history entry %d: %w", id, ErrNoEntry)
	case err != nil:
		return nil, fmt.Errorf("history entry %d: %w", id, s.withPath(err))
	}
	return snap, nil
}

func (s *Store) load(ctx context.Context, id int64) (*Snapshot, error) {
	var fab int64
	var tables, rest sql.NullInt64
	e, err := scanEntry(s.db.QueryRowContext(ctx, "SELECT "+s.entryColumns()+
		", fabric, tables, rest FROM entry WHERE id = ?", id), &fab, &tables, &rest)
	if err != nil {
		return nil, err
	}
	snap := &Snapshot{Entry: e}
	data, err := s.blob(ctx, s.db, fab, snapshot.MaxFabric)
	if err != nil {
		return nil, err
	}
	if snap.Fabric, err = snapshot.DecodeFabric(data); err != nil || !tables.Valid {
		return snap, err
	}
	if data, err = s.blob(ctx, s.db, tables.Int64, maxManifest); err != nil {
		return nil, err
	}
	if snap.Tables, err = s.tables(ctx, snap.Fabric, data); err != nil {
		return nil, err
	}
	data = nil
	if rest.Valid {
		if data, err = s.blob(ctx, s.db, rest.Int64, snapshot.MaxSize); err != nil {
			return nil, err
		}
	}
	return snap, snapshot.DecodeRest(data, snap.Tables)
}
