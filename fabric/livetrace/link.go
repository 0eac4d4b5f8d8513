// SPDX-License-Identifier: Apache-2.0

package livetrace

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// spot is a hop of a walk that may have gone on since.
type spot struct {
	w    *walker
	at   int // of the hops
	to   mad.Path
	info mad.NodeInfo
}

func (w *walker) here() spot { return spot{w, len(w.path.Hops) - 1, w.to, w.info} }

// ask asks the node for something that the path does not depend on. The walk goes on
// meanwhile and ends after the answer; one that is missing or bad is passed over.
func (s spot) ask(attr mad.AttrID, num uint8, into mad.Attribute, then func()) {
	s.w.open++
	s.w.r.ask(question{s.info.NodeGUID, attr, uint32(num)}, s.to, func(a *answer) {
		if a.decode(into) == nil {
			then()
		}
		s.w.open--
		s.w.finish()
	})
}

// entered asks the port by which the packet came how its link runs.
func (s spot) entered(in uint8) {
	var info mad.PortInfo
	s.ask(mad.AttrPortInfo, in, &info, func() {
		s.look(&info, in, func(h *Hop) *Link { return &h.Receives })
	})
}

// look notes how the link of a port runs. The masks that say which of the later
// speeds count are those of port 0 of a switch: it is asked where there are any.
func (s spot) look(info *mad.PortInfo, num uint8, which func(*Hop) *Link) {
	link := func() *Link { return which(&s.w.path.Hops[s.at]) }
	*link() = Link{info.PortState, info.LinkWidthActive, info.SpeedActive(info, false)}
	extended := info.LinkSpeedExtActive != 0 || info.LinkSpeedExt2Active != 0
	switch {
	case extended && s.info.Type == mad.NodeSwitch && num != 0:
		port := *info
		var zero mad.PortInfo
		s.ask(mad.AttrPortInfo, 0, &zero, func() { link().Speed = port.SpeedActive(&zero, false) })
	case !extended && fabric.MayBeFDR10(info, s.info.VendorID, s.info.DeviceID):
		var more mad.MellanoxExtendedPortInfo
		s.ask(mad.AttrMellanoxExtendedPortInfo, num, &more, func() {
			if more.FDR10() {
				link().Speed = mad.SpeedFDR10
			}
		})
	}
}
