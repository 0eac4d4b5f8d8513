// SPDX-License-Identifier: Apache-2.0

package shell

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
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/shell/session"
)

// pathsView is a database that questions go to.
type pathsView struct {
	*pathdb.View
	// unknownSLs says that nobody knows the service levels.
	unknownSLs bool
	// partial says that it was built from tables of which some were not read.
	partial bool
}

// errNoRecord stands for [pathdb.ErrNoPath] in a database that was built from tables of which some were not read.
var errNoRecord = errors.New("no record: forwarding tables were not read, and whether there is a path is unknown")

// pathsView is the database that a question goes to. Without one it is built from
// the tables of the picture.
func (c *call) pathsView() (v pathsView, done func(), err error) {
	done = func() {}
	if name := c.Option("file", ""); name != "" {
		db, err := pathdb.Open(c.ctx, name)
		if err != nil {
			return v, done, err
		}
		return pathsView{View: db.View()}, func() { _ = db.Close() }, nil
	}
	if db, _ := c.session.Paths(); db != nil && c.Option("of", "") == "" {
		return pathsView{View: db.View()}, done, nil
	}
	image, rep, err := c.session.BuildPaths(c.ctx, session.Kind(c.Option("of", "")), true, nil, false)
	if err != nil {
		return v, done, err
	}
	c.out.note("path records of %s", rep.Title)
	c.warnNoRecords(&rep)
	db, err := pathdb.Parse(image)
	if err != nil {
		return v, done, err
	}
	return pathsView{db.View(), rep.UnknownSLs, rep.NotRead != nil}, done, nil
}

// warnNoRecords warns of paths without records because tables were not read.
func (c *call) warnNoRecords(rep *session.PathsReport) {
	if rep.NotRead != nil {
		c.out.warn("the forwarding tables of %s were not read, and the paths over them have no records: %s", count(len(rep.NotRead), "switch"), prose.List(rep.NotRead, mostUnread))
	}
}

// pathsPort is a port of a database by its address, GID or name, and its LID.
func (c *call) pathsPort(v *pathdb.View, text string) (pathdb.PortIndex, uint16, error) {
	if gid, err := mad.ParseGID(strings.TrimPrefix(text, "gid:")); err == nil {
		if i, ok := v.ByGID(gid); ok {
			return i, 0, nil
		}
		return 0, 0, fmt.Errorf("no port of the database has the GID %s", text)
	}
	if number, ok := strings.CutPrefix(text, "lid:"); ok {
		lid, err := strconv.ParseUint(number, 0, 16)
		if err != nil {
			return 0, 0, fmt.Errorf("%q is no LID", number)
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
			return 0, 0, fmt.Errorf("%q is no GUID", number)
		}
		if i, ok := v.ByGUID(guid); ok {
			return i, 0, nil
		}
	}
	st := c.session.State()
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

type recordRow struct {
	From string `json:"from"`
	To   string `json:"to"`
	SLID uint16 `json:"slid"`
	DLID uint16 `json:"dlid"`
	// SL is null where it is not known.
	SL       *uint8   `json:"sl"`
	MTU      string   `json:"mtu"`
	Gbps     float64  `json:"gbps"`
	Rate     uint8    `json:"rate"`
	LifeTime uint8    `json:"life_time"`
	PKey     string   `json:"pkey"`
	Hops     uint8    `json:"hops"`
	Path     []string `json:"path,omitempty"`
	Error    string   `json:"error,omitempty"`
}

func (r *recordRow) Cells() []any {
	if r.Error != "" {
		return []any{r.From, r.To, "", "", "", "", "", r.Error}
	}
	cells := []any{r.From, r.To, levelText(r.SL), r.MTU, unlimited(r.Rate, fmt.Sprintf("%g Gb/s", r.Gbps)), r.PKey, r.LifeTime, r.Hops}
	if r.Path != nil {
		cells = append(cells, strings.Join(r.Path, " "))
	}
	return cells
}

func (c *call) pathsQuery() error {
	want, err := c.feature().WantedPath()
	if err != nil {
		return err
	}
	v, done, err := c.pathsView()
	if err != nil {
		return err
	}
	defer done()
	if v.unknownSLs && want.SL > 0 {
		return session.ErrUnreadSLs
	}
	from, _, err := c.pathsPort(v.View, c.Arg(0))
	if err != nil {
		return err
	}
	var to []pathdb.PortIndex
	only := uint16(0)
	if c.Arg(1) == allWord {
		for i := range v.Ports() {
			if i != from {
				to = append(to, i)
			}
		}
	} else {
		i, lid, err := c.pathsPort(v.View, c.Arg(1))
		if err != nil {
			return err
		}
		to, only = []pathdb.PortIndex{i}, lid
	}
	columns := []string{"FROM", "TO", "SL", "MTU", "RATE", "P_KEY", "LIFE", "HOPS"}
	if c.Flag("path") {
		columns = append(columns, "PATH")
	}
	return c.list(columns, func(yield func(Row, error) bool) {
		var records []pathdb.Record
		for _, i := range to {
			if err := c.ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			var err error
			records, err = v.Paths(records[:0], from, i, want)
			if v.partial && errors.Is(err, pathdb.ErrNoPath) {
				err = errNoRecord
			}
			switch {
			case err == nil:
			case len(to) == 1:
				yield(nil, fmt.Errorf("%s to %s: %w", c.Arg(0), c.Arg(1), err))
				return
			case !yield(&recordRow{From: c.portOf(v.View, from, 0), To: c.portOf(v.View, i, 0), Error: err.Error()}, nil):
				return
			default:
				continue
			}
			for _, r := range records {
				if only != 0 && r.DLID != only {
					continue
				}
				if row, err := c.recordRow(v, from, i, r); !yield(row, err) || err != nil {
					return
				}
			}
		}
	})
}

func (c *call) recordRow(v pathsView, from, to pathdb.PortIndex, r pathdb.Record) (*recordRow, error) {
	row := &recordRow{
		From: c.portOf(v.View, from, r.SLID), To: c.portOf(v.View, to, r.DLID), SLID: r.SLID, DLID: r.DLID, MTU: unlimited(r.MTU, mad.MTU(r.MTU)),
		Gbps: sa.Rate(r.Rate).Gbps(), Rate: r.Rate, LifeTime: r.LifeTime, PKey: fmt.Sprintf("0x%04x", r.PKey), Hops: r.Hops,
	}
	if !v.unknownSLs {
		row.SL = &r.SL
	}
	if c.Flag("path") {
		hops, err := v.Route(nil, r.SLID, r.DLID)
		if err != nil {
			return nil, err
		}
		row.Path = []string{}
		for _, h := range hops {
			row.Path = append(row.Path, fmt.Sprintf("%s/%d", c.switchOf(h.GUID), h.Out))
		}
	}
	return row, nil
}

// unlimited is a code for people, "-" where nothing of the path says anything.
func unlimited(code uint8, is any) string { return prose.When(code == 0, "-", fmt.Sprint(is)) }

// portOf returns the name that a port has in the state that is asked, its GUID where that does not have it.
func (c *call) portOf(v *pathdb.View, i pathdb.PortIndex, lid uint16) string {
	p := v.Port(i)
	name := fmt.Sprintf("0x%016x", p.GUID)
	st := c.session.State()
	if asked, err := st.Subject(session.Kind(c.Option("of", ""))); err == nil {
		if port := asked.Fabric.PortByGUID(p.GUID); port != fabric.None {
			name = asked.Fabric.PortName(port)
		}
	}
	if lid == 0 {
		return name
	}
	return fmt.Sprintf("%s lid:%d", name, lid)
}

func (c *call) switchOf(guid uint64) string {
	st := c.session.State()
	if asked, err := st.Subject(session.Kind(c.Option("of", ""))); err == nil {
		if n := asked.Fabric.NodeByGUID(guid); n != fabric.None {
			return asked.Fabric.NodeName(n)
		}
	}
	return fmt.Sprintf("0x%016x", guid)
}

// levelText is a service level for people.
func levelText(sl *uint8) any {
	if sl == nil {
		return "unknown"
	}
	return *sl
}
