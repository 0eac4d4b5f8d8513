// SPDX-License-Identifier: Apache-2.0

package feature

import "example.org/ibconsole/shell/answer"

// OneLine declares the answer of a command that does something: its facts are the fields of R by their tags, and people
// read the title alone.
func OneLine[R any](command, help, title string) *answer.Decl[R] {
	return &answer.Decl[R]{
		Command: command, Help: help, Title: title, Facts: answer.Fields[R](), Layout: []answer.Item[R]{}, Action: true,
	}
}
