// SPDX-License-Identifier: Apache-2.0

package pathdb

import (
	"encoding/binary"
	"slices"
)

// Matrix is a matrix of values for a new database. It consists of tiles of 64 groups that different goroutines can
// fill.
type Matrix struct {
	rows  int
	tiles []Tile
}

// NewMatrix returns a matrix in which all values are 0.
func NewMatrix(rows int, groups int) *Matrix {
	m := &Matrix{rows: rows, tiles: make([]Tile, (groups+TileGroups-1)/TileGroups)}
	for i := range m.tiles {
		m.tiles[i].groups = min(TileGroups, groups-i*TileGroups)
		m.tiles[i].rows = rows
	}
	return m
}

// Tiles returns the number of tiles.
func (m *Matrix) Tiles() int { return len(m.tiles) }

// Tile returns tile i, which has the groups from 64*i on. Only one goroutine may fill it.
func (m *Matrix) Tile(i int) *Tile { return &m.tiles[i] }

// Tile holds the columns of 64 groups.
type Tile struct {
	rows, groups int
	symbols      []uint32 // groups of each row
	vectors      pool     // the values of each, size bytes per value
	size         int
	scratch      []byte
	// rename converts values of the tile to values in the file. If it is nil, the values are the same.
	rename func(uint16) uint16
}

// Groups returns the number of groups in the tile: 64, or fewer in the last tile.
func (t *Tile) Groups() int { return t.groups }

// Set sets the values for the LIDs of a group in a row. It keeps no reference to values. The first call allocates the
// memory of the tile.
func (t *Tile) Set(row, group int, values []uint16) {
	if constant(values) {
		t.SetAll(row, group, values[0])
		return
	}
	t.scratch = t.scratch[:0]
	for _, v := range values {
		t.scratch = binary.LittleEndian.AppendUint16(t.scratch, v)
	}
	t.size = 2
	t.set(row, group, constants+t.vectors.add(t.scratch))
}

// SetBytes is like [Tile.Set], for values less than 256. A tile must use either Set or SetBytes.
func (t *Tile) SetBytes(row, group int, values []uint8) {
	if Constant(values) {
		t.SetAll(row, group, uint16(values[0]))
		return
	}
	t.size = 1
	t.set(row, group, constants+t.vectors.add(values))
}

// SetAll sets all values of a group in a row to the same value.
func (t *Tile) SetAll(row, group int, value uint16) { t.set(row, group, uint32(value)) }

func (t *Tile) set(row, group int, symbol uint32) {
	if t.symbols == nil {
		t.symbols = make([]uint32, t.rows*t.groups)
	}
	t.symbols[row*t.groups+group] = symbol
}

// Rename sets the function that converts values of this tile to values in the file.
func (t *Tile) Rename(to func(uint16) uint16) { t.rename = to }

// encodedVectors returns the encoded vectors of the tile, by number.
func (t *Tile) encodedVectors() *pieces {
	var out pieces
	var values []uint16
	var fields []uint32
	var b []byte
	for n := range t.vectors.len() {
		values = values[:0]
		for v := t.vectors.get(uint32(n)); len(v) > 0; v = v[t.size:] {
			value := uint16(v[0])
			if t.size == 2 {
				value |= uint16(v[1]) << 8
			}
			if t.rename != nil {
				value = t.rename(value)
			}
			values = append(values, value)
		}
		b, fields = appendVector(b[:0], values, fields)
		out.add(b, hash(b))
	}
	return &out
}

// encodedBlocks returns the distinct blocks of all rows. For each row it returns the number of the row's block and the
// number of bits per symbol. The argument at holds the positions of vectors in words.
func (t *Tile) encodedBlocks(at []uint32) (blocks *pool, numbers []uint32, widths []uint8) {
	if t.symbols == nil {
		t.symbols = make([]uint32, t.rows*t.groups)
	}
	blocks = &pool{}
	numbers, widths = make([]uint32, t.rows), make([]uint8, t.rows)
	symbols := make([]uint32, t.groups)
	var b []byte
	for row := range t.rows {
		own := t.symbols[row*t.groups : (row+1)*t.groups]
		if row > 0 && slices.Equal(own, t.symbols[(row-1)*t.groups:row*t.groups]) {
			numbers[row], widths[row] = numbers[row-1], widths[row-1]
			continue
		}
		for g, sym := range own {
			switch {
			case sym >= constants:
				sym = constants + at[sym-constants]
			case t.rename != nil:
				sym = uint32(t.rename(uint16(sym)))
			}
			symbols[g] = sym
		}
		var width int
		b, width = appendBlock(b[:0], symbols)
		numbers[row], widths[row] = blocks.add(b), uint8(width)
	}
	return blocks, numbers, widths
}

func constant(values []uint16) bool {
	for _, v := range values {
		if v != values[0] {
			return false
		}
	}
	return true
}

// Constant reports whether all bytes are equal.
func Constant(v []uint8) bool {
	if len(v) < 8 {
		for _, b := range v {
			if b != v[0] {
				return false
			}
		}
		return true
	}
	all := uint64(v[0]) * 0x0101010101010101
	for i := 0; i+8 < len(v); i += 8 {
		if binary.LittleEndian.Uint64(v[i:]) != all {
			return false
		}
	}
	return binary.LittleEndian.Uint64(v[len(v)-8:]) == all
}
