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

// File is an open file or pipe. A goroutine owns the file of the operating system and reads ahead. After Close it ends
// when its current read returns. If a read blocks (a pipe without a writer, a network file system without its server),
// only that goroutine waits.
type File struct {
	ctx  context.Context
	path string
	kind Kind
	info fs.FileInfo

	parts  chan part
	free   chan []byte
	closed chan struct{}
	// buf is the part that is being read. The field rest is the part of buf that was not read yet.
	buf, rest []byte
	err       error
	read      int64
}

// part is the result of one read.
type part struct {
	buf []byte
	n   int
	err error
}

// opened is the result of opening a file.
type opened struct {
	info fs.FileInfo
	err  error
}

// partSize is the number of bytes read at once. Two parts are in use. With smaller parts, passing them between
// goroutines takes longer than reading.
const partSize, smallPart = 1 << 20, 16 << 10

// Open opens a file or a pipe for reading. The path - is standard input, see [WithInput]. Open rejects folders,
// devices, and files larger than the limit of kind. Later reads return the decoded content, see [Decoded], and fail
// beyond this limit. Open and later reads fail when ctx ends, even if the system does not respond.
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

// The method own opens the file, reads it and closes it, in the goroutine that owns the file.
func (f *File) own(ready chan<- opened) {
	file, info, err := open(f.ctx, f.path, f.kind)
	if err == nil && f.path != stdin {
		defer func() { _ = file.Close() }()
	}
	ready <- opened{info, err}
	if err != nil {
		return
	}
	r := Decoded(Limited(file, f.path, f.kind))
	size := partSize
	if n := info.Size(); info.Mode().IsRegular() && n > 0 && n < partSize {
		size = max(int(n)+1, smallPart)
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
		p.n, p.err = r.Read(p.buf)
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

// open opens a file or pipe and rejects everything else. It checks the kind before opening, because opening a device
// may have effects, and again after opening.
func open(ctx context.Context, path string, kind Kind) (*os.File, fs.FileInfo, error) {
	info, err := stat(ctx, path)
	if err == nil {
		err = kind.check(path, info)
	}
	if err != nil {
		return nil, nil, Err(err)
	}
	if path == stdin {
		file, err := openInput(ctx, kind)
		return file, info, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, Err(err)
	}
	if info, err = file.Stat(); err == nil {
		err = kind.check(path, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// As changes the kind of the file, after its contents were recognised. The limit of the new kind must not be higher
// than that of the old kind.
func (f *File) As(kind Kind) error {
	f.kind = kind
	return kind.check(f.path, f.info)
}

// Info returns the file information from the time of opening.
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

// next gives the current part back to the goroutine that reads ahead, and takes the next part from it.
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

// Close makes the goroutine close the file after its current read.
func (f *File) Close() error {
	close(f.closed)
	return nil
}

// Read opens a file and calls the function read with its contents.
func Read(ctx context.Context, path string, kind Kind, read func(io.Reader) error) error {
	f, err := Open(ctx, path, kind)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return read(bufio.NewReader(f))
}

// Parse opens a file, calls the function read, and returns the result. The argument name of read is the escaped path,
// for error messages.
func Parse[T any](ctx context.Context, path string, kind Kind, read func(r io.Reader, name string) (T, error)) (out T,
	err error) {
	err = Read(ctx, path, kind, func(r io.Reader) (err error) {
		out, err = read(r, plain.Escape(path))
		return err
	})
	return out, err
}

// All returns the contents of a file.
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

// Regular checks a file that another reader will open itself, such as SQLite or a reader that maps the file. It returns
// an error if the file is not regular, is too large, or does not deliver a byte before ctx ends.
func Regular(ctx context.Context, path string, kind Kind) error {
	return Read(ctx, path, kind.Regular(), func(r io.Reader) error {
		_, err := r.Read(make([]byte, 1))
		if err == io.EOF {
			return nil
		}
		return err
	})
}
