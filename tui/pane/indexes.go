// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
)

// Indexes keeps the indexes of the fabrics that were used last. It may be used by several goroutines.
type Indexes struct {
	mu   sync.Mutex
	list []*Index // the one used last at the end
}

// maxIndexes is how many fabrics there are to switch between: live, base and what
// if, one out of the history, and one more.
const maxIndexes = 5

// Of returns the index of a fabric, and makes it where there is none yet.
func (x *Indexes) Of(f *fabric.Fabric) *Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, ix := range x.list {
		if ix.Fabric == f {
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

// Foresee makes the indexes that a state will want.
func (x *Indexes) Foresee(st session.State) {
	for _, p := range []*session.Picture{st.Live, st.Base, st.Default()} {
		if p != nil {
			x.Of(p.Fabric)
		}
	}
}
