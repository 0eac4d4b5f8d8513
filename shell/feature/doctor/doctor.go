// SPDX-License-Identifier: Apache-2.0

// Package doctor finds what a source lacks.
package doctor

import (
	"cmp"
	"fmt"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session/doctor"
)

// Feature is the command doctor.
var Feature = feature.Feature{Name: "doctor", Commands: []feature.Command{{
	Path: "doctor", Group: feature.GroupLook, Bare: true, Summary: "Find what the source lacks, and what to do " +
		"about it",
	Help: "It looks at adapters, links, the subnet manager and the subnet administration. It fails where it " +
		"finds a fault; notes\nalone are no failure.",
	Examples: []string{"doctor"},
	Answers:  []answer.Declared{&decl},
	Run: func(c *feature.Call) error {
		st := c.Session.State()
		return c.Answer(Answer(st.SourceBasis(), doctor.Session(c.Ctx, c.Session)))
	},
}}}

// findings are what was found, with texts that are escaped.
type findings []umad.Finding

var table = answer.Table[*umad.Finding]{
	Key: "findings", Title: "findings", Row: "{LEVEL}  {WHERE}: {text}[\n       - {remedy}]",
	Fields: []answer.Field[*umad.Finding]{
		{Key: "level", Kind: answer.KindText, Help: "ok, note or fault", Value: func(f *umad.Finding) answer.Value {
			return answer.Text(fmt.Sprint(f.Level))
		}},
		{Name: "LEVEL", Kind: answer.KindText, Help: "ok, note or fault", Value: func(f *umad.Finding) answer.Value {
			return answer.Text(fmt.Sprintf("%-5s", f.Level))
		}},
		{Key: "port", Kind: answer.KindText, Help: "the source that names the port, none for the machine",
			Value: func(f *umad.Finding) answer.Value { return answer.Optional(f.Port) }},
		{Name: "WHERE", Kind: answer.KindText, Value: func(f *umad.Finding) answer.Value {
			return answer.Text(cmp.Or(f.Port, "umad"))
		}},
		{Key: "text", Name: "FINDING", Kind: answer.KindText, Value: func(f *umad.Finding) answer.Value {
			return answer.Text(f.Text)
		}},
		{Key: "remedy", Name: "REMEDY", Kind: answer.KindText, Help: "what to do about it",
			Value: func(f *umad.Finding) answer.Value { return answer.Optional(f.Remedy) }},
	},
}

var decl = answer.Decl[findings]{
	Command: "doctor", Help: "what was found", Title: "doctor: {count|finding}, {faults|fault}",
	Facts: []answer.Field[findings]{
		{Key: "count", Name: "count", Kind: answer.KindInt, Value: func(f findings) answer.Value {
			return answer.Int(len(f))
		}},
		{Key: "faults", Name: "faults", Kind: answer.KindInt, Value: func(f findings) answer.Value {
			return answer.Int(f.faults())
		}},
	},
	Layout: []answer.Item[findings]{{Table: answer.Show(&table, func(f findings) answer.Rows[*umad.Finding] {
		return answer.Lazy(len(f), func(i int) *umad.Finding { return &f[i] })
	})}},
	Verdict: func(f findings) (answer.Verdict, string) {
		if n := f.faults(); n > 0 {
			return answer.Found, prose.Count(n, "fault") + " of " + prose.Count(len(f), "finding")
		}
		return answer.OK, ""
	},
	Fails: answer.Always,
}

func (f findings) faults() (n int) {
	for i := range f {
		n += prose.When(f[i].Level == umad.Fault, 1, 0)
	}
	return n
}

// Answer returns the answer that tells of findings, whose texts are escaped.
func Answer(b answer.Basis, found []umad.Finding) *answer.Answer { return decl.Answer(b, found) }
