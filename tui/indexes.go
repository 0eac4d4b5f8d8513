// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
)

// indexes keeps the indexes of the fabrics that were used last. It may be used by
// several goroutines.
type indexes struct {
	mu   sync.Mutex
	list []*index // the one used last at the end
}

// maxIndexes is how many fabrics there are to switch between: live, base and what
// if, one out of the history, and one more.
const maxIndexes = 5

// of returns the index of a fabric, and makes it where there is none yet.
func (x *indexes) of(f *fabric.Fabric) *index {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, ix := range x.list {
		if ix.f == f {
			x.list = append(append(x.list[:i], x.list[i+1:]...), ix)
			return ix
		}
	}
	ix := newIndex(f)
	if len(x.list) >= maxIndexes {
		x.list = append(x.list[:0], x.list[1:]...)
	}
	x.list = append(x.list, ix)
	return ix
}

// foresee makes the indexes that a state will want.
func (x *indexes) foresee(st session.State) {
	for _, p := range []*session.Picture{st.Live, st.Base, st.Default()} {
		if p != nil {
			x.of(p.Fabric)
		}
	}
}
