// SPDX-License-Identifier: Apache-2.0

package pathdb

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Matrix is what a matrix of a new database holds, in tiles of 64 groups that
// different goroutines can fill.
type Matrix struct {
	rows  int
	tiles []Tile
}

// NewMatrix makes an empty one: value 0 everywhere.
func NewMatrix(rows int, groups int) *Matrix {
	m := &Matrix{rows: rows, tiles: make([]Tile, (groups+TileGroups-1)/TileGroups)}
	for i := range m.tiles {
		m.tiles[i].groups = min(TileGroups, groups-i*TileGroups)
		m.tiles[i].rows = rows
	}
	return m
}

// Tiles is how many there are.
func (m *Matrix) Tiles() int { return len(m.tiles) }

// Tile is that of the groups from 64*i on. One goroutine fills it.
func (m *Matrix) Tile(i int) *Tile { return &m.tiles[i] }

// Tile is 64 columns of groups.
type Tile struct {
	rows, groups int
	symbols      []uint32 // groups of each row
	vectors      pool[uint16]
	// rename, where set, is what each value becomes in the file.
	rename func(uint16) uint16
}

// Groups are how many groups the tile has: 64, or fewer of the last.
func (t *Tile) Groups() int { return t.groups }

// Set says what values the LIDs of a group have in a row. It keeps no reference to
// them. The first call makes the tile's memory.
func (t *Tile) Set(row, group int, values []uint16) {
	if constant(values) {
		t.SetAll(row, group, values[0])
		return
	}
	t.set(row, group, constants+t.vectors.add(values))
}

// SetAll says that all LIDs of a group have one value in a row.
func (t *Tile) SetAll(row, group int, value uint16) { t.set(row, group, uint32(value)) }

func (t *Tile) set(row, group int, symbol uint32) {
	if t.symbols == nil {
		t.symbols = make([]uint32, t.rows*t.groups)
	}
	t.symbols[row*t.groups+group] = symbol
}

// Rename says what the values of this tile are in the file.
func (t *Tile) Rename(to func(uint16) uint16) { t.rename = to }

func constant(values []uint16) bool {
	for _, v := range values {
		if v != values[0] {
			return false
		}
	}
	return true
}

// pool keeps slices, equal ones once.
type pool[T uint8 | uint16] struct {
	all    []T
	starts []uint32 // and one more
	table  []uint32 // number + 1, by hash
}

func (p *pool[T]) get(n uint32) []T { return p.all[p.starts[n]:p.starts[n+1]] }
func (p *pool[T]) len() int         { return max(0, len(p.starts)-1) }

// add returns the number of a slice.
func (p *pool[T]) add(v []T) uint32 {
	if p.len()*2 >= len(p.table) {
		p.grow()
	}
	mask := uint64(len(p.table) - 1)
	for h := hash(v) & mask; ; h = (h + 1) & mask {
		n := p.table[h]
		if n == 0 {
			p.all = append(p.all, v...)
			p.starts = append(p.starts, uint32(len(p.all)))
			p.table[h] = uint32(p.len())
			return uint32(p.len()) - 1
		}
		if slices.Equal(p.get(n-1), v) {
			return n - 1
		}
	}
}

func (p *pool[T]) grow() {
	if len(p.starts) == 0 {
		p.starts = []uint32{0}
	}
	p.table = make([]uint32, max(1024, 4*len(p.table)))
	mask := uint64(len(p.table) - 1)
	for n := range p.len() {
		h := hash(p.get(uint32(n))) & mask
		for p.table[h] != 0 {
			h = (h + 1) & mask
		}
		p.table[h] = uint32(n) + 1
	}
}

// hash mixes by multiplication (the finish is that of splitmix64).
func hash[T uint8 | uint16](v []T) uint64 {
	h := uint64(len(v)) * 0x9e3779b97f4a7c15
	for len(v) >= 4 {
		x := uint64(v[0]) | uint64(v[1])<<16 | uint64(v[2])<<32 | uint64(v[3])<<48
		hi, lo := bits.Mul64(h^x, 0xa0761d6478bd642f)
		h = hi ^ lo
		v = v[4:]
	}
	for _, x := range v {
		h = (h ^ uint64(x)) * 0x9e3779b97f4a7c15
	}
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	return h ^ h>>27
}

// heap is a growing file, in which equal pieces stand once.
type heap struct {
	b     []byte
	seen  []piece // by hash
	count int
}

type piece struct{ at, end uint32 }

// place says where a piece stands that hangs at the end of b from start on. One
// that is there already is taken off.
func (h *heap) place(start int) int {
	if h.count*2 >= len(h.seen) {
		h.grow()
	}
	v := h.b[start:]
	mask := uint64(len(h.seen) - 1)
	for i := hash(v) & mask; ; i = (i + 1) & mask {
		p := h.seen[i]
		if p.end == 0 {
			h.seen[i] = piece{uint32(start), uint32(len(h.b))}
			h.count++
			return start
		}
		if string(h.b[p.at:p.end]) == string(v) {
			h.b = h.b[:start]
			return int(p.at)
		}
	}
}

func (h *heap) grow() {
	old := h.seen
	h.seen = make([]piece, max(1<<12, 4*len(old)))
	mask := uint64(len(h.seen) - 1)
	for _, p := range old {
		if p.end == 0 {
			continue
		}
		i := hash(h.b[p.at:p.end]) & mask
		for h.seen[i].end != 0 {
			i = (i + 1) & mask
		}
		h.seen[i] = p
	}
}

// matrix appends a matrix to the file and returns where its directory is.
func (h *heap) matrix(m *Matrix) uint64 {
	h.align(4)
	refs := make([]uint32, m.rows*len(m.tiles))
	for i := range m.tiles {
		h.tile(&m.tiles[i], func(row int, ref uint32) { refs[row*len(m.tiles)+i] = ref })
	}
	dir := make([]uint64, m.rows)
	for row := range dir {
		start := len(h.b)
		for _, ref := range refs[row*len(m.tiles) : (row+1)*len(m.tiles)] {
			h.b = binary.LittleEndian.AppendUint32(h.b, ref)
		}
		dir[row] = uint64(h.place(start))
	}
	h.align(8)
	at := uint64(len(h.b))
	for _, d := range dir {
		h.b = binary.LittleEndian.AppendUint64(h.b, d)
	}
	return at
}

// tile appends the blocks and vectors of a tile, row by row, so that what one row
// needs stands together.
func (h *heap) tile(t *Tile, refer func(row int, ref uint32)) {
	if t.symbols == nil {
		t.symbols = make([]uint32, t.rows*t.groups)
	}
	placed := make([]uint32, t.vectors.len())
	symbols := make([]uint32, t.groups)
	var renamed []uint16
	for row := range t.rows {
		for g, sym := range t.symbols[row*t.groups : (row+1)*t.groups] {
			if sym < constants {
				if t.rename != nil {
					sym = uint32(t.rename(uint16(sym)))
				}
				symbols[g] = sym
				continue
			}
			n := sym - constants
			if placed[n] == 0 {
				v := t.vectors.get(n)
				if t.rename != nil {
					renamed = renamed[:0]
					for _, x := range v {
						renamed = append(renamed, t.rename(x))
					}
					v = renamed
				}
				start := len(h.b)
				h.b = appendVector(h.b, v)
				placed[n] = constants + uint32(h.place(start)/4)
			}
			symbols[g] = placed[n]
		}
		refer(row, h.block(symbols))
	}
}

// block appends a block of symbols and returns the reference to it.
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
