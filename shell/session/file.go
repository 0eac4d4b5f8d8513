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
// the subnet become events.
func (s *Session) readAgain(ctx context.Context) error {
	before := s.version
	if source.FileVersion(ctx, s.State().Source.Arg) == before {
		return nil
	}
	file, err := s.readFile(ctx)
	if err != nil {
		s.version = before // the next call tries again
		return err
	}
	live := pictureOf(Live, &file)
	if names := s.State().Names; names != nil {
		live = live.On(live.Fabric.WithDescriptions(names))
	}
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
