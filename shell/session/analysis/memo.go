// SPDX-License-Identifier: Apache-2.0

// Package analysis owns what follows from forwarding tables: which paths arrive, what
// links carry, what differs between two pictures, whether there is a credit loop.
//
// A [Memo] computes a fact when it is first asked for, remembers it for as long as its
// tables are pictured, and knows tables by their pointer, for they never change. All
// faces ask the same memo. Who asks for a fact that is being computed waits for that
// one; it ends early only when all who ask have gone. What failed is not remembered.
//
// Answers are shared: nobody changes them. The options are those of the packages that
// compute, and a fact is known by them too.
package analysis

import (
	"context"
	"maps"
	"slices"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/classify"
)

// Memo remembers facts. The zero value remembers none, and lets those share one who ask at the same time.
type Memo struct {
	mu       sync.Mutex
	base     *fabric.Tables // the tables that others were adapted from, if any were
	pictured []*fabric.Tables
	recalled []*fabric.Tables // of pictures of the history
	facts    map[key]*fact

	structuring sync.Mutex
	structures  []*classify.Structure // the one used last at the end
	hints       *classify.Hints
}

// key is what a fact is known by: what it says, and of which tables.
type key struct {
	says     saying
	of, and  *fabric.Tables
	switches bool
	examples int
}

// Picture tells the memo which tables there are, and which of them the others may have
// been adapted from. What is of others is forgotten. It may be told nil tables.
func (m *Memo) Picture(base *fabric.Tables, all ...*fabric.Tables) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.base == base && slices.Equal(m.pictured, all) {
		return
	}
	m.base, m.pictured = base, all
	maps.DeleteFunc(m.facts, func(k key, f *fact) bool { return f.known && !m.keeps(k) })
}

// keeps reports whether a fact is worth remembering: with mu held. Preparations take
// as much memory as tables do, so there are those of the base alone.
func (m *Memo) keeps(k key) bool {
	if k.says.prepares() {
		return k.of == m.base
	}
	return m.has(k.of) && (k.and == nil || m.has(k.and))
}

// has reports whether there are these tables: with mu held.
func (m *Memo) has(t *fabric.Tables) bool {
	return slices.Contains(m.pictured, t) || slices.Contains(m.recalled, t)
}

// Recall tells the memo which tables of the history there are in addition. What is of others is forgotten.
func (m *Memo) Recall(all ...*fabric.Tables) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recalled = all
	maps.DeleteFunc(m.facts, func(k key, f *fact) bool { return f.known && !m.keeps(k) })
}

// from is the base of tables that were adapted from it, nil for others.
func (m *Memo) from(t *fabric.Tables) *fabric.Tables {
	m.mu.Lock()
	base := m.base
	m.mu.Unlock()
	if adapted(base, t) {
		return base
	}
	return nil
}

// adapted reports whether tables are others for a part of their fabric.
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

// ask returns a fact, which compute finds where nobody knows it yet.
func ask[T any](ctx context.Context, m *Memo, k key, tell progress, compute func(context.Context, progress) (T,
	error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	f := m.join(ctx, k, func(ctx context.Context, p progress) (any, error) { return compute(ctx, p) })
	f.listen(&tell)
	select {
	case <-f.ended:
		m.leave(k, f)
	case <-ctx.Done():
		if m.leave(k, f) {
			<-f.ended
		}
		f.unlisten(&tell)
		return none, ctx.Err()
	}
	f.unlisten(&tell)
	if f.panicked != nil {
		panic(f.panicked)
	}
	if f.err != nil {
		return none, f.err
	}
	return f.value.(T), nil
}

// join makes the caller one of those who ask for a fact, the first of whom has it computed.
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
	f.askers++
	return f
}

// settle remembers a fact that was found, where it is worth it.
func (m *Memo) settle(k key, f *fact) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f.cancel()
	f.known = f.err == nil && f.panicked == nil
	if m.facts[k] == f && !(f.known && m.keeps(k)) {
		delete(m.facts, k)
	}
}

// leave makes the caller ask no more, and reports whether that ends the work.
func (m *Memo) leave(k key, f *fact) (last bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f.askers--
	if f.known || f.askers > 0 {
		return false
	}
	if m.facts[k] == f { // who comes now asks anew
		delete(m.facts, k)
	}
	f.cancel()
	return true
}

// progress is told the steps done and all there are, from several goroutines.
type progress = func(done, total int)

// fact is what one computation finds.
type fact struct {
	ended    chan struct{} // closed when the fields that follow it are final
	value    any
	err      error
	panicked any

	// Guarded by the memo's mu: known is set where there is a value, and askers counts those who wait.
	known  bool
	askers int
	cancel context.CancelFunc

	telling   sync.Mutex // held while those who listen are told, so that nobody is who has gone
	listening []*progress
}

// find computes the fact. What panics does so in those who asked.
func (f *fact) find(ctx context.Context, compute func(context.Context, progress) (any, error)) {
	defer func() { f.panicked = recover() }()
	f.value, f.err = compute(ctx, f.tell)
}

func (f *fact) tell(done, total int) {
	f.telling.Lock()
	defer f.telling.Unlock()
	for _, p := range f.listening {
		(*p)(done, total)
	}
}

func (f *fact) listen(p *progress) {
	if *p == nil {
		return
	}
	f.telling.Lock()
	defer f.telling.Unlock()
	f.listening = append(f.listening, p)
}

func (f *fact) unlisten(p *progress) {
	f.telling.Lock()
	defer f.telling.Unlock()
	f.listening = slices.DeleteFunc(f.listening, func(q *progress) bool { return p == q })
}
