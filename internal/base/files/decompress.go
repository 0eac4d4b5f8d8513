// SPDX-License-Identifier: Apache-2.0

package files

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// maxSizeless is the maximum compressed size of a frame that does not state its decompressed size. The decompressed
// size is then at most sizeless, because encoders may omit a size below 256 bytes (RFC 8878, 3.1.1.1.4).
const maxSizeless, sizeless = 512, 256

// NewDecoder returns a decoder for [Decompress].
func NewDecoder(most uint64) (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(most),
		zstd.WithDecodeAllCapLimit(true))
}

// Decompress decompresses zstd data. It fails without decompressing anything if the data does not state its
// decompressed size, or states a size above the argument most. It also fails if the data is longer than stated.
func Decompress(z *zstd.Decoder, packed []byte, most uint64) ([]byte, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	var head zstd.Header
	if err := head.Decode(packed); err != nil {
		return nil, err
	}
	switch {
	case !head.HasFCS && len(packed) > maxSizeless:
		return nil, errors.New("the decompressed size is missing")
	case head.FrameContentSize > most:
		return nil, fmt.Errorf("%w: its decompressed size is %d MB, expected at most %d", ErrTooLarge,
			head.FrameContentSize>>20, most>>20)
	}
	size := uint64(sizeless)
	if head.HasFCS {
		size = head.FrameContentSize
	}
	return z.DecodeAll(packed, make([]byte, 0, size))
}
