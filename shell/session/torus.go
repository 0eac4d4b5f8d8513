// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"

	"example.org/ibconsole/routing/engines/torus"
)

// TorusConf recognises the torus of the paper, with the coordinates that it had
// before failures.
func (s *Session) TorusConf(ctx context.Context) (*torus.Config, error) {
	end, err := s.begin(ctx, "recognise")
	if err != nil {
		return nil, err
	}
	defer end()
	st := s.State()
	known, err := s.torus.Of(ctx, st.Whole())
	switch {
	case err != nil:
		return nil, err
	case known == nil:
		return torus.Recognise(ctx, st.Paper())
	}
	return torus.Fit(ctx, st.Paper(), known)
}
