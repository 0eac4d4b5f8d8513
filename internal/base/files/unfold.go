// SPDX-License-Identifier: Apache-2.0

package files

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// maxSizeless bounds a frame that does not state its size, packed, and sizeless what it unfolds to: encoders leave a
// size below 256 bytes out (RFC 8878, 3.1.1.1.4).
const maxSizeless, sizeless = 512, 256

// Unfolder returns a decoder for [Unfold].
func Unfolder(most uint64) (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(most),
		zstd.WithDecodeAllCapLimit(true))
}

// Unfold unpacks what zstd has packed. Nothing is unpacked of what does not state its size, or states one above
// most; what holds more than it states is an error.
func Unfold(z *zstd.Decoder, packed []byte, most uint64) ([]byte, error) {
	if len(packed) == 0 {
		return nil, nil
	}
	var head zstd.Header
	if err := head.Decode(packed); err != nil {
		return nil, err
	}
	switch {
	case !head.HasFCS && len(packed) > maxSizeless:
		return nil, errors.New("it does not state its size")
	case head.FrameContentSize > most:
		return nil, fmt.Errorf("%w: it unfolds to %d MB, expected at most %d", ErrTooLarge, head.FrameContentSize>>20,
			most>>20)
	}
	size := uint64(sizeless)
	if head.HasFCS {
		size = head.FrameContentSize
	}
	return z.DecodeAll(packed, make([]byte, 0, size))
}
