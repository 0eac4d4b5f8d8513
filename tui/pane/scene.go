// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/tui/draw"
)

// Scene is what the panes draw: the state of the session and what follows from it. It never changes.
type Scene struct {
	State session.State
	Of    session.Kind // the picture that was chosen, "" for the session's default
	// Picture is the picture whose tables are shown. Where it has none, why says so.
	Picture     *session.Picture
	WhyNoTables string
	Base        *session.Picture // what changed entries are told from, nil where there is nothing to compare
	Between     *Between         // the event before or after which the picture is, nil for none

	// Top is the fabric of the topology pane, with what was added on paper; now the same without what has failed there.
	Top   *Index
	Now   *fabric.Fabric
	Names *Index           // the index of the picture's fabric
	Down  int              // [session.State.Down]
	Clock func() time.Time // tells how old pictures are
	// given holds the LIDs that staged tables give to ports of Top that have none, nil where they are of another
	// fabric.
	given *fabric.Fabric
}

// Between is an event with what was before and after it, one of which is shown.
type Between struct {
	Moment        timeline.Moment
	Before, After *session.Picture
	Earlier       bool // says that Before is shown
}

// Shown is the picture that is shown.
func (b *Between) Shown() *session.Picture { return prose.When(b.Earlier, b.Before, b.After) }

// Other is the one that it is compared with.
func (b *Between) Other() *session.Picture { return prose.When(b.Earlier, b.After, b.Before) }

// OtherSide says which one that is.
func (b *Between) OtherSide() string { return prose.When(b.Earlier, "after", "before") }

// OtherColumn is what a column is called that says how it is in the picture that is compared with.
func (sc *Scene) OtherColumn() string {
	return prose.When(sc.Between != nil && sc.Between.Earlier, "next", "was")
}

// NewScene makes the scene of a state. old is a picture of the history that is shown instead, or nil, and between the
// event to which it belongs, or nil.
func NewScene(st session.State, of session.Kind, old *session.Picture, between *Between,
	indexed func(*fabric.Fabric) *Index) *Scene {
	sc := &Scene{State: st, Of: of, Between: between}
	sc.Picture = old
	if old == nil {
		var err error
		if sc.Picture, err = st.Of(of); err != nil {
			sc.Of, sc.Picture = "", st.Default()
		}
	}
	pic := sc.Picture
	if pic.Tables == nil {
		sc.WhyNoTables = sc.whyNoTables()
	}
	sc.Base = sc.compared()
	f := sc.chooseTop()
	sc.Top = indexed(f)
	sc.Names = sc.Top
	if pic.Fabric != f {
		sc.Names = indexed(pic.Fabric)
	}
	if s := st.Staged; s != nil && len(s.Fabric.Ports) == len(f.Ports) && fabric.Same(s.Fabric, sc.Now) {
		sc.given = s.Fabric
	}
	return sc
}

// chooseTop sets now and returns the fabric that the topology pane shows.
func (sc *Scene) chooseTop() *fabric.Fabric {
	switch {
	case sc.Of == session.Live, sc.Of == session.Base, sc.recalled():
		sc.Now = sc.Picture.Fabric
	case sc.State.WhatIf != nil && sc.State.Base != nil:
		sc.Now = sc.State.WhatIf.Fabric
		return sc.State.Whole()
	default:
		sc.Now = sc.State.Live.Fabric
	}
	return sc.Now
}

func (sc *Scene) compared() *session.Picture {
	if b := sc.Between; b != nil {
		return prose.When(b.Other().Tables == nil, nil, b.Other())
	}
	if sc.Picture.Kind == session.Live || sc.Picture.Kind == session.Base {
		return nil
	}
	of := prose.When(sc.State.Base == nil || sc.recalled(), session.Live, session.Base)
	if base, err := sc.State.Of(of); err == nil && base.Tables != nil &&
		(sc.Picture.Tables == nil || base.Tables.LFT != sc.Picture.Tables.LFT) {
		return base
	}
	return nil
}

func (sc *Scene) whyNoTables() string {
	if len(sc.Picture.Fabric.Nodes) == 0 {
		return sc.WhyNoSubnet()
	}
	return "no tables: press r to route"
}

// WhyNoSubnet says why there is no subnet to show.
func (sc *Scene) WhyNoSubnet() string {
	switch {
	case sc.State.Busy != "":
		return "the subnet is being read"
	case sc.State.Source.Offline():
		return "the file was not read: the log says why"
	}
	return "the subnet has not been read: press R to read it"
}

// Changed reports whether a scene differs in what panes keep, not only in progress.
func (sc *Scene) Changed(before *Scene) bool {
	return before == nil || sc.Picture != before.Picture || sc.Between != before.Between || sc.Names != before.Names ||
		sc.Top != before.Top || sc.Now != before.Now ||
		sc.Base != before.Base && (sc.Base == nil || before.Base == nil || sc.Base.Tables != before.Base.Tables) ||
		sc.WhyNoTables != before.WhyNoTables || sc.State.Written != before.State.Written || sc.given != before.given ||
		len(sc.State.Failures) != len(before.State.Failures)
}

// LID is the LID of a port of the topology's fabric, 0 where it has none yet.
func (sc *Scene) LID(port fabric.PortIndex) uint16 {
	end := sc.Now.EndPortOf(port)
	if lid := sc.Now.LIDOf(end); lid != 0 || sc.given == nil {
		return lid
	}
	return sc.given.LIDOf(end)
}

// FailedNode reports whether a node of the topology's fabric has failed on paper itself.
func (sc *Scene) FailedNode(node fabric.NodeIndex) bool {
	return sc.Now != sc.Top.Fabric && sc.nodeFailure(node) != ""
}

// FailedLink reports whether the link of a port has gone on paper, for whatever reason.
func (sc *Scene) FailedLink(port fabric.PortIndex) bool {
	return sc.Top.Fabric.Ports[port].Linked() && !sc.Now.Ports[port].Linked()
}

// Gone are the links that have failed on paper.
func (sc *Scene) FailedLinks() map[fabric.Link]bool {
	if sc.Now == sc.Top.Fabric {
		return nil
	}
	return sc.State.FailedLinks()
}

// Against is the picture that what is shown is compared with, nil where there is none with tables.
func (sc *Scene) DiffBase() *session.Picture {
	if sc.Between != nil && sc.Picture.Tables != nil {
		return sc.Base
	}
	if sc.Picture.Kind == session.Live || sc.Picture.Kind == session.Base || sc.Picture.Tables == nil {
		return nil
	}
	p := prose.When(sc.State.Base != nil && !sc.recalled(), sc.State.Base, sc.State.Live)
	if p.Tables == nil {
		return nil
	}
	return p
}

// Recent returns what ports counted in the last hour of the time that is shown, nil if nothing was recorded of it.
func (sc *Scene) Recent() *recording.Recent { return recording.RecentOf(&sc.State) }

// RecentErrors returns the errors that a port counted in the last hour, "?" if it was not read.
func (sc *Scene) RecentErrors(f *fabric.Fabric, port fabric.PortIndex) (n uint64, text string) {
	r := sc.Recent()
	if r == nil || port == fabric.None {
		return 0, ""
	}
	n, ok := r.Errors(counters.KeyOf(f, port))
	if !ok {
		return 0, "?"
	}
	return n, draw.CountOrNone(int(min(n, 1<<40)))
}

// RecentUse returns the share of its data rate that a port sent with in the last hour, in percent; -1 if it is unknown.
func (sc *Scene) RecentUse(f *fabric.Fabric, port fabric.PortIndex) (percent int64, text string) {
	r := sc.Recent()
	if r == nil || port == fabric.None {
		return -1, ""
	}
	use := r.Use(counters.KeyOf(f, port))
	if use < 0 {
		return -1, "-"
	}
	return int64(100*use + 0.5), fmt.Sprintf("%.0f %%", 100*use)
}

// CountDown counts the links of the live subnet that are down, where they may be others than in the scene before, nil
// at first.
func (sc *Scene) CountDown(before *Scene) {
	if before != nil && before.State.Live == sc.State.Live && before.State.Baseline == sc.State.Baseline &&
		len(before.State.Losses) == len(sc.State.Losses) {
		sc.Down = before.Down
		return
	}
	sc.Down = sc.State.Down()
}

// Missing names the nodes of f that g has not.
func Missing(f, g *fabric.Fabric) []string {
	var out []string
	for i := range f.Nodes {
		if f.Nodes[i].InSubnet && g.NodeByGUID(f.Nodes[i].GUID) == fabric.None {
			out = append(out, f.NodeName(fabric.NodeIndex(i)))
		}
	}
	return out
}

// Downs names the links of f that are not in g.
func Downs(f, g *fabric.Fabric) []string {
	return prose.Words(DownPorts(f, g), func(p fabric.PortIndex) string {
		return f.PortName(p) + " -- " + f.PortName(f.Ports[p].Peer)
	})
}

// DownPorts are ports of f, one for each link, whose links are not in g. O(ports).
func DownPorts(f, g *fabric.Fabric) []fabric.PortIndex {
	var out []fabric.PortIndex
	for i := range f.Nodes {
		n := &f.Nodes[i]
		other := g.NodeByGUID(n.GUID)
		for p := range n.Slots() {
			if f.Ports[p].Peer <= p {
				continue
			}
			var q fabric.PortIndex = fabric.None
			if other != fabric.None {
				q = g.PortAt(other, int(f.Ports[p].Num))
			}
			if q == fabric.None || !g.Ports[q].Linked() {
				out = append(out, p)
			}
		}
	}
	return out
}
