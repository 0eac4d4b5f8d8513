// SPDX-License-Identifier: Apache-2.0

// Package doctor finds faults of a source.
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
	Path: "doctor", Group: feature.GroupLook, Bare: true, Summary: "Check the source, and list faults with " +
		"their remedies",
	Help: "doctor checks adapters, links, the subnet manager and the subnet administration. It fails if it finds a " +
		"fault.\nNotes do not make doctor fail.\nOn the command line, ibconsole doctor without -s checks this " +
		"machine. ibconsole doctor --report FILE writes\na report for a bug, without names and keys.",
	Examples: []string{
		"doctor",
		"doctor; show unanswered",
	},
	Answers: []answer.Declared{&decl},
	Run: func(c *feature.Call) error {
		st := c.Session.State()
		return c.Answer(Answer(st.SourceBasis(), doctor.Session(c.Ctx, c.Session)))
	},
}}}

// findings are findings with escaped texts.
type findings []umad.Finding

var table = answer.Table[*umad.Finding]{
	Key: "findings", Title: "findings", Row: "{LEVEL}  {WHERE}: {text}[\n       - {remedy}]",
	Fields: []answer.Field[*umad.Finding]{
		answer.TextField("level", "", "ok, note or fault", func(f *umad.Finding) string { return fmt.Sprint(f.Level) }),
		answer.TextField("", "LEVEL", "ok, note or fault", func(f *umad.Finding) string {
			return fmt.Sprintf("%-5s", f.Level)
		}),
		answer.OptionalField("port", "", "source of the port, none for the machine", func(f *umad.Finding) string {
			return f.Port
		}),
		answer.TextField("", "WHERE", "", func(f *umad.Finding) string { return cmp.Or(f.Port, "umad") }),
		answer.TextField("text", "FINDING", "", func(f *umad.Finding) string { return f.Text }),
		answer.OptionalField("remedy", "REMEDY", "what to do", func(f *umad.Finding) string { return f.Remedy }),
	},
}

var decl = answer.Decl[findings]{
	Command: "doctor", Help: "what was found", Title: "doctor: {count|finding}, {faults|fault}",
	Facts: []answer.Field[findings]{
		answer.IntField("count", "count", "", func(f findings) int { return len(f) }),
		answer.IntField("faults", "faults", "", findings.faults),
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

// Answer returns an answer with the findings. The texts of findings are already escaped.
func Answer(b answer.Basis, found []umad.Finding) *answer.Answer { return decl.Answer(b, found) }
