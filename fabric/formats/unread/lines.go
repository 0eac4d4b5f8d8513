// SPDX-License-Identifier: Apache-2.0

package unread

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

// MaxLine is the length of a line above which [EachLine] gives it as nil.
const MaxLine = 64 << 10

// EachLine calls take with each line of a text, from 1, without its newline; nil stands
// for a line longer than [MaxLine]. cut says that the last line had no newline. It ends
// with the first error of take, and where the file cannot be read or ctx ends.
func EachLine(ctx context.Context, from io.Reader, name string, take func(line int, text []byte) error) (cut bool,
	err error) {
	r := bufio.NewReaderSize(from, MaxLine)
	for line := 1; ; line++ {
		text, err := r.ReadSlice('\n')
		if err == io.EOF && len(text) == 0 {
			return cut, nil
		}
		if line%4096 == 0 && ctx.Err() != nil {
			return cut, fmt.Errorf("read %s: %w", fabric.Escape(name), ctx.Err())
		}
		long := err != nil && errors.Is(err, bufio.ErrBufferFull)
		for err != nil && errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.ReadSlice('\n')
		}
		if cut = err == io.EOF; err != nil && !cut {
			return cut, fmt.Errorf("read %s: %w", fabric.Escape(name), err)
		}
		text = bytes.TrimSuffix(text, []byte("\n"))
		if long {
			text = nil
		}
		if err := take(line, text); err != nil {
			return cut, err
		}
	}
}
