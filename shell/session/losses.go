// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/losses"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/history"
)

// lookForLosses calls recallLosses, and returns a warning if that fails.
func (s *Session) lookForLosses(ctx context.Context) []string {
	err := s.recallLosses(ctx)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("find what was lost before this console started: %w", err)
	s.warn(err)
	return []string{err.Error()}
}

// recallLosses finds the links and nodes that the subnet lost before this session. These are the losses that earlier
// consoles recorded, and everything that the last history entry has and the first sweep lacks. Losses before the last
// saved baseline are ignored.
func (s *Session) recallLosses(ctx context.Context) error {
	st := s.State()
	if !st.Source.Live() || !s.recorder.Load().Exists() {
		return nil
	}
	held, err := s.entries(ctx)
	if err != nil {
		return err
	}
	held = slices.DeleteFunc(held, func(e history.Entry) bool { return e.Simulated != "" })
	slices.SortStableFunc(held, func(a, b history.Entry) int { return a.Until.Compare(b.Until) })
	if len(held) == 0 {
		return nil
	}
	from := len(held) - 1 // the last sweep, and what was read after it
	for i, e := range slices.Backward(held) {
		if e.Kind == history.Sweep {
			from = i
			break
		}
	}
	var list losses.List
	if seen := held[from].Seen; seen != nil {
		list = slices.Clone(seen.Lost)
		for i := range list { // of a file that may have been imported
			x := &list[i]
			x.At.Name, x.Peer.Name = fabric.Escape(x.At.Name), fabric.Escape(x.Peer.Name)
		}
	}
	for i := from; i < len(held); i++ {
		was, err := s.recall(held[i].ID)
		if err != nil {
			return err
		}
		now, unanswered := st.Live, st.unansweredAt
		if i+1 < len(held) {
			if now, err = s.recall(held[i+1].ID); err != nil {
				return err
			}
			unanswered = nil
		}
		list = list.After(was.Fabric, held[i].Until, now.Fabric, unanswered)
	}
	s.findBaseline(ctx)
	s.Publish(ChangeLive, func(st *State) {
		if st.Baseline != nil {
			list = list.Without(st.Baseline.Fabric, st.Baseline.When)
		}
		st.Losses = list
	})
	return nil
}

// Seen returns the losses and subnet managers of a state. For the live state these are the present ones, for a history
// entry those recorded. It returns nil if they are unknown.
func (st *State) Seen(p *Picture) *history.Seen {
	switch {
	case p == st.Live:
		return &history.Seen{Lost: st.Losses, Managers: st.Managers()}
	case p.Entry != nil:
		return p.Entry.Seen
	}
	return nil
}

// LostIn returns the links and nodes that were lost when the state p was read, or nil if that is unknown.
func (st *State) LostIn(p *Picture) losses.List {
	if seen := st.Seen(p); seen != nil {
		return seen.Lost
	}
	return nil
}

// Down counts the links that the live subnet lost, and the links that only the baseline has. It takes O(ports) time.
func (st *State) Down() int {
	type end struct {
		guid uint64
		port int
	}
	down := map[end]bool{} // by one end
	n := 0
	add := func(a, b fabric.End) {
		x, y := end{a.GUID, a.Port}, end{b.GUID, b.Port}
		if !down[x] && !down[y] {
			n++
		}
		down[x], down[y] = true, true
	}
	for i := range st.Losses {
		if x := &st.Losses[i]; x.Link() && !x.Unseen {
			add(x.At, x.Peer)
		}
	}
	if b := st.Baseline; b != nil {
		for _, c := range sweep.MarkUnanswered(b.Fabric, fabric.Changes(b.Fabric, st.Live.Fabric), st.unansweredAt) {
			if c.Kind == fabric.LinkDown {
				add(c.At, c.Peer)
			}
		}
	}
	return n
}
