// SPDX-License-Identifier: Apache-2.0

package tui

import (
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/shell/session"
)

// scene is what the panes draw: the state of the session and what follows from
// it. It never changes.
type scene struct {
	st session.State
	// of is the picture that was chosen, "" for the session's default.
	of session.Kind
	// pic is the picture whose tables are shown. Where it has none, why says so.
	pic *session.Picture
	why string
	// base is what changed entries are told from, nil where there is nothing to compare.
	base *session.Picture

	// top is the fabric of the topology pane, now the same without what has failed
	// on paper.
	top *index
	now *fabric.Fabric
	// names is the index of the picture's fabric.
	names *index
	// seen is the live fabric that lost links are counted from, and down are ports of it,
	// one for each link that is lost.
	seen *fabric.Fabric
	down []fabric.PortIndex
	// clock tells how old pictures are.
	clock func() time.Time
	// given holds the LIDs that staged tables give to ports of top that have none,
	// nil where they are of another fabric.
	given *fabric.Fabric
}

// newScene makes the scene of a state. old is a picture out of the history that is
// shown instead of one of the state's, or nil.
func newScene(st session.State, of session.Kind, old *session.Picture, indexed func(*fabric.Fabric) *index) *scene {
	sc := &scene{st: st, of: of}
	sc.pic = old
	if old == nil {
		var err error
		if sc.pic, err = st.Of(of); err != nil {
			sc.of, sc.pic = "", st.Default()
		}
	}
	pic := sc.pic
	if pic.Tables == nil {
		sc.why = sc.whyNoTables()
	}
	sc.base = sc.compared()
	f := sc.chooseTop()
	sc.top = indexed(f)
	sc.names = sc.top
	if pic.Fabric != f {
		sc.names = indexed(pic.Fabric)
	}
	if s := st.Staged; s != nil && len(s.Fabric.Ports) == len(f.Ports) && fabric.Same(s.Fabric, sc.now) {
		sc.given = s.Fabric
	}
	return sc
}

// chooseTop sets now and returns the fabric that the topology pane shows.
func (sc *scene) chooseTop() *fabric.Fabric {
	switch {
	case sc.of == session.Live, sc.of == session.Base, sc.recalled():
		sc.now = sc.pic.Fabric
	case sc.st.WhatIf != nil && sc.st.Base != nil:
		sc.now = sc.st.WhatIf.Fabric
		return sc.st.Base.Fabric
	default:
		sc.now = sc.st.Live.Fabric
	}
	return sc.now
}

func (sc *scene) compared() *session.Picture {
	if sc.pic.Kind == session.Live || sc.pic.Kind == session.Base {
		return nil
	}
	of := session.Base
	if sc.st.Base == nil || sc.recalled() {
		of = session.Live
	}
	if base, err := sc.st.Of(of); err == nil && base.Tables != nil && (sc.pic.Tables == nil || base.Tables.LFT != sc.pic.Tables.LFT) {
		return base
	}
	return nil
}

func (sc *scene) whyNoTables() string {
	if len(sc.pic.Fabric.Nodes) == 0 {
		return sc.whyNoSubnet()
	}
	return "no tables: press r to route"
}

func (sc *scene) whyNoSubnet() string {
	switch {
	case sc.st.Busy != "":
		return "the subnet is being read"
	case sc.st.Source.Offline():
		return "the file was not read: the log says why"
	}
	return "the subnet has not been read: press R to read it"
}

// changed says whether a scene differs in what panes keep, not only in progress.
func (sc *scene) changed(before *scene) bool {
	return before == nil || sc.pic != before.pic || sc.names != before.names || sc.top != before.top || sc.now != before.now ||
		sc.base != before.base && (sc.base == nil || before.base == nil || sc.base.Tables != before.base.Tables) ||
		sc.why != before.why || sc.st.Written != before.st.Written || sc.given != before.given || len(sc.st.Failures) != len(before.st.Failures)
}

// lid is the LID of a port of the topology's fabric, 0 where it has none yet.
func (sc *scene) lid(port fabric.PortIndex) uint16 {
	end := sc.now.EndPortOf(port)
	if lid := sc.now.Ports[end].LID; lid != 0 || sc.given == nil {
		return lid
	}
	return sc.given.Ports[end].LID
}

// failedNode says whether a node of the topology's fabric has failed on paper
// itself.
func (sc *scene) failedNode(node fabric.NodeIndex) bool {
	if sc.now == sc.top.f {
		return false
	}
	for i := range sc.st.Failures {
		if sc.st.Failures[i].InvolvesNode(node) {
			return true
		}
	}
	return false
}

// failedLink says whether the link of a port has gone on paper, for whatever
// reason.
func (sc *scene) failedLink(port fabric.PortIndex) bool {
	return sc.top.f.Ports[port].Linked() && !sc.now.Ports[port].Linked()
}

// gone are the links that have failed on paper.
func (sc *scene) gone() map[fabric.Link]bool {
	if sc.now == sc.top.f {
		return nil
	}
	return sc.st.FailedLinks()
}
