// SPDX-License-Identifier: Apache-2.0

package commits

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// Training describes what the link of a controlled port can train to.
type Training struct {
	Port, Peer fabric.PortIndex // Peer is None if the link is down, so that nothing is known of the other end
	// Widths and Speeds are enabled at the port after the writes, and WasSpeeds before.
	Widths            mad.LinkWidth
	Speeds, WasSpeeds mad.LinkSpeed
	// Common values are also enabled at the peer. They are 0 if Peer is None.
	CommonWidths mad.LinkWidth
	CommonSpeeds mad.LinkSpeed
	PeerWidths   mad.LinkWidth
	PeerSpeeds   mad.LinkSpeed
	// Kept are enabled speeds that the writes do not concern, although they concern other speeds.
	Kept    mad.LinkSpeed
	Changes bool // the enabled widths or speeds change
	Reset   bool // the link trains again
	hadBoth bool // both ends had a width and a speed in common before
}

// portInfo is the PortInfo of a port, together with that of port 0 if the node is a switch.
type portInfo struct {
	mad.PortInfo
	caps *mad.PortInfo // has the valid capability masks, nil for the port itself
}

// readInfo reads the PortInfo of a port.
func (c *commit) readInfo(ctx context.Context, f *fabric.Fabric, port fabric.PortIndex) (*portInfo, error) {
	path, err := sweep.NewRoutes(f).ToPort(port)
	if err != nil {
		return nil, err
	}
	read, client := &portInfo{}, c.Connection().Client()
	read.PortInfo, err = mad.Get[mad.PortInfo](ctx, client, path, uint32(f.Ports[port].Num))
	if err == nil && f.Nodes[f.Ports[port].Node].IsSwitch() {
		var zero mad.PortInfo
		zero, err = mad.Get[mad.PortInfo](ctx, client, path, 0)
		read.caps = &zero
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.PortName(port), err)
	}
	return read, nil
}

// findTraining adds the training of a controlled port to the report, or updates it if an earlier control concerns the
// same port.
func (c *commit) findTraining(ctx context.Context, f *fabric.Fabric, control *write.Control, read *portInfo) error {
	if control.Phys == mad.PhysDisabled {
		return nil
	}
	i := slices.IndexFunc(c.rep.Trainings, func(t Training) bool { return t.Port == control.Port })
	if i >= 0 { // the reset after a change
		c.rep.Trainings[i].Reset = c.rep.Trainings[i].Reset || control.Reset
		return nil
	}
	after := control.After(read.PortInfo)
	t := Training{Port: control.Port, Peer: f.Ports[control.Port].Peer, Reset: control.Reset,
		Widths: after.WidthsEnabled(), Speeds: after.SpeedEnabled(read.caps), WasSpeeds: read.SpeedEnabled(read.caps)}
	t.Changes = t.Widths != read.WidthsEnabled() || t.Speeds != t.WasSpeeds
	isPartial := control.Speed != 0 && control.Ext|control.Ext2 == 0 ||
		control.Speed == 0 && control.Ext|control.Ext2 != 0
	if isPartial && !c.of.rollback {
		t.Kept = t.Speeds & t.WasSpeeds &^ enabledBy(control)
	}
	if t.Peer != fabric.None && f.Discovered(t.Peer) {
		peer, err := c.readInfo(ctx, f, t.Peer)
		if err != nil {
			return err
		}
		t.PeerWidths, t.PeerSpeeds = peer.WidthsEnabled(), peer.SpeedEnabled(peer.caps)
		t.CommonWidths, t.CommonSpeeds = t.Widths&t.PeerWidths, t.Speeds&t.PeerSpeeds
		t.hadBoth = read.WidthsEnabled()&t.PeerWidths != 0 && t.WasSpeeds&t.PeerSpeeds != 0
	}
	c.rep.Trainings = append(c.rep.Trainings, t)
	return nil
}

// enabledBy returns the speeds that a control enables.
func enabledBy(c *write.Control) mad.LinkSpeed {
	all := mad.PortInfo{CapabilityMask: mad.CapExtendedSpeeds | mad.CapCapabilityMask2,
		CapabilityMask2: mad.Cap2ExtendedSpeeds2}
	info := c.After(all)
	return info.SpeedEnabled(nil)
}

// Conflict returns the reason why the link cannot come up when it trains again, or "" if it can or nothing is known.
// Values that the two ends did not have in common before do not count: then the ends report them in another way.
func (t *Training) Conflict(f *fabric.Fabric) string {
	if !t.Changes || !t.hadBoth || t.CommonWidths != 0 && t.CommonSpeeds != 0 {
		return ""
	}
	what, here, there := "width", list(t.Widths), list(t.PeerWidths)
	if t.CommonWidths != 0 {
		what, here, there = "speed", list(t.Speeds), list(t.PeerSpeeds)
	}
	return fmt.Sprintf("%s would enable %s, and its peer %s enables %s: the link has no %s in common and does not "+
		"come up when it trains again", f.PortName(t.Port), here, f.PortName(t.Peer), there, what)
}

// list returns the values of a set as the commands take them: "1x,4x".
func list(set fmt.Stringer) string { return strings.ReplaceAll(set.String(), " or ", ",") }

// Text describes the training for people, "" if there is nothing to say.
func (t *Training) Text(f *fabric.Fabric) string {
	if !t.Changes {
		return ""
	}
	text := fmt.Sprintf("%s enables %s at %s", f.PortName(t.Port), list(t.Widths), list(t.Speeds))
	if t.Kept != 0 {
		text += fmt.Sprintf(" (%s stay enabled: only the fields of the given speeds are written)", list(t.Kept))
	}
	switch {
	case t.Peer == fabric.None:
		text += "; the link is down, so that it is unknown what the peer enables"
	case t.CommonWidths == 0 || t.CommonSpeeds == 0:
		text += fmt.Sprintf("; nothing in common with %s, which enables %s at %s", f.PortName(t.Peer),
			list(t.PeerWidths), list(t.PeerSpeeds))
	default:
		text += fmt.Sprintf("; with %s the link trains at %dx %s", f.PortName(t.Peer), t.CommonWidths.Lanes(),
			t.CommonSpeeds.Max())
	}
	return text + prose.When(t.Reset, "", ", not before it trains again (option reset)")
}

// conflict returns an error if a link could not come up again, unless the options allow it.
func (c *commit) conflict() error {
	for i := range c.rep.Trainings {
		why := c.rep.Trainings[i].Conflict(c.st.Live.Fabric)
		if why != "" && !c.opt.AllowUnreachable && !c.of.restores() {
			return refused(Unreachable, "%s", why)
		}
	}
	return nil
}
