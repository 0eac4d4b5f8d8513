// SPDX-License-Identifier: Apache-2.0

package files

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"example.org/ibconsole/internal/base/plain"
)

// Stat is [os.Stat] with a context: it returns when ctx ends, even if the system does not respond. The path - is
// standard input.
func Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	ready := make(chan opened, 1)
	go func() {
		info, err := stat(ctx, path)
		ready <- opened{info, err}
	}()
	select {
	case o := <-ready:
		return o.info, o.err
	case <-ctx.Done():
		return nil, fmt.Errorf("stat %s: %w", plain.Escape(path), ctx.Err())
	}
}

func stat(ctx context.Context, path string) (fs.FileInfo, error) {
	if path != stdin {
		return os.Stat(path)
	}
	in, err := inputOf(ctx)
	if err != nil {
		return nil, err
	}
	return in.file.Stat()
}
