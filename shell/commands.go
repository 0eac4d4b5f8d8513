// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"slices"
	"strings"

	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// commands lists every command, in the order of help.
func commands() []spec {
	return slices.Concat(
		subnetCommands(), watchCommands(), doctorCommands(), counterCommands(), problemCommands(), compareCommands(), balanceCommands(), reportCommands(), saCommands(), routeCommands(), showCommands(), traceCommands(), checkCommands(), whoCommands(),
		fileCommands(), pathsCommands(), paperCommands(), commitCommands(), historyCommands(), handoverCommands(), resilienceCommands(), suggestCommands(), helpCommands())
}

// ofOption chooses the picture that a reading command reads.
func ofOption() lang.Option {
	return lang.Option{
		Name: "of", Kind: lang.KindPicture, Value: strings.Join(pictureNames(), "|") + "|ID",
		Summary: "which picture, or the number of a history entry; staged if there, else whatif, else live",
	}
}

// of returns the picture that was asked for and names it in a note.
func (c *call) of() (session.State, *session.Picture, error) {
	st := c.session.State()
	p, err := st.Of(session.Kind(c.Option("of", "")))
	if err != nil {
		return st, nil, err
	}
	return st, p, nil
}

// tablesOf is like of for a picture that must have tables; stale ones are laid over the
// paper as it is now.
func (c *call) tablesOf() (session.State, *session.Picture, error) {
	st := c.session.State()
	p, err := st.FollowedTablesOf(session.Kind(c.Option("of", "")))
	return st, p, err
}

// freshTablesOf is like tablesOf for what is to be used: it takes no stale tables that
// nobody named.
func (c *call) freshTablesOf() (session.State, *session.Picture, error) {
	st := c.session.State()
	p, err := st.FreshTablesOf(session.Kind(c.Option("of", "")))
	return st, p, err
}
