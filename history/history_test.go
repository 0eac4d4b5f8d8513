// SPDX-License-Identifier: Apache-2.0

package history_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

func tables(t testing.TB, spec string) *fabric.Tables {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tables
}

func store(t testing.TB, dir string) *history.Store {
	t.Helper()
	s, err := history.OpenFile(context.Background(), filepath.Join(dir, history.FileName))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	// The entries of the tests are older than the default age.
	if err := s.SetRetention(context.Background(), history.Retention{}); err != nil {
		t.Fatal(err)
	}
	return s
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 123456789, time.UTC)

func entry(kind history.Kind) history.Entry {
	return history.Entry{Kind: kind, Subnet: "a", Began: noon, Until: noon, Who: "ann", Source: "sim:x",
		Engine: "minhop", Options: "lmc=1",
		Note: "a note; with 'quotes'\x1b[31m", Figures: map[string]float64{"entries": 12}}
}

func snapshot(e history.Entry, tb *fabric.Tables) history.Snapshot {
	return history.Snapshot{Entry: e, Fabric: tb.Fabric, Tables: tb}
}

func add(t testing.TB, s *history.Store, e history.Entry, tb *fabric.Tables) int64 {
	t.Helper()
	id, err := s.Add(context.Background(), e, tb.Fabric, tb)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// sameTables reports whether forwarding tables and their fabrics are equal.
func sameTables(a, b *fabric.Tables) bool {
	if !fabric.Same(a.Fabric, b.Fabric) || a.Origin != b.Origin || !cmp.Equal(a.Top, b.Top) ||
		!cmp.Equal(a.Known, b.Known) {
		return false
	}
	for sw := range a.Fabric.NumSwitches() {
		if !bytes.Equal(a.LFT.Row(sw), b.LFT.Row(sw)) {
			return false
		}
	}
	return true
}

func TestAddAndLoad(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s := store(t, dir)
	tb := tables(t, "fattree:2,8")
	tb.Known[2] = false
	tb.SL2VL = fabric.NewSL2VL(tb.Fabric)
	tb.SL2VL.Set(tb.Fabric.Switches[0], 1, 2, fabric.VLs{1})
	e := entry(history.Route)
	e.ID = add(t, s, e, tb)
	e.Tables = true
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = store(t, dir)
	snap, err := s.Load(ctx, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !sameTables(snap.Tables, tb) || snap.Tables.SL2VL.VL(tb.Fabric.Switches[0], 1, 2, 0) != 1 {
		t.Error("the tables differ")
	}
	if !snap.Began.Equal(e.Began) || !snap.Until.Equal(e.Until) {
		t.Errorf("times %v to %v", snap.Began, snap.Until)
	}
	snap.Began, snap.Until = e.Began, e.Until
	if d := cmp.Diff(e, snap.Entry); d != "" {
		t.Error(d)
	}
	if _, err := s.Load(ctx, e.ID+1); !errors.Is(err, history.ErrNoEntry) {
		t.Errorf("an entry that does not exist: %v", err)
	}
}

func TestSweepOfTheSameExtends(t *testing.T) {
	ctx := context.Background()
	s := store(t, t.TempDir())
	tb := tables(t, "fattree:2,4")
	first := add(t, s, entry(history.Sweep), tb)
	later := entry(history.Sweep)
	later.Began, later.Until = noon.Add(time.Hour), noon.Add(time.Hour)
	if id := add(t, s, later, tb); id != first {
		t.Errorf("the same sweep again is entry %d, want %d", id, first)
	}
	other := later
	other.Subnet = "b"
	if id := add(t, s, other, tb); id == first {
		t.Error("another subnet's sweep extends this one's")
	}
	changed := *tb
	changed.LFT = tb.LFT.Clone()
	changed.LFT.Row(0)[1] = 7
	if id := add(t, s, later, &changed); id == first {
		t.Error("a sweep with different tables extends the last one")
	}
	all, err := s.List(ctx, "a", 0)
	if err != nil || len(all) != 2 {
		t.Fatalf("%d entries, %v", len(all), err)
	}
	if old := all[1]; !old.Began.Equal(noon) || !old.Until.Equal(noon.Add(time.Hour)) {
		t.Errorf("from %v until %v", old.Began, old.Until)
	}
}

// TestPrune checks that old entries are removed, commits are kept, and the rest can be read.
func TestPrune(t *testing.T) {
	ctx := context.Background()
	s := store(t, t.TempDir())
	tb := tables(t, "fattree:2,8")
	var ids []int64
	for i := range 20 {
		changed := *tb
		changed.LFT = tb.LFT.Clone()
		changed.LFT.Row(0)[1+i] = 99
		ids = append(ids, add(t, s, entry(history.Route), &changed))
	}
	young := entry(history.Route)
	young.Until = time.Now()
	ids = append(ids, add(t, s, young, tb))
	j, err := s.Begin(ctx, 0, snapshot(entry(history.Commit), tb), snapshot(entry(history.Commit), tb))
	if err != nil {
		t.Fatal(err)
	}
	gone, err := s.Prune(ctx, history.Retention{Age: 24 * time.Hour})
	if err != nil || gone != 20 {
		t.Errorf("%d removed, %v; want 20", gone, err)
	}
	for _, id := range []int64{ids[20], j.Before, j.After} {
		if snap, err := s.Load(ctx, id); err != nil || !sameTables(snap.Tables, tb) {
			t.Errorf("entry %d: %v", id, err)
		}
	}
	if gone, err = s.Prune(ctx, history.Retention{Size: 1}); err != nil || gone != 1 {
		t.Errorf("%d removed for size, %v; want 1, without the commit", gone, err)
	}
	if _, err := s.Load(ctx, j.After); err != nil {
		t.Error(err)
	}
}

func TestTwoConsoles(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	tb := tables(t, "fattree:2,4")
	stores := []*history.Store{store(t, dir), store(t, dir)}
	var all sync.WaitGroup
	for _, s := range stores {
		for range 10 {
			all.Go(func() {
				if _, err := s.Add(ctx, entry(history.Route), tb.Fabric, tb); err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	if list, err := stores[0].List(ctx, "", 0); err != nil || len(list) != 20 {
		t.Errorf("%d entries, %v; want 20", len(list), err)
	}
	lock, err := stores[0].Lock("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stores[1].Lock("a"); !errors.Is(err, history.ErrLocked) {
		t.Errorf("the second lock: %v", err)
	}
	for i, want := range []bool{true, false} {
		if err := stores[1].Locked("a"); errors.Is(err, history.ErrLocked) != want || !want && err != nil {
			t.Errorf("want locked: %v, got %v", want, err)
		}
		if i == 0 {
			if err := lock.Unlock(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if lock, err = stores[1].Lock("a"); err != nil {
		t.Errorf("after the unlock: %v", err)
	} else if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
}

// lockFile returns the text of the only lock file of a folder.
func lockFile(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "commit-*.lock"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLockFileHasHolder checks that a lock file names the process that holds the lock, until it is released.
func TestLockFileHasHolder(t *testing.T) {
	dir := t.TempDir()
	a, b := store(t, dir), store(t, dir)
	l, err := a.Lock("x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Lock("x"); !errors.Is(err, history.ErrLocked) ||
		!strings.Contains(err.Error(), fmt.Sprintf("process %d of ", os.Getpid())) ||
		!strings.Contains(err.Error(), ", since ") {
		t.Errorf("locked: %v", err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	if who := lockFile(t, dir); len(who) > 0 {
		t.Errorf("the lock file has %q after the release", who)
	}
}

func TestJournal(t *testing.T) {
	ctx := context.Background()
	s := store(t, t.TempDir())
	before := tables(t, "fattree:2,8")
	after := *before
	after.LFT = before.LFT.Clone()
	after.LFT.Row(3)[5] = 1
	if _, found, err := s.Open(ctx, "a", nil); found || err != nil {
		t.Fatalf("in a new history: %v, %v", found, err)
	}
	j, err := s.Begin(ctx, 0, snapshot(entry(history.Commit), before), snapshot(entry(history.Commit), &after))
	if err != nil {
		t.Fatal(err)
	}
	got, found, err := s.Open(ctx, "a", nil)
	if err != nil || !found || got.First.ID != j.ID {
		t.Fatalf("the commit in progress: %+v, %v, %v", got, found, err)
	}
	for id, want := range map[int64]*fabric.Tables{got.First.Before: before, got.First.After: &after} {
		if snap, err := s.Load(ctx, id); err != nil || !sameTables(snap.Tables, want) {
			t.Errorf("entry %d differs from the journalled tables: %v", id, err)
		}
	}
	if err := s.End(ctx, j.ID, history.RolledBack); err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.Open(ctx, "a", nil); found || err != nil {
		t.Errorf("after the end: %v, %v", found, err)
	}
	all, err := s.Journal(ctx, "a")
	if err != nil || len(all) != 1 || all[0].Outcome != history.RolledBack {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestExportAndImport(t *testing.T) {
	ctx := context.Background()
	s := store(t, t.TempDir())
	tb := tables(t, "torus:3x3")
	for _, k := range []history.Kind{history.Sweep, history.Route} {
		add(t, s, entry(k), tb)
	}
	file := filepath.Join(t.TempDir(), "out.db")
	if n, err := s.Export(ctx, file, "a"); err != nil || n != 2 {
		t.Fatalf("%d exported, %v", n, err)
	}
	if _, err := s.Export(ctx, file, "a"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second time: %v", err)
	}
	others := store(t, t.TempDir())
	for _, want := range []int{2, 0} { // the second time nothing is new
		if n, err := others.Import(ctx, file); err != nil || n != want {
			t.Fatalf("%d imported, %v; want %d", n, err, want)
		}
	}
	all, err := others.List(ctx, "", 0)
	if err != nil || len(all) != 2 || all[0].Kind != history.Route || all[0].Who != "ann" {
		t.Fatalf("%+v, %v", all, err)
	}
	if snap, err := others.Load(ctx, all[0].ID); err != nil || !sameTables(snap.Tables, tb) {
		t.Error("the tables differ", err)
	}
	bad := filepath.Join(t.TempDir(), "bad.db")
	if err := os.WriteFile(bad, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := others.Import(ctx, bad); err == nil {
		t.Error("a text file was imported")
	}
}

// TestImportOfCommits checks that outcomes are exported with commits, and that a commit that had not ended is not in
// progress after the import.
func TestImportOfCommits(t *testing.T) {
	ctx := context.Background()
	s, others := store(t, t.TempDir()), store(t, t.TempDir())
	tb := tables(t, "torus:3x3")
	var after []int64
	for i, how := range []history.Outcome{history.Done, history.RolledBack, ""} {
		e := entry(history.Commit)
		e.Began = noon.Add(time.Duration(i) * time.Minute)
		j, err := s.Begin(ctx, 0, snapshot(e, tb), snapshot(e, tb))
		if err != nil {
			t.Fatal(err)
		}
		if after = append(after, j.After); how != "" {
			if err := s.End(ctx, j.ID, how); err != nil {
				t.Fatal(err)
			}
		}
	}
	one, all := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "all")
	if n, err := s.Export(ctx, one, "a", after[1]); err != nil || n != 2 {
		t.Fatalf("%d exported, %v; want the commit with the entry before it", n, err)
	}
	if _, err := s.Export(ctx, all, "a"); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{one, all, all, one} {
		if _, err := others.Import(ctx, file); err != nil {
			t.Fatal(err)
		}
	}
	journal, err := others.Journal(ctx, "a")
	if err != nil || len(journal) != 3 {
		t.Fatalf("%d commits, %v; want 3", len(journal), err)
	}
	got := map[time.Time]history.Outcome{}
	for _, j := range journal {
		got[j.Began.UTC()] = j.Outcome
	}
	want := map[time.Time]history.Outcome{noon: history.Done, noon.Add(time.Minute): history.RolledBack,
		noon.Add(2 * time.Minute): history.Unknown}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, found, err := others.Open(ctx, "a", nil); found || err != nil {
		t.Errorf("an imported commit is in progress: %v, %v", found, err)
	}
}

// TestRetention checks that a new entry removes what the history does not keep, but no commit.
func TestRetention(t *testing.T) {
	ctx := context.Background()
	s := store(t, t.TempDir())
	tb := tables(t, "fattree:2,8")
	j, err := s.Begin(ctx, 0, snapshot(entry(history.Commit), tb), snapshot(entry(history.Commit), tb))
	if err != nil {
		t.Fatal(err)
	}
	old := add(t, s, entry(history.Route), tb)
	if err := s.SetRetention(ctx, history.Retention{Age: time.Hour}); err != nil {
		t.Fatal(err)
	}
	now := entry(history.Route)
	now.Began, now.Until = time.Now(), time.Now()
	young := add(t, s, now, tb)
	if _, err := s.Load(ctx, old); !errors.Is(err, history.ErrNoEntry) {
		t.Errorf("an old entry: %v", err)
	}
	if err := s.SetRetention(ctx, history.Retention{Size: 150 << 10}); err != nil {
		t.Fatal(err)
	}
	latest := int64(0)
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		changed := *tb
		changed.LFT = tb.LFT.Clone()
		for sw := range tb.Fabric.NumSwitches() {
			for lid := range changed.LFT.Row(sw) {
				changed.LFT.Row(sw)[lid] = uint8(r.UintN(255))
			}
		}
		latest = add(t, s, now, &changed)
	}
	all, err := s.List(ctx, "", 0)
	if err != nil || len(all) > 80 || len(all) < 4 || all[0].ID != latest {
		t.Errorf("%d entries are left, %v; want the latest of 103", len(all), err)
	}
	for _, id := range []int64{j.Before, j.After} {
		if _, err := s.Load(ctx, id); err != nil {
			t.Errorf("a commit was removed: %v", err)
		}
	}
	if _, err := s.Load(ctx, young); !errors.Is(err, history.ErrNoEntry) {
		t.Errorf("the oldest entry is left: %v", err)
	}
	if kept, err := s.Retention(ctx); err != nil || kept != (history.Retention{Size: 150 << 10}) {
		t.Errorf("%+v, %v", kept, err)
	}
}

// TestOldVersion opens a file of the first version, which had no settings.
func TestOldVersion(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	s := store(t, dir)
	id := add(t, s, entry(history.Route), tables(t, "torus:3x3"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, history.FileName))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		"DROP TABLE setting", "ALTER TABLE journal DROP COLUMN ends", "ALTER TABLE journal DROP COLUMN others",
		"ALTER TABLE entry DROP COLUMN events", "ALTER TABLE entry DROP COLUMN simulated",
		"ALTER TABLE entry DROP COLUMN seen", "ALTER TABLE journal DROP COLUMN controls",
		"ALTER TABLE journal DROP COLUMN halfway", "PRAGMA user_version = 1",
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := store(t, dir).Load(ctx, id); err != nil {
		t.Error(err)
	}
}

func TestOpenBelowAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := history.OpenFile(context.Background(),
		filepath.Join(filepath.Join(file, "sub"), history.FileName)); err == nil {
		t.Error("a directory below a file was created")
	}
}

// thousand stores routings of a fabric of a thousand switches, each with a few hundred entries different from the one
// before, and returns their directory and the size.
func thousand(t testing.TB, count int) (dir string, size int64) {
	t.Helper()
	tb := tables(t, "xgft:3,10,20,28,1,10,20")
	if n := len(tb.Fabric.Switches); n < 1000 {
		t.Fatalf("%d switches", n)
	}
	dir = t.TempDir()
	s := store(t, dir)
	for i := range count {
		changed := *tb
		changed.LFT = tb.LFT.Clone()
		for k := range 300 {
			row := changed.LFT.Row(fabric.SwitchIndex((i*31 + k*7) % len(tb.Fabric.Switches)))
			row[1+(i*17+k)%int(tb.Fabric.MaxLID)] ^= 1
		}
		add(t, s, entry(history.Route), &changed)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, history.FileName))
	if err != nil {
		t.Fatal(err)
	}
	return dir, info.Size()
}

// TestThousand checks that a thousand snapshots of a thousand switches stay below a gigabyte, a sample in proportion,
// and that opening and listing them reads only a small part of that.
func TestThousand(t *testing.T) {
	count := testenv.Count(t, 4, 1000)
	dir, size := thousand(t, count)
	first, firstSize := thousand(t, 1)
	if most := firstSize + int64(count)*(1e9-firstSize)/1000; size > most {
		t.Errorf("%d snapshots take %d bytes, want at most %d", count, size, most)
	}
	t.Logf("%d snapshots: %.1f MB; one: %.1f MB", count, float64(size)/1e6, float64(firstSize)/1e6)
	one, many := readBytes(t, first), readBytes(t, dir)
	if many > one+256<<10+int64(count)<<10 {
		t.Errorf("opening and listing %d snapshots read %d bytes, for one %d", count, many, one)
	}
	all, err := store(t, dir).List(context.Background(), "", 0)
	if err != nil || len(all) != count {
		t.Fatalf("%d entries, %v", len(all), err)
	}
	if _, err := store(t, dir).Load(context.Background(), all[count/2].ID); err != nil {
		t.Error(err)
	}
}

// readBytes opens a history, lists 30 entries, and returns the number of bytes that the process has read for that.
func readBytes(t *testing.T, dir string) int64 {
	t.Helper()
	read := func() (n int64) {
		text, err := os.ReadFile("/proc/self/io")
		if err != nil {
			t.Skipf("cannot count the bytes read: %v", err)
		}
		if _, err := fmt.Sscanf(string(text), "rchar: %d", &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := read()
	s, err := history.OpenFile(context.Background(), filepath.Join(dir, history.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, err := s.List(context.Background(), "", 30); err != nil {
		t.Fatal(err)
	}
	return read() - before
}

func BenchmarkThousand(b *testing.B) {
	for b.Loop() {
		dir, size := thousand(b, 1000)
		start := time.Now()
		s, err := history.OpenFile(b.Context(), filepath.Join(dir, history.FileName))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.List(b.Context(), "", 50); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(start).Seconds()*1000, "open-ms")
		b.ReportMetric(float64(size)/1e6, "MB")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
