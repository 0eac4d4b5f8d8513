// SPDX-License-Identifier: Apache-2.0

package files_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"example.org/ibconsole/internal/base/files"
)

// TestDecompress checks that the size in the header is checked before anything is decompressed. The header is handmade
// (RFC 8878, 3.1.1.1): a size of 8 bytes, one segment, no checksum.
func TestDecompress(t *testing.T) {
	const most = 1 << 20
	z, err := files.NewDecoder(most)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 255, 256, most} {
		want := bytes.Repeat([]byte{7}, n)
		if got, err := files.Decompress(z, w.EncodeAll(want, nil), most); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d, %v", n, len(got), err)
		}
	}
	_, err = files.Decompress(z, w.EncodeAll(make([]byte, most+1), nil), most)
	if !errors.Is(err, files.ErrTooLarge) {
		t.Error(err)
	}
	claims := append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0}, 0, 0, 0, 0x80, 1, 0, 0, 0) // 6 GB, without data
	if _, err := files.Decompress(z, claims, most); !errors.Is(err, files.ErrTooLarge) ||
		!strings.Contains(err.Error(), "6144 MB, expected at most 1") {
		t.Error(err)
	}
	var stream bytes.Buffer
	s, err := zstd.NewWriter(&stream)
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if _, err := s.Write(make([]byte, most)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Decompress(z, stream.Bytes(), most); err == nil ||
		!strings.Contains(err.Error(), "the decompressed size is missing") {
		t.Error(err)
	}
}
