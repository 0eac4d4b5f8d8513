// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"

	"example.org/ibconsole/fabric/livetrace"
)

// TraceLive follows pairs of the live fabric through the tables that the
// switches hold now, and calls visit with each path as it ends, in no certain
// order.
func (s *Session) TraceLive(ctx context.Context, pairs []Pair, visit func(i int, p *livetrace.Path)) error {
	end, err := s.begin(ctx, "trace live")
	if err != nil {
		return err
	}
	defer end()
	if s.client == nil {
		return ErrOffline
	}
	todo := make([]livetrace.Pair, len(pairs))
	for i, p := range pairs {
		todo[i] = livetrace.Pair{Src: p.Src, LID: p.LID}
	}
	st := s.State()
	done := 0
	return livetrace.New(s.client, st.Live.Fabric).All(ctx, todo, func(i int, p *livetrace.Path) {
		done++
		if done%progressStep == 0 {
			s.progress(done, len(pairs))
		}
		visit(i, p)
	})
}

// progressStep is how many small steps are one of the progress that is shown.
const progressStep = 256
