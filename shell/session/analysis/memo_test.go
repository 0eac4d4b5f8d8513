// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/engines/minhop"
)

func routed(t *testing.T) *fabric.Tables {
	t.Helper()
	f, err := gen.ParseSpec("fattree:2,4")
	if err == nil {
		f, err = fabric.AssignLIDs(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tables
}

var some = &fabric.Tables{}

// asked asks for a fact of some tables, which compute finds.
func asked(ctx context.Context, m *Memo, tell progress, compute func(context.Context, progress) (int, error)) (int,
	error) {
	return ask(ctx, m, key{of: some}, tell, compute)
}

// waiting returns once so many ask for the fact of asked.
func waiting(m *Memo, n int) {
	for {
		m.mu.Lock()
		f := m.facts[key{of: some}]
		there := f != nil && f.askers == n
		m.mu.Unlock()
		if there {
			return
		}
		runtime.Gosched()
	}
}

// TestShared: many who ask at once share one computation and its progress.
func TestShared(t *testing.T) {
	var m Memo
	var runs, told atomic.Int64
	begin := make(chan struct{})
	var all sync.WaitGroup
	const askers = 8
	for range askers {
		all.Go(func() {
			got, err := asked(t.Context(), &m, func(_, _ int) {
				told.Add(1)
			}, func(_ context.Context, tell progress) (int, error) {
				runs.Add(1)
				<-begin
				tell(1, 2)
				return 7, nil
			})
			if got != 7 || err != nil {
				t.Errorf("%d, %v, want 7", got, err)
			}
		})
	}
	waiting(&m, askers)
	for { // counted as asking before they listen
		m.mu.Lock()
		f := m.facts[key{of: some}]
		m.mu.Unlock()
		f.telling.Lock()
		n := len(f.listening)
		f.telling.Unlock()
		if n == askers {
			break
		}
		runtime.Gosched()
	}
	close(begin)
	all.Wait()
	if runs.Load() != 1 || told.Load() != askers {
		t.Errorf("computed %d times, %d were told, want 1 and %d", runs.Load(), told.Load(), askers)
	}
}

// TestCancel: a computation goes on while somebody waits for it, and ends with the
// last of them. Whoever comes after that begins anew.
func TestCancel(t *testing.T) {
	var m Memo
	var ended atomic.Bool
	begun := make(chan struct{})
	compute := func(ctx context.Context, _ progress) (int, error) {
		close(begun)
		<-ctx.Done()
		ended.Store(true)
		return 0, ctx.Err()
	}
	first, cancelFirst := context.WithCancel(t.Context())
	second, cancelSecond := context.WithCancel(t.Context())
	var both [2]chan error
	for i, ctx := range []context.Context{first, second} {
		both[i] = make(chan error, 1)
		go func() {
			_, err := asked(ctx, &m, nil, compute)
			both[i] <- err
		}()
		waiting(&m, i+1)
	}
	<-begun
	cancelFirst()
	if err := <-both[0]; !errors.Is(err, context.Canceled) || ended.Load() {
		t.Errorf("the first who went got %v, and the work ended: %v", err, ended.Load())
	}
	cancelSecond()
	if err := <-both[1]; !errors.Is(err, context.Canceled) || !ended.Load() {
		t.Errorf("the last who went got %v, and the work ended: %v", err, ended.Load())
	}
	got, err := asked(t.Context(), &m, nil, func(context.Context, progress) (int, error) { return 3, nil })
	if got != 3 || err != nil {
		t.Errorf("who came later got %d, %v, want 3", got, err)
	}
}

// TestErrors: what failed is tried again, and what panics does so in who asks.
func TestErrors(t *testing.T) {
	var m Memo
	m.Picture(nil, some)
	why := errors.New("no")
	if _, err := asked(t.Context(), &m, nil, func(context.Context, progress) (int, error) {
		return 0, why
	}); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
	func() {
		defer func() {
			if recover() != "broken" {
				t.Error("no panic")
			}
		}()
		_, _ = asked(t.Context(), &m, nil, func(context.Context, progress) (int, error) { panic("broken") })
	}()
	if got, err := asked(t.Context(), &m, nil, func(context.Context, progress) (int, error) {
		return 5, nil
	}); got != 5 || err != nil {
		t.Errorf("%d, %v, want 5", got, err)
	}
	if got, err := asked(t.Context(), &m, nil, nil); got != 5 || err != nil {
		t.Errorf("asked again: %d, %v, want 5 from memory", got, err)
	}
}

// TestForgets: facts live as long as their tables are pictured, preparations as long
// as these are the base.
func TestForgets(t *testing.T) {
	var m Memo
	base, other := routed(t), routed(t)
	all := func() {
		t.Helper()
		for _, x := range []*fabric.Tables{base, other} {
			if _, err := m.Reach(t.Context(), x, reach.Options{}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Load(t.Context(), x, linkload.Options{}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Credits(t.Context(), x, credits.Options{}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.RoutesFrom(t.Context(), x); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.Diff(t.Context(), base, other, diff.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what     string
		base     *fabric.Tables
		pictured []*fabric.Tables
		want     int
	}{
		{"nothing is pictured", nil, nil, 0},
		{
			"both: 2 x reach, load and credits, their difference, one preparation", base, []*fabric.Tables{base, other},
			8,
		},
		{"the other: reach, load and credits", nil, []*fabric.Tables{other}, 3},
	} {
		m.Picture(c.base, c.pictured...)
		all()
		if n := len(m.facts); n != c.want {
			t.Errorf("%s: %d facts, want %d", c.what, n, c.want)
		}
	}
	if m.KnownReach(base) != nil || m.KnownReach(other) == nil {
		t.Error("known is what is forgotten, or forgotten what is known")
	}
	m.Picture(nil)
	m.Recall(base)
	all()
	if n := len(m.facts); n != 3 || m.KnownLoad(base) == nil || m.KnownLoad(other) != nil {
		t.Errorf("%d facts of tables out of the history, want 3: reach, load and credits", n)
	}
	m.Recall()
	if n := len(m.facts); n != 0 {
		t.Errorf("%d facts of nothing", n)
	}
}

// TestAdapted: of tables that were adapted the memo says what the checks say.
func TestAdapted(t *testing.T) {
	var m Memo
	was := routed(t)
	links := was.Fabric.Links()
	f := was.Fabric.Without(links[len(links)-1:])
	m.Picture(was, was)
	from, err := m.RoutesFrom(t.Context(), was)
	if err != nil {
		t.Fatal(err)
	}
	res, err := from.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	is := res.Tables
	if m.from(is) != was {
		t.Fatal("the tables do not count as adapted")
	}
	r, err := m.Reach(t.Context(), is, reach.Options{})
	want, werr := reach.Check(t.Context(), is, reach.Options{})
	if err != nil || werr != nil {
		t.Fatal(err, werr)
	}
	if d := cmp.Diff(want.Counts, r.Counts); d != "" {
		t.Error("reach:", d)
	}
	d, err := m.Diff(t.Context(), was, is, diff.Options{})
	anew, werr := diff.Compare(t.Context(), was, is, diff.Options{})
	if err != nil || werr != nil {
		t.Fatal(err, werr)
	}
	if x := cmp.Diff(anew, d); x != "" {
		t.Error("diff:", x)
	}
}
