// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"example.org/ibconsole/internal/base/plain"
)

// GzipMagic is the beginning of gzip data (RFC 1952, 2.3.1).
var GzipMagic = []byte{0x1f, 0x8b}

// Unzipped is [Read] for a file that may be gzipped, as its first bytes show. A goroutine decompresses ahead of the
// reader. The limit of the kind applies to the decompressed size, too.
func Unzipped(ctx context.Context, path string, kind Kind, read func(io.Reader) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f, err := Open(ctx, path, kind)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	b := bufio.NewReaderSize(f, partSize)
	if head, err := b.Peek(len(GzipMagic)); err != nil || !bytes.Equal(head, GzipMagic) {
		return read(b) // which gets the error, too
	}
	u := &unzip{ctx: ctx, kind: kind, parts: make(chan part), free: make(chan []byte, 2), ended: make(chan struct{})}
	go u.own(b)
	err = read(u)
	cancel()
	<-u.ended
	if err != nil && u.failed != nil {
		return fmt.Errorf("%s: %w", plain.Escape(path), u.failed)
	}
	return err
}

// unzip decompresses ahead of its reader, in a goroutine that ends with the context.
type unzip struct {
	ctx       context.Context
	kind      Kind
	parts     chan part
	free      chan []byte
	ended     chan struct{}
	buf, rest []byte
	err       error
	read      int64
	failed    error // the error that ended reading, nil at the end of the file
}

func (u *unzip) own(packed io.Reader) {
	defer close(u.ended)
	z, err := gzip.NewReader(packed)
	for range cap(u.free) {
		u.free <- make([]byte, partSize)
	}
	for {
		var p part
		select {
		case p.buf = <-u.free:
		case <-u.ctx.Done():
			return
		}
		for p.err = err; p.err == nil && p.n < len(p.buf); {
			var n int
			n, p.err = z.Read(p.buf[p.n:])
			p.n += n
		}
		select {
		case u.parts <- p:
		case <-u.ctx.Done():
			return
		}
		if p.err != nil {
			return
		}
	}
}

// Read implements [io.Reader].
func (u *unzip) Read(b []byte) (int, error) {
	for len(u.rest) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		if u.buf != nil {
			u.free <- u.buf
			u.buf = nil
		}
		select {
		case p := <-u.parts:
			u.buf, u.rest, u.err = p.buf, p.buf[:p.n], p.err
		case <-u.ctx.Done():
			return 0, u.ctx.Err()
		}
		if u.read += int64(len(u.rest)); u.read > u.kind.Most {
			u.rest, u.err = nil, u.kind.tooLarge()
		}
		if u.err != nil && u.err != io.EOF {
			u.failed = u.err
		}
	}
	n := copy(b, u.rest)
	u.rest = u.rest[n:]
	return n, nil
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
