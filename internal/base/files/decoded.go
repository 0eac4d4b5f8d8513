// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
	"golang.org/x/text/encoding/unicode"

	"example.org/ibconsole/internal/base/plain"
)

// maxWindow is the maximum memory for decompressed data to which compressed data refers. 'xz -9' needs 64 MB, and
// 'zstd --long' needs 128 MB.
const maxWindow = 128 * mb

// encodings lists the encodings that [Decoded] decodes. A file in an encoding begins with the given bytes, where ? is
// any byte.
var encodings = []struct {
	name, begin string
	decode      func(io.Reader) (io.Reader, error)
}{
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"xz", "\xfd7zXZ\x00", func(r io.Reader) (io.Reader, error) { return xz.NewReader(r, maxWindow) }},
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	}},
	{"bzip2", "BZh?1AY&SY", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
}

// utf16 lists the byte order marks of UTF-16.
var utf16 = []string{"\xff\xfe", "\xfe\xff"}

// longest is the maximum length in bytes of the beginnings in encodings and utf16.
const longest = 10

func begins(data []byte, with string) bool {
	for i := range len(with) {
		if i >= len(data) || data[i] != with[i] && with[i] != '?' {
			return false
		}
	}
	return true
}

// Decoded returns a reader for the content of a file. It decompresses data of gzip, xz, zstd and bzip2, and converts
// UTF-16 with a byte order mark to UTF-8. The first bytes identify the encoding. Other data is unchanged.
func Decoded(r io.Reader) io.Reader { return &decoder{raw: r} }

// decoder chooses the encoding when it is first read.
type decoder struct {
	raw, r io.Reader
	name   string // of the compression, "" if there is none
}

// Read implements [io.Reader].
func (d *decoder) Read(b []byte) (int, error) {
	if d.r == nil {
		if err := d.start(); err != nil {
			return 0, d.failed(err)
		}
	}
	n, err := d.r.Read(b)
	for d.name != "" && err == nil && n < len(b) { // decompressors return small parts
		var more int
		more, err = d.r.Read(b[n:])
		n += more
	}
	return n, d.failed(err)
}

func (d *decoder) start() error {
	r := bufio.NewReader(d.raw)
	head, _ := r.Peek(longest) // Read returns the error
	d.r = r
	for _, e := range encodings {
		if !begins(head, e.begin) {
			continue
		}
		d.name = e.name
		decoded, err := e.decode(r)
		if err != nil {
			return err
		}
		r = bufio.NewReader(decoded)
		d.r = r
		if head, err = r.Peek(longest); err != nil && err != io.EOF {
			return err
		}
		break
	}
	for _, mark := range utf16 {
		if begins(head, mark) {
			d.r = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(r)
		}
	}
	return nil
}

// failed adds the name of the compression to an error. An early end of the data is io.ErrUnexpectedEOF.
func (d *decoder) failed(err error) error {
	if err == nil || err == io.EOF || d.name == "" {
		return err
	}
	if errors.Is(err, xz.ErrBuf) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("decompress the %s data: %w", d.name, err)
}

// Limited returns a reader that fails beyond the limit of a kind.
func Limited(r io.Reader, path string, kind Kind) io.Reader {
	return &limited{r, kind.Most, kind, path}
}

type limited struct {
	r    io.Reader
	left int64
	kind Kind
	path string
}

// Read implements [io.Reader].
func (l *limited) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("%s: %w", plain.Escape(l.path), l.kind.tooLarge())
	}
	return n, err
}
