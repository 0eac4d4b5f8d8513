// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"errors"
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session/partitions"
)

// record is a row: a path record, or a destination without a record and the error.
type record struct {
	From     answer.Value `key:"from" kind:"place"`
	FromText string       `name:"FROM"`
	SLID     uint16       `key:"slid" kind:"lid"`
	To       answer.Value `key:"to" kind:"place"`
	ToText   string       `name:"TO"`
	DLID     uint16       `key:"dlid" kind:"lid"`
	SL       answer.Value `key:"sl" kind:"int"`
	SLs      answer.Value `key:"sls" kind:"text" help:"all levels that a record may have, as 0 to 2"`
	SLText   string       `name:"SL"`
	MTU      answer.Value `key:"mtu" kind:"text"`
	MTUText  string       `name:"MTU"`
	Gbps     answer.Value `key:"gbps" kind:"float" unit:"Gbit/s"`
	Rate     answer.Value `key:"rate" kind:"int" help:"the code of the rate"`
	RateText string       `name:"RATE"`
	PKey     answer.Value `key:"pkey" kind:"text"`
	PKeyText string       `name:"P_KEY"`
	LifeTime answer.Value `key:"life_time" kind:"int" help:"the code of the packet life time"`
	Life     string       `name:"LIFE"`
	Hops     answer.Value `key:"hops" kind:"int" help:"links of the path"`
	HopsText string       `name:"HOPS"`
	Error    answer.Value `key:"error" kind:"text" help:"why there is no record"`
	Path     answer.Value `key:"path" kind:"texts" help:"the ports through which packets leave switches"`
	PathText string       `name:"PATH"`
}

// queried is the answer of the command "paths query". Its rows can be read only once.
type queried struct{ rows answer.Rows[record] }

var (
	queryDecl     = declareQuery(false)
	queryPathDecl = declareQuery(true)
)

func declareQuery(path bool) *answer.Decl[queried] {
	fields := answer.Fields[record]()
	if !path {
		fields = fields[:len(fields)-2]
	}
	table := &answer.Table[record]{Key: "records", Title: "path records", Fields: fields, Stream: true}
	return &answer.Decl[queried]{
		Command: "paths query", Help: "path records",
		Layout: []answer.Item[queried]{
			{Table: answer.Show(table, func(q queried) answer.Rows[record] { return q.rows })},
		},
	}
}

func query(c *feature.Call) error {
	want, err := c.WantedPath()
	if err != nil {
		return err
	}
	v, err := open(c)
	if err != nil {
		return err
	}
	defer v.close()
	if v.unknownSLs && want.SL > 0 {
		return partitions.ErrUnreadSLs
	}
	from, _, err := portOf(c, v.View, c.Arg(0))
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
		i, lid, err := portOf(c, v.View, c.Arg(1))
		if err != nil {
			return err
		}
		to, only = []pathdb.PortIndex{i}, lid
	}
	decl := queryDecl
	if c.Flag("path") {
		decl = queryPathDecl
	}
	rows := answer.Once(func(yield func(record, error) bool) {
		var records []pathdb.Record
		for _, i := range to {
			if err := c.Ctx.Err(); err != nil {
				yield(record{}, err)
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
				yield(record{}, fmt.Errorf("%s to %s: %w", c.Arg(0), c.Arg(1), err))
				return
			case !yield(v.without(from, i, err), nil):
				return
			default:
				continue
			}
			for _, r := range records {
				if only != 0 && r.DLID != only {
					continue
				}
				if row, err := v.record(from, i, r, c.Flag("path")); !yield(row, err) || err != nil {
					return
				}
			}
		}
	})
	return c.Answer(decl.Answer(v.basis, queried{rows}))
}

// without returns the row for a pair of ports that has no record.
func (v *view) without(from, to pathdb.PortIndex, err error) record {
	r := record{Error: answer.Text(err.Error()), HopsText: err.Error()}
	r.From, r.FromText = v.place(from, 0)
	r.To, r.ToText = v.place(to, 0)
	return r
}

func (v *view) record(from, to pathdb.PortIndex, r pathdb.Record, path bool) (record, error) {
	row := record{
		SLID: r.SLID, DLID: r.DLID, SL: answer.NotRead(), SLs: answer.NotRead(), SLText: "unknown",
		MTU: answer.None(), MTUText: "-",
		Rate: answer.Int(r.Rate), RateText: "-",
		PKey: answer.Text(fmt.Sprintf("0x%04x", r.PKey)), PKeyText: fmt.Sprintf("0x%04x", r.PKey),
		LifeTime: answer.Int(r.LifeTime), Life: fmt.Sprint(r.LifeTime),
		Hops: answer.Int(r.Hops), HopsText: fmt.Sprint(r.Hops),
	}
	row.From, row.FromText = v.place(from, r.SLID)
	row.To, row.ToText = v.place(to, r.DLID)
	if !v.unknownSLs {
		row.SL, row.SLs = feature.SLs(partitions.Grant{SL: r.SL, SLs: r.SLs})
		row.SLText = r.SLs.String()
	}
	if r.MTU != 0 { // 0 if no port of the path limits it
		row.MTU, row.MTUText = answer.Text(mad.MTU(r.MTU).String()), mad.MTU(r.MTU).String()
	}
	if r.Rate != 0 {
		row.Gbps, row.RateText = answer.Float(sa.Rate(r.Rate).Gbps(), 1), fmt.Sprintf("%g Gb/s", sa.Rate(r.Rate).Gbps())
	}
	if !path {
		return row, nil
	}
	hops, err := v.Route(nil, r.SLID, r.DLID)
	if err != nil {
		return row, err
	}
	names := []string{}
	for _, h := range hops {
		names = append(names, fmt.Sprintf("%s/%d", v.switchOf(h.GUID), h.Out))
	}
	row.Path, row.PathText = answer.Texts(names), strings.Join(names, " ")
	return row, nil
}

// place returns a port of the database as a place and as text. The name comes from the queried state. If the state does
// not have the port, its GUID is used. The text ends with the LID unless the argument lid is 0.
func (v *view) place(i pathdb.PortIndex, lid uint16) (answer.Value, string) {
	p := v.Port(i)
	at, name := answer.At(answer.Place{GUID: p.GUID, LID: lid, Port: -1}), fmt.Sprintf("0x%016x", p.GUID)
	if v.fabric != nil {
		if port := v.fabric.PortByGUID(p.GUID); port != fabric.None {
			at, name = answer.Port(v.fabric, port), v.fabric.PortName(port)
		}
	}
	if lid == 0 {
		return at, name
	}
	return at, fmt.Sprintf("%s lid:%d", name, lid)
}

func (v *view) switchOf(guid uint64) string {
	if v.fabric != nil {
		if n := v.fabric.NodeByGUID(guid); n != fabric.None {
			return v.fabric.NodeName(n)
		}
	}
	return fmt.Sprintf("0x%016x", guid)
}
