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

var someTables = &fabric.Tables{}

// askSome returns a fact of someTables, which compute computes.
func askSome(ctx context.Context, m *Memo, report progress,
	compute func(context.Context, progress) (int, error)) (int, error) {
	return ask(ctx, m, key{of: someTables}, report, compute)
}

// awaitRequests returns once n requests wait for the fact of askSome.
func awaitRequests(m *Memo, n int) {
	for {
		m.mu.Lock()
		f := m.facts[key{of: someTables}]
		reached := f != nil && f.waiting == n
		m.mu.Unlock()
		if reached {
			return
		}
		runtime.Gosched()
	}
}

// TestShared checks that concurrent requests share one computation and its progress.
func TestShared(t *testing.T) {
	var m Memo
	var runs, reports atomic.Int64
	begin := make(chan struct{})
	var all sync.WaitGroup
	const askers = 8
	for range askers {
		all.Go(func() {
			got, err := askSome(t.Context(), &m, func(_, _ int) {
				reports.Add(1)
			}, func(_ context.Context, report progress) (int, error) {
				runs.Add(1)
				<-begin
				report(1, 2)
				return 7, nil
			})
			if got != 7 || err != nil {
				t.Errorf("%d, %v, want 7", got, err)
			}
		})
	}
	awaitRequests(&m, askers)
	for { // a request is counted before it listens
		m.mu.Lock()
		f := m.facts[key{of: someTables}]
		m.mu.Unlock()
		f.listenerMu.Lock()
		n := len(f.listeners)
		f.listenerMu.Unlock()
		if n == askers {
			break
		}
		runtime.Gosched()
	}
	close(begin)
	all.Wait()
	if runs.Load() != 1 || reports.Load() != askers {
		t.Errorf("computed %d times, %d requests received progress, want 1 and %d", runs.Load(), reports.Load(), askers)
	}
}

// TestCancel checks that a computation continues while a request waits for it, is canceled with the last request, and
// that a later request starts a new one.
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
			_, err := askSome(ctx, &m, nil, compute)
			both[i] <- err
		}()
		awaitRequests(&m, i+1)
	}
	<-begun
	cancelFirst()
	if err := <-both[0]; !errors.Is(err, context.Canceled) || ended.Load() {
		t.Errorf("the first canceled request got %v, computation canceled: %v, want false", err, ended.Load())
	}
	cancelSecond()
	if err := <-both[1]; !errors.Is(err, context.Canceled) || !ended.Load() {
		t.Errorf("the last canceled request got %v, computation canceled: %v, want true", err, ended.Load())
	}
	got, err := askSome(t.Context(), &m, nil, func(context.Context, progress) (int, error) { return 3, nil })
	if got != 3 || err != nil {
		t.Errorf("a later request got %d, %v, want 3", got, err)
	}
}

// TestErrors checks that a failed computation is repeated, and that a panic reaches the caller.
func TestErrors(t *testing.T) {
	var m Memo
	m.Retain(nil, someTables)
	why := errors.New("no")
	if _, err := askSome(t.Context(), &m, nil, func(context.Context, progress) (int, error) {
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
		_, _ = askSome(t.Context(), &m, nil, func(context.Context, progress) (int, error) { panic("broken") })
	}()
	if got, err := askSome(t.Context(), &m, nil, func(context.Context, progress) (int, error) {
		return 5, nil
	}); got != 5 || err != nil {
		t.Errorf("%d, %v, want 5", got, err)
	}
	if got, err := askSome(t.Context(), &m, nil, nil); got != 5 || err != nil {
		t.Errorf("second request: %d, %v, want the remembered 5", got, err)
	}
}

// TestForgets checks that facts are kept while their tables are retained, and preparations while the tables are the
// base.
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
		what    string
		base    *fabric.Tables
		current []*fabric.Tables
		want    int
	}{
		{"no tables retained", nil, nil, 0},
		{
			"both: 2 x reach, load and credits, their difference, one preparation", base, []*fabric.Tables{base, other},
			8,
		},
		{"the other: reach, load and credits", nil, []*fabric.Tables{other}, 3},
	} {
		m.Retain(c.base, c.current...)
		all()
		if n := len(m.facts); n != c.want {
			t.Errorf("%s: %d facts, want %d", c.what, n, c.want)
		}
	}
	if m.KnownReach(base) != nil || m.KnownReach(other) == nil {
		t.Error("the facts of dropped tables are known, or those of retained tables are not")
	}
	m.Retain(nil)
	m.RetainPast(base)
	all()
	if n := len(m.facts); n != 3 || m.KnownLoad(base) == nil || m.KnownLoad(other) != nil {
		t.Errorf("%d facts of tables of the history, want 3: reach, load and credits", n)
	}
	m.RetainPast()
	if n := len(m.facts); n != 0 {
		t.Errorf("%d facts with no tables retained, want 0", n)
	}
}

// TestAdapted checks that the facts about adapted tables equal the results of the full checks.
func TestAdapted(t *testing.T) {
	var m Memo
	before := routed(t)
	links := before.Fabric.Links()
	f := before.Fabric.Without(links[len(links)-1:])
	m.Retain(before, before)
	from, err := m.RoutesFrom(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	res, err := from.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	after := res.Tables
	if m.baseOf(after) != before {
		t.Fatal("the tables are not recognized as adapted")
	}
	r, err := m.Reach(t.Context(), after, reach.Options{})
	want, werr := reach.Check(t.Context(), after, reach.Options{})
	if err != nil || werr != nil {
		t.Fatal(err, werr)
	}
	if d := cmp.Diff(want.Counts, r.Counts); d != "" {
		t.Error("reach:", d)
	}
	d, err := m.Diff(t.Context(), before, after, diff.Options{})
	full, werr := diff.Compare(t.Context(), before, after, diff.Options{})
	if err != nil || werr != nil {
		t.Fatal(err, werr)
	}
	if x := cmp.Diff(full, d); x != "" {
		t.Error("diff:", x)
	}
}
