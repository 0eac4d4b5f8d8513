// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/history/timeline"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/cablecheck"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/tui/draw"
)

// Scene is the input of all panes: the state of the session, and data derived from this state. It is immutable.
type Scene struct {
	State session.State
	Of    session.Kind // the chosen state, "" for the default
	// Picture is the state whose tables the panes show. If it has no tables, WhyNoTables is the reason.
	Picture     *session.Picture
	WhyNoTables string
	Base        *session.Picture // the state that changed entries are compared with, nil for none
	Between     *Between         // the event that the state is before or after, nil for none

	// Top is the fabric that the topology pane shows, including simulated additions and failed nodes and links. Now is
	// the same fabric without the failed nodes and links.
	Top   *Index
	Now   *fabric.Fabric
	Names *Index           // of the fabric of Picture
	Down  int              // [session.State.Down]
	Clock func() time.Time // the time, to show how old states are
	// The field given holds the LIDs that the staged tables assign to ports of Top that have no LID yet. It is nil if
	// the staged tables are for another fabric.
	given *fabric.Fabric
}

// Between is an event with the states before and after the event. The panes show one of these states.
type Between struct {
	Moment        timeline.Moment
	Before, After *session.Picture
	Earlier       bool // Before is shown
}

// Shown returns the state that is shown.
func (b *Between) Shown() *session.Picture { return prose.When(b.Earlier, b.Before, b.After) }

// Other returns the state before or after the event that is not shown. The shown state is compared with it.
func (b *Between) Other() *session.Picture { return prose.When(b.Earlier, b.After, b.Before) }

// OtherSide returns the side of that state.
func (b *Between) OtherSide() string { return prose.When(b.Earlier, "after", "before") }

// OtherColumn returns the name of the column for the state that is compared with.
func (sc *Scene) OtherColumn() string {
	return prose.When(sc.Between != nil && sc.Between.Earlier, "after", "before")
}

// NewScene returns the scene of a state. If the argument old is not nil, the scene shows this state of the history
// instead. If the argument between is not nil, it is the event to which old belongs.
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

// chooseTop sets Now. It returns the fabric that the topology pane shows.
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
	return "no forwarding tables: r computes them"
}

// WhyNoSubnet returns the reason why there is no subnet to show.
func (sc *Scene) WhyNoSubnet() string {
	switch {
	case sc.State.Busy != "":
		return "the subnet is being read"
	case sc.State.Source.Offline():
		return "the file was not read: the log has the reason"
	}
	return "the subnet has not been read: R reads it"
}

// Changed reports whether the scene differs from an earlier scene in more than the progress of operations.
func (sc *Scene) Changed(before *Scene) bool {
	return before == nil || sc.Picture != before.Picture || sc.Between != before.Between || sc.Names != before.Names ||
		sc.Top != before.Top || sc.Now != before.Now ||
		sc.Base != before.Base && (sc.Base == nil || before.Base == nil || sc.Base.Tables != before.Base.Tables) ||
		sc.WhyNoTables != before.WhyNoTables || sc.State.Written != before.State.Written || sc.given != before.given ||
		len(sc.State.Failures) != len(before.State.Failures) || sc.Cabling() != before.Cabling()
}

// Cabling returns the result of the last check of the cabling. It returns nil if there is none, or if the scene shows a
// state of the history.
func (sc *Scene) Cabling() *cablecheck.Check {
	if sc.recalled() {
		return nil
	}
	return cablecheck.Last(&sc.State)
}

// LID returns the LID of a port of the fabric Top. It returns 0 if the port has no LID yet.
func (sc *Scene) LID(port fabric.PortIndex) uint16 {
	end := sc.Now.EndPortOf(port)
	if lid := sc.Now.LIDOf(end); lid != 0 || sc.given == nil {
		return lid
	}
	return sc.given.LIDOf(end)
}

// FailedNode reports whether a node of the fabric Top is itself a simulated failure.
func (sc *Scene) FailedNode(node fabric.NodeIndex) bool {
	return sc.Now != sc.Top.Fabric && sc.nodeFailure(node) != ""
}

// FailedLink reports whether the link of a port is down in the what-if, for whatever reason.
func (sc *Scene) FailedLink(port fabric.PortIndex) bool {
	return sc.Top.Fabric.Ports[port].Linked() && !sc.Now.Ports[port].Linked()
}

// FailedLinks returns the links that are down in the what-if.
func (sc *Scene) FailedLinks() map[fabric.Link]bool {
	if sc.Now == sc.Top.Fabric {
		return nil
	}
	return sc.State.FailedLinks()
}

// DiffBase returns the state with which the shown state is compared. It returns nil if there is no such state with
// tables.
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

// Recent returns the errors and the utilization of ports in the hour before the time that is shown. It returns nil if
// nothing was recorded in that hour.
func (sc *Scene) Recent() *recording.Recent { return recording.RecentOf(&sc.State) }

// RecentErrors returns the number of errors that a port counted in the last hour. The text is "?" if the port was not
// read.
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

// RecentUse returns the utilization of a port's link in send direction in the last hour, in percent. It returns -1 if
// it is unknown.
func (sc *Scene) RecentUse(f *fabric.Fabric, port fabric.PortIndex) (percent int64, text string) {
	r := sc.Recent()
	if r == nil || port == fabric.None {
		return -1, ""
	}
	use := r.Use(counters.KeyOf(f, port))
	if use < 0 {
		return -1, "-"
	}
	return int64(100*use + 0.5), draw.Percent(use)
}

// CountDown sets Down, the number of links of the live subnet that are down. If nothing has changed since an earlier
// scene, it copies the number from that scene. The argument before is this scene or nil.
func (sc *Scene) CountDown(before *Scene) {
	if before != nil && before.State.Live == sc.State.Live && before.State.Baseline == sc.State.Baseline &&
		len(before.State.Losses) == len(sc.State.Losses) {
		sc.Down = before.Down
		return
	}
	sc.Down = sc.State.Down()
}

// Missing returns the names of the nodes of f that are not in g.
func Missing(f, g *fabric.Fabric) []string {
	var out []string
	for i := range f.Nodes {
		if f.Nodes[i].InSubnet && g.NodeByGUID(f.Nodes[i].GUID) == fabric.None {
			out = append(out, f.NodeName(fabric.NodeIndex(i)))
		}
	}
	return out
}

// Downs returns the names of the links of f that are not in g.
func Downs(f, g *fabric.Fabric) []string {
	return prose.Words(DownPorts(f, g), func(p fabric.PortIndex) string {
		return f.PortName(p) + " -- " + f.PortName(f.Ports[p].Peer)
	})
}

// DownPorts returns a port of f for each link that is not in g. It takes O(ports) time.
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
