// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"bytes"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Sample is a part of the forwarding tables of a subnet: of every Of blocks of a switch the one numbered Nth,
// from 0. Sweeps that take one Nth after the other have looked at all entries after Of of them.
type Sample struct{ Nth, Of int }

// sampler compares a sample of what switches hold with what they held.
type sampler struct {
	*reader
	was   *fabric.Tables
	moved map[fabric.SwitchIndex]bool // switches, as they are numbered in was
}

// compare reads a sample of the tables and returns how many switches have other entries, or another LinearFDBTop,
// than they had; not those that were not known or of which a block is missing, which is [Unanswered].
func (r *reader) compare(was *fabric.Tables, part Sample) (int, error) {
	s := sampler{r, was, map[fabric.SwitchIndex]bool{}}
	r.row = make([]fabric.SwitchIndex, len(r.nodes))
	tops := map[int32]uint16{}
	var nodes []fabric.NodeIndex
	for _, n := range r.f.Switches {
		i := r.b.order[n]
		old := was.Fabric.SwitchByGUID(r.f.Nodes[n].GUID)
		if old == fabric.None || !was.Known[old] || !r.nodes[i].swKnown || !r.f.Nodes[n].InSubnet {
			continue
		}
		r.row[i] = old
		if tops[i] = r.top(i); tops[i] != was.Top[old] {
			s.moved[old] = true
			continue
		}
		nodes = append(nodes, n)
	}
	r.answered[askBlock] = s.gotBlock
	r.spread(nodes, func(i int32) int {
		return (int(tops[i])/fabric.BlockSize + part.Of - part.Nth) / part.Of
	}, func(_ int32, k int) task {
		return task{kind: askBlock, mod: uint16(part.Nth + k*part.Of)}
	})
	if err := r.askAll(); err != nil {
		return 0, err
	}
	return len(s.moved), nil
}

// gotBlock compares a block, as far as it counts.
func (s *sampler) gotBlock(t task, reply *mad.Reply) {
	s.progress.Blocks++
	old, first := s.row[t.node], int(t.mod)*fabric.BlockSize
	n := min(fabric.BlockSize, int(s.was.Top[old])+1-first)
	if !bytes.Equal(reply.Data[:n], s.was.LFT.Block(old, int(t.mod))[:n]) {
		s.moved[old] = true
	}
}
