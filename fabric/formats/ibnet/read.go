// SPDX-License-Identifier: Apache-2.0

// Package ibnet reads and writes subnets in the format of ibnetdiscover and ibsim. A file has a record for each node,
// with a line for each cabled port.
//
// A file is read either literally or by ibsim's rules, see [Reading].
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
	// AsStated uses the GUIDs, widths and speeds in the file, even if only one end of a link states them. Properties
	// that the file does not state get the values of AsIbsim: node GUIDs are counted, a port GUID is the node GUID plus
	// the port number, and a link runs at the highest rate that both ends enable.
	AsStated Reading = iota
	// AsIbsim returns the subnet that a subnet manager finds if ibsim 0.10 simulates the file. A port GUID is the node
	// GUID plus the port number, whatever the brackets contain. Descriptions end at 63 bytes. A link runs at the
	// highest rate that both ends enable. Rates that ibsim does not know (above HDR) count as SDR.
	AsIbsim
)

// Options control how a file is read. The zero value selects AsStated.
type Options struct {
	Reading Reading
	// Strict makes the first fault an error. Otherwise faults are listed in File.Unread.
	Strict bool
	// Open opens the file that an include line names. The argument from is the name of the including file. If Open is
	// nil, include lines are faults.
	Open func(name, from string) (io.ReadCloser, string, error)
}

// File is the content of a file.
type File struct {
	Fabric   *fabric.Fabric
	Warnings []string
	// Unread lists the parts of the file that could not be read.
	Unread unread.List
}

// ReadFile reads a file and the files that it includes. It searches for an included file in the folder of the including
// file, then in the folder of the main file. See [Read].
func ReadFile(ctx context.Context, path string, o Options) (*File, error) {
	return files.Parse(ctx, path, files.Topology, func(r io.Reader, _ string) (*File, error) {
		return ReadOpened(ctx, r, path, o)
	})
}

// ReadOpened is like [ReadFile], for a file that is already open.
func ReadOpened(ctx context.Context, r io.Reader, path string, o Options) (*File, error) {
	if o.Open == nil {
		o.Open = includer(ctx, filepath.Dir(path))
	}
	return Read(ctx, r, path, o)
}

// Read reads one file. The argument name identifies the file in errors. The nodes keep the order of the file, and the
// SM's port is a port of the first node. Nodes without a path to the SM's port are in the fabric, but not InSubnet.
//
// Read skips unreadable parts and lists them with file and line. Such parts are invalid lines, numbers out of range,
// missing or repeated nodes and ports, and cables whose ends disagree. With Strict, the first fault is returned as an
// error. A file without a node is always an error.
//
// A cable that only one end lists is accepted. If two ports have the same GUID or LID, the first port keeps it. O(file
// size), at most 2 Mi ports.
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
