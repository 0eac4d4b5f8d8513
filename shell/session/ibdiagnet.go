// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/files"
	"example.org/ibconsole/internal/inorder"
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
	inorder.Sort(st.SMs, func(a, b SM) int { return cmp.Compare(rank(a), rank(b)) })
}

const ibdiagnetKind = "ibdiagnet"

// DumpFolder writes a picture into a folder, which is made where there is none, as ibdiagnet leaves it, and returns its
// title and the files. What the session knows of P_Keys, counters and subnet managers goes with the live picture.
func (s *Session) DumpFolder(ctx context.Context, folder string, of Kind) (title string, names []string, err error) {
	st := s.State()
	p, err := st.Subject(of)
	if err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", nil, fmt.Errorf("write %s: %w", fabric.Escape(folder), files.Err(err))
	}
	for _, m := range st.ibdiagnetFiles(p) {
		path := filepath.Join(folder, "ibdiagnet2."+m.suffix)
		if err := files.Write(path, func(w io.Writer) error { return m.write(&contextWriter{ctx, w}) }); err != nil {
			return "", nil, err
		}
		names = append(names, filepath.Base(path))
	}
	return st.Title(p), names, nil
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
	static := ibdiagnet.FarOf(t)
	far := p.Far
	if far == nil || p.Kind == Staged {
		far = static
	}
	out = append(out, ibdiagnetFile{"fdbs", func(w io.Writer) error { return ibdiagnet.WriteFDBs(w, static, p.When) }},
		ibdiagnetFile{"far", func(w io.Writer) error { return ibdiagnet.WriteFar(w, far, p.When) }})
	if t.MFT != nil {
		out = append(out, ibdiagnetFile{"mcfdbs", func(w io.Writer) error { return osm.WriteMCFDBs(w, f, t.MFT) }})
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
