// SPDX-License-Identifier: Apache-2.0

// Package ibnet reads and writes subnets in the form of ibnetdiscover and ibsim: a record for each node, with a line
// for each cabled port.
//
// A file is read as it is, or by ibsim's rules, see [Reading].
package ibnet

import (
	"context"
	"io"
	"path/filepath"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/files"
)

// Reading selects the rules by which a file is read.
type Reading uint8

const (
	// AsStated uses the GUIDs, widths and speeds in the file, even if only one end of a link states them. Missing
	// properties are those of AsIbsim: node GUIDs are counted, a port GUID is the node GUID plus the port number, and a
	// link runs at the best rate that both ends enable.
	AsStated Reading = iota
	// AsIbsim returns the subnet that a subnet manager finds over ibsim 0.10 with this file. Port GUIDs count from the
	// node GUID whatever is in brackets. Descriptions end at 63 bytes. A link runs at the best rate that both ends
	// enable, of the rates that ibsim knows (up to HDR; others count as SDR).
	AsIbsim
)

// Options control how a file is read. The zero value reads it as stated.
type Options struct {
	Reading Reading
	// Strict returns the first fault as an error.
	Strict bool
	// Open opens the file in an include line; from is the name of the including file. Nil refuses such lines.
	Open func(name, from string) (io.ReadCloser, string, error)
}

// File is the content of a file.
type File struct {
	Fabric   *fabric.Fabric
	Warnings []string
	// Unread lists the parts that could not be read.
	Unread unread.List
}

// ReadFile reads a file and its included files. An included name is searched for in the folder of the including file,
// then in that of the first file. See [Read].
func ReadFile(ctx context.Context, path string, o Options) (*File, error) {
	return files.Parse(ctx, path, files.Topology, func(r io.Reader, _ string) (*File, error) {
		return ReadOpened(ctx, r, path, o)
	})
}

// ReadOpened is [ReadFile] for a file that is already open.
func ReadOpened(ctx context.Context, r io.Reader, path string, o Options) (*File, error) {
	if o.Open == nil {
		o.Open = includer(ctx, filepath.Dir(path))
	}
	return Read(ctx, r, path, o)
}

// Read reads one file; name identifies it in errors. The nodes keep the order of the file, and the first one has the
// SM's port. Nodes without a path to it are in the fabric, but not InSubnet.
//
// Unreadable parts are skipped and listed with file and line: invalid lines, numbers out of range, missing or repeated
// nodes and ports, cables whose ends disagree. A cable that only one end lists is accepted. The first of two ports with
// one GUID or LID keeps it. With Strict the first fault is returned as an error. A file without a node is always an
// error. O(file size), at most 2 Mi ports.
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
			r, err := files.Open(ctx, path, files.Topology.Regular()) // an include line must not wait for a pipe
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
