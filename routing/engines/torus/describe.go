// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// Hop describes the passage of a packet through a switch of the torus.
type Hop struct {
	At Coordinates
	// Along is the direction in which the packet leaves, such as "+x". It is "" to a host and for port 0.
	Along string
	// Crosses is the dimension whose dateline the packet crosses when it leaves, or "". Unmarked is set if its SL has
	// no bit for this dimension. Then the packet takes the longer path around a ring that a failure has opened.
	Crosses  string
	Unmarked bool
	// TurnsFrom is the dimension along which the packet arrived if it leaves along a different dimension, otherwise "".
	// Illegal is set if the turn is against the order of dimensions.
	TurnsFrom string
	Illegal   bool
}

// HopOf describes how a packet with an SL passes a switch from an input port to an output port. Either port may be
// [fabric.None]. ok is false if the switch is outside the torus.
func (t *Torus) HopOf(sw fabric.SwitchIndex, in, out fabric.PortIndex, sl uint8) (h Hop, ok bool) {
	s := t.of[sw]
	if s == absent {
		return h, false
	}
	h.At = t.switches[s].at
	if !t.inside(out) {
		return h, true
	}
	group := int(t.group[out])
	d := group / 2
	h.Along = direction(group)
	if t.crossesBy(s, group) {
		h.Crosses, h.Unmarked = axis(d), sl>>d&1 == 0
	}
	if t.inside(in) && int(t.group[in])/2 != d {
		came := int(t.group[in]) / 2
		h.TurnsFrom, h.Illegal = axis(came), came > d
	}
	return h, true
}

// inside reports whether a port leads along a dimension.
func (t *Torus) inside(port fabric.PortIndex) bool {
	return port != fabric.None && t.dimension(port) != local
}

// crossesBy reports whether the links of a group of switch s cross the dateline. The dateline is between the last and
// the first place of a ring.
func (t *Torus) crossesBy(s int32, group int) bool {
	d, at := group/2, t.switches[s].at[group/2]
	return t.Radix[d] > 1 && !t.Mesh[d] && at == (group&1)*(t.Radix[d]-1)
}

// direction returns the direction of a group as text, such as "+x" for the group up x.
func direction(group int) string { return fmt.Sprintf("%c%s", "-+"[group&1], axis(group/2)) }

func axis(d int) string { return axes[d : d+1] }

// String describes the hop, such as "turns from y to x, against the order; crosses the x dateline".
func (h Hop) String() (text string) {
	if h.TurnsFrom != "" {
		text = fmt.Sprintf("turns from %s to %s", h.TurnsFrom, h.Along[1:])
		if h.Illegal {
			text += ", against the order"
		}
	}
	if h.Crosses == "" {
		return text
	}
	if text != "" {
		text += "; "
	}
	text += fmt.Sprintf("crosses the %s dateline", h.Crosses)
	if h.Unmarked {
		text += ", the longer way around"
	}
	return text
}

// SLText describes an SL of this engine, such as "x dateline, QoS level 1".
func SLText(sl uint8) (text string) {
	for d := range dims {
		if sl>>d&1 != 0 {
			text += axis(d)
		}
	}
	if text == "" {
		text = "no dateline"
	} else {
		text = "the dateline of " + text
	}
	return fmt.Sprintf("%s, QoS level %d", text, sl/qosLevel)
}

// Links lists directions of a switch, such as "+x": Present those with links, Missing those in which links are missing,
// and Datelines the links across a dateline. All lists are empty for a switch outside the torus.
type Links struct{ Present, Missing, Datelines []string }

// LinksOf returns the links of a switch.
func (t *Torus) LinksOf(sw fabric.SwitchIndex) (l Links) {
	s := t.of[sw]
	if s == absent {
		return l
	}
	for g := range hostGroup {
		switch {
		case len(t.switches[s].groups[g]) > 0:
			l.Present = append(l.Present, direction(g))
		case t.gap(s, g):
			l.Missing = append(l.Missing, direction(g))
		default:
			continue
		}
		if t.crossesBy(s, g) {
			l.Datelines = append(l.Datelines, direction(g))
		}
	}
	return l
}

// GroupLinks returns the directions in which a switch forwards packets of a multicast LID to other switches.
func (t *Torus) GroupLinks(mft *fabric.MFT, sw fabric.SwitchIndex, mlid uint16) (along []string) {
	s := t.of[sw]
	if s == absent {
		return nil
	}
	first := t.f.SwitchNode(sw).FirstPort
	for g := range hostGroup {
		for _, p := range t.switches[s].groups[g] {
			if t.inside(first+fabric.PortIndex(p)) && mft.Has(sw, mlid, p) {
				along = append(along, direction(g))
				break
			}
		}
	}
	return along
}
