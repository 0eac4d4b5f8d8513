// SPDX-License-Identifier: Apache-2.0

package pathdb

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A matrix has a value for each row and each LID. The LIDs of a switch form a group. A directory holds the position of
// each row. A row holds a reference to a block for each tile of 64 groups. A block holds a symbol for each group. A
// symbol less than constants is the value of all LIDs of the group. Any other symbol refers to a vector, which has a
// value for each LID:
//
//	reference  upper 6 bits   the number of bits of a symbol in the block, 0 to 32
//	           lower 26 bits  the position of the block, in words of 4 bytes
//	block      4 bytes        the smallest symbol
//	           64 x bits      each symbol minus the smallest, packed from the lowest bit on
//	vector     1 byte         the number of bits of a value, 0 to 16
//	           1 byte         0
//	           2 bytes        the smallest value
//	           n x bits       each value minus the smallest
const (
	// TileGroups is the number of groups whose symbols are in one block.
	TileGroups = 64

	refBits   = 26
	refMask   = 1<<refBits - 1
	constants = 1 << 16
)

// field returns the i-th field of a packed array that begins at a position. A field has width bits. The result is 0 if
// the array is too short, which does not happen in a checked database.
func field(data []byte, at uint64, i uint32, width uint32) uint32 {
	bit := uint64(i) * uint64(width)
	at += bit >> 3
	if at+8 > uint64(len(data)) {
		return 0
	}
	return uint32(binary.LittleEndian.Uint64(data[at:]) >> (bit & 7) & (1<<width - 1))
}

func word(data []byte, at uint64) uint32 {
	if at+4 > uint64(len(data)) {
		return 0
	}
	return binary.LittleEndian.Uint32(data[at:])
}

func word64(data []byte, at uint64) uint64 {
	if at+8 > uint64(len(data)) {
		return 0
	}
	return binary.LittleEndian.Uint64(data[at:])
}

// symbol returns the symbol for a row and a group of the matrix whose directory is at dir.
func symbol(data []byte, dir uint64, row, group uint32) uint32 {
	at := word64(data, dir+uint64(row)*dirSize)
	ref := word(data, at+uint64(group/TileGroups)*refSize)
	block := uint64(ref&refMask) * 4
	return word(data, block) + field(data, block+4, group%TileGroups, ref>>refBits)
}

// value returns the value that a symbol gives to the LID with a given index in the group.
func value(data []byte, sym uint32, place uint16) uint16 {
	if sym < constants {
		return uint16(sym)
	}
	at := uint64(sym-constants) * 4
	head := word(data, at)
	return uint16(head>>16 + field(data, at+4, uint32(place), head&0xff))
}

// packed appends fields of width bits. Each field holds its value minus the argument least. The result is padded with
// zeros to a whole word.
func packed(b []byte, width int, fields []uint32, least uint32) []byte {
	if width == 0 {
		return b
	}
	b = slices.Grow(b, (width*len(fields)+31)/32*4)
	var acc uint64
	have := 0
	for _, f := range fields {
		acc |= uint64(f-least) << have
		if have += width; have >= 32 {
			b = binary.LittleEndian.AppendUint32(b, uint32(acc))
			acc >>= 32
			have -= 32
		}
	}
	if have > 0 {
		b = binary.LittleEndian.AppendUint32(b, uint32(acc))
	}
	return b
}

// appendVector appends a vector of values. It uses the argument fields as scratch memory and returns this memory for
// the next call.
func appendVector(b []byte, values []uint16, fields []uint32) (encoded []byte, scratch []uint32) {
	least, most := values[0], values[0]
	fields = fields[:0]
	for _, v := range values {
		least, most = min(least, v), max(most, v)
		fields = append(fields, uint32(v))
	}
	width := bits.Len16(most - least)
	b = append(b, uint8(width), 0, uint8(least), uint8(least>>8))
	return packed(b, width, fields, uint32(least)), fields
}

// appendBlock appends a block of symbols. It returns the number of bits per symbol.
func appendBlock(b []byte, symbols []uint32) ([]byte, int) {
	least, most := symbols[0], symbols[0]
	for _, s := range symbols {
		least, most = min(least, s), max(most, s)
	}
	width := bits.Len32(most - least)
	b = binary.LittleEndian.AppendUint32(b, least)
	return packed(b, width, symbols, least), width
}
