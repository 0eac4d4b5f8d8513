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

// askPartitions asks the subnet administration for one path in each partition: its service level is the
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
