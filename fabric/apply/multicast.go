// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// raiseMulticastTops raises the MulticastFDBTop of switches whose new entries lie above it. 0 is that of
// switches that have none (IBA 1.2.1, 14.2.5.4). It reports whether all got there.
func (a *applier) raiseMulticastTops() bool {
	low := a.highestMLIDs()
	switches := slices.Sorted(maps.Keys(low))
	a.each(len(switches), func(i int) {
		sw := switches[i]
		port, want := a.f.SwitchNode(sw).FirstPort, low[sw]
		req := mad.Request{Attr: mad.AttrSwitchInfo}
		raised := func(*mad.Reply) { delete(low, sw) }
		a.ask(port, req, func(r *mad.Reply) {
			var info mad.SwitchInfo
			_ = r.Decode(&info) // the answer is a good one
			switch room := int(info.MulticastFDBCap); {
			case int(want) >= fabric.FirstMLID+room:
				a.fail(port,
					fmt.Errorf("it has room for %d multicast LIDs, from 0x%04x on, and 0x%04x is to be written", room,
						fabric.FirstMLID, want))
				return
			case info.MulticastFDBTop < fabric.FirstMLID-1 || info.MulticastFDBTop >= want:
				raised(r)
				return
			}
			info.MulticastFDBTop = want
			info.PortStateChange = false // else it would be cleared, and a subnet manager miss a change
			req.Set(&info)
			a.ask(port, req, raised, nil)
		}, nil)
	})
	return len(low) == 0
}

// highestMLIDs are, by switch, the highest multicast LIDs that get a port.
func (a *applier) highestMLIDs() map[fabric.SwitchIndex]uint16 {
	top := map[fabric.SwitchIndex]uint16{}
	for i := range a.w.MFTs {
		b := &a.w.MFTs[i]
		for k, ports := range b.New {
			if b.Grow && ports != 0 {
				top[b.Switch] = max(top[b.Switch], b.FirstLID()+uint16(k))
			}
		}
	}
	return top
}
