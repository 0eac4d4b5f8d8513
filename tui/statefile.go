// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// kept returns the line that [keep] wrote to a file of the state folder, or "" without the file. It does not wait for
// pipes.
func kept(ctx context.Context, path string) (string, error) {
	text, err := files.All(ctx, path, files.State.Regular())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return strings.TrimSpace(string(text)), err
}

// keep writes a line to a file of the state folder, and creates the folder. It refuses a path that [kept] refuses,
// and does not write a line that the file has.
func keep(ctx context.Context, path, line string) error {
	if was, err := kept(ctx, path); err != nil || was == line {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return files.Err(err)
	}
	return files.Write(path, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, line)
		return err
	})
}

// noteError shows an error of a file in the state folder in the log. It does not hinder the work.
func noteError(m *model, err error) {
	m.note(pane.Line{When: m.now(), Kind: pane.LineNote, Text: draw.Clean(err.Error(), m.Look.ASCII)})
}
