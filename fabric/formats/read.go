// SPDX-License-Identifier: Apache-2.0

// Package formats reads a subnet from a file of whatever format the file is in. Below it
// is a package for each format: ibnet (ibnetdiscover, ibdiagnet, ibsim), linkinfo (lists of
// ports: iblinkinfo, ibnetdiscover -p), osm (what OpenSM reads and dumps), snapshot (a subnet with its tables), pathdb (path records), slurm and
// names (node-name maps).
package formats

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/formats/linkinfo"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/fabric/formats/unread"
)

// Subnet is what a file holds.
type Subnet struct {
	Fabric *fabric.Fabric
	// Tables are those of a snapshot, else nil.
	Tables *fabric.Tables
	// Routing says how they were made, nil where that is not known.
	Routing *snapshot.Routing
	// Warnings are whole sentences that begin with the file's name.
	Warnings []string
	// Unread is what of the file could not be read.
	Unread unread.List
}

// Options choose how a file is read.
type Options struct {
	// AsIbsim reads an ibsim net or a topology file as a subnet manager finds it over
	// ibsim, see [ibnet.AsIbsim].
	AsIbsim bool
	// Strict refuses a file of which something cannot be read.
	Strict bool
}

// File reads the fabric of a file, see [Read].
func File(ctx context.Context, path string) (f *fabric.Fabric, warnings []string, err error) {
	s, err := Read(ctx, path)
	return s.Fabric, s.Warnings, err
}

// Read reads ibnetdiscover's and ibdiagnet's topology files, ibsim nets, lists of
// ports (iblinkinfo, ibnetdiscover -p), opensm-subnet.lst and snapshots, told apart by what is in them. An error names
// the file and, where there is one, the line; for a file that is something else it
// says what it seems to be. What of a text cannot be read is left out and listed.
func Read(ctx context.Context, path string) (Subnet, error) { return ReadWith(ctx, path, Options{}) }

// Net reads an ibsim net or a topology file by ibsim's rules, see [Options].
func Net(ctx context.Context, path string) (Subnet, error) {
	return ReadWith(ctx, path, Options{AsIbsim: true})
}

// ReadWith is [Read] with options.
func ReadWith(ctx context.Context, path string, o Options) (s Subnet, err error) {
	format, err := sniffFile(path)
	switch {
	case err != nil:
		return s, err
	case format == topology:
		return readTopology(ctx, path, o)
	case o.AsIbsim:
		return s, fmt.Errorf("%s: %s, which ibsim does not read; expected an ibsim net or a topology file of ibnetdiscover", path, format)
	case format == subnetList:
		return readSubnet(ctx, path, o)
	case format == portList:
		return readPorts(ctx, path, o)
	case format == saved:
		return readSnapshot(ctx, path)
	}
	return s, fmt.Errorf("%s: %s, expected %s", path, format, expected)
}

func readTopology(ctx context.Context, path string, o Options) (Subnet, error) {
	by := ibnet.Options{Reading: ibnet.AsStated, Strict: o.Strict}
	if o.AsIbsim {
		by.Reading = ibnet.AsIbsim
	}
	file, err := ibnet.ReadFile(ctx, path, by)
	if err != nil {
		return Subnet{}, err
	}
	return Subnet{Fabric: file.Fabric, Warnings: file.Warnings, Unread: file.Unread}, nil
}

// Kind names what a file seems to be as the command load does, such as "fdbs"; ""
// for what that does not take and for a file that cannot be read.
func Kind(path string) string {
	format, err := sniffFile(path)
	if err != nil {
		return ""
	}
	return kinds[format]
}

func readSnapshot(ctx context.Context, path string) (s Subnet, err error) {
	r, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer func() { _ = r.Close() }()
	snap, err := snapshot.Read(contextReader{ctx, r})
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return Subnet{Fabric: snap.Fabric, Tables: snap.Tables, Routing: snap.Routing}, nil
}

func readPorts(ctx context.Context, path string, o Options) (s Subnet, err error) {
	r, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer func() { _ = r.Close() }()
	s.Fabric, s.Warnings, err = linkinfo.Read(ctx, r, path, s.found(o))
	return s, err
}

// found takes what cannot be read, nil where that is an error.
func (s *Subnet) found(o Options) *unread.List {
	if o.Strict {
		return nil
	}
	return &s.Unread
}

func readSubnet(ctx context.Context, path string, o Options) (s Subnet, err error) {
	r, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer func() { _ = r.Close() }()
	s.Fabric, err = osm.ReadSubnet(contextReader{ctx, r}, path, s.found(o))
	return s, err
}

// contextReader ends a long read when its context is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}

func sniffFile(path string) (format, error) {
	st, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if st.IsDir() {
		return "", fmt.Errorf("%s: a folder, expected %s", path, expected)
	}
	r, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	head, err := bufio.NewReaderSize(r, sniffed).Peek(sniffed)
	if err != nil && err != io.EOF {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return sniff(head), nil
}
