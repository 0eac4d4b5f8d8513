// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// End is the index of an end port in two fabrics. It is None for a fabric whose subnet does not contain the end port.
type End struct{ Before, After fabric.PortIndex }

// Comparison counts the pairs of end ports by their reach before and after a change. The reach of a pair is the reach
// of its worst path.
type Comparison struct {
	Pairs [Unknown + 1][Unknown + 1]int64
	// Changed counts the pairs that are reached for sure before and after, but whose packets can use other ports.
	Changed int64
	// Examples lists the first pairs of each kind as indexes of ends, ordered by destination and then by source.
	Examples        [Unknown + 1][Unknown + 1][][2]int32
	ChangedExamples [][2]int32
}

// Compare compares the choices for packets between the given ends in two sets of tables. The fabrics of the tables may
// differ. It returns the error of ctx if ctx ends first. It takes twice as long as [Check], plus O(ends^2).
func Compare(ctx context.Context, before, after *fabric.Tables, ends []End, opt Options) (*Comparison, error) {
	sides := [2]*comparedSide{newComparedSide(before, ends, func(e End) fabric.PortIndex { return e.Before }),
		newComparedSide(after, ends, func(e End) fabric.PortIndex { return e.After })}
	lots := (len(ends) + fabric.BlockSize - 1) / fabric.BlockSize
	found := make([]Comparison, lots)
	workers := make([]*comparer, routing.Workers())
	err := routing.ForEach(ctx, lots, opt.Progress, func(n, i int) {
		if workers[n] == nil {
			workers[n] = newComparer(sides, len(ends))
		}
		for dst := i * fabric.BlockSize; dst < min(len(ends), (i+1)*fabric.BlockSize); dst++ {
			workers[n].destination(&found[i], int32(dst), opt.Examples)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("compare the choices of %s with those of %s: %w", before.Origin, after.Origin, err)
	}
	sum := &Comparison{}
	for i := range found {
		sum.add(&found[i], opt.Examples)
	}
	return sum, nil
}

func (c *Comparison) add(o *Comparison, examples int) {
	c.Changed += o.Changed
	c.ChangedExamples = slices.Concat(c.ChangedExamples, o.ChangedExamples)
	c.ChangedExamples = c.ChangedExamples[:min(len(c.ChangedExamples), examples)]
	for i := range c.Pairs {
		for j := range c.Pairs[i] {
			c.Pairs[i][j] += o.Pairs[i][j]
			all := slices.Concat(c.Examples[i][j], o.Examples[i][j])
			c.Examples[i][j] = all[:min(len(all), examples)]
		}
	}
}

// comparedSide is one of the two sets of tables, before or after. It is read-only.
type comparedSide struct {
	checker *checker
	// end maps the index of a compared end to the index of an end of the checker, or to -1. place is the inverse
	// mapping. lids holds, for each end of the checker, the indexes of its LIDs.
	end, place []int32
	lids       [][]int32
}

func newComparedSide(t *fabric.Tables, ends []End, port func(End) fabric.PortIndex) *comparedSide {
	s := &comparedSide{checker: newChecker(t, Options{})}
	own := s.checker.ends
	at := make(map[fabric.PortIndex]int32, len(own.Ports))
	for i, p := range own.Ports {
		at[p] = int32(i)
	}
	s.place, s.lids = slices.Repeat([]int32{-1}, len(own.Ports)), make([][]int32, len(own.Ports))
	for i, l := range own.LIDs {
		s.lids[l.End] = append(s.lids[l.End], int32(i))
	}
	for i, e := range ends {
		end, ok := at[port(e)]
		if !ok {
			end = -1
		} else {
			s.place[end] = int32(i)
		}
		s.end = append(s.end, end)
	}
	return s
}

// comparer is the scratch memory of one goroutine.
type comparer struct {
	sides [2]*follower
}

func newComparer(sides [2]*comparedSide, ends int) *comparer {
	c := &comparer{}
	for i, s := range sides {
		f := &follower{comparedSide: s, column: newColumns(s.checker.net, s.checker.ends), reach: make([]Reach, ends)}
		f.hashes = make([][]uint64, len(s.checker.net.classes))
		for class := range f.hashes {
			f.hashes[class] = make([]uint64, len(s.checker.net.Tables.Fabric.Switches)*s.checker.net.tables)
		}
		c.sides[i] = f
	}
	return c
}

// destination counts the pairs from all other ends to the end dst.
func (c *comparer) destination(found *Comparison, dst int32, examples int) {
	c.sides[0].follow(dst)
	c.sides[1].follow(dst)
	note := func(list *[][2]int32, src int32) {
		if len(*list) < examples {
			*list = append(*list, [2]int32{src, dst})
		}
	}
	for src := range int32(len(c.sides[0].reach)) {
		if src == dst {
			continue
		}
		was, is := c.sides[0].reach[src], c.sides[1].reach[src]
		found.Pairs[was][is]++
		switch {
		case was != Sure || is != Sure:
			note(&found.Examples[was][is], src)
		case !c.sides[0].samePaths(c.sides[1], src):
			found.Changed++
			note(&found.ChangedExamples, src)
		}
	}
}

// follower follows the packets of all ends to one destination. It is reused for each destination.
type follower struct {
	*comparedSide
	column *columns
	// reach is indexed by source end: the worst reach of its packets over all LIDs of the destination.
	reach []Reach
	// paths holds, for each LID of the destination and each source end, a hash of the ports that the packets can use.
	// hashes holds, for each class of SLs and each place, a hash of the ports that packets can use from this place on.
	paths  [][]uint64
	memory [][]uint64
	hashes [][]uint64
}

func (f *follower) follow(dst int32) {
	for i := range f.reach {
		f.reach[i] = Never
	}
	f.paths = f.memory[:0]
	own := f.end[dst]
	if own < 0 {
		return
	}
	first := true
	f.column.lot(f.lids[own], func(at int32) {
		n := len(f.paths)
		if n == len(f.memory) {
			f.memory = append(f.memory, make([]uint64, len(f.reach)))
		}
		f.paths = f.memory[:n+1]
		l := f.checker.ends.LIDs[at]
		hashed := make([]bool, len(f.hashes))
		f.column.each(l, func(s *source, o *Outcome) {
			r, path := o.Endings.Reach(), uint64(0)
			if s.group.At >= 0 && r == Sure {
				if !hashed[s.class] {
					f.hash(s.class)
					hashed[s.class] = true
				}
				path = f.hashes[s.class][s.at]
			}
			for _, end := range s.ends {
				if src := f.place[end]; src >= 0 && end != l.End {
					f.paths[n][src] = mix(path + f.attached(end))
					if first || worse(r, f.reach[src]) {
						f.reach[src] = r
					}
				}
			}
		})
		first = false
	})
}

// attached returns a hash of the switch port to which an end is linked.
func (f *follower) attached(end int32) uint64 {
	t := f.checker.net.Tables.Fabric
	port := f.checker.ends.Ports[end]
	peer := t.Ports[port].Peer
	if peer == fabric.None {
		return 0
	}
	return mix(t.Nodes[t.Ports[peer].Node].GUID + uint64(t.Ports[peer].Num))
}

// hash computes the hashes of the ports that packets of a class of SLs can use. It does so for each visited place from
// which packets cannot loop.
func (f *follower) hash(class uint8) {
	g := f.column.graphs[class]
	order := g.order
	if g.cyclic {
		order, _ = g.peel()
	}
	t := g.net.Tables.Fabric
	for _, at := range order {
		sw, _ := g.net.Switch(at)
		sum := t.SwitchNode(sw).GUID
		for _, e := range g.out[at] {
			next := uint64(0)
			switch {
			case e.To >= 0:
				next = f.hashes[class][g.net.place(e, g.sl)]
			case e.To == g.dst:
				next = 1
			}
			sum += mix(next + mix(uint64(e.Port))) // independent of the order
		}
		f.hashes[class][at] = mix(sum)
	}
}

// samePaths reports whether the packets of an end to the destination can use the same ports before and after.
func (f *follower) samePaths(o *follower, src int32) bool {
	for i := range max(len(f.paths), len(o.paths)) {
		if f.paths[i%len(f.paths)][src] != o.paths[i%len(o.paths)][src] {
			return false
		}
	}
	return true
}

// mix spreads the bits of a number, as splitmix64 does.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
