// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"

	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/feature/doctor"
	"example.org/ibconsole/shell/feature/sweep"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// FirstReads returns the additional attributes that the first statement reads if it is a full sweep, otherwise nil.
func (sh *Shell) FirstReads(stmts []lang.Statement) *session.Reads {
	if len(stmts) == 0 {
		return nil
	}
	s, err := sh.bind(stmts[0])
	if err != nil {
		return nil
	}
	return sweep.First(s.Invocation)
}

// Summary writes the summary of the live subnet.
func Summary(ctx context.Context, s *session.Session, out *Output) error {
	return New(s).Run(ctx, "summary", "summary of=live", out)
}

// Findings writes findings without a session. Their texts are already escaped. It returns an error if a finding is a
// fault.
func Findings(out *Output, findings []umad.Finding) error {
	c := feature.Call{Invocation: &lang.Invocation{}, Output: out}
	return c.Answer(doctor.Answer(answer.Basis{}, findings))
}
