// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
)

// Proof is whether the subnet manager would make the tables that the settings give, as facts; they do not apply where
// no other program computes tables.
type Proof struct {
	Manager answer.Value `key:"as_subnet_manager" kind:"map" help:"whether the subnet manager would make the same tables: proved, and why"`
	Text    answer.Value `name:"proof" kind:"text"`
	proved  bool
	why     string
}

// ProofOf returns the facts of the proof of a state.
func ProofOf(st *session.State) Proof {
	p := st.Proof()
	if !p.Asked {
		return Proof{}
	}
	facts := []answer.Named{{Name: "proved", Value: answer.Bool(p.Proved)}, {Name: "why", Value: answer.Text(p.Why)}}
	if p.When != nil {
		facts = append(facts, answer.Named{Name: "when", Value: answer.Time(*p.When)},
			answer.Named{Name: "entries", Value: answer.Int(p.Entries)})
	}
	if p.Manager != "" {
		facts = append(facts, answer.Named{Name: "manager", Value: answer.Text(string(p.Manager))})
	}
	if p.Signs != "" {
		facts = append(facts, answer.Named{Name: "signs", Value: answer.Text(p.Signs)})
	}
	return Proof{answer.Map(facts), answer.Text(p.String()), p.Proved, p.Why}
}

// Why returns how it was proved, or why it was not.
func (p *Proof) Why() string { return p.why }

// IsUnproved reports whether there is a subnet manager that may make other tables.
func (p *Proof) IsUnproved() bool { return !p.Text.IsNone() && !p.proved }
