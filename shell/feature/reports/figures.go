// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/report"
)

// figures is the JSON answer with the figures of a report.
type figures struct {
	*report.Report
	f *fabric.Fabric
}

// port is a row of the table: one direction of a link between switches.
type port struct {
	f *fabric.Fabric
	*report.Port
}

var portTable = answer.Table[port]{
	Key: "ports", Title: "links between switches", Help: "each direction of the links between switches",
	Fields: []answer.Field[port]{
		{Key: "from", Name: "FROM", Kind: answer.KindPlace, Value: func(p port) answer.Value {
			return answer.Port(p.f, p.Index)
		}},
		{Key: "to", Name: "TO", Kind: answer.KindPlace, Value: func(p port) answer.Value {
			return answer.Port(p.f, p.f.Ports[p.Index].Peer)
		}},
		{Key: "width", Name: "WIDTH", Kind: answer.KindText, Value: func(p port) answer.Value {
			return feature.Width(p.f, p.Index)
		}},
		{Key: "speed", Name: "SPEED", Kind: answer.KindText, Value: func(p port) answer.Value {
			return feature.Speed(p.f, p.Index)
		}},
		{Key: "gbps", Name: "RATE", Unit: "Gbit/s", Kind: answer.KindFloat, Value: func(p port) answer.Value {
			return answer.Float(p.Gbps, 0)
		}},
		{Key: "paths", Name: "PATHS", Kind: answer.KindInt, Help: "paths over the link, all end ports to all",
			Value: func(p port) answer.Value {
				return known(p.Paths)
			}},
		{Key: "lids", Name: "LIDS", Kind: answer.KindInt, Help: "destination LIDs routed over the link",
			Value: func(p port) answer.Value {
				return known(p.LIDs)
			}},
	},
	Lead: func(p port) answer.Lead { return feature.ToPort(p.f, p.Index) },
}

func known[N int | int32 | int64 | uint64](n *N) answer.Value {
	if n == nil {
		return answer.NotRead()
	}
	return answer.Int(int64(*n))
}

var figuresDecl = answer.Decl[*figures]{
	Command: "report json", Help: "the figures of a report", Title: "report of {of}",
	Facts: []answer.Field[*figures]{
		answer.TextField("title", "", "", func(r *figures) string { return r.Title }),
		answer.TextField("source", "source", "", func(r *figures) string { return r.Source }),
		answer.TimeField("when", "time", "", func(r *figures) time.Time { return r.When }),
		answer.IntField("nodes", "nodes", "", func(r *figures) int { return r.Nodes }),
		answer.IntField("switches", "switches", "", func(r *figures) int { return r.Switches }),
		answer.IntField("hosts", "hosts", "", func(r *figures) int { return r.Hosts }),
		answer.IntField("links", "links", "", func(r *figures) int { return r.LinkSum }),
		answer.IntField("highest_lid", "highest LID", "", func(r *figures) uint16 { return r.MaxLID }),
		{
			Key: "unreachable", Name: "unreachable", Kind: answer.KindMap,
			Help: "counts of nodes and links that failures made unreachable", Value: unreachable,
		},
		{Key: "routing", Name: "routing", Kind: answer.KindMap, Help: "figures of the forwarding tables",
			Value: routing},
	},
	Layout: []answer.Item[*figures]{{Table: answer.Show(&portTable, func(r *figures) answer.Rows[port] {
		return answer.Lazy(len(r.Ports), func(i int) port { return port{r.f, &r.Ports[i]} })
	})}},
}

func unreachable(r *figures) answer.Value {
	u := r.Unreachable
	if u == nil {
		return answer.None()
	}
	entries := []answer.Named{
		{Name: "nodes", Value: answer.Int(u.Nodes)}, {Name: "switches", Value: answer.Int(u.Switches)},
		{Name: "cas", Value: answer.Int(u.CAs)},
	}
	if u.Aggregation > 0 {
		entries = append(entries, answer.Named{Name: "aggregation_nodes", Value: answer.Int(u.Aggregation)})
	}
	if u.Routers > 0 {
		entries = append(entries, answer.Named{Name: "routers", Value: answer.Int(u.Routers)})
	}
	return answer.Map(append(entries, answer.Named{Name: "links", Value: answer.Int(u.Links)}))
}

// routing returns the figures of the tables, or None if the report has no tables.
func routing(r *figures) answer.Value {
	t := r.Routing
	if t == nil {
		return answer.None()
	}
	entries := []answer.Named{
		{Name: "engine", Value: answer.Text(t.Engine)}, {Name: "pairs", Value: answer.Int(t.Pairs)},
		{Name: "lost_pairs", Value: answer.Int(t.LostPairs)},
	}
	if t.LuckPairs > 0 {
		entries = append(entries, answer.Named{Name: "luck_pairs", Value: answer.Int(t.LuckPairs)})
	}
	entries = append(entries, []answer.Named{
		{Name: "unknown_pairs", Value: answer.Int(t.UnknownPairs)}, {Name: "paths", Value: answer.Int(t.Paths)},
		{Name: "lost", Value: answer.Int(t.Lost)},
		{Name: "unknown", Value: answer.Int(t.Unknown)},
	}...)
	if t.NotRead != nil {
		entries = append(entries, answer.Named{Name: "tables_not_read", Value: answer.Texts(t.NotRead)})
	}
	links := make([]answer.Value, len(t.Links))
	for i, n := range t.Links {
		links[i] = answer.Int(n)
	}
	loop := answer.Bool(t.CreditLoop == credits.Loop)
	if t.CreditLoop == credits.Unknown {
		loop = answer.NotRead()
	}
	entries = append(entries, answer.Named{Name: "paths_by_links", Value: answer.List(links)},
		answer.Named{Name: "worst_load", Value: answer.Int(t.Worst)})
	return answer.Map(append(append(entries, measures(t)...), answer.Named{Name: "vls", Value: known(t.VLs)},
		answer.Named{Name: "credit_loop", Value: loop}))
}

// measures returns the figures of the shift patterns and of the bisections.
func measures(t *report.Routing) (entries []answer.Named) {
	if s := t.Shifts; s != nil {
		entries = append(entries, answer.Named{Name: "shifts", Value: answer.Map([]answer.Named{
			{Name: "hosts", Value: answer.Int(s.Hosts)}, {Name: "shifts", Value: answer.Int(s.Shifts)},
			{Name: "worst", Value: answer.Int(s.Worst)},
			{Name: "worst_by", Value: answer.Int(s.WorstBy)}, {Name: "mean", Value: answer.Float(s.Mean, 2)},
			{Name: "contention_free", Value: answer.Int(s.Free)},
			{Name: "lost", Value: answer.Int(s.Lost)}, {Name: "unknown", Value: answer.Int(s.Unknown)},
		})})
	}
	if b := t.Bisections; b != nil {
		entries = append(entries, answer.Named{Name: "bisections", Value: answer.Map([]answer.Named{
			{Name: "hosts", Value: answer.Int(b.Hosts)}, {Name: "bisections", Value: answer.Int(b.Bisections)},
			{Name: "seed", Value: answer.Int(int64(b.Seed))},
			{Name: "mean", Value: answer.Float(b.Mean, 3)}, {Name: "min", Value: answer.Float(b.Min, 3)},
			{Name: "max", Value: answer.Float(b.Max, 3)},
			{Name: "std_dev", Value: answer.Float(b.StdDev, 3)}, {Name: "worst", Value: answer.Int(b.Worst)},
			{Name: "lost", Value: answer.Int(b.Lost)},
			{Name: "unknown", Value: answer.Int(b.Unknown)},
		})})
	}
	return entries
}
