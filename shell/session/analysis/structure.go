// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/classify"
)

// maxStructures is the maximum number of fabrics whose structure is cached: live, base, what-if, one state of the
// history, and one more.
const maxStructures = 5

// Structure returns the result of [classify.Recognise] with the hints. It caches the results of the most recently used
// fabrics, independently of [Memo.Retain]. It takes O(ports) time unless the result is cached.
func (m *Memo) Structure(f *fabric.Fabric) *classify.Structure {
	m.structureMu.Lock()
	defer m.structureMu.Unlock()
	return m.structureOf(f)
}

func (m *Memo) structureOf(f *fabric.Fabric) *classify.Structure {
	for i, s := range m.structures {
		if s.Fabric == f {
			m.structures = append(append(m.structures[:i], m.structures[i+1:]...), s)
			return s
		}
	}
	return m.addStructure(f)
}

// addStructure computes and caches the structure of a fabric. A fabric with simulated failures keeps the structure that
// it would have without failures. The caller holds structureMu.
func (m *Memo) addStructure(f *fabric.Fabric) *classify.Structure {
	var s *classify.Structure
	if whole := f.Whole(); whole != f {
		s = m.structureOf(whole).After(f)
	} else {
		s = classify.Recognise(f, m.hints)
	}
	if len(m.structures) == maxStructures {
		m.structures = append(m.structures[:0], m.structures[1:]...)
	}
	m.structures = append(m.structures, s)
	return s
}

// Hints returns the hints for structures, or nil if there are none.
func (m *Memo) Hints() *classify.Hints {
	m.structureMu.Lock()
	defer m.structureMu.Unlock()
	return m.hints
}

// SetHints sets the hints for structures and drops the cached structures. nil removes the hints.
func (m *Memo) SetHints(hints *classify.Hints) {
	m.structureMu.Lock()
	defer m.structureMu.Unlock()
	m.hints, m.structures = hints, nil
}
