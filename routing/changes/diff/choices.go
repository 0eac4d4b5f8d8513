// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"context"

	"example.org/ibconsole/routing/checks/choices"
)

// choices counts the pairs by all choices of switches that route adaptively, instead of by the linear tables alone.
func (m *matching) choices(ctx context.Context, r *Result, opt Options) error {
	ends := make([]choices.End, len(m.hosts))
	for i, h := range m.hosts {
		ends[i] = choices.End{Before: h.old, After: h.new}
	}
	c, err := choices.Compare(ctx, m.old.t, m.new.t, ends, choices.Options{
		Examples: opt.Examples, Progress: opt.Progress,
	})
	if err != nil {
		return err
	}
	r.Pairs = Pairs{Changed: c.Changed, Same: -c.Changed}
	r.Pairs.ByLuckBefore = c.Pairs[choices.Luck][choices.Luck]
	r.Lost, r.Connected, r.ByLuck = []Pair{}, []Pair{}, []Pair{}
	r.Changed = m.pairsOf(c.ChangedExamples)
	for was := range c.Pairs {
		for is, n := range c.Pairs[was] {
			count, named := r.kindOf(choices.Reach(was), choices.Reach(is))
			*count += n
			r.Pairs.Total += n
			if named != nil {
				*named = append(*named, m.pairsOf(c.Examples[was][is])...)
				*named = (*named)[:min(len(*named), opt.Examples)]
			}
		}
	}
	return nil
}

// kindOf returns the counter and the list of examples to which pairs with this reach before and after belong. The list
// is nil if no examples are kept for such pairs.
func (r *Result) kindOf(was, is choices.Reach) (*int64, *[]Pair) {
	switch {
	case was == choices.Unknown || is == choices.Unknown:
		return &r.Pairs.Unknown, nil
	case is == choices.Luck:
		return &r.Pairs.ByLuck, &r.ByLuck
	case was == choices.Never && is == choices.Never:
		return &r.Pairs.Unreached, nil
	case is == choices.Never:
		return &r.Pairs.Lost, &r.Lost
	case was == choices.Sure:
		return &r.Pairs.Same, nil
	}
	return &r.Pairs.Connected, &r.Connected
}

func (m *matching) pairsOf(list [][2]int32) []Pair {
	named := make([]Pair, len(list))
	for i, p := range list {
		named[i] = Pair{m.named(m.hosts[p[0]]), m.named(m.hosts[p[1]])}
	}
	return named
}
