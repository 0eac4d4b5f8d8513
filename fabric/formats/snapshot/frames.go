// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"io"
	"runtime"
	"slices"

	"github.com/klauspost/compress/zstd"

	"example.org/ibconsole/internal/base/parallel"
)

// frameSize is how many bytes one frame holds.
const frameSize = 4 << 20

// frames cuts sections into the pieces of each frame. None but the first begins where a section does, so
// that no file that ends behind a frame looks whole.
func frames(all []section) (out [][][]byte) {
	var frame [][]byte
	room := frameSize
	for _, s := range all {
		frame = append(frame, s.head())
		for _, piece := range s.data {
			for len(piece) > room {
				out = append(out, append(frame, piece[:room]))
				frame, piece, room = nil, piece[room:], frameSize
			}
			frame, room = append(frame, piece), room-len(piece)
		}
	}
	return append(out, frame)
}

// writeFrames packs as many frames at a time as there are processors.
func writeFrames(w io.Writer, frames [][][]byte) error {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	if err != nil {
		return err
	}
	workers := runtime.GOMAXPROCS(0)
	plain, packed := make([][]byte, workers), make([][]byte, workers)
	for some := range slices.Chunk(frames, workers) {
		parallel.Each(len(some), func(i int) {
			plain[i] = plain[i][:0]
			for _, piece := range some[i] {
				plain[i] = append(plain[i], piece...)
			}
			packed[i] = z.EncodeAll(plain[i], packed[i][:0])
		})
		for i := range some {
			if _, err := w.Write(packed[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
