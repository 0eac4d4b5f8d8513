// SPDX-License-Identifier: Apache-2.0

// Package files opens files to read, and writes them whole or not at all.
package files

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// Open opens a file to read and refuses a folder.
func Open(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, fmt.Errorf("%s: a folder, expected a file", path)
	}
	return os.Open(path)
}

// Read opens a file for a reader.
func Read(path string, read func(io.Reader) error) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return read(bufio.NewReader(f))
}
