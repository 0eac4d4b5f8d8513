// SPDX-License-Identifier: Apache-2.0

package session

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/routing/compute"
)

// Laid counts the switches and LIDs that a new topology and the tables of the base have in common, matched by GUID.
type Laid struct {
	Over   Kind // the state whose tables are used
	Kept   int  // switches that have tables
	New    int  // switches without tables
	Gone   int  // switches that the topology lacks
	LIDs   int  // end ports that keep their LID
	NoLIDs int  // end ports that get a LID with the next routing
}

// LoadOptions controls how a file is loaded.
type LoadOptions struct {
	Keep    bool // keep the routes of the file as they are, and count the pairs that this leaves unconnected
	AsIbsim bool // read a topology by the rules of ibsim, see [formats.Options]
	Strict  bool // refuse a topology of which something cannot be read
	Alone   bool // use a topology without the present tables
}

// StartFrom makes the topology of a file the what-if. If the live tables contain at least one of its switches, the
// what-if starts from the live tables. Otherwise the topology becomes the base itself. StartFrom returns what the
// topology and the present tables have in common, or nil for nothing.
func (o *Op) StartFrom(file *formats.Subnet, path string, opt LoadOptions) (*Laid, error) {
	st, f, name := o.session.State(), file.Fabric, fabric.Escape(path)
	st.dropBase()
	st.Failures = nil
	base := firstBase(&st)
	var laid *Laid
	if file.Tables == nil && base.Tables != nil && !opt.Alone {
		var err error
		if f, err = f.WithLIDsOf(base.Fabric); err != nil {
			return nil, err
		}
		laid = lay(base, f)
	}
	if laid != nil {
		st.drawn = drawn{topology: f, file: name}
		st.WhatIf = base.On(f).as(WhatIf)
	} else {
		base = pictureOf(Base, file)
		base.file = name
		st.WhatIf = base.as(WhatIf)
	}
	st.drawn.unread, st.drawn.path, st.drawn.loaded = file.Unread, path, opt
	o.session.Publish(ChangePaper|ChangeStaged, func(now *State) {
		now.Base, now.WhatIf, now.Failures, now.drawn, now.past = base, st.WhatIf, nil, st.drawn, compute.Past{}
		now.lastBase = st.lastBase
		now.Stale = now.stale()
	})
	return laid, nil
}

// lay counts the switches and LIDs that a topology and a base with tables have in common. It returns nil if they have
// no switch in common.
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
