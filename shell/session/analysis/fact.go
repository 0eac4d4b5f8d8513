// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"context"
	"slices"
	"sync"
)

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
