// SPDX-License-Identifier: Apache-2.0

package records_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/sqlfile"
)

// version3 returns a file that a program with version 3 of the schema wrote: three readings of two ports, a problem
// that closed and another that is open and acknowledged, an outage that ended and another that lasts, and a size limit.
// testdata/version3.sql is the file as SQLite dumps it.
func version3(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), records.FileName)
	dump, err := os.ReadFile("testdata/version3.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlfile.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), string(dump)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// versionIn returns the version that a file has.
func versionIn(t *testing.T, file string) (version int) {
	t.Helper()
	db, err := sqlfile.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	return version
}

// TestUpgrade reads a file of version 3, which keeps its version so that the earlier program can still read it, also
// after an acknowledgement and a change of the size limit. A recorder upgrades it and keeps everything: writing
// continues the open problem and the lasting outage.
func TestUpgrade(t *testing.T) {
	file := version3(t)
	at := time.UnixMilli(1_790_000_000_000)
	after := func(minutes int) time.Time { return at.Add(time.Duration(minutes) * time.Minute) }
	s := open(t, file)
	checkVersion3(t, s, at, after)
	if sets, err := s.HostSets(t.Context(), "a", at, after(10)); err != nil || len(sets) > 0 {
		t.Errorf("sets of hosts, which version 3 does not have: %v, %v", sets, err)
	}
	err := errors.Join(s.Acknowledge(t.Context(), "b", records.Acknowledgement{ID: "x"}),
		s.SetSize(t.Context(), 77<<20), s.Trim(t.Context(), after(20)))
	if version := versionIn(t, file); err != nil || version != 3 {
		t.Errorf("version %d after reading, %v", version, err)
	}
	if was, err := s.Upgrade(t.Context()); err != nil || was != 3 || versionIn(t, file) <= 3 {
		t.Errorf("upgraded from %d to %d: %v", was, versionIn(t, file), err)
	}
	if was, err := s.Upgrade(t.Context()); err != nil || was != 0 {
		t.Errorf("upgraded again from %d: %v", was, err)
	}
	checkVersion3(t, s, at, after)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, file)
	checkVersion3(t, s, at, after)
	slow := problems.Problem{Severity: problems.Warning, Kind: problems.Slow, At: problems.Place{GUID: 2, Port: 7},
		What: "slower"}
	opened, closed, err := s.Observe(t.Context(), "a", after(4), []problems.Problem{slow}, nil)
	if err != nil || len(opened)+len(closed) > 0 {
		t.Errorf("the open problem does not continue: %+v %+v %v", opened, closed, err)
	}
	all, _, err := s.Problems(t.Context(), "a", after(4), after(4))
	if err != nil || len(all) != 1 || !all[0].Since.Equal(after(1)) || len(all[0].Evidence) != 2 {
		t.Errorf("the open problem: %+v, %v", all, err)
	}
	err = s.ObserveLinks(t.Context(), "a", after(5), nil, nil, func(a, _ fabric.End) bool { return a.GUID == 3 })
	down, oerr := s.Outages(t.Context(), "a", at, after(9))
	if err := errors.Join(err, oerr); err != nil || len(down) != 2 || !down[1].Up.Equal(after(5)) {
		t.Errorf("the outage does not end: %+v, %v", down, err)
	}
}

// TestReadOnlyVersion3 reads a file of version 3 in a read-only file system, and recorders write one without the
// explicit upgrade.
func TestReadOnlyVersion3(t *testing.T) {
	file := version3(t)
	at := time.UnixMilli(1_790_000_000_000)
	after := func(minutes int) time.Time { return at.Add(time.Duration(minutes) * time.Minute) }
	written := open(t, file)
	if err := written.ObserveSets(t.Context(), "a", after(4), []records.HostSet{{Name: "x", Hosts: "n1"}}); err != nil {
		t.Error(err)
	}
	if version := versionIn(t, file); version <= 3 {
		t.Errorf("version %d after a recorder wrote", version)
	}
	s := open(t, copyReadOnly(t, version3(t), []string{""}))
	checkVersion3(t, s, at, after)
}

func checkVersion3(t *testing.T, s *records.Store, at time.Time, after func(int) time.Time) {
	t.Helper()
	ctx := t.Context()
	totals, err := s.Totals(ctx, "a", counters.Of(counters.SymbolErrors), at, after(10))
	if err != nil || len(totals) != 1 || totals[0].Key != (counters.Key{GUID: 1, Num: 1}) ||
		totals[0].Counts[0].Increase != 1+2+3 {
		t.Errorf("counters: %+v, %v", totals, err)
	}
	all, observed, err := s.Problems(ctx, "a", at, after(10))
	looked := []records.Span{{Since: after(1), Until: after(2)}}
	if err != nil || len(all) != 2 || !slices.Equal(observed, looked) {
		t.Fatalf("problems: %+v in %+v, %v", all, observed, err)
	}
	narrow, slow := all[0], all[1]
	if narrow.Kind != problems.Narrow || narrow.At != (problems.Place{GUID: 1, Port: 1, Name: "leaf-01/1"}) ||
		narrow.What != "leaf-01/1 runs at 1x" || narrow.Try != "reseat" || !narrow.Since.Equal(after(1)) ||
		!narrow.Closed.Equal(after(2)) {
		t.Errorf("the closed problem: %+v", narrow)
	}
	if slow.Severity != problems.Warning || !slow.Seen.Equal(after(2)) || !slow.Closed.IsZero() {
		t.Errorf("the open problem: %+v", slow)
	}
	given, err := s.Acknowledgements(ctx, "a", time.Time{})
	want := []records.Acknowledgement{{ID: slow.ID(), Given: after(2), Until: after(600), Who: "eve",
		Reason: "spare ordered"}}
	if err != nil || !slices.Equal(given, want) {
		t.Errorf("acknowledgements: %+v, %v", given, err)
	}
	down, err := s.Outages(ctx, "a", at, after(10))
	end := func(guid uint64, port int, name string) fabric.End {
		return fabric.End{GUID: guid, Port: port, Name: name}
	}
	wantDown := []records.Outage{
		{A: end(1, 1, "leaf-01/1"), B: end(2, 7, "leaf-02/7"), WasUp: at, Down: after(1), Seen: after(1), Up: after(2),
			Pairs: 42},
		{A: end(3, 1, "leaf-03/1"), B: end(4, 2, "spine-01/2"), WasUp: after(2), Down: after(3), Seen: after(3),
			Pairs: -1},
	}
	if err != nil || !slices.Equal(down, wantDown) {
		t.Errorf("outages: %+v, %v", down, err)
	}
	if size, err := s.Size(ctx); err != nil || size != 77<<20 {
		t.Errorf("size limit: %d, %v", size, err)
	}
}

// TestNewerVersion opens a file of a newer program, which must stay as it is.
func TestNewerVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), records.FileName)
	if err := open(t, file).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sqlfile.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), "PRAGMA user_version = 1000"); err != nil {
		t.Fatal(err)
	}
	if s, err := records.Open(t.Context(), file); err == nil {
		t.Error("it opens", s.Close())
	}
	var have int
	if err := db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&have); err != nil || have != 1000 {
		t.Error(have, err)
	}
}
