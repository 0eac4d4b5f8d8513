// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"io"
	"runtime"
	"slices"

	"github.com/klauspost/compress/zstd"

	"example.org/ibconsole/internal/base/parallel"
)

// frameSize is the number of uncompressed bytes in a frame.
const frameSize = 4 << 20

// frames divides sections into frames. A frame is a list of pieces. Only the first frame begins at the start of a
// section. So a file that is truncated after a frame does not look complete.
func frames(all []section) (out [][][]byte) {
	var frame [][]byte
	free := frameSize
	for _, s := range all {
		frame = append(frame, s.head())
		for _, piece := range s.data {
			for len(piece) > free {
				out = append(out, append(frame, piece[:free]))
				frame, piece, free = nil, piece[free:], frameSize
			}
			frame, free = append(frame, piece), free-len(piece)
		}
	}
	return append(out, frame)
}

// writeFrames compresses and writes frames. Each processor compresses one frame at a time.
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
