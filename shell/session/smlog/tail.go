// SPDX-License-Identifier: Apache-2.0

package smlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"example.org/ibconsole/internal/base/files"
)

const (
	// maxBack is the maximum number of bytes before the end of the file that are read when following begins.
	maxBack = 16 << 20
	// maxLine is the maximum length of a line. The rest of a longer line is skipped.
	maxLine = 64 << 10
	// sameBytes is the number of bytes before the position that are compared to detect that another text replaced them.
	sameBytes = 256
)

// tail reads the lines that a program appends to a file. It continues after the file was renamed and created again,
// truncated, or replaced.
type tail struct {
	path   string
	file   *os.File
	offset int64
	before []byte // the bytes before offset, at most sameBytes
	rest   []byte // a line without its end
}

// open opens the file. If the file is opened for the first time, the function head receives its first line, and the
// position is at most maxBack bytes before its end.
func (t *tail) open(first bool, head func(line string)) error {
	// A pipe without a writer would block without O_NONBLOCK.
	f, err := os.OpenFile(t.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return files.Err(err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	t.file, t.offset, t.before, t.rest = f, 0, nil, nil
	if !first || info.Size() <= maxBack {
		return nil
	}
	b := make([]byte, maxLine)
	n, err := f.ReadAt(b, 0)
	if line, _, ok := bytes.Cut(b[:n], []byte("\n")); ok {
		head(string(line))
	}
	t.offset = info.Size() - maxBack
	t.rest = []byte{'-'} // the first line is not whole
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// read calls the function take with each new line. It returns an error if the file cannot be read.
func (t *tail) read(take func(line string)) error {
	if t.file == nil {
		if err := t.open(false, nil); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the file does not exist yet, and is followed once it exists: %w", err)
		} else if err != nil {
			return err
		}
	}
	for {
		if err := t.toEnd(take); err != nil {
			return errors.Join(err, t.close())
		}
		there, err := os.Stat(t.path)
		if err != nil {
			return fmt.Errorf("the file is gone: %w", files.Err(err)) // the old file stays open: its writer may go on
		}
		if info, err := t.file.Stat(); err != nil || os.SameFile(there, info) {
			return err
		}
		// The old file may have got lines before the new file was created.
		if err := errors.Join(t.toEnd(take), t.close()); err != nil {
			return err
		}
		if err := t.open(false, nil); err != nil {
			return err
		}
	}
}

// toEnd reads the open file to its end, from the beginning if the text before the position changed.
func (t *tail) toEnd(take func(line string)) error {
	was := make([]byte, len(t.before))
	n, err := t.file.ReadAt(was, t.offset-int64(len(was)))
	if err != nil && !errors.Is(err, io.EOF) {
		return files.Err(err)
	}
	if !bytes.Equal(was[:n], t.before) {
		t.offset, t.before, t.rest = 0, nil, nil
	}
	b := make([]byte, maxLine)
	for {
		n, err := t.file.ReadAt(b, t.offset)
		t.offset += int64(n)
		t.add(b[:n], take)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return files.Err(err)
		}
	}
}

func (t *tail) add(b []byte, take func(line string)) {
	t.before = append(t.before, b...)
	t.before = bytes.Clone(t.before[max(0, len(t.before)-sameBytes):])
	for {
		line, more, ok := bytes.Cut(b, []byte("\n"))
		t.rest = append(t.rest, line[:min(len(line), max(0, maxLine-len(t.rest)))]...)
		if !ok {
			return
		}
		take(string(t.rest))
		t.rest, b = t.rest[:0], more
	}
}

// close closes the file. The tail can be read again.
func (t *tail) close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file = nil
	return err
}
