// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"math/bits"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// limits are what the ports of the fabric allow their links.
func (b *builder) limits() []fabric.LinkLimit {
	out := make([]fabric.LinkLimit, len(b.fabric.Ports))
	for node, i := range b.order {
		n := b.nodes[i]
		for num := range n.ports {
			if n.ports[num].known && n.ports[num].linked() {
				out[b.fabric.Port(fabric.NodeIndex(node), uint8(num))] = n.limit(num)
			}
		}
	}
	return out
}

// limit is what a port allows its link. FDR10 has no bit: a port that runs at it allows at least that.
func (n *node) limit(num int) fabric.LinkLimit {
	p := &n.ports[num]
	caps := &p.info
	if n.isSwitch() {
		caps = &n.ports[0].info
	}
	speed := func(set mad.LinkSpeed) fabric.Speed {
		if p.fdr10 {
			set |= mad.SpeedFDR10
		}
		return fabric.Speed(bits.Len16(uint16(set)))
	}
	return fabric.LinkLimit{
		WidthEnabled:   fabric.Width(p.info.LinkWidthEnabled.Lanes()),
		WidthSupported: fabric.Width(p.info.LinkWidthSupported.Lanes()),
		SpeedEnabled:   speed(p.info.SpeedEnabled(caps)), SpeedSupported: speed(p.info.SpeedSupported(caps)),
	}
}
