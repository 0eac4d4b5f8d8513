// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/names"
)

// LoadNames sets the node names from a node-name map. Later sweeps use the map, too. It returns the number of nodes of
// the subnet that the map names.
func (s *Session) LoadNames(ctx context.Context, path string) (int, error) {
	op, err := s.Begin(ctx, "names")
	if err != nil {
		return 0, err
	}
	defer op.End()
	m, err := names.ReadFile(ctx, path)
	if err == nil && len(m) == 0 {
		err = fmt.Errorf("%s: no name of a node, expected lines 0xGUID \"NAME\"", fabric.Escape(path))
	}
	if err != nil {
		return 0, err
	}
	named := 0
	st := s.State()
	for guid := range m {
		if st.Live.Fabric.NodeByGUID(guid) != fabric.None {
			named++
		}
	}
	s.Publish(ChangeLive|ChangePaper|ChangeStaged, func(st *State) {
		st.Names = m
		renamed := map[*fabric.Fabric]*fabric.Fabric{}
		rename := func(f *fabric.Fabric) *fabric.Fabric {
			if renamed[f] == nil {
				renamed[f] = f.WithDescriptions(m)
			}
			return renamed[f]
		}
		for _, p := range []**Picture{&st.Live, &st.Base, &st.WhatIf, &st.Staged, &st.lastBase} {
			if *p != nil {
				old := *p
				*p = old.On(rename(old.Fabric))
				(*p).Hops, (*p).Recommend, (*p).Roots, (*p).Ranks, (*p).CAOrder, (*p).Multicast = old.Hops,
					old.Recommend, old.Roots, old.Ranks, old.CAOrder, old.Multicast
			}
		}
		st.drawn.rename(rename)
	})
	return named, nil
}
