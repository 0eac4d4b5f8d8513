// SPDX-License-Identifier: Apache-2.0

// Package analysis computes and caches facts about forwarding tables: the paths that arrive, the paths per link, the
// differences between two states, and credit loops.
//
// A [Memo] computes a fact at the first request and keeps it while the session holds the tables. It identifies tables
// by pointer, because tables never change. All user interfaces share one memo. A request for a fact that is being
// computed waits for that computation. The computation is canceled only if all requests for the fact are canceled.
// Errors are not cached.
//
// Results are shared and must not be changed. The options are those of the packages that compute the facts. They are
// part of the key of a fact.
package analysis

import (
	"context"
	"maps"
	"slices"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/classify"
)

// Memo caches facts. The zero value caches nothing, but concurrent requests share a computation. Memo is safe for
// concurrent use.
type Memo struct {
	mu      sync.Mutex
	base    *fabric.Tables   // the tables from which others may have been adapted, nil for none
	current []*fabric.Tables // of the states of the session
	past    []*fabric.Tables // of opened states of the history
	facts   map[key]*fact

	structureMu sync.Mutex
	structures  []*classify.Structure // in order of use, the latest at the end
	hints       *classify.Hints
}

// key identifies a fact: its kind, its tables and its options.
type key struct {
	kind     factKind
	of, and  *fabric.Tables
	switches bool
	examples int
}

// Retain sets the tables whose facts are kept: those of the session's states, and the base from which some of them may
// have been adapted. Facts about all other tables are dropped. Tables may be nil.
func (m *Memo) Retain(base *fabric.Tables, all ...*fabric.Tables) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.base == base && slices.Equal(m.current, all) {
		return
	}
	m.base, m.current = base, all
	maps.DeleteFunc(m.facts, func(k key, f *fact) bool { return f.known && !m.keeps(k) })
}

// keeps reports whether the memo keeps a fact. Preparations take as much memory as tables do, so only those of the base
// are kept. The caller holds mu.
func (m *Memo) keeps(k key) bool {
	if k.kind.isPreparation() {
		return k.of == m.base
	}
	return m.has(k.of) && (k.and == nil || m.has(k.and))
}

// has reports whether the tables belong to a current or past state. The caller holds mu.
func (m *Memo) has(t *fabric.Tables) bool {
	return slices.Contains(m.current, t) || slices.Contains(m.past, t)
}

// RetainPast sets the tables of the states that were opened from the history. Facts about these tables are kept, in
// addition to those set by [Memo.Retain]. All others are dropped.
func (m *Memo) RetainPast(all ...*fabric.Tables) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.past = all
	maps.DeleteFunc(m.facts, func(k key, f *fact) bool { return f.known && !m.keeps(k) })
}

// baseOf returns the base if t was adapted from the base, otherwise nil.
func (m *Memo) baseOf(t *fabric.Tables) *fabric.Tables {
	m.mu.Lock()
	base := m.base
	m.mu.Unlock()
	if adapted(base, t) {
		return base
	}
	return nil
}

// adapted reports whether the tables in the argument to were made by editing those in from, after nodes or links of the
// fabric were removed.
func adapted(from, to *fabric.Tables) bool {
	if from == nil || from == to {
		return false
	}
	if _, ok := to.LFT.EditsOf(from.LFT); !ok {
		return false
	}
	_, ok := fabric.Removed(from.Fabric, to.Fabric)
	return ok
}

// ask returns the fact of a key. It calls the function compute unless the fact is known or is being computed. If the
// argument report is not nil, it receives the progress.
func ask[T any](ctx context.Context, m *Memo, k key, report progress,
	compute func(context.Context, progress) (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	f := m.join(ctx, k, func(ctx context.Context, p progress) (any, error) { return compute(ctx, p) })
	f.listen(&report)
	select {
	case <-f.ended:
		m.leave(k, f)
	case <-ctx.Done():
		if m.leave(k, f) {
			<-f.ended
		}
		f.unlisten(&report)
		return none, ctx.Err()
	}
	f.unlisten(&report)
	if f.panicked != nil {
		panic(f.panicked)
	}
	if f.err != nil {
		return none, f.err
	}
	return f.value.(T), nil
}

// join registers the caller as waiting for a fact. It starts the computation if none is running.
func (m *Memo) join(ctx context.Context, k key, compute func(context.Context, progress) (any, error)) *fact {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.facts[k]
	if f == nil {
		f = &fact{ended: make(chan struct{})}
		ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
		if m.facts == nil {
			m.facts = map[key]*fact{}
		}
		m.facts[k] = f
		go func() {
			defer close(f.ended)
			f.find(ctx, compute)
			m.settle(k, f)
		}()
	}
	f.waiting++
	return f
}

// settle ends a computation. It drops the fact if the computation failed or the memo does not keep the fact.
func (m *Memo) settle(k key, f *fact) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f.cancel()
	f.known = f.err == nil && f.panicked == nil
	if m.facts[k] == f && !(f.known && m.keeps(k)) {
		delete(m.facts, k)
	}
}

// leave ends the wait of a caller. It reports whether this was the last caller, which cancels the computation.
func (m *Memo) leave(k key, f *fact) (last bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f.waiting--
	if f.known || f.waiting > 0 {
		return false
	}
	if m.facts[k] == f { // the next request starts a new computation
		delete(m.facts, k)
	}
	f.cancel()
	return true
}

// progress receives the number of completed steps and the total number of steps. Several goroutines may call it.
type progress = func(done, total int)

// fact is the result of one computation.
type fact struct {
	ended    chan struct{} // closed when the next three fields are final
	value    any
	err      error
	panicked any

	// These fields are guarded by the memo's mu. The field known is set as soon as value is valid. The field waiting
	// counts the requests that wait.
	known   bool
	waiting int
	cancel  context.CancelFunc

	listenerMu sync.Mutex // held during calls of listeners, so that no call follows unlisten
	listeners  []*progress
}

// find computes the fact. If the computation panics, find recovers from the panic. The function ask then repeats the
// panic in each waiting goroutine.
func (f *fact) find(ctx context.Context, compute func(context.Context, progress) (any, error)) {
	defer func() { f.panicked = recover() }()
	f.value, f.err = compute(ctx, f.report)
}

func (f *fact) report(done, total int) {
	f.listenerMu.Lock()
	defer f.listenerMu.Unlock()
	for _, p := range f.listeners {
		(*p)(done, total)
	}
}

func (f *fact) listen(p *progress) {
	if *p == nil {
		return
	}
	f.listenerMu.Lock()
	defer f.listenerMu.Unlock()
	f.listeners = append(f.listeners, p)
}

func (f *fact) unlisten(p *progress) {
	f.listenerMu.Lock()
	defer f.listenerMu.Unlock()
	f.listeners = slices.DeleteFunc(f.listeners, func(q *progress) bool { return p == q })
}
