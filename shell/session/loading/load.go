// SPDX-License-Identifier: Apache-2.0

// Package loading reads files of routes, topologies, multicast groups and options into a session.
package loading

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines/file"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/settings"
)

// Report describes what [Load] read.
type Report struct {
	Switches  int
	Entries   int
	Remapped  int
	Option    string   // the engine option that the file was used for, otherwise ""
	Ignored   string   // why the file changes nothing, "" if it does
	Groups    int      // multicast groups, whose members Entries counts
	Forgotten int      // simulated failures and repairs that a topology replaced
	Notes     []string // what was skipped, and why

	Topology bool // the what-if starts from the file now; otherwise its routes are staged
	Links    int
	Over     string            // the kind of tables that were replaced in the present ones, otherwise ""
	Routing  *compute.Restored // what became of a saved routing, nil for other kinds
	Lost     *Lost             // the paths that routes kept as they are leave unconnected, nil if not requested
	Unread   unread.List       // what of a topology could not be read
	Laid     *session.Laid     // what a topology uses of the present tables, nil for nothing
}

// loader loads a file into a session within an operation.
type loader struct {
	*session.Session
	op *session.Op
}

// Load reads a file. Routes are applied to the fabric of the what-if, or to the live fabric if there is no what-if, and
// staged. A topology becomes the what-if of the live tables if these contain at least one of its switches. Otherwise it
// becomes the base.
func Load(ctx context.Context, in *session.Session, kind, path string, opt session.LoadOptions) (Report, error) {
	op, err := in.Begin(ctx, "load")
	if err != nil {
		return Report{}, err
	}
	defer op.End()
	s := loader{in, op}
	switch kind {
	case "groups":
		return s.loadGroups(ctx, path)
	case "sl2vl", "sls", "mcfdbs":
		return s.loadOver(ctx, kind, path)
	case RoutingKind:
		return s.loadRouting(ctx, path, opt)
	case "lfts", "fdbs":
		return s.loadRoutes(ctx, kind, path, opt)
	case "lid-matrix":
		return s.loadOption(ctx, kind, "lid_matrix_dump_file", path)
	case "guid2lid":
		return s.loadOption(ctx, kind, kind, path)
	case "subnet", "topology", "snapshot":
		return s.loadTopology(ctx, path, opt)
	}
	return Report{}, fmt.Errorf("%s is not a kind of file that can be loaded", kind)
}

func (s loader) loadRoutes(ctx context.Context, kind, path string, opt session.LoadOptions) (Report, error) {
	st := s.State()
	routes, err := ReadRoutes(ctx, kind, path)
	if err != nil {
		return Report{}, err
	}
	job := s.Job(&st)
	res, rep, err := compute.ApplyFile(ctx, job, routes)
	if err != nil {
		return Report{}, err
	}
	if res == nil {
		return Report{}, noneOfIts(path, rep.Lines())
	}
	res.Tables.Origin = fabric.Escape(filepath.Base(path))
	out := Report{
		Remapped: rep.Remapped.Count, Switches: res.Figures.Switches, Entries: res.Figures.Entries,
		Notes: append(rep.Lines(), res.Figures.Warnings...),
	}
	if opt.Keep {
		if out.Lost, err = s.unconnected(ctx, res.Tables); err != nil {
			return Report{}, err
		}
	}
	p := st.NewStaged(res, job.Fabric)
	s.op.Stage(p)
	s.op.Record(history.Load, p, "", nil)
	return out, nil
}

// noneOfIts returns the error for tables of another subnet.
func noneOfIts(path string, lines []string) error {
	return fmt.Errorf("%s: none of its switches is in the subnet: %s", fabric.Escape(path), strings.Join(lines, "; "))
}

// loadOption sets an option of the engine to the file. For a LID matrix it also chooses the engine file.
func (s loader) loadOption(ctx context.Context, kind, option, path string) (Report, error) {
	st := s.State()
	if err := checkOption(ctx, kind, path, st.Paper()); err != nil {
		return Report{}, err
	}
	set := st.Settings
	chain := set.Chain
	if kind == "lid-matrix" {
		chain = []string{file.Name}
	}
	given := slices.DeleteFunc(slices.Clone(set.Given), func(g settings.Setting) bool { return g.Name == option })
	next, err := settings.Parse(ctx, chain, append(given, settings.Setting{Name: option, Value: path}))
	if err != nil {
		return Report{}, err
	}
	s.SetSettings(next)
	return Report{Option: option, Notes: next.Notes}, nil
}

// checkOption returns an error if a file is empty or of another kind. When an engine uses the option, the file is read
// without these checks, as by OpenSM.
func checkOption(ctx context.Context, kind, path string, f *fabric.Fabric) error {
	return files.Read(ctx, path, prose.When(kind == "lid-matrix", files.Matrix, files.List), func(r io.Reader) error {
		name := fabric.Escape(path)
		if kind == "lid-matrix" {
			_, _, err := osm.ReadLIDMatrix(r, name, f)
			return err
		}
		file, err := osm.ReadGUID2LID(r, name)
		if err != nil {
			return err
		}
		for rec := range file.Table.Records() {
			if rec.Readable {
				return nil
			}
		}
		return fmt.Errorf("%s: no LIDs of a port, expected lines \"0xGUID 0xLID 0xLID\"", name)
	})
}

// ReadRoutes reads a file of forwarding tables in the format fdbs or lfts, as kind selects.
func ReadRoutes(ctx context.Context, kind, path string) (*osm.RouteFile, error) {
	read := prose.When(kind == "fdbs", osm.ReadFDBs, osm.ReadLFTs)
	return files.Parse(ctx, path, files.Tables, read)
}

// ReadTables reads routes in any supported format, and returns them as tables of a fabric.
func ReadTables(ctx context.Context, f *fabric.Fabric, path string) (*fabric.Tables, error) {
	kind := formats.Kind(ctx, path)
	switch kind {
	case "snapshot":
		return snapshotTables(ctx, f, path)
	case "fdbs":
	default:
		kind = "lfts" // its reader reports what is wrong
	}
	routes, err := ReadRoutes(ctx, kind, path)
	if err != nil {
		return nil, err
	}
	t, rep, err := routes.Apply(f)
	if err == nil && rep.Switches == 0 {
		err = fmt.Errorf("%s: none of its switches is in the subnet", fabric.Escape(path))
	}
	return t, err
}

// snapshotTables returns the tables of a snapshot, or of a saved routing, if its subnet is the same as the fabric f.
func snapshotTables(ctx context.Context, f *fabric.Fabric, path string) (*fabric.Tables, error) {
	file, err := formats.Read(ctx, path)
	switch {
	case err != nil:
		return nil, err
	case file.Tables == nil:
		return nil, fmt.Errorf("%s has no forwarding tables", fabric.Escape(path))
	case !fabric.Same(file.Fabric, f):
		return nil, fmt.Errorf("%s is of a different subnet; hint: run 'load routing %s; compare engines "+
			"with=staged'", fabric.Escape(path), lang.Quote(fabric.Escape(path)))
	}
	t := *file.Tables
	t.Fabric = f
	return &t, nil
}

func (s loader) loadGroups(ctx context.Context, path string) (Report, error) {
	list, err := files.Parse(ctx, path, files.Groups, osm.ReadGroups)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s: no multicast group, expected \"MC Group 0xC000 : ...\"", fabric.Escape(path))
	}
	if err != nil {
		return Report{}, err
	}
	groups := &session.Groups{List: list, Origin: fabric.Escape(filepath.Base(path))}
	s.Publish(session.ChangeSettings, func(st *session.State) { st.Groups = groups })
	rep := Report{Groups: len(list)}
	st := s.State()
	f := st.Paper()
	for i := range list {
		for _, m := range list[i].Members {
			if rep.Entries++; f.PortByGUID(m.GUID) == fabric.None {
				rep.noteMissing(list[i].MLID, m.GUID)
			}
		}
	}
	return rep, nil
}

const maxMissing = 8 // how many members that are not in the subnet a report lists

// noteMissing adds a note about a member of a multicast group that is not in the subnet.
func (r *Report) noteMissing(mlid uint16, guid uint64) {
	if len(r.Notes) < maxMissing {
		r.Notes = append(r.Notes, fmt.Sprintf("port GUID 0x%016x in group 0x%04x is not in the subnet", guid, mlid))
	}
}

// loadTopology makes the topology in a file the what-if.
func (s loader) loadTopology(ctx context.Context, path string, opt session.LoadOptions) (Report, error) {
	file, err := formats.ReadWith(ctx, path, formats.Options{AsIbsim: opt.AsIbsim, Strict: opt.Strict})
	if err != nil {
		return Report{}, err
	}
	st := s.State()
	rep := Report{Topology: true, Switches: len(file.Fabric.Switches), Links: len(file.Fabric.Links()),
		Forgotten: len(st.Failures), Unread: file.Unread, Notes: file.Warnings}
	rep.Laid, err = s.op.StartFrom(&file, path, opt)
	if err != nil {
		return Report{}, err
	}
	return rep, nil
}
