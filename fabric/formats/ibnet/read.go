// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
)

// Reading says whose eyes a file is read with.
type Reading uint8

const (
	// AsStated takes for so what the file states: GUIDs, widths and speeds, also
	// of a link of which only one end states them. What it leaves out is as AsIbsim
	// has it: node GUIDs are counted, a port's is the node's and its number, and a
	// link runs at the best rate that both ends enable.
	AsStated Reading = iota
	// AsIbsim is what a subnet manager finds over ibsim 0.10 on this file: port
	// GUIDs count from the node GUID whatever stands in brackets, descriptions
	// end at 63 bytes, and a link runs at the best rate that both ends enable,
	// of the rates that ibsim knows (up to HDR; others count as SDR).
	AsIbsim
)

// Options choose how a file is read. The zero value will do.
type Options struct {
	Reading Reading
	// Strict ends the reading with the first thing that cannot be read.
	Strict bool
	// Open opens the file named in an include line; from is the name of the file
	// that the line stands in. Nil refuses such lines.
	Open func(name, from string) (io.ReadCloser, string, error)
}

// File is what a file said.
type File struct {
	Fabric   *fabric.Fabric
	Warnings []string
	// Unread is what could not be read.
	Unread unread.List
}

// ReadFile reads a file and what it includes. An included name is looked for
// beside the including file, then beside the first file. See [Read].
func ReadFile(ctx context.Context, path string, o Options) (*File, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	if o.Open == nil {
		o.Open = includer(filepath.Dir(path))
	}
	return Read(ctx, r, path, o)
}

// Read reads one file; name stands for it in errors. The nodes keep the order
// of the file and the first one holds the SM's port. Nodes that no link leads to
// are in the fabric, but not InSubnet.
//
// What cannot be read is left out and listed with file and line: a line that is
// none, a number out of range, a node or a port that is not there or is there
// twice, a cable that the two ends do not agree on. A cable that one end names alone
// is taken. Of two with one GUID or LID the first keeps it. With Strict the first
// such thing is the error. A file without any node is one always.
// O(file size), at most 4 Mi ports.
func Read(ctx context.Context, r io.Reader, name string, o Options) (*File, error) {
	p := newParser(o)
	if err := p.file(ctx, r, name); err != nil {
		return nil, err
	}
	return p.finish()
}

func includer(top string) func(name, from string) (io.ReadCloser, string, error) {
	return func(name, from string) (io.ReadCloser, string, error) {
		candidates := []string{name}
		if !filepath.IsAbs(name) {
			candidates = []string{filepath.Join(filepath.Dir(from), name), filepath.Join(top, name)}
		}
		var first error
		for _, path := range candidates {
			r, err := openRegular(path)
			if err == nil {
				return r, path, nil
			}
			if first == nil {
				first = err
			}
		}
		return nil, "", first
	}
}

// openRegular keeps an include line from reading a device or waiting for a pipe.
func openRegular(path string) (io.ReadCloser, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return os.Open(path)
}
