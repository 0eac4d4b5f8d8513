// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/classify"
)

// mostStructures is of how many fabrics the structure is remembered: live, base, what-if, one of the history, one more.
const mostStructures = 5

// Structure is [classify.Recognise] by the hints, found once for each of the fabrics that were asked for last. It does
// not look at the pictures. O(ports) the first time.
func (m *Memo) Structure(f *fabric.Fabric) *classify.Structure {
	m.structuring.Lock()
	defer m.structuring.Unlock()
	return m.of(f)
}

func (m *Memo) of(f *fabric.Fabric) *classify.Structure {
	for i, s := range m.structures {
		if s.Fabric == f {
			m.structures = append(append(m.structures[:i], m.structures[i+1:]...), s)
			return s
		}
	}
	return m.found(f)
}

// found finds the structure of a fabric; with structuring held. That of one with failures on paper is what it was
// without them.
func (m *Memo) found(f *fabric.Fabric) *classify.Structure {
	var s *classify.Structure
	if whole := f.Whole(); whole != f {
		s = m.of(whole).After(f)
	} else {
		s = classify.Recognise(f, m.hints)
	}
	if len(m.structures) == mostStructures {
		m.structures = append(m.structures[:0], m.structures[1:]...)
	}
	m.structures = append(m.structures, s)
	return s
}

// Hints are those that structures follow, nil for none.
func (m *Memo) Hints() *classify.Hints {
	m.structuring.Lock()
	defer m.structuring.Unlock()
	return m.hints
}

// Hint has structures follow hints from now on, nil for none.
func (m *Memo) Hint(hints *classify.Hints) {
	m.structuring.Lock()
	defer m.structuring.Unlock()
	m.hints, m.structures = hints, nil
}
