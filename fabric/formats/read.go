// SPDX-License-Identifier: Apache-2.0

// Package formats reads a subnet from a file and detects the format of the file. Each format has a package: ibnet
// (ibnetdiscover, ibdiagnet, ibsim), linkinfo (lists of ports: iblinkinfo, ibnetdiscover -p), osm (files of OpenSM),
// snapshot (a subnet with its tables), plans (cabling plans), pathdb (path records), slurm and names (node-name maps).
package formats

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats/counterdump"
	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/formats/linkinfo"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/hugepages"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// Subnet is the content of a file.
type Subnet struct {
	Fabric *fabric.Fabric
	// Tables holds the forwarding tables and other tables of a snapshot or an ibdiagnet folder. It is nil for other
	// files.
	Tables *fabric.Tables
	// Routing describes how the tables were computed. It is nil if this is not known.
	Routing *snapshot.Routing
	// Warnings holds sentences, each beginning with the name of the file.
	Warnings []string
	// Unread lists the parts of the file that could not be read.
	Unread unread.List

	// The following fields are set only for files of ibdiagnet. They are nil if the file does not contain the data.

	// When is the time at which the file was written, zero if unknown.
	When   time.Time
	Limits []fabric.LinkLimit // by port index
	// Counters holds the values of counters. Deltas holds their increase between two readings.
	Counters *counters.Reading
	Deltas   []counters.Delta
	Health   *health.Report
	PKeys    map[uint64][]mad.PKey // by port GUID
	Managers []ibdiagnet.Manager
	Far      *ibdiagnet.Far
	// Stated is set if the file contains the states of ports.
	Stated bool
}

// Options control how a file is read.
type Options struct {
	// AsIbsim selects ibsim's rules for ibsim nets and topology files, see [ibnet.AsIbsim].
	AsIbsim bool
	// Strict makes any part of the file that cannot be read an error.
	Strict bool

	state string // which state of an incident to read
}

// Read reads a file with a subnet and detects the format from the content. It reads:
//
//   - topology files of ibnetdiscover and ibdiagnet, and ibsim nets,
//   - lists of ports (iblinkinfo, ibnetdiscover -p),
//   - opensm-subnet.lst and opensm-smdb.dump,
//   - the database of ibdiagnet 2 alone, in its folder or in an archive,
//   - snapshots,
//   - the archive of an incident: the state after it, or the state that follows the path, as in ARCHIVE/before,
//   - SUBNET,COUNTERS,...: a subnet with files of counters: of perfquery and ibqueryerrors, and PORT=FILE with the
//     counters of a port (mlxlink --json).
//
// The file may be compressed or in UTF-16, see [files.Decoded]. The path - is standard input.
//
// An error contains the file and, if possible, the line. For a file of another known format, the error names the
// format. Unreadable parts of a text file are skipped and listed in the result.
func Read(ctx context.Context, path string) (Subnet, error) { return ReadWith(ctx, path, Options{}) }

// ReadWith is [Read] with options.
func ReadWith(ctx context.Context, path string, o Options) (s Subnet, err error) {
	subnet, dumps := parts(ctx, path)
	if s, err = readSubnet(ctx, subnet, o); err != nil {
		return s, err
	}
	for _, path := range dumps {
		if err := s.readCounters(ctx, path, o); err != nil {
			return Subnet{}, err
		}
	}
	return s, nil
}

// parts splits SUBNET,COUNTERS,... into the path of the subnet and the paths of counters. A file whose name has a comma
// takes precedence.
func parts(ctx context.Context, path string) (subnet string, dumps []string) {
	list := strings.Split(path, ",")
	if _, err := files.Stat(ctx, path); err == nil || len(list) == 1 {
		return path, nil
	}
	return list[0], list[1:]
}

// Version identifies the version of the files that [Read] reads, by their inodes, sizes and times. The time of the last
// change of the inode is new even if another program sets the time of modification. Version is "" if a file does not
// exist, or is a pipe, which can be read only once.
func Version(ctx context.Context, path string) string {
	var version strings.Builder
	subnet, dumps := parts(ctx, path)
	subnet, _ = stateOf(ctx, subnet)
	for _, path := range append([]string{subnet}, dumps...) {
		_, path = CutPort(path)
		info, err := files.Stat(ctx, path)
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			return ""
		}
		read := []string{path}
		if info.IsDir() {
			l, err := files.Folder(ctx, path)
			if err != nil {
				return ""
			}
			read = nil
			for _, e := range l.Entries {
				if memberOf(e.Name) != nil && !e.Folder {
					read = append(read, filepath.Join(path, e.Name))
				}
			}
		}
		for _, file := range read {
			if info, err := files.Stat(ctx, file); err == nil {
				_, _ = fmt.Fprintf(&version, "%s %d %d", file, info.ModTime().UnixNano(), info.Size())
				if st, ok := info.Sys().(*syscall.Stat_t); ok {
					_, _ = fmt.Fprintf(&version, " %d %d %v", st.Dev, st.Ino, st.Ctim)
				}
				version.WriteByte('\n')
			}
		}
	}
	return version.String()
}

// CutPort splits PORT=FILE, the name of a file with the counters of a port. The port is "" for other names. A file
// whose name has an equals sign takes precedence.
func CutPort(name string) (port, path string) {
	if !strings.Contains(name, "=") {
		return "", name // without a look at the file, whose file system may not respond
	}
	isFile := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	if isFile(name) {
		return "", name
	}
	for i := range name {
		if name[i] == '=' && isFile(name[i+1:]) {
			return name[:i], name[i+1:]
		}
	}
	if port, path, ok := strings.Cut(name, "="); ok {
		return port, path
	}
	return "", name
}

// readCounters reads a file with counters of the subnet, or PORT=FILE.
func (s *Subnet) readCounters(ctx context.Context, name string, o Options) error {
	at, path := CutPort(name)
	f, err := files.Open(ctx, path, files.Topology)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r, format, err := sniffed(f, path)
	if err != nil {
		return err
	}
	var ports []counters.Port
	switch {
	case format == linkJSON && at == "":
		return fmt.Errorf("%s: %s; hint: %s", fabric.Escape(path), format, linkHint)
	case format == linkJSON:
		port, err := portNamed(s.Fabric, at)
		if err != nil {
			return fmt.Errorf("%s: %w", fabric.Escape(name), err)
		}
		read, err := counterdump.ReadMlxlink(r, path, s.Fabric, port, f.Info().ModTime())
		if err != nil {
			return err
		}
		ports = []counters.Port{read}
	case at != "":
		return fmt.Errorf("%s: %s, expected JSON of mlxlink after PORT=", fabric.Escape(path), format)
	case format != perfquery && format != errorList:
		err := fmt.Errorf("%s: %s, expected counters of perfquery, ibqueryerrors or mlxlink", fabric.Escape(path),
			format)
		if hint := instead[format]; format == jsonText || format == switchState {
			err = fmt.Errorf("%w; hint: %s", err, hint)
		}
		return err
	default:
		ports, err = counterdump.Read(ctx, r, path, s.Fabric, f.Info().ModTime(), s.unreadList(o))
		if err != nil {
			return err
		}
	}
	if s.Counters == nil {
		s.Counters = &counters.Reading{Fabric: s.Fabric}
	}
	s.Counters.Merge(ports)
	return nil
}

// portNamed returns the port that a text names.
func portNamed(f *fabric.Fabric, text string) (fabric.PortIndex, error) {
	at, err := places.Resolve(f, text)
	switch {
	case err != nil:
		return fabric.None, err
	case f.Ports[at.Port].Num == 0 || !at.PortNamed && f.Nodes[at.Node].NumPorts > 1:
		return fabric.None, fmt.Errorf("%q names no port, expected NODE/PORT", text)
	}
	return at.Port, nil
}

func readSubnet(ctx context.Context, path string, o Options) (s Subnet, err error) {
	path, o.state = stateOf(ctx, path)
	if info, err := files.Stat(ctx, path); err == nil && info.IsDir() && !o.AsIbsim {
		return readFolder(ctx, path, o)
	}
	f, err := files.Open(ctx, path, files.Archive)
	if err != nil {
		return s, err
	}
	defer func() { _ = f.Close() }()
	r, format, err := sniffed(f, path)
	if m := memberOf(path); m != nil && m.suffix == ".db_csv" && format == topology {
		format = database // whose head is missing in the middle of a line
	}
	if err == nil && format != archive {
		err = f.As(prose.When(format == saved, files.Snapshot, files.Topology))
	}
	if err == nil && format != archive && format != saved {
		hugepages.Heap(5 * int(f.Info().Size())) // the memory for the content of texts
	}
	switch {
	case err != nil:
		return s, err
	case (format == archive || format == database) && !o.AsIbsim:
		return readOther(ctx, r, path, format, o, f.Info().ModTime())
	case format == topology:
		return readTopology(ctx, r, path, o)
	case o.AsIbsim:
		return s, fmt.Errorf("%s: ibsim does not read %s; expected an ibsim net or a topology file of "+
			"ibnetdiscover", fabric.Escape(path), format)
	case format == subnetList:
		s.Fabric, err = osm.ReadSubnet(r, path, s.unreadList(o))
		return s, err
	case format == portList:
		s.Fabric, s.Warnings, err = linkinfo.Read(ctx, r, path, s.unreadList(o))
		return s, err
	case format == saved:
		return readSnapshot(r, path)
	}
	err = fmt.Errorf("%s: %s, expected %s", fabric.Escape(path), format, expected)
	if hint := instead[format]; hint != "" {
		err = fmt.Errorf("%w; hint: %s", err, hint)
	}
	return s, err
}

// readOther reads an archive of ibdiagnet, or only the database of ibdiagnet. The argument when is the time of the
// file.
func readOther(ctx context.Context, r io.Reader, path string, format format, o Options, when time.Time) (s Subnet,
	err error) {
	if format == archive {
		return readArchive(ctx, r, path, o)
	}
	db, err := ibdiagnet.ReadDB(ctx, r, path, s.unreadList(o))
	if err != nil {
		return s, err
	}
	if s.set(db); s.When.IsZero() {
		s.When = when
	}
	return s, nil
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

// Kind returns the name that the command load uses for the format of a file, such as "fdbs". It returns "" for other
// formats, for pipes, and for files that cannot be read.
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

// HasTables reports whether a file is of a format that can hold forwarding tables and that [Read] reads: a snapshot, or
// a folder or an archive of ibdiagnet. It returns true for pipes and for files that cannot be read.
func HasTables(ctx context.Context, path string) bool {
	f, err := files.Open(ctx, path, files.Snapshot.Regular())
	if err != nil {
		return true
	}
	defer func() { _ = f.Close() }()
	_, format, err := sniffed(f, path)
	return err != nil || format == saved || format == archive || format == database
}

// unreadList returns the list to which unread parts are added. It returns nil if unread parts are errors.
func (s *Subnet) unreadList(o Options) *unread.List {
	if o.Strict {
		return nil
	}
	return &s.Unread
}

// sniffed detects the format of a file from the beginning of the file. It returns a reader for the whole file.
func sniffed(f io.Reader, path string) (*bufio.Reader, format, error) {
	r := bufio.NewReaderSize(f, head)
	b, err := r.Peek(head)
	if err != nil && err != io.EOF {
		return nil, "", fmt.Errorf("read %s: %w", fabric.Escape(path), err)
	}
	return r, sniff(b), nil
}
