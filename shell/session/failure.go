// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"example.org/ibconsole/fabric"
)

// Failure is one thing that failed on paper.
type Failure struct {
	// What is "link", "switch" or "node".
	What string
	// Name is the failed thing in words, escaped.
	Name string
	// Links are those that go with it, in the indexes of the base.
	Links []fabric.Link
	node  int32
}

// FailLink fails the link of a port of the paper's fabric.
func (s *Session) FailLink(ctx context.Context, port int32) (Failure, error) {
	return s.fail(ctx, func(f *fabric.Fabric) (Failure, error) {
		l, ok := f.LinkOf(port)
		if !ok {
			return Failure{}, s.noLink(f, port)
		}
		return linkFailure(f, l), nil
	})
}

// noLink says why a link cannot fail on paper.
func (s *Session) noLink(f *fabric.Fabric, port int32) error {
	st := s.State()
	if st.Base != nil && st.Base.Fabric.Ports[port].Linked() {
		return fmt.Errorf("the link of %s has already failed on paper", f.PortName(port))
	}
	return fmt.Errorf("%s has no link", f.PortName(port))
}

// FailNode fails a node with all its links. What is "switch" or "node".
func (s *Session) FailNode(ctx context.Context, what string, node int32) (Failure, error) {
	return s.fail(ctx, func(f *fabric.Fabric) (Failure, error) {
		n := &f.Nodes[node]
		out := Failure{What: what, Name: f.NodeName(node), node: node}
		for p := n.FirstPort; p <= n.FirstPort+int32(n.NumPorts); p++ {
			if l, ok := f.LinkOf(p); ok && !slices.Contains(out.Links, l) {
				out.Links = append(out.Links, l)
			}
		}
		if len(out.Links) == 0 {
			return Failure{}, fmt.Errorf("%s has no links, or they have already failed on paper", out.Name)
		}
		return out, nil
	})
}

// FailRandom fails n links between switches, chosen by seed.
func (s *Session) FailRandom(ctx context.Context, n int, seed uint64) ([]Failure, error) {
	end, err := s.begin(ctx, "fail")
	if err != nil {
		return nil, err
	}
	defer end()
	st := s.State()
	f := st.Paper()
	var links []fabric.Link
	for _, l := range f.Links() {
		if f.Nodes[f.Ports[l.A].Node].Switch != fabric.None && f.Nodes[f.Ports[l.B].Node].Switch != fabric.None {
			links = append(links, l)
		}
	}
	if n < 1 || n > len(links) {
		return nil, fmt.Errorf("cannot fail %d links at random: there are %d between switches", n, len(links))
	}
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	var out []Failure
	for _, l := range links[:n] {
		out = append(out, linkFailure(f, l))
	}
	s.setFailures(append(slices.Clone(st.Failures), out...))
	return out, nil
}

func linkFailure(f *fabric.Fabric, l fabric.Link) Failure {
	return Failure{What: "link", Name: f.PortName(l.A) + " -- " + f.PortName(l.B), Links: []fabric.Link{l}, node: fabric.None}
}

func (s *Session) fail(ctx context.Context, find func(*fabric.Fabric) (Failure, error)) (Failure, error) {
	end, err := s.begin(ctx, "fail")
	if err != nil {
		return Failure{}, err
	}
	defer end()
	st := s.State()
	failure, err := find(st.Paper())
	if err != nil {
		return Failure{}, err
	}
	s.setFailures(append(slices.Clone(st.Failures), failure))
	return failure, nil
}

// ErrNotFailed says that what should be restored has not failed on paper.
var ErrNotFailed = errors.New("has not failed on paper")

// Restore takes back the failures that match.
func (s *Session) Restore(ctx context.Context, match func(Failure) bool) ([]Failure, error) {
	end, err := s.begin(ctx, "restore")
	if err != nil {
		return nil, err
	}
	defer end()
	st := s.State()
	var gone, kept []Failure
	for _, f := range st.Failures {
		if match(f) {
			gone = append(gone, f)
		} else {
			kept = append(kept, f)
		}
	}
	if len(gone) == 0 {
		return nil, ErrNotFailed
	}
	s.setFailures(kept)
	return gone, nil
}

// RestoreAll takes back all failures and any topology loaded as the base, so
// that the live picture is what routes are computed for again.
func (s *Session) RestoreAll(ctx context.Context) ([]Failure, error) {
	end, err := s.begin(ctx, "restore")
	if err != nil {
		return nil, err
	}
	defer end()
	st := s.State()
	s.update(ChangePaper|ChangeStaged, func(st *State) {
		st.Failures, st.WhatIf, st.Base = nil, nil, nil
		st.Stale = st.stale()
	})
	return st.Failures, nil
}

// InvolvesNode says whether the failure is that of a node.
func (f *Failure) InvolvesNode(node int32) bool { return f.node == node }

// InvolvesLink says whether the failure is that of this link alone.
func (f *Failure) InvolvesLink(l fabric.Link) bool {
	return f.node == fabric.None && slices.Contains(f.Links, l)
}

// setFailures makes the what-if of the base and these failures.
func (s *Session) setFailures(failures []Failure) {
	s.update(ChangePaper|ChangeStaged, func(st *State) {
		if st.Base == nil {
			st.Base = firstBase(st)
		}
		st.Failures = failures
		var links []fabric.Link
		for _, f := range failures {
			links = append(links, f.Links...)
		}
		st.WhatIf = st.Base.on(st.Base.Fabric.Without(links)).as(WhatIf)
		if len(failures) == 0 && fabric.SameLinks(st.Base.Fabric, st.Live.Fabric) {
			st.WhatIf, st.Base = nil, nil
		}
		st.Stale = st.stale()
	})
}

// firstBase is the picture that the paper starts from: the live one. Of a
// source without tables of its own, it takes the tables that are staged for
// the same fabric, so that there is something to compare with.
func firstBase(st *State) *Picture {
	if st.Live.Tables == nil && st.Staged != nil && !st.Stale {
		return st.Staged.as(Base)
	}
	return st.Live.as(Base)
}
