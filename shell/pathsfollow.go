// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/pathrecords"
)

func pathsFollowCommand() Spec {
	return Spec{Name: "follow", Summary: "keep a database at what is live, as watch finds it; off ends that", Run: (*call).pathsFollow,
		Help: "The file is made where there is none. It is changed by differences, and made anew, under its name, where ports or LIDs have come or moved.\n" +
			"Programs that read it see a state before a change or after it. show events lists the changes.",
		Args: []lang.Arg{{Name: "FILE|off", Kind: lang.KindFile, Words: []string{offWord}}},
		Options: []lang.Option{
			{Name: "trace", Kind: lang.KindWord, Words: []string{"yes", "no"}, Summary: "a new file has the switches of the paths (yes by default)"},
			{Name: "deltas", Kind: lang.KindFile, Summary: "a folder for the differences, for copies elsewhere: paths apply COPY STATE.delta"},
			{Name: "for", Kind: lang.KindText, Value: "SECONDS", Summary: "stay for so long, print what changes as it does, then stop"}}}
}

func (c *call) pathsFollow() error {
	switch c.Arg(0) {
	case "-":
		return files.ErrStream
	case offWord:
		pathrecords.StopFollowing(c.session)
		return c.say(object{"file": ""}, "no path database is kept current")
	}
	stay, err := c.stay()
	if err != nil {
		return err
	}
	opt := pathrecords.FollowOptions{Trace: c.Option("trace", "yes") == "yes", Deltas: c.Option("deltas", "")}
	rep, err := pathrecords.Follow(c.ctx, c.session, c.Arg(0), opt)
	if err != nil {
		return err
	}
	if c.session.State().Live.Tables.Unread.SLs {
		c.out.warn("%v: the records have SL 0", session.ErrUnreadSLs)
	}
	if c.session.State().Every == 0 {
		c.out.note("nobody sweeps, so the file changes with the next sweep by hand (try: watch SECONDS)")
	}
	if err := c.out.Answer(&pathsFollowed{rep.File, rep.State, rep.Delta, rep.Why, rep.Same, rep.Text()}); err != nil || stay == 0 {
		return err
	}
	defer pathrecords.StopFollowing(c.session)
	return c.printEvents(stay)
}

type pathsFollowed struct {
	File  string `json:"file"`
	State uint64 `json:"state"`
	// Delta is the length of the difference that led to the state, 0 for a new file,
	// of which Why says why it is one.
	Delta int    `json:"delta"`
	Why   string `json:"why,omitempty"`
	Same  bool   `json:"same"`
	text  string
}

func (f *pathsFollowed) Text(w io.Writer) { _, _ = fmt.Fprintln(w, f.text) }
