// SPDX-License-Identifier: Apache-2.0

package nue

// edges is a set of edges of the graph, one bit for each edge.
type edges []uint64

const wordBits = 64

func (e edges) has(i uint32) bool { return e[i/wordBits]>>(i%wordBits)&1 != 0 }
func (e edges) set(i uint32)      { e[i/wordBits] |= 1 << (i % wordBits) }
func (e edges) unset(i uint32)    { e[i/wordBits] &^= 1 << (i % wordBits) }
