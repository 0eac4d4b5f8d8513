// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"fmt"

	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session/partitions"
)

// digests is the answer with the digests of hosts, compared with those of a file for ibacm if there is one.
type digests struct {
	Hosts   int          `key:"hosts" name:"hosts"`
	File    answer.Value `key:"file" name:"file" kind:"text"`
	Stale   answer.Value `key:"stale" name:"stale" kind:"int" help:"hosts of the file with other records"`
	Unknown answer.Value `key:"unknown" name:"unknown" kind:"int" help:"others, as tables were not read"`
	Missing answer.Value `key:"missing" name:"missing" kind:"int" help:"ports of the subnet that the file lacks"`

	rows []digestRow
}

// digestRow is a row of the table: the digest of a host.
type digestRow struct {
	Host    answer.Value `key:"host" name:"HOST" kind:"place"`
	Present answer.Value `key:"digest" name:"DIGEST" kind:"text" help:"of its records, none without the host"`
	Filed   answer.Value `key:"in_file" name:"IN FILE" kind:"text"`
	State   answer.Value `key:"state" name:"STATE" kind:"text" help:"current, stale or unknown"`
}

var digestTable = answer.Table[digestRow]{
	Key: "listed", Title: "digests", Help: "by GUID, or in the order of the file",
	Fields: answer.Fields[digestRow](),
}

var digestDecl = answer.Decl[*digests]{
	Command: "paths digest", Help: "digests of the records that ibacm loads",
	Title: "records of {hosts|host} by {of}[; {file}: {stale} stale, {unknown} unknown, " +
		"{missing} of the subnet missing]",
	Facts: answer.Fields[*digests](),
	Layout: []answer.Item[*digests]{{Table: answer.Show(&digestTable, func(x *digests) answer.Rows[digestRow] {
		return answer.Slice(x.rows)
	})}},
	Verdict: func(x *digests) (answer.Verdict, string) {
		switch {
		case !x.Stale.IsNone() && x.Stale.Int() > 0:
			return answer.Found, fmt.Sprintf("the file is stale for %s", prose.Count(int(x.Stale.Int()), "host"))
		case !x.Missing.IsNone() && x.Missing.Int() > 0:
			return answer.Found, fmt.Sprintf("%s of the subnet missing in the file",
				prose.Verb(int(x.Missing.Int()), "port", "is", "are"))
		case !x.Unknown.IsNone() && x.Unknown.Int() > 0:
			return answer.Unknown, "tables were not read"
		}
		return answer.OK, ""
	},
	Fails: answer.Always,
}

func runDigest(c *feature.Call) error {
	v, err := open(c)
	if err != nil {
		return err
	}
	defer v.close()
	if v.unknownSLs {
		return partitions.ErrUnreadSLs
	}
	x := &digests{File: answer.None(), Stale: answer.None(), Unknown: answer.None(), Missing: answer.None()}
	if name := c.Arg(0); name != "" {
		err = x.compare(c, v, name)
	} else {
		err = x.list(c, v)
	}
	if err != nil {
		return err
	}
	x.Hosts = len(x.rows)
	return c.Answer(digestDecl.Answer(v.basis, x))
}

// list lists the digests of all ports, or of the port of the option for.
func (x *digests) list(c *feature.Call, v *view) error {
	var ports []pathdb.PortIndex
	if host := c.Option("for", ""); host != "" {
		i, _, err := portOf(c, v.View, host)
		if err != nil {
			return err
		}
		ports = append(ports, i)
	} else {
		for i, p := range v.Ports() {
			if p.Flags&(pathdb.Gone|pathdb.SwitchPort) == 0 {
				ports = append(ports, i)
			}
		}
	}
	x.rows = make([]digestRow, len(ports))
	return routing.ForEach(c.Ctx, len(ports), nil, func(_, n int) {
		at, _ := v.place(ports[n], 0)
		x.rows[n] = digestRow{at, answer.Text(digestOf(v.View, ports[n])), answer.None(), answer.None()}
	})
}

// compare compares the digests of the hosts in a file with the present ones.
func (x *digests) compare(c *feature.Call, v *view, name string) error {
	if c.Option("for", "") != "" {
		return c.Misused("the hosts are those of the file, so for= is not allowed")
	}
	all, named, err := readACM(c.Ctx, name)
	if err != nil {
		return err
	}
	x.rows = make([]digestRow, len(all))
	err = routing.ForEach(c.Ctx, len(all), nil, func(_, n int) {
		r := digestRow{
			answer.At(answer.Place{GUID: all[n].guid, Port: -1}), answer.None(), answer.Text(all[n].digest),
			answer.Text("stale"),
		}
		if i, ok := v.ByGUID(all[n].guid); ok && v.Port(i).Flags&pathdb.Gone == 0 {
			now := digestOf(v.View, i)
			r.Host, _ = v.place(i, 0)
			r.Present = answer.Text(now)
			switch {
			case now == all[n].digest:
				r.State = answer.Text("current")
			case v.partial:
				r.State = answer.Text("unknown")
			}
		}
		x.rows[n] = r
	})
	stale, unknown := 0, 0
	for i := range x.rows {
		switch x.rows[i].State.String() {
		case "stale":
			stale++
		case "unknown":
			unknown++
		}
	}
	missing := 0
	for _, p := range v.Ports() {
		if p.Flags&pathdb.Gone == 0 && !named[p.GUID] {
			missing++
		}
	}
	x.File, x.Missing = answer.Text(name), answer.Int(missing)
	x.Stale, x.Unknown = answer.Int(stale), answer.Int(unknown)
	return err
}
