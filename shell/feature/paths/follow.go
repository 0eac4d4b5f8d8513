// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/pathrecords"
)

// followed is the answer with a database that follows the live state.
type followed struct {
	File  string       `key:"file" name:"file"`
	State uint64       `key:"state" name:"state"`
	Delta int          `key:"delta" unit:"bytes" help:"length of the difference, 0 for a new file"`
	Why   answer.Value `key:"why" kind:"text" help:"why the file was written again"`
	Bytes int          `key:"bytes" unit:"bytes" help:"length of the file"`
	Same  bool         `key:"same" help:"nothing has changed"`

	Text string `name:"text"`
	Idle bool   `name:"idle"` // watching is off
}

// unfollowed is the answer after a database no longer follows the live state.
type unfollowed struct {
	File string `key:"file" help:"none"`
}

var (
	followDecl = answer.Decl[*followed]{
		Command: "paths follow", Help: "the database", Title: "path records of {of}: {text}",
		Facts: answer.Fields[*followed](), Action: true,
		Layout: []answer.Item[*followed]{
			{Line: "{?idle}  the file changes only with the next sweep, as watching is off; hint: 'watch SECONDS'"},
		},
	}
	unfollowDecl = feature.OneLine[unfollowed]("paths follow", "no database", "no path database follows the live state")
	followedDecl = feature.DeclareStay("paths follow")
)

func follow(c *feature.Call) error {
	switch c.Arg(0) {
	case "-":
		return files.ErrStream
	case feature.OffWord:
		pathrecords.StopFollowing(c.Session)
		st := c.Session.State()
		return c.Answer(unfollowDecl.Answer(st.SourceBasis(), unfollowed{}))
	}
	stay, err := c.StayDuration()
	if err != nil {
		return err
	}
	opt := pathrecords.FollowOptions{Trace: c.Option("trace", "yes") == "yes", Deltas: c.Option("deltas", "")}
	rep, err := pathrecords.Follow(c.Ctx, c.Session, c.Arg(0), opt)
	if err != nil {
		return err
	}
	st := c.Session.State()
	b := st.Basis(st.Live, session.NeedLinks|session.NeedTables)
	if st.Live.Tables.Unread.SLs {
		b.Warnings = append(b.Warnings, noSLs)
	}
	a := &followed{rep.File, rep.State, rep.Delta, answer.Optional(rep.Why), rep.Size, rep.Same, rep.Text(),
		st.Every == 0}
	if err := c.Answer(followDecl.Answer(b, a)); err != nil || stay == 0 {
		return err
	}
	defer pathrecords.StopFollowing(c.Session)
	return c.StayFor(followedDecl, stay)
}
