// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"context"
	"io"
	"path/filepath"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/files"
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
	return files.Parse(ctx, path, files.Topology, func(r io.Reader, _ string) (*File, error) {
		return ReadBeside(ctx, r, path, o)
	})
}

// ReadBeside is [ReadFile] of a file that is open.
func ReadBeside(ctx context.Context, r io.Reader, path string, o Options) (*File, error) {
	if o.Open == nil {
		o.Open = includer(ctx, filepath.Dir(path))
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
// O(file size), at most 2 Mi ports.
func Read(ctx context.Context, r io.Reader, name string, o Options) (*File, error) {
	p := newParser(o)
	if err := p.file(ctx, r, name); err != nil {
		return nil, err
	}
	return p.finish()
}

func includer(ctx context.Context, top string) func(name, from string) (io.ReadCloser, string, error) {
	return func(name, from string) (io.ReadCloser, string, error) {
		candidates := []string{name}
		if !filepath.IsAbs(name) {
			candidates = []string{filepath.Join(filepath.Dir(from), name), filepath.Join(top, name)}
		}
		var first error
		for _, path := range candidates {
			r, err := files.Open(ctx, path, files.Topology.Regular()) // no include line waits for a pipe
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
