// SPDX-License-Identifier: Apache-2.0

// Package dumps writes states of the subnet in the file formats of OpenSM, infiniband-diags and ibdiagnet.
package dumps

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/formats/plans"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/routing/engines/assign"
	"example.org/ibconsole/routing/paths"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/loading"
	"example.org/ibconsole/shell/session/partitions"
)

// Form is a file format for routes or for a topology.
type Form struct {
	Kind      string
	Summary   string
	Help      string // in addition to the summary, "" for none
	Routes    bool   // the file holds forwarding tables, not a topology
	WriteOnly bool   // the file cannot be loaded
	Over      bool   // loading replaces a part of the existing tables
	groups    bool   // the file holds multicast groups, which belong to the session
	Folder    bool   // the form is a folder of files, which [Folder] writes
	write     func(w io.Writer, p *session.Picture) error
	Option    string // the engine's option that loading sets, "" for routes and topologies
}

// Forms lists the file formats that [Write] writes and [session.Session.Load] reads.
var Forms = []Form{
	{Kind: "lfts", Summary: "forwarding tables, as opensm-lfts.dump", Routes: true, write: writeLFTs},
	{Kind: "fdbs", Summary: "forwarding tables with hops, as opensm.fdbs", Routes: true, write: writeFDBs},
	{Kind: "subnet", Summary: "all links, as opensm-subnet.lst", write: writeSubnet},
	{Kind: "topology", Summary: "all nodes and links, as ibnetdiscover prints them", write: writeTopology},
	{
		Kind: "lid-matrix", Summary: "hop counts, as opensm-lid-matrix.dump", write: writeLIDMatrix,
		Option: "lid_matrix_dump_file",
	},
	{Kind: "guid2lid", Summary: "the LIDs of all ports, as guid2lid", Option: "guid2lid"},
	{Kind: "ca-order", Summary: "ftree's compute nodes, as opensm-ftree-ca-order.dump", Routes: true, WriteOnly: true,
		write: writeCAOrder},
	{Kind: "sl2vl", Summary: "the VLs of service levels, as opensm-sl2vl.dump", Routes: true, Over: true,
		write: writeSL2VL},
	{Kind: "sls", Summary: "the service levels of paths", Routes: true, Over: true, write: writePathSLs},
	{Kind: loading.RoutingKind, Summary: "routes with their topology, min-hop tables and roots", Routes: true,
		write: writeRouting,
		Help:  "The routes are compared with the subnet when they are loaded."},
	{Kind: "mcfdbs", Summary: "multicast tables, as opensm.mcfdbs", Routes: true, Over: true, write: writeMCFDBs},
	{Kind: "groups", Summary: "multicast groups and their members, as opensm-sa.dump", groups: true},
	{Kind: "paths", Summary: "the path records of all pairs, with the switches", Routes: true,
		Help: "The file is mapped and queried in place."},
	{Kind: "ibdiagnet", Summary: "a folder in the format of ibdiagnet 2", Folder: true, WriteOnly: true,
		Help: "The folder has db_csv, and fdbs, far, mcfdbs and slvl where there are tables."},
	{Kind: "cabling", Summary: "a cabling plan, as the NDT of UFM", WriteOnly: true, write: writeCabling,
		Help: "The command check cabling reads it. Links inside directors are not cables."},
	{Kind: "snapshot", Summary: "a snapshot: one file with all data of a state", write: writeSnapshot,
		Help: "The snapshot has nodes, links, LIDs and tables."},
}

// Setup returns the commands that compute or read what the form holds, for the examples of help.
func (d *Form) Setup() string {
	switch d.Kind {
	case "mcfdbs", "groups":
		return "load groups opensm-sa.dump; route; "
	case "ca-order":
		return "engine ftree; route; "
	case "sl2vl":
		return "engine dfsssp qos=yes; route; "
	}
	return "engine dfsssp; route; "
}

// ErrNoCAOrder is returned if the engine that computed the tables has no order of compute nodes.
var ErrNoCAOrder = errors.New("the engine that routed does not order compute nodes; hint: run 'engine ftree; route'")

func formOf(kind string) (Form, error) {
	for _, d := range Forms {
		if d.Kind == kind {
			return d, nil
		}
	}
	return Form{}, fmt.Errorf("unknown form %q", kind)
}

// Write writes a state in the file format kind and returns the title of the state.
func Write(ctx context.Context, s *session.Session, kind string, of session.Kind, w io.Writer) (title string,
	err error) {
	d, err := formOf(kind)
	if err != nil {
		return "", err
	}
	st := s.State()
	p, err := st.Subject(of)
	if d.Routes && err == nil {
		p, err = st.FreshTablesOf(of)
	}
	if err != nil {
		return "", err
	}
	out := &contextWriter{ctx, w}
	switch {
	case d.Folder:
		err = files.ErrStream
	case d.groups:
		err = writeGroups(out, &st, p)
	case kind == "guid2lid":
		err = osm.WriteGUID2LID(out, st.GUID2LID(p))
	case kind == "paths":
		err = writePaths(ctx, out, &st, p)
	default:
		err = d.write(out, p)
	}
	if err != nil {
		return "", err
	}
	return st.Title(p), nil
}

// contextWriter is a writer that fails after its context ends, so that a long dump can be interrupted.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c *contextWriter) Write(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(b)
}

func writeCabling(w io.Writer, p *session.Picture) error {
	return plans.Write(w, p.Fabric, plans.Formats[0], true)
}

func writeLFTs(w io.Writer, p *session.Picture) error { return osm.WriteLFTs(w, p.Tables) }

func writeFDBs(w io.Writer, p *session.Picture) error {
	hops := p.HopTable()
	if p.Recommend != nil {
		return osm.WriteFDBs(w, p.Tables, hops, p.Recommend(hops))
	}
	// The options with which the tables were computed are unknown. This is what OpenSM with its file engine and no
	// options would choose.
	return osm.WriteFDBs(w, p.Tables, hops, assign.Recommend(p.Fabric, hops, &routing.Options{}, nil, p.Tables))
}

func writeCAOrder(w io.Writer, p *session.Picture) error {
	if p.CAOrder == nil {
		return ErrNoCAOrder
	}
	return osm.WriteCAOrder(w, p.Fabric, p.CAOrder)
}

func writeLIDMatrix(w io.Writer, p *session.Picture) error {
	return osm.WriteLIDMatrix(w, p.Fabric, p.HopTable())
}

// writeSubnet writes the links in the state in which OpenSM lists them after it brought them up.
func writeSubnet(w io.Writer, p *session.Picture) error { return osm.WriteSubnet(w, p.Managed()) }

func writeTopology(w io.Writer, p *session.Picture) error {
	return ibnet.Write(w, p.Fabric, ibnet.WriteOptions{Generated: p.When})
}

func writeSnapshot(w io.Writer, p *session.Picture) error {
	return snapshot.Write(w, snapshot.Snapshot{Fabric: p.Managed(), Tables: p.Tables})
}

func writePaths(ctx context.Context, w io.Writer, st *session.State, p *session.Picture) error {
	opt := paths.Options{Trace: true, Built: p.When}
	opt.PKeys, opt.PartitionSLs = st.PartitionsOf(p.Fabric)
	image, err := paths.Build(ctx, st.PathTables(p.Tables), opt)
	if err != nil {
		return err
	}
	_, err = w.Write(image)
	return err
}

func writeRouting(w io.Writer, p *session.Picture) error {
	saved, err := loading.Saved(context.Background(), p)
	if err != nil {
		return err
	}
	return snapshot.Write(w, *saved)
}

// WriteStaged writes the staged tables as [Write] writes a routing, even if they are stale.
func WriteStaged(s *session.Session, w io.Writer) error {
	st := s.State()
	return writeRouting(w, st.Staged)
}

var (
	errNoVLs = errors.New("the SL2VL tables were neither computed nor read; hint: run 'sweep full sl2vl'")
	errNoSLs = errors.New("the routes have no service levels of their own: a path has the service level " +
		"of its partition (default 0)")
)

func writeSL2VL(w io.Writer, p *session.Picture) error {
	if p.Tables.SL2VL == nil {
		return errNoVLs
	}
	return osm.WriteSL2VL(w, p.Fabric, p.Tables.SL2VL)
}

func writePathSLs(w io.Writer, p *session.Picture) error {
	switch {
	case p.Tables.Unread.SLs:
		return partitions.ErrUnreadSLs
	case p.Tables.SLs == nil:
		return errNoSLs
	}
	return osm.WritePathSLs(w, p.Fabric, p.Tables.SLs)
}

func writeGroups(w io.Writer, st *session.State, p *session.Picture) error {
	g, err := st.GroupsOf(p)
	if err != nil {
		return err
	}
	return osm.WriteGroups(w, g.List)
}

func writeMCFDBs(w io.Writer, p *session.Picture) error {
	if p.Tables.MFT == nil {
		return mcast.ErrNoTables
	}
	return osm.WriteMCFDBs(w, p.Fabric, p.Tables.MFT)
}
