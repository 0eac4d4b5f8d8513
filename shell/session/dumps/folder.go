// SPDX-License-Identifier: Apache-2.0

package dumps

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/managers"
)

// Written lists the files that [Folder] wrote. Notes lists data that these files cannot contain.
type Written struct {
	Title        string
	Names, Notes []string
}

// Folder writes a state into a folder in the format of ibdiagnet. It creates the folder if necessary. P_Keys, counters
// and subnet managers are written only if the fabric is the live fabric.
func Folder(ctx context.Context, s *session.Session, folder string, of session.Kind) (Written, error) {
	st := s.State()
	p, err := st.Subject(of)
	if err != nil {
		return Written{}, err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return Written{}, fmt.Errorf("write %s: %w", fabric.Escape(folder), files.Err(err))
	}
	out := Written{Title: st.Title(p), Notes: farNotes(p)}
	for _, m := range ibdiagnetFiles(&st, p) {
		path := filepath.Join(folder, "ibdiagnet2."+m.suffix)
		if err := files.Write(path, func(w io.Writer) error { return m.write(&contextWriter{ctx, w}) }); err != nil {
			return Written{}, err
		}
		out.Names = append(out.Names, filepath.Base(path))
	}
	return out, nil
}

// farNotes returns notes on the adaptive-routing settings of a state that a far file cannot contain. A far file of
// ibdiagnet has the port groups and tables of adaptive routing.
func farNotes(p *session.Picture) (notes []string) {
	if p.Tables == nil {
		return nil
	}
	a := p.Tables.Adaptive
	if a == nil {
		if p.Tables.Origin == fabric.LiveOrigin {
			notes = append(notes, "adaptive routing was not read: far has only the static ports, and does not state "+
				"whether adaptive routing is enabled")
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
		notes = append(notes,
			fmt.Sprintf("far does not contain the service levels that are routed adaptively, which %s limit",
				prose.Count(bySL, "switch")))
	}
	if byTable > 0 {
		notes = append(notes, fmt.Sprintf("far does not contain which packets use which private table, of %s",
			prose.Count(byTable, "switch")))
	}
	return notes
}

// farOf returns the contents of a far file for a state. It uses the far file that was read if that still matches the
// tables, otherwise it creates new contents.
func farOf(p *session.Picture) *ibdiagnet.Far {
	if p.Far != nil && p.Kind != session.Staged && reflect.DeepEqual(p.Far.Adaptive(p.Tables.Fabric),
		p.Tables.Adaptive) {
		return p.Far
	}
	return ibdiagnet.FarOf(p.Tables)
}

// ibdiagnetFile is one file of a folder in the format of ibdiagnet.
type ibdiagnetFile struct {
	suffix string
	write  func(io.Writer) error
}

func ibdiagnetFiles(st *session.State, p *session.Picture) []ibdiagnetFile {
	f, t := p.Managed(), p.Tables
	db := &ibdiagnet.DB{Fabric: f, When: p.When, Limits: p.Limits, Health: p.Health}
	if p.Fabric == st.Live.Fabric {
		db.PKeys, db.Counters = st.PKeys, st.Read
		for _, sm := range st.SMs {
			db.Managers = append(db.Managers, managerOf(&sm))
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
	out = append(out,
		ibdiagnetFile{"fdbs", func(w io.Writer) error {
			return ibdiagnet.WriteFDBs(w, ibdiagnet.FarOf(&static), p.When)
		}},
		ibdiagnetFile{"far", func(w io.Writer) error { return ibdiagnet.WriteFar(w, farOf(p), p.When) }})
	if t.MFT != nil {
		out = append(out, ibdiagnetFile{"mcfdbs", func(w io.Writer) error { return osm.WriteAllMCFDBs(w, f, t.MFT) }})
	}
	if t.SL2VL != nil {
		out = append(out, ibdiagnetFile{"slvl", func(w io.Writer) error {
			return ibdiagnet.WriteSLVL(w, f, t.SL2VL, p.When)
		}})
	}
	return out
}

// managerOf converts a subnet manager to the type of package ibdiagnet.
func managerOf(sm *managers.SM) ibdiagnet.Manager {
	return ibdiagnet.Manager{GUID: sm.GUID, Priority: sm.Priority, State: sm.StateCode()}
}
