// SPDX-License-Identifier: Apache-2.0

// Package reroutes compares the traces of two times, and finds what moved each path: it follows the paths through the
// states of the history between the two times.
package reroutes

import (
	"context"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/traces"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/moved"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/pairs"
)

// Side is one of the two times: a file of traces, or a state of the subnet.
type Side struct {
	Title   string
	File    *traces.File     // nil for a state
	Picture *session.Picture // nil for a file
	Set     *traces.Set      // the paths
}

// FileSide returns the side of a file.
func FileSide(f *traces.File, title string) *Side { return &Side{Title: title, File: f, Set: f.Set} }

// PictureSide returns the side of a state without paths.
func PictureSide(p *session.Picture, title string) *Side { return &Side{Title: title, Picture: p} }

// When returns the time at which the tables were last read or computed.
func (s *Side) When() time.Time {
	if s.File != nil {
		return s.File.Tables
	}
	return s.Picture.When
}

// isRecorded reports whether the switches had the tables at that time, so that the history may have them.
func (s *Side) isRecorded() bool {
	if s.File != nil {
		return s.File.State == string(session.Live) || isNumber(s.File.State)
	}
	return s.Picture.Kind != session.WhatIf && s.Picture.Kind != session.Staged && !s.Picture.IsComputed()
}

func isNumber(text string) bool {
	for _, r := range text {
		if r < '0' || r > '9' {
			return false
		}
	}
	return text != ""
}

// Trace traces the pairs of keys through the tables of the state. Pairs without ports in the state are left out.
func (s *Side) Trace(ctx context.Context, keys func(yield func(traces.Key) bool)) error {
	s.Set = &traces.Set{}
	var room []traces.Hop
	n := 0
	for k := range keys {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if r, ok := moved.Trace(s.Picture.Tables, k, room); ok {
			s.Set.Add(&r)
			room = r.Hops
		}
	}
	return nil
}

// Keys calls the function yield with the key of each path.
func Keys(s *traces.Set) func(yield func(traces.Key) bool) {
	return func(yield func(traces.Key) bool) {
		for i := range s.Len() {
			if !yield(s.Key(i)) {
				return
			}
		}
	}
}

// PairKeys calls the function yield with the key of each pair of a fabric.
func PairKeys(f *fabric.Fabric, list []pairs.Pair) func(yield func(traces.Key) bool) {
	return func(yield func(traces.Key) bool) {
		for _, p := range list {
			if !yield(p.Key(f)) {
				return
			}
		}
	}
}

// Move is a pair whose path changed. Old and New are the indexes of its rows.
type Move struct {
	Old, New int
	// Cause is the index of the change with which the path left its old course. Later are the changes that moved it
	// again.
	Cause int
	Later []int
}

// Result is the comparison of two sides.
type Result struct {
	Old, New *Side
	// Both counts the pairs that both sides have: Same, Changed and Unknown, whose old or new path is unknown. LIDs
	// counts those with another LID of the destination.
	Both, Same, Changed, Unknown, LIDs int
	OnlyOld, OnlyNew                   int
	Lost, Gained                       int // changed pairs that no longer arrive, and that arrive again
	Moves                              []Move
	Causes                             []Cause // by pairs, most first
	States                             int     // states of the history between the two times
	// NoHistory is the reason why the history was not used, nil if it was.
	NoHistory error
}

// Compare compares two sides. It finds the cause of each changed path.
func Compare(ctx context.Context, s *session.Session, before, after *Side, progress func(done, total int)) (*Result,
	error) {
	r := &Result{Old: before, New: after}
	var rooms [2][]traces.Hop
	for _, at := range moved.Match(before.Set, after.Set) {
		switch {
		case at[1] < 0:
			r.OnlyOld++
			continue
		case at[0] < 0:
			r.OnlyNew++
			continue
		}
		a, b := before.Set.Row(at[0], rooms[0]), after.Set.Row(at[1], rooms[1])
		rooms = [2][]traces.Hop{a.Hops, b.Hops}
		r.Both++
		if a.LID != b.LID {
			r.LIDs++
		}
		switch {
		case a.Ending == traces.Unknown || b.Ending == traces.Unknown:
			r.Unknown++
			continue
		case a.SamePath(&b):
			r.Same++
			continue
		}
		r.Changed++
		r.Moves = append(r.Moves, Move{Old: at[0], New: at[1], Cause: -1})
		switch was, is := a.Ending.Arrives(), b.Ending.Arrives(); {
		case was && !is:
			r.Lost++
		case is && !was:
			r.Gained++
		}
	}
	if r.Changed == 0 || ctx.Err() != nil {
		return r, ctx.Err()
	}
	return r, r.blame(ctx, s, progress)
}

// hashes computes a number for the path of each move in parallel. The function row returns the path, ok is false if
// there is none.
func (r *Result) hashes(ctx context.Context, into []uint64,
	row func(i int, room []traces.Hop) (traces.Row, bool)) error {
	const part = 512
	parts := (len(into) + part - 1) / part
	rooms := make([][]traces.Hop, routing.Workers())
	return routing.ForEach(ctx, parts, nil, func(worker, p int) {
		for i := p * part; i < min((p+1)*part, len(into)); i++ {
			row, ok := row(i, rooms[worker])
			switch {
			case !ok:
				into[i] = absent
				continue
			case row.Ending == traces.Unknown:
				into[i] = unknown
			default:
				into[i] = hashOf(&row)
			}
			rooms[worker] = row.Hops
		}
	})
}

// The numbers of pairs without a path.
const (
	absent  = 1 // the state does not have the ports
	unknown = 2 // the path leads to a table that was not read
)

// hashOf returns a number for the nodes, ports and ending of a path.
func hashOf(r *traces.Row) uint64 {
	h := uint64(r.Ending) + 3
	mix := func(x uint64) {
		h = (h ^ x) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	for _, x := range r.Hops {
		mix(x.GUID)
		mix(uint64(uint16(x.In))<<16 | uint64(uint16(x.Out)))
	}
	return max(h, unknown+1)
}
