// SPDX-License-Identifier: Apache-2.0

package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const maxLine = 1 << 20 // the longest line that is read without editing, in bytes

// lineReader reads lines from a file as they arrive.
type lineReader struct {
	file    *os.File
	pending []byte
	ended   bool
}

// next returns the next line without its newline. At the end of the file it returns io.EOF. If ctx ends, it returns the
// cause.
func (r *lineReader) next(ctx context.Context) (string, error) {
	searched := 0
	for {
		if n := bytes.IndexByte(r.pending[searched:], '\n'); n >= 0 {
			return r.take(searched + n), nil
		}
		searched = len(r.pending)
		switch {
		case r.ended && searched > 0:
			return r.take(searched), nil
		case r.ended:
			return "", io.EOF
		case searched > maxLine:
			return "", fmt.Errorf("a line of the input has more than %d bytes", maxLine)
		}
		if err := r.fill(ctx); err != nil {
			return "", err
		}
	}
}

// The method take returns the first n pending bytes, and drops the newline that follows them.
func (r *lineReader) take(n int) string {
	line := bytes.TrimSuffix(r.pending[:n], []byte("\r"))
	r.pending = r.pending[min(n+1, len(r.pending)):]
	return string(line)
}

func (r *lineReader) fill(ctx context.Context) error {
	buffer := make([]byte, 64<<10)
	n, err := readInput(ctx, r.file, buffer)
	r.pending = append(r.pending, buffer[:n]...)
	r.ended = n == 0
	return err
}

// readInput waits for input and reads it. It returns 0 at the end of the file. If ctx ends, it returns the cause.
func readInput(ctx context.Context, file *os.File, buffer []byte) (int, error) {
	fd := int(file.Fd())
	for {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		ready, err := awaitInput(fd, 5*idleAfter)
		if err != nil {
			return 0, fmt.Errorf("wait for input: %w", err)
		}
		if !ready {
			continue
		}
		n, err := ignoringEINTR(func() (int, error) { return unix.Read(fd, buffer) })
		switch {
		case errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.EIO): // the terminal was closed
			return 0, nil
		case err != nil:
			return 0, fmt.Errorf("read the input: %w", err)
		}
		return n, nil
	}
}

// Input reads a file or a pipe that may stay silent. If the context ends, its reads return the cause.
type Input struct {
	ctx  context.Context
	file *os.File
}

// NewInput returns a reader of file whose reads fail when ctx ends.
func NewInput(ctx context.Context, file *os.File) *Input { return &Input{ctx, file} }

// Read implements [io.Reader].
func (i *Input) Read(b []byte) (int, error) {
	n, err := readInput(i.ctx, i.file, b)
	if n == 0 && err == nil && len(b) > 0 {
		err = io.EOF
	}
	return n, err
}

// Ready reports whether a byte or the end of the file arrives within the given time.
func (i *Input) Ready(within time.Duration) (bool, error) {
	for end := time.Now().Add(within); ; {
		if i.ctx.Err() != nil {
			return false, context.Cause(i.ctx)
		}
		ready, err := awaitInput(int(i.file.Fd()), 5*idleAfter)
		if err != nil || ready || time.Now().After(end) {
			return ready, err
		}
	}
}

// ReadLine shows a prompt and reads one line from a terminal in line mode, the mode of a terminal while a command runs.
// It returns io.EOF at the end of input. If ctx ends, it returns the cause.
func ReadLine(ctx context.Context, in *os.File, out io.Writer, prompt string) (string, error) {
	if _, err := io.WriteString(out, prompt); err != nil {
		return "", err
	}
	r := lineReader{file: in}
	return r.next(ctx)
}

// runLines executes lines from a file that is not a terminal.
func runLines(ctx context.Context, o *Options) error {
	r := lineReader{file: o.In}
	for {
		line, err := r.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = o.execute(ctx, line)
		}
		if errors.Is(err, ErrExit) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// runPlain reads lines from a terminal that cannot edit lines.
func runPlain(ctx context.Context, o *Options) error {
	l := startLoop(ctx, o, plain{o})
	defer l.stop()
	r := lineReader{file: o.In}
	for {
		o.print(o.Prompt())
		line, err := r.next(l.ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := l.execute(line); errors.Is(err, ErrExit) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// plain is a [lineTerminal] in line mode.
type plain struct{ o *Options }

// interrupt shows the prompt again, because the terminal has dropped the line.
func (p plain) interrupt() { p.o.print("\n" + p.o.Prompt()) }

func (plain) redraw()  {}
func (plain) close()   {}
func (plain) restore() {}
