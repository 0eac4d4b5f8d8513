// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/torus"
)

// knownTorus is what a subnet was recognised as, which it stays through failures
// so that switches keep their coordinates and paths their service levels.
type knownTorus struct {
	conf   *torus.Config
	fabric *fabric.Fabric
}

// knows says whether all switches of f were there when the torus was recognised.
func (k *knownTorus) knows(f *fabric.Fabric) bool {
	if k == nil {
		return false
	}
	for sw := range f.Switches {
		n := f.SwitchNode(fabric.SwitchIndex(sw))
		if !n.InSubnet {
			continue
		}
		old := k.fabric.SwitchByGUID(n.GUID)
		if old == fabric.None || !k.fabric.SwitchNode(old).InSubnet {
			return false
		}
	}
	return true
}

// TorusConf recognises the torus of the paper, with the coordinates that it had
// before failures.
func (s *Session) TorusConf(ctx context.Context) (*torus.Config, error) {
	end, err := s.begin(ctx, "recognise")
	if err != nil {
		return nil, err
	}
	defer end()
	st := s.State()
	known, err := s.recognised(ctx, &st)
	switch {
	case err != nil:
		return nil, err
	case known == nil:
		return torus.Recognise(ctx, st.Paper())
	}
	return torus.Fit(ctx, st.Paper(), known)
}

// recognised is what the base of the paper is, or was before failures; nil where
// it is no torus.
func (s *Session) recognised(ctx context.Context, st *State) (*torus.Config, error) {
	base := st.paperBase().Fabric
	if !s.torus.knows(base) {
		s.torus = nil
		conf, err := torus.RecogniseForFailures(ctx, base)
		if _, refused := errors.AsType[*routing.RefusedError](err); err != nil {
			if refused {
				err = nil
			}
			return nil, err
		}
		s.torus = &knownTorus{conf, base}
	}
	return s.torus.conf, nil
}

// enginesOf are the engines of the settings, of which torus-2QoS without a
// configuration gets what is recognised.
func (s *Session) enginesOf(ctx context.Context, st *State) ([]routing.Engine, error) {
	all := slices.Clone(st.Settings.engines)
	for i, e := range all {
		grid, ok := e.(torus.Engine)
		if !ok || grid.Conf != nil || grid.Unread != nil || grid.NoQoS {
			continue
		}
		conf, err := s.recognised(ctx, st)
		if err != nil {
			return nil, err
		}
		grid.Recognised = conf
		all[i] = grid
	}
	return all, nil
}
