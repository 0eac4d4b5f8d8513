// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing/paths"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/administration"
	"example.org/ibconsole/shell/session/pairs"
	"example.org/ibconsole/shell/session/partitions"
)

// comparison counts the records of a database that differ from the tables or from the subnet administration.
type comparison struct {
	Pairs       int      `key:"pairs" name:"pairs"`
	Reference   string   `key:"compared_with" name:"compared with"`
	Differ      int      `key:"differ" name:"differ"`
	Unknown     int      `key:"unknown" name:"unknown" help:"pairs whose paths use tables that were not read"`
	Differences []string `key:"differences" help:"the first ones"`
}

// remark is a row of the table: one difference.
type remark struct {
	Text string `key:"text" name:"DIFFERENCE"`
}

var remarkTable = answer.Table[remark]{Key: "listed", Title: "differences", Fields: answer.Fields[remark](),
	Row: "  {text}"}

var verifyDecl = answer.Decl[*comparison]{
	Command: "paths verify", Help: "how path records differ from the tables, or from those of the subnet " +
		"administration",
	Title: "{pairs|path} compared with {compared_with}: {differ} differ[, {unknown} unknown: over tables that were " +
		"not read]",
	Facts: answer.Fields[*comparison](),
	Layout: []answer.Item[*comparison]{{Table: answer.Show(&remarkTable, func(x *comparison) answer.Rows[remark] {
		rows := answer.Lazy(len(x.Differences), func(i int) remark { return remark{x.Differences[i]} })
		rows.More = int64(x.Differ - len(x.Differences))
		return rows
	})}},
	Verdict: func(x *comparison) (answer.Verdict, string) {
		switch {
		case x.Differ > 0:
			return answer.Found, fmt.Sprintf("%d of %s differ from %s", x.Differ, prose.Count(x.Pairs, "path"),
				x.Reference)
		case x.Unknown > 0:
			return answer.Unknown, feature.UnknownPathsText(int64(x.Unknown), int64(x.Pairs))
		}
		return answer.OK, ""
	},
	Fails: answer.Always,
}

const mostListed = 20 // differences

func verifyRecords(c *feature.Call) error {
	live := c.Arg(0) == liveWord
	list := c.Int("sample", 100_000)
	if live {
		list = c.Int("sample", 500)
	}
	if list < 1 {
		return fmt.Errorf("sample=%d: expected 1 or more", list)
	}
	v, err := open(c)
	if err != nil {
		return err
	}
	defer v.close()
	drawn, err := drawnPairs(c, list, live)
	if err != nil {
		return err
	}
	st := c.Session.State()
	a, b := comparison{Pairs: len(drawn), Reference: "the subnet administration", Differences: []string{}},
		st.Basis(st.Live, session.NeedLinks)
	note := func(p pairs.Pair, f *fabric.Fabric, why error) {
		if a.Differ++; a.Differ <= mostListed {
			a.Differences = append(a.Differences, fmt.Sprintf("%s to %s: %v", f.PortName(p.Src),
				feature.DestinationName(f, p.LID), why))
		}
	}
	if live && v.unknownSLs {
		b.Warnings = append(b.Warnings, partitions.ErrUnreadSLs.Error()+": they are not compared")
	}
	if live {
		f := st.Live.Fabric
		err = administration.PathRecords(c.Ctx, c.Session, drawn, func(p pairs.Pair, r sa.PathRecord, err error) error {
			if why := compareWithSA(v.View, f.Ports[p.Src].LID, p.LID, &r, err, !v.unknownSLs); why != nil {
				note(p, f, why)
			}
			return nil
		})
		if err != nil {
			return err
		}
	} else {
		p, err := st.FreshTablesOf(session.Kind(c.Option("of", "")))
		if err != nil {
			return err
		}
		a.Reference, b = st.Title(p), st.Basis(p, session.NeedLinks|session.NeedTables)
		for i, pair := range drawn {
			if i%1024 == 0 && c.Ctx.Err() != nil {
				return c.Ctx.Err()
			}
			switch err := paths.Compare(v.View, p.Tables, pair.Src, pair.LID); {
			case errors.Is(err, paths.ErrUnread):
				a.Unknown++
			case err != nil:
				note(pair, p.Fabric, err)
			}
		}
	}
	return c.Answer(verifyDecl.Answer(b, &a))
}

// drawnPairs returns n random pairs of end ports. If the argument live is set, they are ports of CAs and routers only,
// because sweeps do not read the rates of the management ports of switches.
func drawnPairs(c *feature.Call, n int, live bool) ([]pairs.Pair, error) {
	st := c.Session.State()
	f := st.Live.Fabric
	if !live {
		p, err := st.Subject(session.Kind(c.Option("of", "")))
		if err != nil {
			return nil, err
		}
		f = p.Fabric
	}
	var ends []fabric.PortIndex
	for _, e := range f.EndPorts {
		if f.Ports[e].LID != 0 && (!live || f.Ports[e].Num != 0) {
			ends = append(ends, e)
		}
	}
	if len(ends) == 0 {
		return nil, errors.New("no end port has a LID")
	}
	r := rand.New(rand.NewPCG(uint64(c.Int("seed", 1)), 0))
	list := make([]pairs.Pair, n)
	for i := range list {
		dst := ends[r.IntN(len(ends))]
		list[i] = pairs.Pair{
			Src: ends[r.IntN(len(ends))], Dst: dst, LID: f.Ports[dst].LID + uint16(r.IntN(1<<f.Ports[dst].LMC)),
		}
	}
	return list, nil
}

// compareWithSA compares the response of the subnet administration for a pair of LIDs with the record of the database.
// Either can be an error. It returns nil if they agree. It compares service levels only if sls is set.
func compareWithSA(v *pathdb.View, slid, dlid uint16, r *sa.PathRecord, why error, sls bool) error {
	if errors.Is(why, sa.NoRecords) {
		if got, err := v.Query(slid, dlid, pathdb.Want{}); err == nil {
			return fmt.Errorf("%w; the database has a record with P_Key 0x%04x and SL %s", why, got.PKey, got.SLs)
		}
		return nil
	}
	if why != nil {
		return why
	}
	got, err := v.Query(r.SLID, r.DLID, pathdb.Want{})
	if err != nil {
		return fmt.Errorf("the database has no record: %w", err)
	}
	if sls && !got.SLs.Has(r.SL) {
		return fmt.Errorf("the SA returns P_Key 0x%04x and SL %d, the database has 0x%04x and %s", uint16(r.PKey), r.SL,
			got.PKey, got.SLs)
	}
	switch {
	case mad.MTU(got.MTU) != r.MTU:
		return fmt.Errorf("the SA returns MTU code %d, the database has %d", r.MTU, got.MTU)
	case sa.Rate(got.Rate) != r.Rate:
		return fmt.Errorf("the SA returns rate %g Gb/s, the database has %g", r.Rate.Gbps(), sa.Rate(got.Rate).Gbps())
	case r.PKey != mad.PKey(got.PKey):
		return fmt.Errorf("the SA returns P_Key 0x%04x, the database has 0x%04x", uint16(r.PKey), got.PKey)
	case r.LifeTime != got.LifeTime:
		return fmt.Errorf("the SA returns packet life time code %d, the database has %d", r.LifeTime, got.LifeTime)
	}
	return nil
}
