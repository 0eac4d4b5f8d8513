// SPDX-License-Identifier: Apache-2.0

package updn

import "example.org/ibconsole/fabric"

// batch is the number of destinations that are searched before the matrix is written. Their sets fill a cache line.
const batch = 8

// batchWorker searches from the destinations of one batch at a time. It is scratch memory for one goroutine.
type batchWorker struct {
	m     *matrix
	fast  *walker
	full  *fullWalker
	least []uint8
	// The matrix determines which of the following fields is used.
	barred, allBarred []uint8
	sets              []uint64
}

// newBatchWorker returns a worker that fills the matrix. If all searches are plain, it also fills allBarred.
func newBatchWorker(m *matrix, allBarred []uint8) *batchWorker {
	b := &batchWorker{m: m, fast: newWalker(m), least: make([]uint8, m.n*batch), allBarred: allBarred}
	if m.allPlain() {
		b.barred = make([]uint8, m.n*batch)
	} else {
		b.full, b.sets = newFullWalker(m), make([]uint64, m.n*batch*m.words)
	}
	return b
}

func (b *batchWorker) search(from, to fabric.SwitchIndex) {
	m, words := b.m, b.m.words
	for d := from; d < to; d++ {
		found := b.searchFrom(d)
		k := int(d - from)
		for s, h := range found.least {
			b.least[s*batch+k] = h
		}
		if b.barred != nil {
			for s, tried := range b.fast.tried {
				b.barred[s*batch+k] = tried.barred
			}
			continue
		}
		if m.plain(d) {
			b.fast.findPorts()
		}
		for s := range m.n {
			copy(b.sets[(s*batch+k)*words:], found.sets[s*words:(s+1)*words])
		}
	}
	width := int(to - from)
	for s := range m.n {
		at := s*m.stride + int(from)
		copy(m.least[at:at+width], b.least[s*batch:])
		if b.barred != nil {
			copy(b.allBarred[at:at+width], b.barred[s*batch:])
			continue
		}
		at = s*m.n + int(from)
		copy(m.sets[at*words:(at+width)*words], b.sets[s*batch*words:])
	}
}

// searchFrom finds the counts from all switches to switch dst.
func (b *batchWorker) searchFrom(dst fabric.SwitchIndex) *counts {
	if b.m.plain(dst) {
		b.fast.search(dst)
		return &b.fast.counts
	}
	b.full.search(dst)
	return &b.full.counts
}

// plain reports whether the search to a switch begins without counts and takes only allowed steps.
func (m *matrix) plain(dst fabric.SwitchIndex) bool {
	return m.penalty == 0 && (m.preset == nil || m.preset(dst) == nil)
}

// allPlain reports whether the searches to all switches are plain.
func (m *matrix) allPlain() bool { return m.penalty == 0 && m.preset == nil }
