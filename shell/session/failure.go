// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"example.org/ibconsole/fabric"
)

// Failure is one thing that failed on paper, or that was repaired although it is a
// part of something that failed before.
type Failure struct {
	// Number tells it apart; it stays while others are undone.
	Number int
	// Repair says that its links work again.
	Repair bool
	// What is "link", "switch", "node" or "director".
	What string
	// Name is the failed thing in words, escaped.
	Name string
	// Links are those that go with it, in the indexes of the base.
	Links []fabric.Link
	nodes []fabric.NodeIndex
}

// FailLink fails the link of a port of the paper's fabric.
func (s *Session) FailLink(ctx context.Context, port fabric.PortIndex) (Failure, error) {
	return s.fail(ctx, func(f *fabric.Fabric) (Failure, error) {
		l, ok := f.LinkOf(port)
		if !ok {
			return Failure{}, s.noLink(f, port)
		}
		return linkFailure(f, l), nil
	})
}

// noLink says why a link cannot fail on paper.
func (s *Session) noLink(f *fabric.Fabric, port fabric.PortIndex) error {
	st := s.State()
	if st.Base != nil && st.Base.Fabric.Ports[port].Linked() {
		return fmt.Errorf("the link of %s has already failed on paper", f.PortName(port))
	}
	return fmt.Errorf("%s has no link", f.PortName(port))
}

// FailNode fails a node with all its links. What is "switch" or "node".
func (s *Session) FailNode(ctx context.Context, what string, node fabric.NodeIndex) (Failure, error) {
	st := s.State()
	return s.FailNodes(ctx, what, st.Paper().NodeName(node), []fabric.NodeIndex{node})
}

// FailNodes fails nodes with all their links as one thing, which goes by a name.
func (s *Session) FailNodes(ctx context.Context, what, name string, nodes []fabric.NodeIndex) (Failure, error) {
	return s.fail(ctx, func(f *fabric.Fabric) (Failure, error) {
		if len(linksOf(f, nodes)) == 0 {
			return Failure{}, fmt.Errorf("%s has no links, or they have already failed on paper", name)
		}
		// Those that have failed already are among them: they stay failed when what they
		// failed with is undone.
		st := s.State()
		return Failure{What: what, Name: name, nodes: nodes, Links: linksOf(st.paperBase().Fabric, nodes)}, nil
	})
}

// linksOf are the links of nodes, each once.
func linksOf(f *fabric.Fabric, nodes []fabric.NodeIndex) (links []fabric.Link) {
	seen := map[fabric.Link]bool{}
	for _, node := range nodes {
		n := &f.Nodes[node]
		for p := range n.Slots() {
			if l, ok := f.LinkOf(p); ok && !seen[l] {
				seen[l] = true
				links = append(links, l)
			}
		}
	}
	return links
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
		if f.Nodes[f.Ports[l.A].Node].IsSwitch() && f.Nodes[f.Ports[l.B].Node].IsSwitch() {
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
	return s.add(st.Failures, out...), nil
}

// add numbers failures and puts them behind others.
func (s *Session) add(to []Failure, more ...Failure) []Failure {
	next := 0
	if len(to) > 0 {
		next = s.State().lastFailure
	}
	for i := range more {
		next++
		more[i].Number = next
	}
	s.update(0, func(st *State) { st.lastFailure = next })
	s.setFailures(append(slices.Clone(to), more...))
	return more
}

func linkFailure(f *fabric.Fabric, l fabric.Link) Failure {
	return Failure{What: "link", Name: f.PortName(l.A) + " -- " + f.PortName(l.B), Links: []fabric.Link{l}}
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
	return s.add(st.Failures, failure)[0], nil
}

// ErrNotFailed says that what should be restored has not failed on paper.
var ErrNotFailed = errors.New("has not failed on paper")

// Restore takes back the failures that match. Where there are none, but links that
// failed with something else, they are repaired: what they failed with stays failed
// otherwise.
func (s *Session) Restore(ctx context.Context, match func(Failure) bool, repair Failure) ([]Failure, error) {
	end, err := s.begin(ctx, "restore")
	if err != nil {
		return nil, err
	}
	defer end()
	st := s.State()
	gone, kept := splitFailures(st.Failures, match)
	if len(gone) > 0 {
		s.setFailures(kept)
		return gone, nil
	}
	failed := failedLinks(st.Failures)
	repair.Repair = true
	repair.Links = slices.DeleteFunc(slices.Clone(repair.Links), func(l fabric.Link) bool { return !failed[l] })
	if len(repair.Links) == 0 {
		return nil, ErrNotFailed
	}
	return s.add(st.Failures, repair), nil
}

// LinkRepair and NodeRepair are what [Session.Restore] repairs, in the indexes of
// the base.
func LinkRepair(f *fabric.Fabric, l fabric.Link) Failure { return linkFailure(f, l) }

// NodeRepair is a node with all its links.
func NodeRepair(f *fabric.Fabric, what string, node fabric.NodeIndex) Failure {
	return Failure{What: what, Name: f.NodeName(node), Links: linksOf(f, []fabric.NodeIndex{node}), nodes: []fabric.NodeIndex{node}}
}

// Undo takes back the failure or repair of a number, the last one for 0.
func (s *Session) Undo(ctx context.Context, number int) (Failure, error) {
	end, err := s.begin(ctx, "undo")
	if err != nil {
		return Failure{}, err
	}
	defer end()
	st := s.State()
	if number == 0 && len(st.Failures) > 0 {
		number = st.Failures[len(st.Failures)-1].Number
	}
	gone, kept := splitFailures(st.Failures, func(f Failure) bool { return f.Number == number })
	switch {
	case len(gone) == 0 && number == 0:
		return Failure{}, errors.New("nothing has failed on paper")
	case len(gone) == 0:
		return Failure{}, fmt.Errorf("number %d %w (show failures lists them)", number, ErrNotFailed)
	}
	s.setFailures(kept)
	return gone[0], nil
}

func splitFailures(all []Failure, match func(Failure) bool) (yes, no []Failure) {
	for _, f := range all {
		if match(f) {
			yes = append(yes, f)
		} else {
			no = append(no, f)
		}
	}
	return yes, no
}

// FailedLinks are the links of the base that do not work on paper.
func (st *State) FailedLinks() map[fabric.Link]bool { return failedLinks(st.Failures) }

// failedLinks are the links that failures and repairs, one after the other, leave
// without function.
func failedLinks(all []Failure) map[fabric.Link]bool {
	failed := map[fabric.Link]bool{}
	for i := range all {
		for _, l := range all[i].Links {
			if all[i].Repair {
				delete(failed, l)
			} else {
				failed[l] = true
			}
		}
	}
	return failed
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

// InvolvesNode says whether the failure is that of a node, alone or with others.
func (f *Failure) InvolvesNode(node fabric.NodeIndex) bool {
	return !f.Repair && slices.Contains(f.nodes, node)
}

// InvolvesLink says whether the failure is that of this link alone.
func (f *Failure) InvolvesLink(l fabric.Link) bool {
	return !f.Repair && len(f.nodes) == 0 && slices.Contains(f.Links, l)
}

// setFailures makes the what-if of the base and these failures.
func (s *Session) setFailures(failures []Failure) {
	s.update(ChangePaper|ChangeStaged, func(st *State) {
		if st.Base == nil {
			st.Base = firstBase(st)
		}
		st.Failures = failures
		links := slices.Collect(maps.Keys(failedLinks(failures)))
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
