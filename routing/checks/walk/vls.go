// SPDX-License-Identifier: Apache-2.0

package walk

import "example.org/ibconsole/fabric"

// NoVL stands for a VL that was not read, and for none where nothing is forwarded.
const NoVL uint8 = 0xff

// VLs returns the VLs of the packets of an SL at the hops of the path, up to where they are dropped.
func (p *Path) VLs(t *fabric.Tables, sl uint8) []uint8 {
	out := make([]uint8, len(p.Hops))
	dropped := false
	for i := range p.Hops {
		out[i] = NoVL
		if !dropped {
			out[i] = p.Hops[i].vl(t, sl)
			dropped = out[i] == fabric.DropVL
		}
	}
	return out
}

func (h *Hop) vl(t *fabric.Tables, sl uint8) uint8 {
	if h.Out == fabric.None || t.Fabric.Ports[h.Out].Num == 0 {
		return NoVL
	}
	in, out := uint8(0), t.Fabric.Ports[h.Out].Num
	if h.In != fabric.None {
		in = t.Fabric.Ports[h.In].Num
	}
	switch {
	case t.SL2VL == nil && !t.Unread.SL2VL:
		return 0
	case t.SL2VL == nil, t.Unread.SL2VL && !t.SL2VL.Has(h.Node, in, out):
		return NoVL
	}
	return t.SL2VL.VL(h.Node, in, out, sl)
}
