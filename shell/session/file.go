// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session/source"
)

// readFile reads the file of the source within an operation.
func (s *Session) readFile(ctx context.Context) (formats.Subnet, error) {
	src := s.State().Source
	s.version = source.FileVersion(ctx, src.Arg) // before the file is read, so that a later change is found
	return source.ReadFile(ctx, src.Kind, src.Arg,
		formats.Options{AsIbsim: src.Kind == source.Net, Strict: s.opt.Strict})
}

// readAgain reads the file of the source within an operation if the file changed since it was last read. The changes of
// the subnet become events. While another program writes the file, parts of it are missing. So a file with parts that
// cannot be read is used only if it did not change between two calls, and each file only if it did not change while it
// was read.
func (s *Session) readAgain(ctx context.Context) error {
	before, arg := s.version, s.State().Source.Arg
	now := source.FileVersion(ctx, arg)
	if now == before {
		return nil
	}
	file, err := s.readFile(ctx)
	isWhole := err == nil && file.Unread.Count == 0 && len(file.Warnings) == 0
	if err != nil || !isWhole && now != s.partial || source.FileVersion(ctx, arg) != now {
		s.version, s.partial = before, now // the next call tries again
		return err
	}
	s.partial = ""
	live := pictureOf(Live, &file)
	st := s.State()
	live = st.WithNames(live)
	s.Publish(ChangeLive|ChangeStaged, func(st *State) {
		before := st.Live
		found := found{tables: moved(before.Tables, live.Tables), managers: st.SMs}
		moved := found.tables.Changed+found.tables.Unread > 0
		if st.Base == nil && (moved || !fabric.Same(before.Fabric, live.Fabric)) {
			st.past = compute.Past{} // the what-if starts from a different subnet
		}
		st.Live, st.Warnings, st.Unread, st.SMs, st.Counted = live, file.Warnings, file.Unread, nil, nil
		s.takeRead(st, &file)
		st.Stale = st.stale()
		st.noteChanges(before, &found)
	})
	return nil
}
