// SPDX-License-Identifier: Apache-2.0

// Package unanswered lists the requests of the last sweep that got no response.
package unanswered

import (
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// Feature has the command show unanswered.
var Feature = feature.Feature{Name: "unanswered", Commands: []feature.Command{{
	Path:    "show unanswered",
	Aliases: []string{"holes"},
	Summary: "List the requests of the last sweep without a response",
	Examples: []string{
		"show unanswered",
		"sweep full sl2vl; show unanswered",
	},
	Answers: []answer.Declared{&decl},
	Run:     run,
}}}

// request is a row of the table: unanswered requests for one attribute of a node or port.
type request struct {
	*sweep.Unanswered
	at answer.Place
}

var table = answer.Table[request]{
	Key: "requests", Title: "unanswered", Stream: true,
	Row: "{why}", Empty: "all requests of the last sweep were answered",
	Fields: []answer.Field[request]{
		{Key: "at", Name: "NODE", Kind: answer.KindPlace, Help: "the node or port of the request, or the port that " +
			"leads to it",
			Value: func(r request) answer.Value { return answer.At(r.at) }},
		{Key: "attribute", Name: "ATTRIBUTE", Kind: answer.KindText, Help: "the requested attribute",
			Value: func(r request) answer.Value { return answer.Text(r.Attr.String()) }},
		answer.IntField("open", "OPEN", "requests without a response", func(r request) int { return r.Count }),
		{Key: "why", Name: "REASON", Kind: answer.KindText, Value: func(r request) answer.Value {
			return answer.Text(r.String())
		}},
	},
	Lead: func(r request) answer.Lead { return answer.Lead{GUID: r.GUID, Port: uint8(max(r.Port, 0))} },
}

// state is the state of the session.
type state struct{ *session.State }

var decl = answer.Decl[state]{
	Command: "show unanswered", Help: "the requests of the last sweep without a response",
	Layout: []answer.Item[state]{{Table: answer.Show(&table, func(st state) answer.Rows[request] {
		all := st.UnansweredAt()
		return answer.Lazy(len(all), func(i int) request {
			return request{&all[i], session.PlaceOf(st.Live.Fabric, &all[i])}
		})
	})}},
}

func run(c *feature.Call) error {
	st := c.Session.State()
	return c.Answer(decl.Answer(st.Basis(st.Live, 0), state{&st}))
}
