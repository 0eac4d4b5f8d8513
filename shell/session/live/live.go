// SPDX-License-Identifier: Apache-2.0

// Package live reads the present tables of the switches, without changing the live state of a session.
package live

import (
	"context"
	"errors"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/pairs"
)

const progressStep = 256 // number of pairs between two reports of progress

// Trace follows pairs of the live fabric through the present tables of the switches. It calls the function visit with
// the index and path of each pair, in no particular order.
func Trace(ctx context.Context, s *session.Session, all []pairs.Pair, visit func(i int, p *livetrace.Path)) error {
	op, err := begin(ctx, s)
	if err != nil {
		return err
	}
	defer op.End()
	todo := make([]livetrace.Pair, len(all))
	for i, p := range all {
		todo[i] = livetrace.Pair{Src: p.Src, LID: p.LID}
	}
	st := s.State()
	done := 0
	l, err := s.Connection().Line()
	if err != nil {
		return err
	}
	return s.Connection().Failed(l, livetrace.New(l.Client, st.Live.Fabric).All(ctx, todo,
		func(i int, p *livetrace.Path) {
			done++
			if done%progressStep == 0 {
				op.Progress(done, len(all))
			}
			visit(i, p)
		}))
}

// Read reads the present subnet. It returns the state of the subnet, and the ports that did not respond. The live state
// of the session does not change.
func Read(ctx context.Context, s *session.Session) (p *session.Picture, unanswered []string, err error) {
	op, err := begin(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	defer op.End()
	l, err := s.Connection().Line()
	if err != nil {
		return nil, nil, err
	}
	res, err := sweep.Full(ctx, l.Client, sweep.Options{Progress: session.SweepProgress(op)})
	if err != nil {
		return nil, nil, s.Connection().Failed(l, err)
	}
	for _, u := range res.Unanswered {
		unanswered = append(unanswered, u.String())
	}
	st := s.State()
	p = st.WithNames(&session.Picture{Kind: session.Live, Fabric: res.Fabric, Tables: res.Tables, When: time.Now()})
	return p, unanswered, nil
}

// errChanged is returned if indexes into the live fabric may no longer be valid.
var errChanged = errors.New("the subnet changed while the connection was lost; hint: repeat the command")

// begin begins an operation on the live subnet. If the connection was lost since the last sweep, begin sweeps first. It
// returns errChanged if the subnet has changed.
func begin(ctx context.Context, s *session.Session) (*session.Op, error) {
	if !s.Connection().Online() {
		return nil, connection.ErrOffline
	}
	if before := s.State(); before.Lost != "" {
		if _, err := s.Sweep(ctx); err != nil {
			return nil, err
		}
		if !fabric.Same(before.Live.Fabric, s.State().Live.Fabric) {
			return nil, errChanged
		}
	}
	return s.Begin(ctx, "trace live")
}
