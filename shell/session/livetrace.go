// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/shell/session/connection"
)

// TraceLive follows pairs of the live fabric through the tables that the switches hold now, and calls visit
// with each path as it ends, in no certain order.
func (s *Session) TraceLive(ctx context.Context, pairs []Pair, visit func(i int, p *livetrace.Path)) error {
	end, err := s.begin(ctx, "trace live")
	if err != nil {
		return err
	}
	defer end()
	if !s.conn.Online() {
		return connection.ErrOffline
	}
	if err := s.readAgain(ctx); err != nil {
		return err
	}
	todo := make([]livetrace.Pair, len(pairs))
	for i, p := range pairs {
		todo[i] = livetrace.Pair{Src: p.Src, LID: p.LID}
	}
	st := s.State()
	done := 0
	l, err := s.conn.Line()
	if err != nil {
		return err
	}
	return s.conn.Failed(l, livetrace.New(l.Client, st.Live.Fabric).All(ctx, todo, func(i int, p *livetrace.Path) {
		done++
		if done%progressStep == 0 {
			s.progress(done, len(pairs))
		}
		visit(i, p)
	}))
}

// errOther says that indexes into the live picture may mean something else now.
var errOther = errors.New("the connection was lost; it is back, and the subnet has changed meanwhile: ask again")

// readAgain sweeps if the connection was lost since the last sweep. It gives an
// error where the subnet is not the same any more.
func (s *Session) readAgain(ctx context.Context) error {
	before := s.State()
	if before.Lost == "" {
		return nil
	}
	if _, err := s.sweep(ctx); err != nil {
		return err
	}
	if !fabric.Same(before.Live.Fabric, s.State().Live.Fabric) {
		return errOther
	}
	return nil
}

// progressStep is how many small steps are one of the progress that is shown.
const progressStep = 256
