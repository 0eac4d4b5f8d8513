// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"slices"

	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// commands lists every command, in the order of help.
func commands() []Spec {
	all := slices.Concat(
		showCommands(),
		traceCommands(),
	)
	for i := range all {
		all[i].Example = examples[all[i].Name]
	}
	return withFeatures(all)
}

// reading is what a command does with a picture.
type reading func(*call, *session.State, *session.Picture) error

// onPicture runs a command on the state that was asked for.
func onPicture(run reading) func(*call) error { return on((*session.State).Subject, run) }

// onTables is onPicture for a state that must have tables.
func onTables(run reading) func(*call) error { return on((*session.State).FreshTablesOf, run) }

func on(of func(*session.State, session.Kind) (*session.Picture, error), run reading) func(*call) error {
	return func(c *call) error {
		st := c.session.State()
		p, err := of(&st, session.Kind(c.Option("of", "")))
		if err != nil {
			return err
		}
		return run(c, &st, p)
	}
}

// Help explains the command that words name; without any it lists them all.
func (sh *Shell) Help(words ...string) (string, error) { return lang.Help(sh.specs, words...) }
