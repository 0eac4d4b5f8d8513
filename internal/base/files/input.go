// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
)

// stdin is the path of standard input.
const stdin = "-"

type inputKey struct{}

// input is the standard input of the program. Only one reader can read it.
type input struct {
	file  *os.File
	taken atomic.Bool
}

// WithInput returns a context in which the path - is a file, the standard input of the program. If the file is nil, the
// path - cannot be read.
func WithInput(ctx context.Context, file *os.File) context.Context {
	return context.WithValue(ctx, inputKey{}, &input{file: file})
}

// inputOf returns standard input.
func inputOf(ctx context.Context) (*input, error) {
	in, _ := ctx.Value(inputKey{}).(*input)
	if in == nil || in.file == nil {
		return nil, errors.New("- (standard input): it has the commands or is closed, expected the name of a file")
	}
	return in, nil
}

// openInput takes standard input.
func openInput(ctx context.Context, kind Kind) (*os.File, error) {
	in, err := inputOf(ctx)
	if err != nil {
		return nil, err
	}
	if kind.regular {
		return nil, kind.notRegular(stdin)
	}
	if !in.taken.CompareAndSwap(false, true) {
		return nil, errors.New("- (standard input): it was already read")
	}
	return in.file, nil
}
