// SPDX-License-Identifier: Apache-2.0

// Package pairs selects pairs of end ports by name.
package pairs

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/traces"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/lang"
)

// Pair is a source and a destination end port, with the LID to which packets are sent. The LID is 0 if the destination
// has none.
type Pair struct {
	Src, Dst fabric.PortIndex
	LID      uint16
}

// Read reads a file of pairs. Each line has a source and a destination in the notation of [places.Resolve], quoted as
// in the command language. # starts a comment. If a destination is not named by a LID, Read returns a pair for each of
// its LIDs. Errors contain the file and line.
func Read(ctx context.Context, f *fabric.Fabric, name string) ([]Pair, error) {
	in, err := files.Open(ctx, name, files.List)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	var pairs []Pair
	finder := places.NewFinder(f)
	name = fabric.Escape(name)
	err = lang.Lines(in, name, func(stmts []lang.Statement) error {
		for _, s := range stmts {
			var err error
			if pairs, err = appendPairs(pairs, f, finder, s.Words); err != nil {
				return fmt.Errorf("%s:%d: %w", name, s.Line, err)
			}
		}
		return nil
	})
	if err == nil && len(pairs) == 0 {
		err = fmt.Errorf("read %s: no pairs, expected lines SRC DST", name)
	}
	return pairs, err
}

// appendPairs appends the pairs of a line.
func appendPairs(pairs []Pair, f *fabric.Fabric, finder *places.Finder, words []string) ([]Pair, error) {
	if len(words) != 2 {
		return nil, fmt.Errorf("expected two words, SRC DST, found %d", len(words))
	}
	src, err := finder.Resolve(words[0])
	if err != nil {
		return nil, err
	}
	dst, err := finder.Resolve(words[1])
	if err != nil {
		return nil, err
	}
	return pathsTo(pairs, f, f.EndPortOf(src.Port), dst), nil
}

// Trace follows the packets of the pair through tables of the pair's fabric.
func (p Pair) Trace(t *fabric.Tables) walk.Path { return walk.Between(t, p.Src, p.Dst, p.LID) }

// In returns the pair of the same ports in another fabric. The pair belongs to f, the result to g.
func (p Pair) In(f, g *fabric.Fabric) (there Pair, err error) {
	there.Src, there.Dst, there.LID, err = walk.EndsIn(f, p.Src, p.Dst, p.LID, g)
	return there, err
}

// Addressed returns an error if one of the pairs cannot send packets, because its destination is unreachable or one of
// its ports has no LID.
func Addressed(f *fabric.Fabric, pairs ...Pair) error {
	for _, p := range pairs {
		switch {
		case !f.Reachable(p.Dst):
			return fmt.Errorf("%s is unreachable", f.PortName(p.Dst))
		case p.LID == 0:
			return fmt.Errorf("%s has no LID", f.PortName(p.Dst))
		case f.Ports[p.Src].LID == 0:
			return fmt.Errorf("%s has no LID", f.PortName(p.Src))
		}
	}
	return nil
}

// Of returns the pair of two places.
func Of(f *fabric.Fabric, from, to string) (Pair, error) {
	src, err := places.Resolve(f, from)
	if err != nil {
		return Pair{}, err
	}
	dst, err := places.Resolve(f, to)
	if err != nil {
		return Pair{}, err
	}
	return Pair{f.EndPortOf(src.Port), f.EndPortOf(dst.Port), dst.LID}, nil
}

// From returns the pairs from one place to all LIDs of all other end ports of [fabric.Fabric.Ends].
func From(f *fabric.Fabric, from string, switches bool) ([]Pair, error) {
	src, err := places.Resolve(f, from)
	if err != nil {
		return nil, err
	}
	return Product(f, []fabric.PortIndex{f.EndPortOf(src.Port)}, Places(f, ends(f, switches))), nil
}

// To returns the pairs from all other end ports of [fabric.Fabric.Ends] to one place. If the place is named by a LID,
// packets go to this LID, otherwise to each of its LIDs.
func To(f *fabric.Fabric, to string, switches bool) ([]Pair, error) {
	dst, err := places.Resolve(f, to)
	if err != nil {
		return nil, err
	}
	return Product(f, ends(f, switches), []places.Place{dst}), nil
}

// Product returns the pairs of all sources with all destinations except the source itself, by source.
func Product(f *fabric.Fabric, from []fabric.PortIndex, to []places.Place) (pairs []Pair) {
	for _, src := range from {
		for _, dst := range to {
			if f.EndPortOf(dst.Port) != src {
				pairs = pathsTo(pairs, f, src, dst)
			}
		}
	}
	return pairs
}

// Key returns the key of the pair in files of traces.
func (p Pair) Key(f *fabric.Fabric) traces.Key {
	return traces.Key{Src: f.Ports[p.Src].GUID, Dst: f.Ports[p.Dst].GUID, LID: p.LID}
}

// Sort sorts pairs in the order of files of traces.
func Sort(f *fabric.Fabric, list []Pair) {
	slices.SortFunc(list, func(a, b Pair) int {
		return cmp.Or(a.Key(f).Compare(b.Key(f)), cmp.Compare(a.Src, b.Src), cmp.Compare(a.Dst, b.Dst))
	})
}

// Places returns the places of end ports.
func Places(f *fabric.Fabric, ends []fabric.PortIndex) []places.Place {
	list := make([]places.Place, len(ends))
	for i, e := range ends {
		list[i] = places.Place{Node: f.Ports[e].Node, Port: e, LID: f.LIDOf(e)}
	}
	return list
}

// ends returns the end ports of [fabric.Fabric.Ends], followed by the unreachable end ports.
func ends(f *fabric.Fabric, switches bool) []fabric.PortIndex {
	reachable, unreachable := f.Ends(switches)
	return append(reachable, unreachable...)
}

// pathsTo appends the pairs of a source and a place, one for each LID of the place. A destination that never had a LID
// gets one pair with LID 0. If LIDs of the destination now belong to other ports, each gives a pair with LID 0.
func pathsTo(pairs []Pair, f *fabric.Fabric, src fabric.PortIndex, to places.Place) []Pair {
	dst := f.EndPortOf(to.Port)
	if to.LIDNamed || f.Ports[dst].LID == 0 {
		return append(pairs, Pair{src, dst, to.LID})
	}
	for i := range uint16(1) << f.Ports[dst].LMC {
		lid := uint16(0)
		if to.LID != 0 {
			lid = to.LID + i
		}
		pairs = append(pairs, Pair{src, dst, lid})
	}
	return pairs
}
