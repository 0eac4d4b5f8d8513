// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// askMFTs asks for the multicast forwarding tables up to each switch's MulticastFDBTop.
func (r *reader) askMFTs() {
	top := uint16(fabric.FirstMLID - 1)
	switches := r.known()
	for _, n := range switches {
		top = max(top, mftTop(&r.nodes[r.b.order[n]].sw))
	}
	r.tables.MFT = fabric.NewMFT(r.f, top)
	r.answered[askMFT] = r.gotMFT
	masks := func(i int32) int { return int(r.nodes[i].info.NumPorts)/mad.MFTPorts + 1 }
	r.spread(switches, func(i int32) int {
		lids := int(mftTop(&r.nodes[i].sw)) - fabric.FirstMLID + 1
		return (lids + mad.MFTBlock - 1) / mad.MFTBlock * masks(i)
	}, func(i int32, k int) task {
		return task{kind: askMFT, mod: uint16(k / masks(i)), port: uint8(k % masks(i))}
	})
}

// mftTop is the highest multicast LID that a switch can have an entry for, FirstMLID-1 for none. A
// MulticastFDBTop of 0 is that of switches that do not have one (IBA 1.2.1, 14.2.5.4).
func mftTop(sw *mad.SwitchInfo) uint16 {
	last := fabric.FirstMLID - 1 + int(min(sw.MulticastFDBCap, mad.PermissiveLID-fabric.FirstMLID))
	if top := sw.MulticastFDBTop; top >= fabric.FirstMLID-1 && int(top) < last {
		return top
	}
	return uint16(last)
}

// gotMFT handles a block of 32 LIDs for 16 ports: task.mod and task.port.
func (r *reader) gotMFT(t task, reply *mad.Reply) {
	var block mad.MulticastForwardingTable
	if reply.Decode(&block) != nil {
		return
	}
	r.progress.Blocks++
	for i, ports := range block {
		set := r.tables.MFT.Ports(r.row[t.node], fabric.FirstMLID+t.mod*mad.MFTBlock+uint16(i))
		if word := int(t.port) / 4; word < len(set) {
			set[word] |= uint64(ports) << (t.port % 4 * mad.MFTPorts)
		}
	}
}
