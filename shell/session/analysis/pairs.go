// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/routing/checks/reach"
)

// Pairs counts pairs of end ports, those of [trees.Ends], by what becomes of their packets. It follows the routing that
// the switches use: every choice where they route adaptively, else the linear tables.
type Pairs struct {
	Pairs int64
	// Lost are those of which a path does not arrive, by no choice of the switches.
	Lost int64
	// Luck are other ones of which a path arrives by some choices of the switches, and not by others.
	Luck int64
	// Unknown are other ones of which a path is unknown.
	Unknown int64
	// Paths counts the paths of the pairs, Bad those that do not arrive for sure, or are too long, UnknownPaths those
	// that meet a table that was not read.
	Paths, Bad, UnknownPaths int64
}

// Pairs counts the pairs of tables.
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
