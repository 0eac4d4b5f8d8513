// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/formats/names"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines/file"
	"example.org/ibconsole/shell/session/settings"
)

// LoadReport says what [Session.Load] found.
type LoadReport struct {
	Switches  int
	Entries   int
	Remapped  int
	Option    string   // the engine's option that the file was taken for, else ""
	Ignored   string   // why a file changes nothing, "" where it does
	Groups    int      // multicast groups, whose members Entries counts
	Forgotten int      // failures and repairs on paper that a topology took the place of
	Notes     []string // what was skipped, and why

	Topology bool // the paper starts from the file now; else its routes are staged
	Links    int
	Over     string            // the kind of what was laid over tables that were there, else ""
	Routing  *compute.Restored // what became of a saved routing, nil for other kinds
	// Lost are the paths that tables leave unconnected which were kept as they are, nil where nobody asked.
	Lost *Lost
	// Unread is what of a topology could not be read.
	Unread unread.List
	// Laid says what of the tables that were there a topology goes on with, nil for nothing.
	Laid *Laid
	// Paths is what a path-record database has that was taken up for questions, nil for other kinds.
	Paths *pathdb.Info
}

// LoadOptions are how [Session.Load] takes a file.
type LoadOptions struct {
	Keep    bool // keeps routes as they are, whatever has changed, and counts the pairs that this leaves unconnected
	AsIbsim bool // reads a topology by ibsim's rules, see [formats.Options]
	Strict  bool // refuses a topology of which something cannot be read
	Alone   bool // takes a topology without the tables that are there
}

// Load reads a file. Routes are laid over the paper's fabric, or the live one,
// and staged. A topology becomes the what-if of the live tables, where these have any of
// its switches, else the base of the paper.
func (s *Session) Load(ctx context.Context, kind, path string, opt LoadOptions) (LoadReport, error) {
	op, err := s.Begin(ctx, "load")
	if err != nil {
		return LoadReport{}, err
	}
	defer op.End()
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
	return LoadReport{}, fmt.Errorf("%s is not a form that can be loaded", kind)
}

func (s *Session) loadRoutes(ctx context.Context, kind, path string, opt LoadOptions) (LoadReport, error) {
	st := s.State()
	routes, err := ReadRoutes(ctx, kind, path)
	if err != nil {
		return LoadReport{}, err
	}
	job := s.Job(&st)
	res, rep, err := compute.ApplyFile(ctx, job, routes)
	if err != nil {
		return LoadReport{}, err
	}
	if res == nil {
		return LoadReport{}, noneOfIts(path, rep.Lines())
	}
	res.Tables.Origin = fabric.Escape(filepath.Base(path))
	out := LoadReport{
		Remapped: rep.Remapped.Count, Switches: res.Figures.Switches, Entries: res.Figures.Entries,
		Notes: append(rep.Lines(), res.Figures.Warnings...),
	}
	if opt.Keep {
		if out.Lost, err = s.unconnected(ctx, res.Tables); err != nil {
			return LoadReport{}, err
		}
	}
	p := st.stagedOf(res, job.Fabric)
	s.stage(p)
	s.record(history.Load, p, "", nil)
	return out, nil
}

// noneOfIts refuses the tables of another subnet.
func noneOfIts(path string, lines []string) error {
	return fmt.Errorf("%s: none of its switches is in the subnet: %s", fabric.Escape(path), strings.Join(lines, "; "))
}

// loadOption takes a file as an option of the engine; a lid matrix is for the engine file, chosen with it.
func (s *Session) loadOption(ctx context.Context, kind, option, path string) (LoadReport, error) {
	st := s.State()
	if err := isOption(ctx, kind, path, st.Paper()); err != nil {
		return LoadReport{}, err
	}
	set := st.Settings
	chain := set.Chain
	if kind == "lid-matrix" {
		chain = []string{file.Name}
	}
	given := slices.DeleteFunc(slices.Clone(set.Given), func(g settings.Setting) bool { return g.Name == option })
	next, err := settings.Parse(ctx, chain, append(given, settings.Setting{Name: option, Value: path}))
	if err != nil {
		return LoadReport{}, err
	}
	s.SetSettings(next)
	return LoadReport{Option: option, Notes: next.Notes}, nil
}

// isOption refuses a file that is empty or something else, which as an option is taken
// as OpenSM takes it.
func isOption(ctx context.Context, kind, path string, f *fabric.Fabric) error {
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

// ReadRoutes reads a file of forwarding tables, of kind fdbs or else lfts.
func ReadRoutes(ctx context.Context, kind, path string) (*osm.RouteFile, error) {
	read := prose.When(kind == "fdbs", osm.ReadFDBs, osm.ReadLFTs)
	return files.Parse(ctx, path, files.Tables, read)
}

// LoadNames takes node names from a map, now and at later sweeps. It returns how many nodes of the subnet it names.
func (s *Session) LoadNames(ctx context.Context, path string) (int, error) {
	op, err := s.Begin(ctx, "names")
	if err != nil {
		return 0, err
	}
	defer op.End()
	m, err := names.ReadFile(ctx, path)
	if err == nil && len(m) == 0 {
		err = fmt.Errorf("%s: no name of a node, expected lines 0xGUID \"NAME\"", fabric.Escape(path))
	}
	if err != nil {
		return 0, err
	}
	named := 0
	st := s.State()
	for guid := range m {
		if st.Live.Fabric.NodeByGUID(guid) != fabric.None {
			named++
		}
	}
	s.Publish(ChangeLive|ChangePaper|ChangeStaged, func(st *State) {
		st.Names = m
		renamed := map[*fabric.Fabric]*fabric.Fabric{}
		rename := func(f *fabric.Fabric) *fabric.Fabric {
			if renamed[f] == nil {
				renamed[f] = f.WithDescriptions(m)
			}
			return renamed[f]
		}
		for _, p := range []**Picture{&st.Live, &st.Base, &st.WhatIf, &st.Staged, &st.lastBase} {
			if *p != nil {
				old := *p
				*p = old.On(rename(old.Fabric))
				(*p).Hops, (*p).Recommend, (*p).Roots, (*p).Ranks, (*p).CAOrder, (*p).Multicast = old.Hops,
					old.Recommend, old.Roots, old.Ranks, old.CAOrder, old.Multicast
			}
		}
		st.drawn.rename(rename)
	})
	return named, nil
}

// ReadTables reads routes of whatever form and lays them over a fabric.
func ReadTables(ctx context.Context, f *fabric.Fabric, path string) (*fabric.Tables, error) {
	kind := formats.Kind(ctx, path)
	switch kind {
	case "snapshot":
		return snapshotTables(ctx, f, path)
	case "fdbs":
	default:
		kind = "lfts" // whose reader says what is wrong
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

// snapshotTables are those of a snapshot or saved routing of the same subnet.
func snapshotTables(ctx context.Context, f *fabric.Fabric, path string) (*fabric.Tables, error) {
	file, err := formats.Read(ctx, path)
	switch {
	case err != nil:
		return nil, err
	case file.Tables == nil:
		return nil, fmt.Errorf("%s has no forwarding tables", fabric.Escape(path))
	case !fabric.Same(file.Fabric, f):
		return nil, fmt.Errorf("%s is of a subnet that is other than this one (try: load routing %s; compare engines "+
			"with=staged)", fabric.Escape(path), fabric.Escape(path))
	}
	t := *file.Tables
	t.Fabric = f
	return &t, nil
}
