// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats/names"
)

// PortLabels are the labels of ports that a cabling plan gives.
type PortLabels struct {
	Plan   string // the file, escaped
	Labels map[counters.Key]string
}

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
	s.rename(func(r *Reading) { r.Names = m })
	return named, nil
}

// SetLabels sets the labels of ports from a cabling plan. Later sweeps use the labels, too. The labels that the subnet
// has are kept.
func (s *Session) SetLabels(ctx context.Context, labels *PortLabels) error {
	op, err := s.Begin(ctx, "labels")
	if err != nil {
		return err
	}
	defer op.End()
	s.rename(func(r *Reading) { r.Labels = labels })
	return nil
}

// Named returns a fabric with the names of the node-name map and the labels of the cabling plan, if there are any.
func (r *Reading) Named(f *fabric.Fabric) *fabric.Fabric {
	if r.Names != nil {
		f = f.WithDescriptions(r.Names)
	}
	if r.Labels == nil {
		return f
	}
	labels := map[fabric.PortIndex]string{}
	for key, label := range r.Labels.Labels {
		if node := f.NodeByGUID(key.GUID); node != fabric.None && f.PortAt(node, int(key.Num)) != fabric.None {
			labels[f.Port(node, key.Num)] = label
		}
	}
	return f.WithLabels(labels)
}

// WithNames returns a state whose fabric is that of [Reading.Named].
func (r *Reading) WithNames(p *Picture) *Picture {
	if f := r.Named(p.Fabric); f != p.Fabric {
		return p.On(f)
	}
	return p
}

// rename changes the names or labels, and applies them to all states.
func (s *Session) rename(set func(r *Reading)) {
	s.Publish(ChangeLive|ChangePaper|ChangeStaged, func(st *State) {
		set(&st.Reading)
		renamed := map[*fabric.Fabric]*fabric.Fabric{}
		rename := func(f *fabric.Fabric) *fabric.Fabric {
			if renamed[f] == nil {
				renamed[f] = st.Named(f)
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
}
