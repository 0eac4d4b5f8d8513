// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/routing/checks/census"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/connection"
)

// TraceLive follows pairs of the live fabric through the tables that the switches hold now, and calls visit
// with each path as it ends, in no certain order.
func (s *Session) TraceLive(ctx context.Context, pairs []Pair, visit func(i int, p *livetrace.Path)) error {
	op, err := s.Begin(ctx, "trace live")
	if err != nil {
		return err
	}
	defer op.End()
	if !s.conn.Online() {
		return connection.ErrOffline
	}
	if err := s.readAgain(ctx); err != nil {
		return err
	}
	todo := make([]livetrace.Pair, len(pairs))
	for i, p := range pairs {
		todo[i] = livetrace.Pair{Src: p.Src, LID: p.LID}
	}
	st := s.State()
	done := 0
	l, err := s.conn.Line()
	if err != nil {
		return err
	}
	return s.conn.Failed(l, livetrace.New(l.Client, st.Live.Fabric).All(ctx, todo, func(i int, p *livetrace.Path) {
		done++
		if done%progressStep == 0 {
			s.progress(done, len(pairs))
		}
		visit(i, p)
	}))
}

// ReadNow reads the subnet as it is now. The live picture stays what it was.
func (s *Session) ReadNow(ctx context.Context) (p *Picture, unanswered []string, err error) {
	op, err := s.Begin(ctx, "trace live")
	if err != nil {
		return nil, nil, err
	}
	defer op.End()
	if !s.conn.Online() {
		return nil, nil, connection.ErrOffline
	}
	if err := s.readAgain(ctx); err != nil {
		return nil, nil, err
	}
	l, err := s.conn.Line()
	if err != nil {
		return nil, nil, err
	}
	res, err := sweep.Full(ctx, l.Client, sweep.Options{Progress: sweeperOf(s).sweepProgress})
	if err != nil {
		return nil, nil, s.conn.Failed(l, err)
	}
	for _, u := range res.Unanswered {
		unanswered = append(unanswered, u.String())
	}
	p = &Picture{Kind: Live, Fabric: res.Fabric, Tables: res.Tables, When: time.Now()}
	if names := s.State().Names; names != nil {
		p = p.on(res.Fabric.WithDescriptions(names))
	}
	return p, unanswered, nil
}

// Census is [census.Take] of tables, as an operation that says how far it is.
func (s *Session) Census(ctx context.Context, t *fabric.Tables, opt census.Options) (*census.Result, error) {
	op, err := s.Begin(ctx, "trace")
	if err != nil {
		return nil, err
	}
	defer op.End()
	opt.Progress = s.progress
	return census.Take(ctx, t, opt)
}

// errOther says that indexes into the live picture may mean something else now.
var errOther = errors.New("the connection was lost; it is back, and the subnet has changed meanwhile: ask again")

// readAgain sweeps if the connection was lost since the last sweep; an error says that the subnet has changed.
func (s *Session) readAgain(ctx context.Context) error {
	before := s.State()
	if before.Lost == "" {
		return nil
	}
	if _, err := sweeperOf(s).sweep(ctx); err != nil {
		return err
	}
	if !fabric.Same(before.Live.Fabric, s.State().Live.Fabric) {
		return errOther
	}
	return nil
}

const progressStep = 256 // how many small steps are one of the progress that is shown

// Pair is a source and a destination: end ports, and the LID of the destination that is sent to, 0 where it has none.
type Pair struct {
	Src, Dst fabric.PortIndex
	LID      uint16
}

// ReadPairs reads a file of pairs, a line each: a source and a destination as [places.Resolve] takes them,
// with the quoting of the command language. # starts a comment. Of a destination that is not named by a LID it returns all
// LIDs. An error names file and line.
func ReadPairs(ctx context.Context, f *fabric.Fabric, name string) ([]Pair, error) {
	in, err := files.Open(ctx, name, files.List)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	var pairs []Pair
	name = fabric.Escape(name)
	err = lang.Lines(in, name, func(stmts []lang.Statement) error {
		for _, s := range stmts {
			found, err := pairsOf(f, s.Words)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", name, s.Line, err)
			}
			pairs = append(pairs, found...)
		}
		return nil
	})
	if err == nil && len(pairs) == 0 {
		err = fmt.Errorf("%s: no pair in it, expected lines SRC DST", name)
	}
	return pairs, err
}

func pairsOf(f *fabric.Fabric, words []string) ([]Pair, error) {
	if len(words) != 2 {
		return nil, fmt.Errorf("expected two words, SRC DST, found %d", len(words))
	}
	src, err := places.Resolve(f, words[0])
	if err != nil {
		return nil, err
	}
	dst, err := places.Resolve(f, words[1])
	if err != nil {
		return nil, err
	}
	return pathsTo(nil, f, f.EndPortOf(src.Port), dst), nil
}

// Trace follows the packets of the pair through tables of its fabric.
func (p Pair) Trace(t *fabric.Tables) walk.Path { return walk.Between(t, p.Src, p.Dst, p.LID) }

// In returns the pair of the same ports of f in another fabric.
func (p Pair) In(f, g *fabric.Fabric) (there Pair, err error) {
	there.Src, there.Dst, there.LID, err = walk.EndsIn(f, p.Src, p.Dst, p.LID, g)
	return there, err
}

// Addressed fails for the first pair of which an end port is unreachable or has no LID: no packets are sent then.
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

// PairOf is the pair of two places.
func PairOf(f *fabric.Fabric, from, to string) (Pair, error) {
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

// PairsFrom are the pairs of one place with every other end port as [fabric.Fabric.Ends] has them, each with every LID.
func PairsFrom(f *fabric.Fabric, from string, switches bool) ([]Pair, error) {
	src, err := places.Resolve(f, from)
	if err != nil {
		return nil, err
	}
	own := f.EndPortOf(src.Port)
	var pairs []Pair
	for _, dst := range ends(f, switches) {
		if dst != own {
			pairs = pathsTo(pairs, f, own, places.Place{Port: dst, LID: f.LIDOf(dst)})
		}
	}
	return pairs, nil
}

// PairsTo are the pairs of every other end port, as [fabric.Fabric.Ends] has them, with one place: with the LID that names
// it, or else with all its LIDs.
func PairsTo(f *fabric.Fabric, to string, switches bool) ([]Pair, error) {
	dst, err := places.Resolve(f, to)
	if err != nil {
		return nil, err
	}
	var pairs []Pair
	for _, src := range ends(f, switches) {
		if src != f.EndPortOf(dst.Port) {
			pairs = pathsTo(pairs, f, src, dst)
		}
	}
	return pairs, nil
}

func ends(f *fabric.Fabric, switches bool) []fabric.PortIndex {
	reachable, unreachable := f.Ends(switches)
	return append(reachable, unreachable...)
}

// pathsTo adds the paths from a source to a place: one without a LID where it never had one, and as many without a LID as it
// had where other ports have its LIDs by now.
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
