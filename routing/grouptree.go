// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// TreeLink is a cable of a spanning tree between switches: from one towards the root.
type TreeLink struct {
	Above fabric.SwitchIndex
	// Up leads to it, and Down back.
	Up, Down uint8
}

// AddTree adds to the tables of a multicast group the part of a spanning tree that its members need, and returns those
// that it does not reach: routers, and what is on switches outside it. up is the cable of each switch but the root.
// O(members x hops).
func AddTree(f *fabric.Fabric, mft *fabric.MFT, mlid uint16, root fabric.SwitchIndex, members []fabric.PortIndex,
	up func(fabric.SwitchIndex) (l TreeLink, reached bool)) (outside []fabric.PortIndex) {
	for _, m := range members {
		sw, port := f.AttachedSwitch(m)
		reached := sw == root
		if sw != fabric.None && !reached {
			_, reached = up(sw)
		}
		if !reached {
			outside = append(outside, m)
			continue
		}
		if port == 0 || f.Nodes[f.Ports[m].Node].Type == mad.NodeCA {
			mft.Add(sw, mlid, port)
		} else {
			outside = append(outside, m)
		}
		for sw != root {
			l, _ := up(sw)
			mft.Add(sw, mlid, l.Up)
			mft.Add(l.Above, mlid, l.Down)
			sw = l.Above
		}
	}
	return outside
}
