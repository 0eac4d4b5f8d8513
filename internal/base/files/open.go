// SPDX-License-Identifier: Apache-2.0

package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"example.org/ibconsole/internal/base/plain"
)

// File is a file or a pipe that is being read. A goroutine owns what the system opened and reads ahead; it ends
// with the read that it is in. A read that the system does not end (a pipe that nobody writes to, a network
// file system whose server is gone) is left to it, and nobody waits for that.
type File struct {
	ctx  context.Context
	path string
	kind Kind
	info fs.FileInfo

	parts  chan part
	free   chan []byte
	closed chan struct{}
	// buf is the part that is being read, rest what is left of it.
	buf, rest []byte
	err       error
	read      int64
}

// part is what one read of the system gave.
type part struct {
	buf []byte
	n   int
	err error
}

// opened is what came of opening.
type opened struct {
	info fs.FileInfo
	err  error
}

// partSize is how much is read at once. Two parts are under way. To hand on less costs as much as reading it.
const partSize = 1 << 20

// Open opens a file or a pipe to read, and refuses folders, devices and what is larger than its kind may be. Reading
// ends with an error that says so where it gets beyond that, and where ctx ends, whatever the system does.
func Open(ctx context.Context, path string, kind Kind) (*File, error) {
	f := &File{
		ctx: ctx, path: path, kind: kind, parts: make(chan part), free: make(chan []byte, 2),
		closed: make(chan struct{}),
	}
	ready := make(chan opened, 1)
	go f.own(ready)
	select {
	case o := <-ready:
		if o.err != nil {
			return nil, o.err
		}
		f.info = o.info
		return f, nil
	case <-ctx.Done():
		_ = f.Close()
		return nil, fmt.Errorf("open %s: %w", plain.Escape(path), ctx.Err())
	}
}

// own opens the file, reads it and closes it.
func (f *File) own(ready chan<- opened) {
	file, info, err := open(f.path, f.kind)
	if err == nil {
		defer func() { _ = file.Close() }()
	}
	ready <- opened{info, err}
	if err != nil {
		return
	}
	size := partSize
	if n := info.Size(); info.Mode().IsRegular() && n > 0 && n < partSize {
		size = int(n) + 1
	}
	for range cap(f.free) {
		f.free <- make([]byte, size)
	}
	for {
		var p part
		select {
		case p.buf = <-f.free:
		case <-f.closed:
			return
		}
		p.n, p.err = file.Read(p.buf)
		if p.err != nil && p.err != io.EOF {
			p.err = Err(p.err)
		}
		select {
		case f.parts <- p:
		case <-f.closed:
			return
		}
		if p.err != nil {
			return
		}
	}
}

// open refuses what cannot be read to an end. It looks before it opens, as to open a device may do something, and
// at what it opened.
func open(path string, kind Kind) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = kind.takes(path, info)
	}
	if err != nil {
		return nil, nil, Err(err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, Err(err)
	}
	if info, err = file.Stat(); err == nil {
		err = kind.takes(path, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// As says what kind the file turned out to be, whose limit is the lower one.
func (f *File) As(kind Kind) error {
	f.kind = kind
	return kind.takes(f.path, f.info)
}

// Info is what the system said of the file when it was opened.
func (f *File) Info() fs.FileInfo { return f.info }

// Read implements [io.Reader].
func (f *File) Read(b []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	for len(f.rest) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// next gives a part back and takes the next one.
func (f *File) next() error {
	if f.buf != nil {
		f.free <- f.buf
		f.buf = nil
	}
	select {
	case p := <-f.parts:
		f.buf, f.rest, f.err = p.buf, p.buf[:p.n], p.err
	case <-f.ctx.Done():
		return f.ctx.Err()
	}
	if f.read += int64(len(f.rest)); f.read > f.kind.Most {
		f.rest, f.err = nil, f.kind.tooLarge()
	}
	return nil
}

// Close has the file closed, once the read that the system is in has ended.
func (f *File) Close() error {
	close(f.closed)
	return nil
}

// Read opens a file for a reader.
func Read(ctx context.Context, path string, kind Kind, read func(io.Reader) error) error {
	f, err := Open(ctx, path, kind)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return read(bufio.NewReader(f))
}

// Parse is what a reader, which is told the name for its errors, escaped, makes of a file.
func Parse[T any](ctx context.Context, path string, kind Kind, read func(r io.Reader, name string) (T, error)) (out T,
	err error) {
	err = Read(ctx, path, kind, func(r io.Reader) (err error) {
		out, err = read(r, plain.Escape(path))
		return err
	})
	return out, err
}

// All returns the whole of a file.
func All(ctx context.Context, path string, kind Kind) (all []byte, err error) {
	f, err := Open(ctx, path, kind)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if f.info.Mode().IsRegular() {
		all = make([]byte, 0, f.info.Size()+1)
	}
	for {
		if len(all) == cap(all) {
			all = append(all, 0)[:len(all)]
		}
		n, err := f.Read(all[len(all):cap(all)])
		all = all[:len(all)+n]
		switch {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", plain.Escape(path), err)
		}
	}
}

// Regular refuses what a reader that is to have the file itself (it maps it, or is SQLite) cannot take: all but
// regular files, what is too large, and a file of whose beginning nothing comes before ctx ends.
func Regular(ctx context.Context, path string, kind Kind) error {
	return Read(ctx, path, kind.Regular(), func(r io.Reader) error {
		_, err := r.Read(make([]byte, 1))
		if err == io.EOF {
			return nil
		}
		return err
	})
}
