// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/routing/compute"
)

// Laid counts what a new topology and the tables of the base have in common, by GUIDs.
type Laid struct {
	// Over is the picture whose tables are carried over.
	Over Kind
	// Kept switches have tables, New ones have none, and Gone ones are not there any
	// more.
	Kept int
	New  int
	Gone int
	// LIDs are the end ports that keep theirs, NoLIDs those that get one with the next
	// routing.
	LIDs   int
	NoLIDs int
}

func (s *Session) loadTopology(ctx context.Context, path string, opt LoadOptions) (LoadReport, error) {
	file, err := formats.ReadWith(ctx, path, formats.Options{AsIbsim: opt.AsIbsim, Strict: opt.Strict})
	if err != nil {
		return LoadReport{}, err
	}
	st, f, name := s.State(), file.Fabric, fabric.Escape(path)
	rep := LoadReport{Topology: true, Switches: len(f.Switches), Links: len(f.Links()), Forgotten: len(st.Failures),
		Unread: file.Unread, Notes: file.Warnings}
	st.dropBase()
	st.Failures = nil
	base := firstBase(&st)
	if file.Tables == nil && base.Tables != nil && !opt.Alone {
		if f, err = f.WithLIDsOf(base.Fabric); err != nil {
			return LoadReport{}, err
		}
		rep.Laid = lay(base, f)
	}
	if rep.Laid != nil {
		st.drawn = drawn{topology: f, file: name}
		st.WhatIf = base.On(f).as(WhatIf)
	} else {
		base = pictureOf(Base, &file)
		base.file = name
		st.WhatIf = base.as(WhatIf)
	}
	st.drawn.unread, st.drawn.path, st.drawn.loaded = file.Unread, path, opt
	s.Publish(ChangePaper|ChangeStaged, func(now *State) {
		now.Base, now.WhatIf, now.Failures, now.drawn, now.past = base, st.WhatIf, nil, st.drawn, compute.Past{}
		now.lastBase = st.lastBase
		now.Stale = now.stale()
	})
	return rep, nil
}

// lay counts what of a base with tables is in a topology, nil where no switch is.
func lay(base *Picture, f *fabric.Fabric) *Laid {
	was := base.Fabric
	l := &Laid{Over: Live}
	if base.madeOf != nil {
		l.Over = Staged
	}
	for s := range f.NumSwitches() {
		switch old := was.SwitchByGUID(f.SwitchNode(s).GUID); {
		case old != fabric.None && base.Tables.Known[old]:
			l.Kept++
		default:
			l.New++
		}
	}
	if l.Kept == 0 {
		return nil
	}
	for s := range was.NumSwitches() {
		if f.SwitchByGUID(was.SwitchNode(s).GUID) == fabric.None {
			l.Gone++
		}
	}
	for _, e := range f.EndPorts {
		p := &f.Ports[e]
		switch old := was.PortByGUID(p.GUID); {
		case p.LID == 0:
			l.NoLIDs++
		case old != fabric.None && was.Ports[old].LID == p.LID:
			l.LIDs++
		}
	}
	return l
}
