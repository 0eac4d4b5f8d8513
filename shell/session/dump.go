// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/assign"
	"example.org/ibconsole/routing/paths"
)

// DumpKind is one form in which routes or a topology are written and read.
type DumpKind struct {
	Kind      string
	Summary   string
	Help      string // more than the summary, "" for nothing
	Routes    bool   // says that it holds forwarding tables, not a topology
	WriteOnly bool   // says that it cannot be loaded
	over      bool   // says that loading lays it over tables that are there
	groups    bool   // says that it holds multicast groups, which belong to the session
	folder    bool   // says that it is a folder of files
	write     func(w io.Writer, p *Picture) error
	option    string // the engine's option that loading sets, "" for routes and topologies
}

const pathsKind = "paths"

// Dumps are the forms that [Session.Dump] writes and [Session.Load] reads.
var Dumps = []DumpKind{
	{Kind: "lfts", Summary: "forwarding tables, as opensm-lfts.dump", Routes: true, write: writeLFTs},
	{Kind: "fdbs", Summary: "forwarding tables with hops, as opensm.fdbs", Routes: true, write: writeFDBs},
	{Kind: "subnet", Summary: "all links, as opensm-subnet.lst", write: writeSubnet},
	{Kind: "topology", Summary: "all nodes and links, as ibnetdiscover prints them", write: writeTopology},
	{Kind: "lid-matrix", Summary: "hop counts, as opensm-lid-matrix.dump", write: writeLIDMatrix, option: "lid_matrix_dump_file"},
	{Kind: guid2lidKind, Summary: "the LIDs of all ports, as guid2lid", option: "guid2lid"},
	{Kind: "ca-order", Summary: "ftree's compute nodes, as opensm-ftree-ca-order.dump", Routes: true, WriteOnly: true, write: writeCAOrder},
	{Kind: "sl2vl", Summary: "the VLs of service levels, as opensm-sl2vl.dump", Routes: true, over: true, write: writeSL2VL},
	{Kind: "sls", Summary: "the service levels of paths", Routes: true, over: true, write: writePathSLs},
	{Kind: routingKind, Summary: "routes with their topology, min-hop tables and roots", Routes: true, write: writeRouting,
		Help: "They are compared with the subnet when they are loaded."},
	{Kind: "mcfdbs", Summary: "multicast tables, as opensm.mcfdbs", Routes: true, over: true, write: writeMCFDBs},
	{Kind: "groups", Summary: "multicast groups and their members, as opensm-sa.dump", groups: true},
	{Kind: pathsKind, Summary: "the path records of all pairs, with the switches", Routes: true,
		Help: "The file is mapped and queried in place."},
	{Kind: ibdiagnetKind, Summary: "a folder as ibdiagnet 2 leaves it", folder: true, WriteOnly: true,
		Help: "It has db_csv, and fdbs, far, mcfdbs and slvl where there are tables."},
	{Kind: "snapshot", Summary: "everything in one file, which file: and load read", write: writeSnapshot,
		Help: "It has nodes, links, LIDs and tables."},
}

// ErrNoCAOrder says that the tables of a picture come from an engine that has no order of compute nodes.
var ErrNoCAOrder = errors.New("the engine that routed does not order compute nodes (try: engine ftree; route)")

// Folder reports whether the form is a folder, which [Session.DumpFolder] writes.
func (d *DumpKind) Folder() bool { return d.folder }

func dumpKind(kind string) (DumpKind, error) {
	for _, d := range Dumps {
		if d.Kind == kind {
			return d, nil
		}
	}
	return DumpKind{}, fmt.Errorf("no form is called %q", kind)
}

// Dump writes a picture and returns its title.
func (s *Session) Dump(ctx context.Context, kind string, of Kind, w io.Writer) (title string, err error) {
	d, err := dumpKind(kind)
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
	case d.folder:
		err = files.ErrStream
	case d.groups:
		err = st.writeGroups(out, p)
	case kind == guid2lidKind:
		err = st.writeGUID2LID(out, p)
	case kind == pathsKind:
		err = st.writePaths(ctx, out, p)
	default:
		err = d.write(out, p)
	}
	if err != nil {
		return "", err
	}
	return st.Title(p), nil
}

// contextWriter fails once its context has ended, so that a long dump can be interrupted.
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

func writeLFTs(w io.Writer, p *Picture) error { return osm.WriteLFTs(w, p.Tables) }

func writeFDBs(w io.Writer, p *Picture) error {
	hops := p.hops()
	if p.Recommend != nil {
		return osm.WriteFDBs(w, p.Tables, hops, p.Recommend(hops))
	}
	// With which options these were made nobody knows: what OpenSM would choose after its engine file, without options.
	return osm.WriteFDBs(w, p.Tables, hops, assign.Recommend(p.Fabric, hops, &routing.Options{}, nil, p.Tables))
}

func writeCAOrder(w io.Writer, p *Picture) error {
	if p.CAOrder == nil {
		return ErrNoCAOrder
	}
	return osm.WriteCAOrder(w, p.Fabric, p.CAOrder)
}

func writeLIDMatrix(w io.Writer, p *Picture) error { return osm.WriteLIDMatrix(w, p.Fabric, p.hops()) }

// hops are those that the picture was routed by, else the least there are.
func (p *Picture) hops() routing.Hops {
	if p.Hops != nil {
		return p.Hops
	}
	return routing.NewDistances(p.Fabric)
}

const guid2lidKind = "guid2lid"

// writeGUID2LID writes what OpenSM would remember had it given these LIDs: also those of
// ports that are gone, in the guid2lid that was given or the base of the paper. The subnet
// manager's own port comes first.
func (st *State) writeGUID2LID(w io.Writer, p *Picture) error {
	t := st.Settings.Remembered(p.Fabric)
	if p.Kind == Staged && !st.Stale && st.past.LIDs != nil {
		t = st.past.LIDs.GUID2LID.Clone()
	}
	fabrics := []*fabric.Fabric{p.Fabric}
	if base := st.PaperBase().Fabric; fabric.SameNodes(base, p.Fabric) && fabric.KeepsLIDs(base, p.Fabric) {
		fabrics = []*fabric.Fabric{base, p.Fabric}
	}
	owner := map[uint16]uint64{}
	for _, f := range fabrics {
		ends := f.EndPorts
		if f.SMPort != fabric.None {
			ends = append([]fabric.PortIndex{f.EndPortOf(f.SMPort)}, ends...)
		}
		for _, e := range ends {
			port := &f.Ports[e]
			if port.LID == 0 {
				continue
			}
			lids := port.LIDRange()
			t.Set(port.GUID, lids)
			for lid := lids.Min; lid <= lids.Max; lid++ {
				owner[lid] = port.GUID
			}
		}
	}
	for _, r := range slices.Collect(t.Records()) {
		for lid := r.LIDs.Min; r.Readable && lid <= r.LIDs.Max && lid > 0; lid++ {
			if guid, ok := owner[lid]; ok && guid != r.GUID {
				t.Delete(r.GUID)
				break
			}
		}
	}
	return osm.WriteGUID2LID(w, t)
}

// writeSubnet writes the links as OpenSM lists them once it has brought them up.
func writeSubnet(w io.Writer, p *Picture) error { return osm.WriteSubnet(w, managed(p)) }

func writeTopology(w io.Writer, p *Picture) error {
	return ibnet.Write(w, p.Fabric, ibnet.WriteOptions{Generated: p.When})
}

func writeSnapshot(w io.Writer, p *Picture) error {
	return snapshot.Write(w, snapshot.Snapshot{Fabric: managed(p), Tables: p.Tables})
}

// managed is the fabric of a picture; where tables are staged for it, the
// fabric as it is once they are written, with all links active.
func managed(p *Picture) *fabric.Fabric {
	if p.Kind != Staged {
		return p.Fabric
	}
	return p.Fabric.Activated()
}

// LinkState returns the state of a port's link: where tables are staged, the state once they are written, as [managed] has it.
func (p *Picture) LinkState(port fabric.PortIndex) mad.PortState {
	if p.Kind == Staged && p.Fabric.Swept(port) {
		return mad.PortActive
	}
	return p.Fabric.Ports[port].State
}

func (st *State) writePaths(ctx context.Context, w io.Writer, p *Picture) error {
	opt := paths.Options{Trace: true, Built: p.When}
	st.PartitionOptions(p.Fabric, &opt)
	image, err := paths.Build(ctx, p.Tables, opt)
	if err != nil {
		return err
	}
	_, err = w.Write(image)
	return err
}
