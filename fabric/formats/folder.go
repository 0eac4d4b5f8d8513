// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/parallel"
)

// member describes a kind of file that ibdiagnet writes. The end of the file name identifies the kind.
type member struct {
	suffix  string
	kind    files.Kind
	without string // what is unknown without it, "" if its absence is not reported
	read    func(g *gathered, r io.Reader, name string) error
}

// members lists the kinds of files that are read. A folder has at most one file of each kind. The files do not depend
// on each other, so they can be read in parallel and in any order.
var members = []*member{
	{".db_csv", files.Topology, "", (*gathered).readDB},
	{"smdb.dump", files.Topology, "", (*gathered).readSMDB},
	{".fdbs", files.Tables, "", func(g *gathered, r io.Reader, name string) (err error) {
		g.fdbs, err = ibdiagnet.ReadFDBs(g.ctx, r, name, g.unreadList(".fdbs"))
		return err
	}},
	{".far", files.Tables, "adaptive-routing groups", func(g *gathered, r io.Reader, name string) (err error) {
		g.far, err = ibdiagnet.ReadFar(g.ctx, r, name, g.unreadList(".far"))
		return err
	}},
	{".mcfdbs", files.Entries, "multicast tables", func(g *gathered, r io.Reader, _ string) (err error) {
		g.mcfdbs, err = io.ReadAll(r)
		return err
	}},
	{".slvl", files.Tables, "SL2VL tables", func(g *gathered, r io.Reader, name string) (err error) {
		g.slvl, err = ibdiagnet.ReadSLVL(g.ctx, r, name, g.unreadList(".slvl"))
		return err
	}},
	{".net_dump_ext", files.Topology, "bit error rates", func(g *gathered, r io.Reader, name string) (err error) {
		g.bers, err = ibdiagnet.ReadBERs(g.ctx, r, name, g.unreadList(".net_dump_ext"))
		return err
	}},
}

// memberOf returns the kind of the file with this name, nil if ibconsole does not read the file.
func memberOf(name string) *member {
	for _, packed := range []string{".gz", ".xz", ".zst", ".bz2"} {
		name = strings.TrimSuffix(name, packed)
	}
	for _, m := range members {
		if strings.HasSuffix(name, m.suffix) {
			return m
		}
	}
	return nil
}

// gathered holds the content of a folder or an archive. Each member is read by its own goroutine.
type gathered struct {
	ctx    context.Context
	name   string // of the folder or the archive
	strict bool
	wanted string  // the state of an incident to read from an archive
	state  *Subnet // that state, nil for other archives

	db, smdb  *ibdiagnet.DB
	fdbs, far *ibdiagnet.Far
	slvl      *ibdiagnet.SLVL
	bers      ibdiagnet.BERs
	mcfdbs    []byte

	mu     sync.Mutex
	names  map[string]string // the members that exist, by suffix
	lists  map[string]*unread.List
	failed map[string]error
	when   map[string]time.Time // modification times of members
}

func gather(ctx context.Context, name string, o Options) *gathered {
	return &gathered{ctx: ctx, name: name, strict: o.Strict, wanted: o.state,
		names: map[string]string{}, lists: map[string]*unread.List{}, failed: map[string]error{},
		when: map[string]time.Time{}}
}

func (g *gathered) readDB(r io.Reader, name string) (err error) {
	g.db, err = ibdiagnet.ReadDB(g.ctx, r, name, g.unreadList(".db_csv"))
	return err
}

func (g *gathered) readSMDB(r io.Reader, name string) (err error) {
	g.smdb, err = ibdiagnet.ReadDB(g.ctx, r, name, g.unreadList("smdb.dump"))
	return err
}

// unreadList returns a list that collects the unread parts of the member with this suffix. It returns nil in strict
// mode, in which unread parts are errors.
func (g *gathered) unreadList(suffix string) *unread.List {
	if g.strict {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	l := &unread.List{}
	g.lists[suffix] = l
	return l
}

// setName records a member.
func (g *gathered) setName(m *member, name string, when time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.names[m.suffix], g.when[m.suffix] = name, when
}

// setError records the error from reading a member, nil if the member was read.
func (g *gathered) setError(m *member, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed[m.suffix] = err
}

// readFolder reads a folder of ibdiagnet.
func readFolder(ctx context.Context, folder string, o Options) (s Subnet, err error) {
	l, err := files.Folder(ctx, folder)
	if err != nil {
		return s, err
	}
	g := gather(ctx, folder, o)
	chosen := map[*member]string{}
	for _, e := range l.Entries {
		m := memberOf(e.Name)
		if m == nil || e.Folder {
			continue
		}
		if old, ok := chosen[m]; ok {
			if ours(old) == ours(e.Name) {
				return s, fmt.Errorf("%s: two files whose names end in %s, expected one",
					fabric.Escape(folder), m.suffix)
			}
			if ours(old) {
				continue
			}
		}
		chosen[m] = e.Name
	}
	var wait sync.WaitGroup
	var crash parallel.Crash
	for m, name := range chosen {
		path := filepath.Join(folder, name)
		var when time.Time
		if info, err := files.Stat(ctx, path); err == nil {
			when = info.ModTime()
		}
		g.setName(m, path, when)
		wait.Go(func() {
			crash.Recover(func() {
				g.setError(m, files.Read(ctx, path, m.kind, func(r io.Reader) error { return m.read(g, r, path) }))
			})
		})
	}
	wait.Wait()
	crash.Repanic()
	return g.subnet()
}

// ours reports whether ibdiagnet writes a file of this name. OpenSM may have written other files into the same folder.
func ours(name string) bool { return strings.HasPrefix(name, "ibdiagnet") }

// subnet makes the subnet from all members.
func (g *gathered) subnet() (s Subnet, err error) {
	if err := g.ctx.Err(); err != nil {
		return s, fmt.Errorf("read %s: %w", fabric.Escape(g.name), err)
	}
	name := fabric.Escape(g.name)
	db, base := g.db, ".db_csv"
	if g.names[base] == "" {
		db, base = g.smdb, "smdb.dump"
	}
	switch {
	case g.names[base] == "":
		return s, fmt.Errorf("%s: no file whose name ends in .db_csv or smdb.dump, expected a folder of ibdiagnet",
			name)
	case g.failed[base] != nil:
		return s, g.failed[base]
	}
	s.set(db)
	if s.When.IsZero() {
		s.When = g.when[base]
	}
	var none []string
	for _, m := range members {
		err := g.failed[m.suffix]
		switch {
		case err != nil && (g.strict || errors.Is(err, files.ErrTooLarge)):
			return s, err
		case err != nil:
			s.Warnings = append(s.Warnings, fmt.Sprintf("not read: %v", err))
		case g.names[m.suffix] == "" && m.without != "":
			none = append(none, fmt.Sprintf("%s (%s)", m.suffix, m.without))
		}
		if l := g.lists[m.suffix]; l != nil && (m.suffix == base || m.suffix != ".db_csv" && m.suffix != "smdb.dump") {
			s.Unread.Merge(l)
		}
	}
	if len(none) > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%s: no file whose name ends in %s", name,
			strings.Join(none, ", ")))
	}
	return s, g.addTables(&s)
}

// set sets the content of a database.
func (s *Subnet) set(db *ibdiagnet.DB) {
	s.Fabric, s.When, s.Limits, s.Warnings = db.Fabric, db.When, db.Limits, db.Warnings
	s.Counters, s.Deltas, s.Health, s.PKeys, s.Managers, s.Stated = db.Counters, db.Deltas, db.Health, db.PKeys,
		db.Managers, true
}

// addTables adds the content of the other members, such as forwarding tables and counters, to the subnet.
func (g *gathered) addTables(s *Subnet) (err error) {
	warn := func(more []string) { s.Warnings = append(s.Warnings, more...) }
	if g.bers != nil {
		warn(g.bers.On(s.Fabric, s.Health, g.names[".net_dump_ext"]))
	}
	s.Far = g.far
	from, file := g.fdbs, g.names[".fdbs"]
	if from == nil {
		from, file = g.far, g.names[".far"]
	}
	if from == nil || s.Fabric.MaxLID == 0 {
		warn([]string{
			fabric.Escape(g.name) + ": no forwarding tables, expected a file whose name ends in .fdbs or .far",
		})
		return nil
	}
	t, warnings, err := from.Tables(s.Fabric, file)
	if err != nil {
		return err
	}
	warn(warnings)
	if g.fdbs != nil && g.far != nil {
		warn(ibdiagnet.Differ(g.fdbs, g.far, g.names[".fdbs"], g.names[".far"]))
	}
	if g.far != nil {
		t.Adaptive = g.far.Adaptive(s.Fabric)
	}
	t.Unread = fabric.Unread{SLs: true, SL2VL: true} // ibdiagnet does not write the SLs of paths
	if g.slvl != nil {
		if t.SL2VL, warnings = g.slvl.Tables(s.Fabric, g.names[".slvl"]); t.SL2VL != nil {
			t.Unread.SL2VL = false
		}
		warn(warnings)
	}
	s.Tables = t
	if g.mcfdbs == nil {
		return nil
	}
	mft, report, err := osm.ReadMCFDBs(bytes.NewReader(g.mcfdbs), fabric.Escape(g.names[".mcfdbs"]), s.Fabric)
	if err != nil {
		if g.strict {
			return err
		}
		warn([]string{fmt.Sprintf("not read: %v", err)})
		return nil
	}
	for _, l := range report.Lines() {
		warn([]string{fabric.Escape(g.names[".mcfdbs"]) + ": " + l})
	}
	if t.MFT = mft; slices.Contains(report.Missing, true) {
		mft.Unread = report.Missing
	}
	return nil
}
