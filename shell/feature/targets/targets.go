// SPDX-License-Identifier: Apache-2.0

// Package targets shows the response times and the losses of requests by node.
package targets

import (
	"cmp"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
)

// Feature has the command show targets.
var Feature = feature.Feature{Name: "targets", Commands: []feature.Command{{
	Path:    "show targets",
	Summary: "List response times and losses by node, worst first",
	Examples: []string{
		"show targets",
		"sweep full; show targets",
	},
	Answers: []answer.Declared{&decl},
	Run:     run,
}}}

// asked is the answer with the counts of requests and responses of this session.
type asked struct {
	f       *fabric.Fabric
	total   mad.Stats
	targets []mad.TargetStats
}

// target is a row of the table: the requests to one node.
type target struct {
	f *fabric.Fabric
	*mad.TargetStats
}

var table = answer.Table[target]{
	Key: "targets", Title: "targets", Stream: true,
	Fields: []answer.Field[target]{
		{Key: "target", Name: "TARGET", Kind: answer.KindText, Help: "the node, with the directed route if the " +
			"requests used one",
			Value: func(t target) answer.Value { return answer.Text(t.name()) }},
		count("sent", "SENT", "request frames, including repeated ones", func(t *mad.TargetStats) uint64 {
			return t.Sent
		}),
		count("retried", "RETRIED", "request frames that were sent again", func(t *mad.TargetStats) uint64 {
			return t.Retried
		}),
		count("responses", "RESPONSES", "responses that ended a request", func(t *mad.TargetStats) uint64 {
			return t.Received
		}),
		count("unanswered", "UNANSWERED", "requests without a response", func(t *mad.TargetStats) uint64 {
			return t.TimedOut
		}),
		count("late", "LATE", "responses that came too late or twice", func(t *mad.TargetStats) uint64 {
			return t.Late
		}),
		{Key: "mean_seconds", Name: "MEAN", Help: "mean time to the response", Kind: answer.KindDuration,
			Value: func(t target) answer.Value {
				return answer.Duration(t.MeanRTT)
			}},
		{Key: "longest_seconds", Name: "LONGEST", Help: "longest time to the response", Kind: answer.KindDuration,
			Value: func(t target) answer.Value {
				return answer.Duration(t.MaxRTT)
			}},
	},
}

var decl = answer.Decl[asked]{
	Command: "show targets", Help: "the requests of this session by node",
	Facts: []answer.Field[asked]{
		total("sent", func(s mad.Stats) uint64 {
			return s.Sent
		}), total("retried", func(s mad.Stats) uint64 { return s.Retried }),
		total("responses", func(s mad.Stats) uint64 {
			return s.Received
		}), total("unanswered", func(s mad.Stats) uint64 { return s.TimedOut }),
		total("late", func(s mad.Stats) uint64 { return s.Late }),
	},
	Layout: []answer.Item[asked]{
		{
			Line: "  total: {sent} sent, {retried} of them retried, {responses|response}, {unanswered} unanswered, " +
				"{late} late",
		},
		{Table: answer.Show(&table, func(a asked) answer.Rows[target] {
			return answer.Lazy(len(a.targets), func(i int) target { return target{a.f, &a.targets[i]} })
		})},
	},
}

func run(c *feature.Call) error {
	st := c.Session.State()
	a := asked{f: st.Live.Fabric}
	if client := c.Session.Connection().Client(); client != nil {
		a.total, a.targets = client.Stats(), client.Targets()
	}
	slices.SortStableFunc(a.targets, worstFirst)
	return c.Answer(decl.Answer(st.Basis(st.Live, 0), a))
}

// worstFirst orders nodes by unanswered requests, then by retried requests, then by the longest response time.
func worstFirst(a, b mad.TargetStats) int {
	return cmp.Or(cmp.Compare(b.TimedOut, a.TimedOut), cmp.Compare(b.Retried, a.Retried),
		cmp.Compare(b.MaxRTT, a.MaxRTT))
}

func count(key, name, help string, value func(*mad.TargetStats) uint64) answer.Field[target] {
	return answer.Field[target]{Key: key, Name: name, Help: help, Kind: answer.KindInt,
		Value: func(t target) answer.Value {
			return answer.Int(int64(value(t.TargetStats)))
		}}
}

func total(key string, value func(mad.Stats) uint64) answer.Field[asked] {
	return answer.Field[asked]{Key: key, Kind: answer.KindInt, Value: func(a asked) answer.Value {
		return answer.Int(int64(value(a.total)))
	}}
}

// name returns the name of the node, and its directed route if that is known.
func (t target) name() string {
	f := t.f
	if lid := t.Target.LID; lid != 0 {
		if port := f.PortByLID(lid); port != fabric.None {
			return f.NodeName(f.Ports[port].Node)
		}
		return fmt.Sprintf("LID %d", lid)
	}
	route := "route " + t.Target.Path.String()
	if f.SMPort == fabric.None {
		return route
	}
	node := f.Ports[f.SMPort].Node
	for i := range t.Target.Path.Len() {
		out := f.PortAt(node, int(t.Target.Path.Hop(i)))
		if out == fabric.None || !f.Ports[out].Linked() {
			return route
		}
		node = f.Ports[f.Ports[out].Peer].Node
	}
	return f.NodeName(node) + " by " + route
}
