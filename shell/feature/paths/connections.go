// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/paths"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/partitions"
)

// changedConnections is the answer with the connections that differ between two states.
type changedConnections struct {
	Old         string       `key:"old" name:"old"`
	New         string       `key:"new" name:"new"`
	Connections int64        `key:"connections" name:"connections" help:"paths of the old state, one for each LID"`
	Changed     int          `key:"changed" name:"changed" help:"connections that need other addresses"`
	SLs         answer.Value `key:"sl_changed" name:"SL" kind:"int" help:"connections with another service level"`
	LIDs        int          `key:"lid_changed" name:"LID" help:"connections with another source or destination LID"`
	Alternates  int          `key:"alternate_changed" name:"alternate" help:"connections with another alternate path"`
	Lost        int          `key:"lost" name:"lost" help:"connections without a path"`
	Unknown     int          `key:"unknown" name:"unknown" help:"connections without a record, as tables were not read"`
	Added       int64        `key:"added" name:"added" help:"paths that only the new state has"`
	Ports       int          `key:"ports" name:"ports" help:"source ports of changed connections"`
	Summary     string       `name:"summary"`

	list     []paths.Connection
	unknown  bool
	old, new *view
}

// connectionRow is a row of the table: a connection.
type connectionRow struct {
	From    answer.Value `key:"from" name:"FROM" kind:"place"`
	To      answer.Value `key:"to" name:"TO" kind:"place"`
	SLID    uint16       `key:"slid" name:"SLID" kind:"lid"`
	DLID    uint16       `key:"dlid" name:"DLID" kind:"lid"`
	SL      answer.Value `key:"sl" name:"SL" kind:"int"`
	SLs     answer.Value `key:"sls" kind:"text" help:"all levels that a record may have, as 0 to 2"`
	Changes []string     `key:"changes" name:"CHANGED" help:"SL, LID, alternate, lost or unknown"`
	NewSLID answer.Value `key:"new_slid" kind:"int" help:"none if the path is lost"`
	NewDLID answer.Value `key:"new_dlid" kind:"int"`
	NewSL   answer.Value `key:"new_sl" kind:"int"`
	NewSLs  answer.Value `key:"new_sls" kind:"text"`
	New     string       `name:"NOW" help:"SLID, DLID and SL of the path"`
	OldAlt  answer.Value `key:"alternate" name:"ALTERNATE" kind:"text" help:"SLID, DLID and SL, none if there is none"`
	NewAlt  answer.Value `key:"new_alternate" name:"ALTERNATE NOW" kind:"text"`
}

const mostConnections = 20 // rows in text

var connectionTable = answer.Table[connectionRow]{
	Key: "listed", Title: "connections", Help: "by GUID of the source and the destination", Stream: true,
	MaxRows: mostConnections, Fields: answer.Fields[connectionRow](),
}

var connectionsDecl = answer.Decl[*changedConnections]{
	Command: "paths connections", Help: "the connections that need other addresses after a change",
	Title: "from {old} to {new}: {changed} of {connections|connection} changed: {summary}",
	Facts: answer.Fields[*changedConnections](),
	Layout: []answer.Item[*changedConnections]{
		{Table: answer.Show(&connectionTable, func(x *changedConnections) answer.Rows[connectionRow] {
			return answer.Lazy(len(x.list), x.row)
		})},
	},
	Verdict: func(x *changedConnections) (answer.Verdict, string) {
		switch {
		case x.Changed > 0:
			return answer.Found, fmt.Sprintf("%s changed", prose.Count(x.Changed, "connection"))
		case x.unknown || x.Unknown > 0:
			return answer.Unknown, "not everything was read"
		}
		return answer.OK, ""
	},
	Fails: answer.Asked,
}

// openNamed opens the records of a state, or of a database file.
func openNamed(c *feature.Call, name string) (*view, string, error) {
	st := c.Session.State()
	if p, err := st.FreshTablesOf(session.Kind(name)); err == nil {
		v, err := openState(c, session.Kind(name))
		return v, st.Title(p), err
	} else if !looksLikeFile(name) {
		return nil, "", err
	}
	v := &view{close: func() {}}
	if st.Live != nil {
		v.fabric = st.Live.Fabric
	}
	db, err := pathdb.Open(c.Ctx, name)
	if err != nil {
		return nil, "", err
	}
	v.View, v.basis, v.close = db.View(), fileBasis(name), func() { _ = db.Close() }
	return v, fabric.Escape(name), nil
}

// looksLikeFile reports whether a word is not the name of a state, a number or a time of a day.
func looksLikeFile(name string) bool {
	for _, k := range session.Kinds {
		if name == string(k) {
			return false
		}
	}
	return strings.Trim(name, "0123456789:") != ""
}

func runConnections(c *feature.Call) error {
	old, oldTitle, err := openNamed(c, c.Arg(0))
	if err != nil {
		return err
	}
	defer old.close()
	fresh, newTitle, err := openNamed(c, c.Arg(1))
	if err != nil {
		return err
	}
	defer fresh.close()
	op, err := c.Session.Begin(c.Ctx, "path records")
	if err != nil {
		return err
	}
	defer op.End()
	noSL := old.unknownSLs || fresh.unknownSLs
	r, err := paths.Connections(c.Ctx, old.View, fresh.View, paths.ConnectionOptions{
		IgnoreSLs: noSL, Progress: op.Progress,
	})
	if err != nil {
		return err
	}
	x := &changedConnections{
		Old: oldTitle, New: newTitle, Connections: r.All, Added: r.Added, list: r.List, old: old, new: fresh,
		unknown: noSL || old.partial || fresh.partial,
	}
	b := fresh.basis
	b.Warnings = append(b.Warnings, old.basis.Warnings...)
	if noSL {
		b.Warnings = append(b.Warnings, partitions.ErrUnreadSLs.Error()+": they are not compared")
	}
	x.Changed, x.Unknown = r.Affected(fresh.partial)
	x.count(noSL)
	return c.Answer(connectionsDecl.Answer(b, x))
}

// count sets the counts of changed connections.
func (x *changedConnections) count(noSL bool) {
	sls, last := 0, uint64(0)
	for i := range x.list {
		k := &x.list[i]
		if k.From != last {
			x.Ports, last = x.Ports+1, k.From
		}
		if k.Lost() && !x.new.partial {
			x.Lost++
		}
		sls += prose.When(k.SL, 1, 0)
		x.LIDs += prose.When(k.LID, 1, 0)
		x.Alternates += prose.When(k.Alternate, 1, 0)
	}
	levels := fmt.Sprintf("%d SL", sls)
	if x.SLs = answer.Int(sls); noSL {
		x.SLs, levels = answer.NotRead(), "SL unknown"
	}
	x.Summary = fmt.Sprintf("%s, %d LID, %d alternate path, %d lost%s; %d added", levels, x.LIDs, x.Alternates, x.Lost,
		prose.When(x.Unknown > 0, fmt.Sprintf(", %d unknown", x.Unknown), ""), x.Added)
}

func (x *changedConnections) row(i int) connectionRow {
	k := &x.list[i]
	r := connectionRow{
		From: x.place(k.From), To: x.place(k.To), SLID: k.Old.SLID, DLID: k.Old.DLID,
		Changes: []string{}, OldAlt: x.address(k.OldAlternate), NewAlt: x.address(k.NewAlternate),
		New: "-", NewSLID: answer.None(), NewDLID: answer.None(), NewSL: answer.None(), NewSLs: answer.None(),
	}
	r.SL, r.SLs = x.levels(k.Old, k.OldSLs)
	if !k.Lost() {
		r.NewSLID, r.NewDLID = answer.Int(k.New.SLID), answer.Int(k.New.DLID)
		r.NewSL, r.NewSLs = x.levels(k.New, k.NewSLs)
		r.New = x.addressText(k.New)
	}
	for _, c := range []struct {
		is   bool
		name string
	}{
		{k.SL, "SL"}, {k.LID, "LID"}, {k.Alternate, "alternate"}, {k.Lost() && !x.new.partial, "lost"},
		{k.Lost() && x.new.partial, "unknown"},
	} {
		if c.is {
			r.Changes = append(r.Changes, c.name)
		}
	}
	return r
}

// levels returns the service level of a path and the levels that a record may have, if they were read.
func (x *changedConnections) levels(a paths.Address, all fabric.SLRange) (sl, sls answer.Value) {
	if x.SLs.IsNotRead() {
		return answer.NotRead(), answer.NotRead()
	}
	return feature.SLs(partitions.Grant{SL: a.SL, SLs: all})
}

func (x *changedConnections) place(guid uint64) answer.Value {
	for _, v := range []*view{x.new, x.old} {
		if i, ok := v.ByGUID(guid); ok && (v.fabric == nil || v.fabric.PortByGUID(guid) != fabric.None) {
			at, _ := v.place(i, 0)
			return at
		}
	}
	return answer.At(answer.Place{GUID: guid, Port: -1})
}

func (x *changedConnections) addressText(a paths.Address) string {
	if x.SLs.IsNotRead() {
		return fmt.Sprintf("%d %d SL unknown", a.SLID, a.DLID)
	}
	return fmt.Sprintf("%d %d SL %d", a.SLID, a.DLID, a.SL)
}

func (x *changedConnections) address(a paths.Address) answer.Value {
	if a.DLID == 0 {
		return answer.None()
	}
	return answer.Text(x.addressText(a))
}
