// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/routing/checks/reach"
)

// Pairs counts the pairs of end ports, as listed by [trees.Ends], by the outcome of their packets. It follows the
// routing that the switches use: all choices if they route adaptively, otherwise the linear tables.
type Pairs struct {
	Pairs int64
	// Lost counts the pairs with a path that never arrives, whatever the switches choose.
	Lost int64
	// Luck counts further pairs with a path that arrives only by some choices of the switches.
	Luck int64
	// Unknown counts further pairs with a path whose outcome is unknown.
	Unknown int64
	// Paths counts the paths of all pairs. Bad counts the paths that may not arrive or are too long. UnknownPaths
	// counts the paths through a table that was not read.
	Paths, Bad, UnknownPaths int64
}

// Pairs counts the pairs under tables.
func (m *Memo) Pairs(ctx context.Context, t *fabric.Tables, opt reach.Options) (Pairs, error) {
	if t.Adaptive == nil {
		r, err := m.Reach(ctx, t, opt)
		if err != nil {
			return Pairs{}, err
		}
		return Pairs{Pairs: r.Pairs, Lost: r.LostPairs, Unknown: r.UnknownPairs, Paths: r.Paths, Bad: r.Bad(),
			UnknownPaths: r.Unknown}, nil
	}
	r, err := m.Choices(ctx, t, choices.Options{Switches: opt.Switches, Progress: opt.Progress})
	if err != nil {
		return Pairs{}, err
	}
	return Pairs{r.Pairs, r.LostPairs, r.LuckPairs, r.UnknownPairs, r.Paths, r.Luck + r.Never, r.Unknown}, nil
}
