// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/pathrecords"
)

// view is the database that a command queries, with the data to show its records.
type view struct {
	*pathdb.View
	unknownSLs bool // the service levels were not read
	partial    bool // built from tables of which some were not read
	basis      answer.Basis
	fabric     *fabric.Fabric // has the names of ports; nil if there is none
	close      func()
}

// errNoRecord is returned instead of [pathdb.ErrNoPath] if the database is partial.
var errNoRecord = errors.New("no record: forwarding tables were not read, so it is unknown whether there is a path")

// open opens the database of the option file. Without the option, it uses the loaded database, or else builds a
// database from the tables of the state. The caller must close it.
func open(c *feature.Call) (*view, error) {
	v := &view{close: func() {}}
	st := c.Session.State()
	if p, err := st.Of(session.Kind(c.Option("of", ""))); err == nil {
		v.fabric = p.Fabric
	}
	if name := c.Option("file", ""); name != "" {
		db, err := pathdb.Open(c.Ctx, name)
		if err != nil {
			return nil, err
		}
		v.View, v.basis, v.close = db.View(), fileBasis(name), func() { _ = db.Close() }
		return v, nil
	}
	if db, name := pathrecords.Opened(c.Session); db != nil && c.Option("of", "") == "" {
		v.View, v.basis = db.View(), fileBasis(name)
		return v, nil
	}
	return openState(c, session.Kind(c.Option("of", "")))
}

// openState builds a database from the tables of a state.
func openState(c *feature.Call, of session.Kind) (*view, error) {
	image, rep, err := pathrecords.Build(c.Ctx, c.Session, of, true, nil, false)
	if err != nil {
		return nil, err
	}
	db, err := pathdb.Parse(image)
	if err != nil {
		return nil, err
	}
	st := c.Session.State()
	p, err := st.FreshTablesOf(of)
	if err != nil {
		return nil, err
	}
	return &view{
		View: db.View(), unknownSLs: rep.UnknownSLs, partial: rep.NotRead != nil, basis: basisOf(&st, p, &rep),
		fabric: p.Fabric, close: func() {},
	}, nil
}

// fileBasis returns the basis of an answer about a database that was read from a file.
func fileBasis(name string) answer.Basis {
	return answer.Basis{State: "file", Title: name, Source: name}
}

// tablesBasis returns the basis of an answer about records that were built from the tables of a state.
func tablesBasis(c *feature.Call, rep *pathrecords.Report) (answer.Basis, error) {
	st, p, err := c.Tables()
	if err != nil {
		return answer.Basis{}, err
	}
	return basisOf(st, p, rep), nil
}

func basisOf(st *session.State, p *session.Picture, rep *pathrecords.Report) answer.Basis {
	b := st.Basis(p, session.NeedLinks|session.NeedTables)
	if rep.NotRead != nil {
		b.Warnings = append(b.Warnings,
			fmt.Sprintf("paths over %s have no records, as their forwarding tables were not read: %s",
				prose.Count(len(rep.NotRead), "switch"), prose.List(rep.NotRead, mostUnread)))
	}
	return b
}

const mostUnread = 5 // switches that a warning lists

// portOf finds a port of the database by address, GID or name, and returns the port and its LID. The LID is 0 if the
// text does not determine it.
func portOf(c *feature.Call, v *pathdb.View, text string) (pathdb.PortIndex, uint16, error) {
	if gid, err := mad.ParseGID(strings.TrimPrefix(text, "gid:")); err == nil {
		if i, ok := v.ByGID(gid); ok {
			return i, 0, nil
		}
		return 0, 0, fmt.Errorf("no port of the database has the GID %s", text)
	}
	if number, ok := strings.CutPrefix(text, "lid:"); ok {
		lid, err := strconv.ParseUint(number, 0, 16)
		if err != nil {
			return 0, 0, fmt.Errorf("%q is not a LID", number)
		}
		i, ok := v.ByLID(uint16(lid))
		if !ok {
			return 0, 0, fmt.Errorf("no port of the database has LID %d", lid)
		}
		return i, uint16(lid), nil
	}
	if number, ok := strings.CutPrefix(text, "guid:"); ok {
		guid, err := strconv.ParseUint(number, 0, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("%q is not a GUID", number)
		}
		if i, ok := v.ByGUID(guid); ok {
			return i, 0, nil
		}
	}
	st := c.Session.State()
	p, err := st.Subject(session.Kind(c.Option("of", "")))
	if err != nil {
		return 0, 0, err
	}
	place, err := places.Resolve(p.Fabric, text)
	if err != nil {
		return 0, 0, err
	}
	port := p.Fabric.EndPortOf(place.Port)
	guid := p.Fabric.Ports[port].GUID
	switch i, ok := v.ByGUID(guid); {
	case ok:
		return i, 0, nil
	case p.Fabric.Ports[port].LID == 0:
		return 0, 0, fmt.Errorf("%s has no LID", p.Fabric.PortName(port))
	}
	return 0, 0, fmt.Errorf("the database has no port 0x%016x", guid)
}
