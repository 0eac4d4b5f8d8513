// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"example.org/ibconsole/shell/guided"
)

const guidedWord = "guided"

func guidedSpec(what string, flow func(*call) *guided.Flow) Spec {
	return Spec{Name: guidedWord, Run: func(c *call) error { return c.feature().Guide(flow(c)) }, Summary: "ask step by step what to " + what + ", and show the command that does the same unattended"}
}

// guide asks the questions of a flow one after the other and runs its command.
func (c *call) guide(f *guided.Flow) error { return c.feature().Guide(f) }
