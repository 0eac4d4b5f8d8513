// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing/paths"
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

// askPartitions asks the subnet administration for one path in each partition: its SL is the
// partition's where no routing engine decides, its life time and the prefix of its GIDs are the subnet's.
func (s *Session) askPartitions(ctx context.Context, opt *paths.Options) error {
	c, err := s.sa(ctx)
	if err != nil {
		return err
	}
	st := s.State()
	f := st.Live.Fabric
	opt.PartitionSLs = map[uint16]uint8{}
	members := st.members()
	for _, partition := range slices.Sorted(maps.Keys(members)) {
		m := members[partition]
		if m.full == fabric.None {
			continue // limited members hear only full ones
		}
		to := m.other
		if to == fabric.None {
			to = m.full
		}
		ask := sa.PathRecord{SLID: f.Ports[m.full].LID, DLID: f.Ports[to].LID, PKey: mad.PKey(partition) | mad.PKeyFull, NumPath: 1}
		r, err := sa.Get(ctx, c, ask, sa.PathSLID|sa.PathDLID|sa.PathPKey|sa.PathNumPath)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, sa.NoRecords) {
			return fmt.Errorf("ask the subnet administration for a path of partition 0x%04x: %w", partition, err)
		}
		if err != nil {
			continue
		}
		opt.PartitionSLs[partition] = r.SL
		opt.Prefix = r.SGID.Prefix()
		if to != m.full {
			opt.LifeTime = r.LifeTime
		}
	}
	return nil
}

// membership is a full member of a partition and another member, None where there is none.
type membership struct{ full, other fabric.PortIndex }

// members are those of all partitions of channel adapters, by P_Keys; where none were read, of the default partition.
func (st *State) members() map[uint16]membership {
	f := st.Live.Fabric
	out := map[uint16]membership{}
	for _, p := range f.EndPorts {
		port := &f.Ports[p]
		if port.LID == 0 || port.Num == 0 {
			continue
		}
		keys := st.PKeys[port.GUID]
		if keys == nil {
			keys = []mad.PKey{mad.PKeyDefault}
		}
		for _, k := range keys {
			n := k.Partition()
			m, ok := out[n]
			switch {
			case n == 0:
				continue
			case !ok:
				m = membership{fabric.None, fabric.None}
			}
			if k&mad.PKeyFull != 0 && m.full == fabric.None {
				m.full = p
			} else if m.other == fabric.None {
				m.other = p
			}
			out[n] = m
		}
	}
	return out
}
