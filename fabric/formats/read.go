// SPDX-License-Identifier: Apache-2.0

// Package formats reads a subnet from a file of whatever format the file is in. Below it
// is a package for each format: ibnet (ibnetdiscover, ibdiagnet, ibsim), linkinfo (lists of
// ports: iblinkinfo, ibnetdiscover -p), osm (what OpenSM reads and dumps), snapshot (a subnet with its tables), pathdb
// (path records), slurm and names (node-name maps).
package formats

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/formats/linkinfo"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/hugepages"
	"example.org/ibconsole/mad"
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

	// What follows is of ibdiagnet alone; nil where the file does not say it.

	// When the subnet was like that, zero where the file does not state it.
	When   time.Time
	Limits []fabric.LinkLimit // by port index
	// Counters are what ports had counted, Deltas what they counted between two readings.
	Counters *counters.Reading
	Deltas   []counters.Delta
	Health   *health.Report
	PKeys    map[uint64][]mad.PKey // by port GUID
	Managers []ibdiagnet.Manager
	Far      *ibdiagnet.Far
	// Stated says that the file states whether ports are up.
	Stated bool
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
// ports (iblinkinfo, ibnetdiscover -p), opensm-subnet.lst, the data base of ibdiagnet 2, alone or with its folder or an
// archive of that, opensm-smdb.dump and snapshots, told apart by what is in them. An error names
// the file and, where there is one, the line; for a file that is something else it
// says what it seems to be. What of a text cannot be read is left out and listed.
func Read(ctx context.Context, path string) (Subnet, error) { return ReadWith(ctx, path, Options{}) }

// Net reads an ibsim net or a topology file by ibsim's rules, see [Options].
func Net(ctx context.Context, path string) (Subnet, error) {
	return ReadWith(ctx, path, Options{AsIbsim: true})
}

// ReadWith is [Read] with options.
func ReadWith(ctx context.Context, path string, o Options) (s Subnet, err error) {
	if info, err := files.Stat(ctx, path); err == nil && info.IsDir() && !o.AsIbsim {
		return readFolder(ctx, path, o)
	}
	f, err := files.Open(ctx, path, files.Snapshot)
	if err != nil {
		return s, err
	}
	defer func() { _ = f.Close() }()
	r, format, err := sniffed(f, path)
	if m := memberOf(path); m != nil && m.suffix == ".db_csv" && format == topology {
		format = database // whose head is lost in the middle of a line
	}
	if err == nil && format != saved && format != archive {
		err = f.As(files.Topology)
		hugepages.Heap(5 * int(f.Info().Size())) // what is made of texts
	}
	switch {
	case err != nil:
		return s, err
	case (format == archive || format == database) && !o.AsIbsim:
		return readOther(ctx, path, format, o)
	case format == topology:
		return readTopology(ctx, r, path, o)
	case o.AsIbsim:
		return s, fmt.Errorf("%s: %s, which ibsim does not read; expected an ibsim net or a topology file of "+
			"ibnetdiscover", fabric.Escape(path), format)
	case format == subnetList:
		s.Fabric, err = osm.ReadSubnet(r, path, s.found(o))
		return s, err
	case format == portList:
		s.Fabric, s.Warnings, err = linkinfo.Read(ctx, r, path, s.found(o))
		return s, err
	case format == saved:
		return readSnapshot(r, path)
	}
	return s, fmt.Errorf("%s: %s, expected %s", fabric.Escape(path), format, expected)
}

// readOther reads an archive of ibdiagnet's, or its data base alone, which may be packed.
func readOther(ctx context.Context, path string, is format, o Options) (s Subnet, err error) {
	if is == archive {
		return readArchive(ctx, path, o)
	}
	err = files.Unzipped(ctx, path, files.Topology, func(r io.Reader) error {
		db, err := ibdiagnet.ReadDB(ctx, r, path, s.found(o))
		if err == nil {
			s.take(db)
		}
		return err
	})
	if info, serr := files.Stat(ctx, path); serr == nil && s.When.IsZero() {
		s.When = info.ModTime()
	}
	return s, err
}

func readTopology(ctx context.Context, r io.Reader, path string, o Options) (Subnet, error) {
	by := ibnet.Options{Reading: ibnet.AsStated, Strict: o.Strict}
	if o.AsIbsim {
		by.Reading = ibnet.AsIbsim
	}
	file, err := ibnet.ReadOpened(ctx, r, path, by)
	if err != nil {
		return Subnet{}, err
	}
	return Subnet{Fabric: file.Fabric, Warnings: file.Warnings, Unread: file.Unread}, nil
}

func readSnapshot(r io.Reader, path string) (s Subnet, err error) {
	snap, err := snapshot.Read(r)
	if err != nil {
		return s, fmt.Errorf("%s: %w", fabric.Escape(path), err)
	}
	return Subnet{Fabric: snap.Fabric, Tables: snap.Tables, Routing: snap.Routing}, nil
}

// Kind names what a file seems to be as the command load does, such as "fdbs"; ""
// for what that does not take, for a pipe and for a file that cannot be read.
func Kind(ctx context.Context, path string) string {
	f, err := files.Open(ctx, path, files.Tables.Regular())
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	_, format, err := sniffed(f, path)
	if err != nil {
		return ""
	}
	return kinds[format]
}

// found takes what cannot be read, nil where that is an error.
func (s *Subnet) found(o Options) *unread.List {
	if o.Strict {
		return nil
	}
	return &s.Unread
}

// sniffed looks at the beginning of a file, and returns a reader of all of it.
func sniffed(f io.Reader, path string) (*bufio.Reader, format, error) {
	r := bufio.NewReaderSize(f, head)
	b, err := r.Peek(head)
	if err != nil && err != io.EOF {
		return nil, "", fmt.Errorf("read %s: %w", fabric.Escape(path), err)
	}
	return r, sniff(b), nil
}
