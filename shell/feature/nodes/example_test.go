// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"context"
	"fmt"
	"os"

	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/feature/nodes"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// printer prints answers as text and drops warnings.
type printer struct{ feature.Output }

func (printer) Declared(a *answer.Answer) error { return a.Text(os.Stdout) }

// A command of a feature runs on a session and answers with its declaration.
func ExampleFeature() {
	ctx := context.Background()
	s, err := session.Open(ctx, source.Source{Kind: source.Sim, Arg: "fattree:2,4"}, session.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = s.Close() }()
	if err := s.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range nodes.Feature.Commands {
		if c.Path == "show switches" {
			err = c.Run(&feature.Call{Invocation: &lang.Invocation{}, Ctx: ctx, Session: s, Output: printer{}})
		}
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// show switches of live
	// LID  GUID                TYPE    UP/PORTS  NAME
	// 2    0x0000000000200000  switch  4/4       leaf-01
	// 7    0x0000000000200004  switch  4/4       spine-01
	// 9    0x0000000000200005  switch  4/4       spine-02
	// 3    0x0000000000200001  switch  4/4       leaf-02
	// 4    0x0000000000200002  switch  4/4       leaf-03
	// 6    0x0000000000200003  switch  4/4       leaf-04
}
