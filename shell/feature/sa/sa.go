// SPDX-License-Identifier: Apache-2.0

// Package sa compares records of the subnet administration with the tables of the switches.
package sa

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/administration"
	"example.org/ibconsole/shell/session/pairs"
)

// Feature provides the commands "sa path" and "sa nodes".
var Feature = feature.Feature{Name: "sa", Commands: []feature.Command{
	{Path: "sa", Group: feature.GroupLook, Summary: "Query the subnet administration"},
	{
		Path:    "sa path",
		Summary: "List the path records from SRC to DST, or to all",
		Help:    "Each record is compared with the path by the live tables.",
		Args: []lang.Arg{
			{
				Name: "SRC", Kind: lang.KindPlace,
			}, {Name: "DST|all", Kind: lang.KindPlace, Words: []string{feature.AllWord}},
		},
		Examples: []string{"sa path node-0001 node-0648", "sa path node-0001 all"},
		Answers:  []answer.Declared{&pathsDecl},
		Run:      runPath,
	},
	{
		Path:     "sa nodes",
		Summary:  "Compare the node records with the nodes of the sweep",
		Examples: []string{"sa nodes", "sa nodes; problems"},
		Answers:  []answer.Declared{&nodesDecl},
		Run:      runNodes,
	},
}}

// record is a row: the path record of a pair, or an error. The field tables describes how the record differs from the
// tables.
type record struct {
	f *fabric.Fabric
	pairs.Pair
	sa.PathRecord
	err    error
	tables answer.Value
}

const agree = "agree"

func (r record) agrees() bool { return r.tables.String() == agree }

// ifGranted returns a function for a field about the record. It calls the function value, or returns None if the pair
// has no record.
func ifGranted(value func(record) answer.Value) func(record) answer.Value {
	return func(r record) answer.Value {
		if r.err != nil {
			return answer.None()
		}
		return value(r)
	}
}

var pathTable = answer.Table[record]{
	Key: "records", Title: "path records", Stream: true,
	Fields: []answer.Field[record]{
		{Key: "from", Name: "FROM", Kind: answer.KindPlace, Value: func(r record) answer.Value {
			return answer.Port(r.f, r.Src)
		}},
		{Key: "to", Name: "TO", Kind: answer.KindPlace, Value: func(r record) answer.Value {
			return answer.Port(r.f, r.Dst)
		}},
		{
			Key: "slid", Kind: answer.KindLID, Help: "source LID", Value: ifGranted(func(r record) answer.Value {
				return answer.LID(r.SLID)
			}),
		},
		{
			Key: "dlid", Kind: answer.KindLID, Help: "destination LID", Value: ifGranted(func(r record) answer.Value {
				return answer.LID(r.DLID)
			}),
		},
		{
			Key: "sl", Name: "SL", Kind: answer.KindInt, Help: "service level",
			Value: ifGranted(func(r record) answer.Value {
				return answer.Int(r.SL)
			}),
		},
		{
			Key: "mtu", Name: "MTU", Kind: answer.KindText, Unit: "bytes",
			Value: ifGranted(func(r record) answer.Value {
				return answer.Text(fmt.Sprint(r.MTU))
			}),
		},
		{
			Name: "RATE", Kind: answer.KindText, Value: ifGranted(func(r record) answer.Value {
				return answer.Text(fmt.Sprintf("%g Gb/s", r.Rate.Gbps()))
			}),
		},
		{
			Key: "gbps", Kind: answer.KindFloat, Unit: "Gbit/s", Value: ifGranted(func(r record) answer.Value {
				return answer.Float(r.Rate.Gbps(), 1)
			}),
		},
		{Key: "tables", Name: "TABLES", Kind: answer.KindText, Help: "agree, or how the path by the tables differs",
			Value: func(r record) answer.Value { return r.tables }},
		{Key: "error", Kind: answer.KindText, Help: "why there is no record", Value: func(r record) answer.Value {
			if r.err == nil {
				return answer.None()
			}
			return answer.Text(r.err.Error())
		}},
	},
	Lead: func(r record) answer.Lead { return feature.ToPort(r.f, r.Dst) },
}

// records is the answer with the path records of pairs. If err is set, the queries stopped early.
type records struct {
	pairs, differ int
	all           []record
	err           error
}

var pathsDecl = answer.Decl[records]{
	Command: "sa path", Help: "path records, compared with the tables",
	Title: "path records of the subnet administration, and {of}",
	Facts: []answer.Field[records]{
		answer.IntField("pairs", "", "requested records", func(r records) int { return r.pairs }),
		answer.IntField("differ", "", "records that differ from the tables", func(r records) int { return r.differ }),
	},
	Layout: []answer.Item[records]{
		{Table: answer.Show(&pathTable, func(r records) answer.Rows[record] {
			if r.err == nil {
				return answer.Slice(r.all)
			}
			return answer.Once(func(yield func(record, error) bool) {
				for _, x := range r.all {
					if !yield(x, nil) {
						return
					}
				}
				yield(record{}, r.err)
			})
		})},
		{Line: "{pairs|record} requested, {differ} differ from the tables"},
	},
}

func runPath(c *feature.Call) error {
	st := c.Session.State()
	live := st.Live
	list, err := c.Pairs(live.Fabric, true)
	if err == nil {
		err = pairs.Addressed(live.Fabric, list...)
	}
	if err != nil {
		return err
	}
	r := records{pairs: len(list)}
	r.err = administration.PathRecords(c.Ctx, c.Session, list, func(p pairs.Pair, got sa.PathRecord, err error) error {
		x := record{f: live.Fabric, Pair: p, PathRecord: got, err: err}
		if err != nil {
			x.tables = answer.Text("no record: " + err.Error())
		} else {
			x.tables = compare(live, p, &got)
		}
		if !x.agrees() {
			r.differ++
		}
		r.all = append(r.all, x)
		return nil
	})
	if len(r.all) == 0 && r.err != nil {
		return r.err
	}
	return c.Answer(pathsDecl.Answer(st.Basis(live, session.NeedLinks|session.NeedTables), r))
}

// compare returns how a path record differs from the path by the tables.
func compare(live *session.Picture, p pairs.Pair, r *sa.PathRecord) answer.Value {
	f := live.Fabric
	differs := func(format string, args ...any) answer.Value { return answer.Text(fmt.Sprintf(format, args...)) }
	switch {
	case r.DLID != p.LID || f.PortByLID(r.SLID) != p.Src:
		return differs("the record is for LID %d to %d", r.SLID, r.DLID)
	case live.Tables == nil:
		return answer.NotRead()
	}
	path := walk.Trace(live.Tables, p.Src, p.LID)
	if !path.Verdict.Arrives() {
		return answer.Text(path.Explain(f))
	}
	if is := live.Tables.SLRange(r.SLID, r.DLID); is.N > 0 && !is.Has(r.SL) {
		return differs("by the tables the path has SL %s", is)
	}
	// Management ports of switches have other rates, which sweeps do not store.
	toSwitch := f.Ports[p.Src].Num == 0 || f.Ports[f.PortByLID(p.LID)].Num == 0
	ports := []fabric.PortIndex{p.Src, f.PortByLID(p.LID)}
	for _, h := range path.Hops {
		if h.Out != fabric.None {
			ports = append(ports, h.Out)
		}
	}
	slowest := 0.0
	for _, port := range ports {
		if g := f.Ports[port].Gbps(); g > 0 && (slowest == 0 || g < slowest) {
			slowest = g
		}
	}
	off := r.Rate.Gbps() - slowest
	if slowest > 0 && (off > 0.01 || off < -0.01 && !toSwitch) {
		return differs("the slowest link of the path has %g Gb/s", slowest)
	}
	return answer.Text(agree)
}

// nodes is the answer with the differences between the node records and the sweep.
type nodes struct {
	records      int
	theirs, ours []answer.Place
}

func nodeTable(key, title, line, help string) *answer.Table[answer.Place] {
	return &answer.Table[answer.Place]{
		Key: key, Title: title, Help: help, Row: "  " + line, MaxRows: mostListed,
		Fields: []answer.Field[answer.Place]{
			{Key: "node", Name: "NODE", Kind: answer.KindPlace, Value: func(p answer.Place) answer.Value {
				return answer.At(p)
			}},
			{Name: "GUID", Kind: answer.KindGUID, Value: func(p answer.Place) answer.Value {
				return answer.GUID(p.GUID)
			}},
		},
		Lead: func(p answer.Place) answer.Lead { return answer.Lead{GUID: p.GUID} },
	}
}

// mostListed is the maximum number of nodes of one kind that text lists.
const mostListed = 20

var nodesDecl = answer.Decl[nodes]{
	Command: "sa nodes", Help: "nodes that only the subnet administration or only the sweep has",
	Title: "the subnet administration has {records|node record}, compared with {of}",
	Facts: []answer.Field[nodes]{
		answer.IntField("records", "", "node records", func(n nodes) int { return n.records }),
	},
	Layout: []answer.Item[nodes]{
		{Table: answer.Show(nodeTable("not_swept", "not seen by the sweep", "not seen by the sweep: {node} {GUID}",
			"nodes with a record that the sweep did not see"),
			func(n nodes) answer.Rows[answer.Place] { return answer.Slice(n.theirs) })},
		{Table: answer.Show(nodeTable("not_recorded", "without a record", "without a record: {node}",
			"nodes of the sweep without a record"),
			func(n nodes) answer.Rows[answer.Place] { return answer.Slice(n.ours) })},
	},
}

func runNodes(c *feature.Call) error {
	got, err := administration.NodeRecords(c.Ctx, c.Session)
	if err != nil {
		return err
	}
	st := c.Session.State()
	f := st.Live.Fabric
	n := nodes{records: len(got)}
	known := map[uint64]bool{}
	for i := range got {
		guid := got[i].Info.NodeGUID
		known[guid] = true
		if f.NodeByGUID(guid) == fabric.None {
			n.theirs = append(n.theirs, answer.Place{Name: got[i].Description.String(), GUID: guid, Port: -1})
		}
	}
	for i := range f.Nodes {
		if node := &f.Nodes[i]; node.InSubnet && !known[node.GUID] {
			place, _ := answer.Node(f, fabric.NodeIndex(i)).Place()
			n.ours = append(n.ours, place)
		}
	}
	return c.Answer(nodesDecl.Answer(st.Basis(st.Live, session.NeedLinks), n))
}
