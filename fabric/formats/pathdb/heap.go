// SPDX-License-Identifier: Apache-2.0

package pathdb

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"example.org/ibconsole/internal/base/parallel"
)

// pieces is a list of byte strings with their hashes.
type pieces struct {
	all  []byte
	ends []uint32
	sums []uint32
}

func (p *pieces) len() int { return len(p.ends) }

func (p *pieces) get(n uint32) []byte {
	start := uint32(0)
	if n > 0 {
		start = p.ends[n-1]
	}
	return p.all[start:p.ends[n]]
}

func (p *pieces) add(v []byte, sum uint32) {
	p.all = append(p.all, v...)
	p.ends = append(p.ends, uint32(len(p.all)))
	p.sums = append(p.sums, sum)
}

// pool holds distinct pieces.
type pool struct {
	pieces
	table []uint32 // number + 1, by hash
}

// add returns the number of a byte string in the pool. It adds the byte string if the pool does not have it.
func (p *pool) add(v []byte) uint32 {
	if p.len()*2 >= len(p.table) {
		p.grow()
	}
	sum := hash(v)
	mask := uint32(len(p.table) - 1)
	for i := sum & mask; ; i = (i + 1) & mask {
		n := p.table[i]
		if n == 0 {
			p.pieces.add(v, sum)
			p.table[i] = uint32(p.len())
			return uint32(p.len()) - 1
		}
		if p.sums[n-1] == sum && string(p.get(n-1)) == string(v) {
			return n - 1
		}
	}
}

func (p *pool) grow() {
	p.table = make([]uint32, max(256, 4*len(p.table)))
	mask := uint32(len(p.table) - 1)
	for n, sum := range p.sums {
		i := sum & mask
		for p.table[i] != 0 {
			i = (i + 1) & mask
		}
		p.table[i] = uint32(n) + 1
	}
}

// hash returns a hash of v. It mixes by multiplication and uses the final steps of splitmix64.
func hash(v []byte) uint32 {
	h := uint64(len(v)) * 0x9e3779b97f4a7c15
	for ; len(v) >= 8; v = v[8:] {
		hi, lo := bits.Mul64(h^binary.LittleEndian.Uint64(v), 0xa0761d6478bd642f)
		h = hi ^ lo
	}
	for _, x := range v {
		h = (h ^ uint64(x)) * 0x9e3779b97f4a7c15
	}
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	return uint32(h ^ h>>27)
}

// heap is a growing file in which equal pieces (byte strings) are stored once.
type heap struct {
	b     []byte
	seen  []piece // by hash
	count int
}

type piece struct{ at, end, sum uint32 }

// find returns the entry of a piece that the file contains. Otherwise it returns a free entry for the piece.
func (h *heap) find(v []byte, sum uint32) *piece {
	if h.count*2 >= len(h.seen) {
		h.grow()
	}
	mask := uint32(len(h.seen) - 1)
	for i := sum & mask; ; i = (i + 1) & mask {
		p := &h.seen[i]
		if p.end == 0 || p.sum == sum && string(h.b[p.at:p.end]) == string(v) {
			return p
		}
	}
}

// place returns the position of the piece that consists of b from the position start on. If the file already has an
// equal piece, place removes the new one and returns the position of the other.
func (h *heap) place(start int) int {
	v := h.b[start:]
	sum := hash(v)
	p := h.find(v, sum)
	if p.end != 0 {
		h.b = h.b[:start]
		return int(p.at)
	}
	*p = piece{uint32(start), uint32(len(h.b)), sum}
	h.count++
	return start
}

// placeAll returns the positions of pieces in words of 4 bytes. It appends pieces that the file does not have.
func (h *heap) placeAll(some *pieces) []uint32 {
	at := make([]uint32, some.len())
	h.b = slices.Grow(h.b, len(some.all))
	for n := range at {
		v := some.get(uint32(n))
		p := h.find(v, some.sums[n])
		if p.end == 0 {
			start := len(h.b)
			h.b = append(h.b, v...)
			*p = piece{uint32(start), uint32(len(h.b)), some.sums[n]}
			h.count++
		}
		at[n] = p.at / 4
	}
	return at
}

func (h *heap) grow() {
	old := h.seen
	h.seen = make([]piece, max(1<<12, 4*len(old)))
	mask := uint32(len(h.seen) - 1)
	for _, p := range old {
		if p.end == 0 {
			continue
		}
		i := p.sum & mask
		for h.seen[i].end != 0 {
			i = (i + 1) & mask
		}
		h.seen[i] = p
	}
}

// matrix appends a matrix to the file and returns the position of its directory. It first appends the vectors, then the
// blocks, which refer to vectors, then the rows, which refer to blocks. It encodes tiles on all processors.
func (h *heap) matrix(m *Matrix) uint64 {
	h.align(4)
	tiles := len(m.tiles)
	vectors := make([]*pieces, tiles)
	parallel.Each(tiles, func(i int) { vectors[i] = m.tiles[i].encodedVectors() })
	at := make([][]uint32, tiles)
	for i, v := range vectors {
		at[i] = h.placeAll(v)
	}
	type encoded struct {
		blocks  *pool
		numbers []uint32
		widths  []uint8
	}
	columns := make([]encoded, tiles)
	parallel.Each(tiles, func(i int) {
		c := &columns[i]
		c.blocks, c.numbers, c.widths = m.tiles[i].encodedBlocks(at[i])
	})
	refs := make([]uint32, m.rows*tiles)
	for i := range columns {
		c := &columns[i]
		at := h.placeAll(&c.blocks.pieces)
		for row, n := range c.numbers {
			refs[row*tiles+i] = at[n] | uint32(c.widths[row])<<refBits
		}
	}
	dir := make([]uint64, m.rows)
	for row := range dir {
		start := len(h.b)
		for _, ref := range refs[row*tiles : (row+1)*tiles] {
			h.b = binary.LittleEndian.AppendUint32(h.b, ref)
		}
		dir[row] = uint64(h.place(start))
	}
	h.align(8)
	start := uint64(len(h.b))
	for _, d := range dir {
		h.b = binary.LittleEndian.AppendUint64(h.b, d)
	}
	return start
}

// block appends a block of symbols and returns the reference to the block.
func (h *heap) block(symbols []uint32) uint32 {
	start := len(h.b)
	var width int
	h.b, width = appendBlock(h.b, symbols)
	return uint32(h.place(start)/4) | uint32(width)<<refBits
}

func (h *heap) align(n int) {
	for len(h.b)%n != 0 {
		h.b = append(h.b, 0)
	}
}
