// SPDX-License-Identifier: Apache-2.0

package pathdb

import (
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Reseal corrects the checksums of a database as far as its structure allows, so that tests can reach the code after
// their check.
func Reseal(b []byte) {
	le := binary.LittleEndian
	for i := range 2 {
		s, _ := readSlot(b, uint64(i))
		copy(b[slotAt(uint64(i)):], s.bytes(b))
		if n := uint64(len(b)); s.Root < n && n-s.Root >= rootSize {
			root := b[s.Root : s.Root+rootSize]
			le.PutUint32(root[rootSize-4:], checksum(root[:rootSize-4]))
		}
	}
	for at := headSize; at+segmentHeader < len(b); {
		size := le.Uint64(b[at+8:])
		if size > uint64(len(b)-at-segmentHeader) {
			return
		}
		payload := b[at+segmentHeader : at+segmentHeader+int(size)]
		sums := at + segmentHeader + int(size)
		end := sums
		for p := range slices.Chunk(payload, page) {
			if end+8 > len(b) {
				return
			}
			le.PutUint32(b[end:], checksum(p))
			end += 4
		}
		le.PutUint32(b[end:], checksum(b[at:at+segmentHeader])^checksum(b[sums:end]))
		at = (end + 4 + 7) &^ 7
	}
}

// Image returns the bytes of a view's database.
func Image(v *View) []byte { return v.data }

// Redelta returns a difference with some bytes of its body replaced and valid checksums.
func Redelta(delta []byte, at int, with []byte) []byte {
	r, err := zstd.NewReader(nil)
	if err != nil {
		return nil
	}
	defer r.Close()
	body, err := r.DecodeAll(delta[deltaHead:], nil)
	if err != nil {
		return nil
	}
	copy(body[at%len(body):], with)
	w, err := zstd.NewWriter(nil)
	if err != nil {
		return nil
	}
	defer func() { _ = w.Close() }()
	rest := w.EncodeAll(body, nil)
	out := append([]byte(nil), delta[:deltaHead]...)
	binary.LittleEndian.PutUint32(out[28:], deltaSum(out, rest))
	return append(out, rest...)
}
