// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// takeRead takes what a folder of ibdiagnet has beside a picture, to the places where a live subnet has it.
func (s *Session) takeRead(st *State, file *formats.Subnet) {
	st.PKeys, st.Read, st.stated = file.PKeys, file.Counters, file.Stated
	if file.Deltas != nil {
		reading := file.Counters
		if reading == nil {
			reading = &counters.Reading{Fabric: file.Fabric}
		}
		st.Counted = &Counted{reading, file.Deltas, st.Live.When}
	}
	for _, m := range file.Managers {
		sm := SM{GUID: m.GUID, Port: "?", Priority: m.Priority, State: smStates[m.State]}
		if at := file.Fabric.PortByGUID(m.GUID); at != fabric.None {
			n := &file.Fabric.Nodes[file.Fabric.Ports[at].Node]
			sm.Port, sm.VendorID, sm.InSwitch = file.Fabric.PortName(at), n.VendorID, n.IsSwitch()
		}
		st.SMs = append(st.SMs, sm)
	}
	rank := func(sm SM) int {
		return -slices.Index([]string{smStates[mad.SMStandby], smDiscovering, smMaster}, sm.State)
	}
	slices.SortStableFunc(st.SMs, func(a, b SM) int { return cmp.Compare(rank(a), rank(b)) })
}

const ibdiagnetKind = "ibdiagnet"

// DumpedFolder lists what [Session.DumpFolder] wrote. Notes say what the files cannot hold or state.
type DumpedFolder struct {
	Title        string
	Names, Notes []string
}

// DumpFolder writes a picture into a folder, which is made where there is none, as ibdiagnet leaves it.
// What the session knows of P_Keys, counters and subnet managers goes with the live picture.
func (s *Session) DumpFolder(ctx context.Context, folder string, of Kind) (DumpedFolder, error) {
	st := s.State()
	p, err := st.Subject(of)
	if err != nil {
		return DumpedFolder{}, err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return DumpedFolder{}, fmt.Errorf("write %s: %w", fabric.Escape(folder), files.Err(err))
	}
	out := DumpedFolder{Title: st.Title(p), Notes: farNotes(p)}
	for _, m := range st.ibdiagnetFiles(p) {
		path := filepath.Join(folder, "ibdiagnet2."+m.suffix)
		if err := files.Write(path, func(w io.Writer) error { return m.write(&contextWriter{ctx, w}) }); err != nil {
			return DumpedFolder{}, err
		}
		out.Names = append(out.Names, filepath.Base(path))
	}
	return out, nil
}

// farNotes say what of a picture's adaptive routing a far file does not hold.
func farNotes(p *Picture) (notes []string) {
	if p.Tables == nil {
		return nil
	}
	a := p.Tables.Adaptive
	if a == nil {
		if p.Tables.Origin == fabric.LiveOrigin {
			notes = append(notes, "adaptive routing was not read: far has the static ports alone, and does not state whether it is on")
		}
		return notes
	}
	bySL, byTable := 0, 0
	for i := range a.Switches {
		s := &a.Switches[i]
		if len(s.Groups) > 0 && (s.SLs != 0xffff || s.HashSLs != 0xffff) {
			bySL++
		}
		if s.Private != nil {
			byTable++
		}
	}
	if bySL > 0 {
		notes = append(notes, fmt.Sprintf("far does not hold which service levels are routed adaptively, which %s limit", prose.Count(bySL, "switch")))
	}
	if byTable > 0 {
		notes = append(notes, fmt.Sprintf("far does not hold which packets take which private table, of %s", prose.Count(byTable, "switch")))
	}
	return notes
}

// far is what a far file says of the tables of a picture: what such a file said, where it said so of these tables.
func (p *Picture) far() *ibdiagnet.Far {
	if p.Far != nil && p.Kind != Staged && reflect.DeepEqual(p.Far.Adaptive(p.Tables.Fabric), p.Tables.Adaptive) {
		return p.Far
	}
	return ibdiagnet.FarOf(p.Tables)
}

// ibdiagnetFile is a file of a folder that is written.
type ibdiagnetFile struct {
	suffix string
	write  func(io.Writer) error
}

func (st *State) ibdiagnetFiles(p *Picture) []ibdiagnetFile {
	f, t := managed(p), p.Tables
	db := &ibdiagnet.DB{Fabric: f, When: p.When, Limits: p.Limits, Health: p.Health}
	if p.Fabric == st.Live.Fabric {
		db.PKeys, db.Counters = st.PKeys, st.Read
		for _, sm := range st.SMs {
			db.Managers = append(db.Managers, sm.manager())
		}
		if st.Counted != nil && db.Counters == nil {
			db.Counters = st.Counted.Reading
		}
	}
	out := []ibdiagnetFile{{"db_csv", func(w io.Writer) error { return ibdiagnet.WriteDB(w, db, t) }}}
	if t == nil {
		return out
	}
	static := *t
	static.Adaptive = nil
	out = append(out, ibdiagnetFile{"fdbs", func(w io.Writer) error { return ibdiagnet.WriteFDBs(w, ibdiagnet.FarOf(&static), p.When) }},
		ibdiagnetFile{"far", func(w io.Writer) error { return ibdiagnet.WriteFar(w, p.far(), p.When) }})
	if t.MFT != nil {
		out = append(out, ibdiagnetFile{"mcfdbs", func(w io.Writer) error { return osm.WriteAllMCFDBs(w, f, t.MFT) }})
	}
	if t.SL2VL != nil {
		out = append(out, ibdiagnetFile{"slvl", func(w io.Writer) error { return ibdiagnet.WriteSLVL(w, f, t.SL2VL, p.When) }})
	}
	return out
}

// manager is the subnet manager as ibdiagnet has it.
func (sm *SM) manager() ibdiagnet.Manager {
	m := ibdiagnet.Manager{GUID: sm.GUID, Priority: sm.Priority}
	for state, word := range smStates {
		if word == sm.State {
			m.State = state
		}
	}
	return m
}
