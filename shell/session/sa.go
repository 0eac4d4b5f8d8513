// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
)

// sa is a client of the subnet administration, asked anew for each command, for masters change.
func (s *Session) sa(ctx context.Context) (*sa.Client, error) {
	l, err := s.conn.Line()
	if err != nil {
		return nil, err
	}
	c, err := sa.New(ctx, l.Client)
	if errors.Is(err, sa.ErrNoSM) {
		return nil, fmt.Errorf("%w (try: doctor)", err)
	}
	return c, s.conn.Failed(l, err)
}

// unanswered says of an error whether it is the administration that is silent.
func unanswered(err error) error {
	if errors.Is(err, mad.ErrTimeout) {
		return fmt.Errorf("the subnet administration does not answer: %w (try: doctor)", err)
	}
	return err
}

// PathRecords asks the subnet administration for the paths of pairs of the live
// fabric, by their LIDs, and calls visit with each answer.
func (s *Session) PathRecords(ctx context.Context, pairs []Pair, visit func(Pair, sa.PathRecord, error) error) error {
	end, err := s.begin(ctx, "path records")
	if err != nil {
		return err
	}
	defer end()
	c, err := s.sa(ctx)
	if err != nil {
		return err
	}
	f := s.State().Live.Fabric
	for i, p := range pairs {
		slid := f.Ports[p.Src].LID
		if slid == 0 {
			return fmt.Errorf("%s has no LID", f.PortName(p.Src))
		}
		r, err := sa.Get(ctx, c, sa.PathRecord{SLID: slid, DLID: p.LID, NumPath: 1}, sa.PathSLID|sa.PathDLID|sa.PathNumPath)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, mad.ErrTimeout) {
			return unanswered(err)
		}
		if err := visit(p, r, err); err != nil {
			return err
		}
		s.progress(i+1, len(pairs))
	}
	return nil
}

func (s *Session) askSA(ctx context.Context, pair Pair) error {
	return s.PathRecords(ctx, []Pair{pair}, func(_ Pair, _ sa.PathRecord, err error) error { return err })
}

// NodeRecords asks the subnet administration for all nodes; where the table does
// not come whole, for each end port that the sweep saw, one by one.
func (s *Session) NodeRecords(ctx context.Context) ([]sa.NodeRecord, error) {
	end, err := s.begin(ctx, "node records")
	if err != nil {
		return nil, err
	}
	defer end()
	c, err := s.sa(ctx)
	if err != nil {
		return nil, err
	}
	all, err := sa.GetTable(ctx, c, sa.NodeRecord{}, 0)
	if !errors.Is(err, mad.ErrCut) {
		return all, unanswered(err)
	}
	all = nil
	f := s.State().Live.Fabric
	for i, port := range f.EndPorts {
		r, err := sa.Get(ctx, c, sa.NodeRecord{LID: f.Ports[port].LID}, sa.NodeLID)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
			all = append(all, r)
		case errors.Is(err, mad.ErrTimeout):
			return nil, unanswered(err)
		}
		s.progress(i+1, len(f.EndPorts))
	}
	return all, nil
}
