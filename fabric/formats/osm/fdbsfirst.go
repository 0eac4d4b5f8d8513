// SPDX-License-Identifier: Apache-2.0

package osm

import "example.org/ibconsole/fabric"

// FirstLeastHop recommends the first of the ports with the fewest hops, as OpenSM
// does after engines that count no use of ports, such as ftree.
func FirstLeastHop(f *fabric.Fabric, hops Hops) Recommend {
	return func(sw fabric.SwitchIndex, lid uint16) uint8 {
		end := f.PortByLID(lid)
		if end == fabric.None {
			return fabric.NoPath
		}
		dst, local := f.AttachedSwitch(end)
		switch dst {
		case fabric.None:
			return fabric.NoPath
		case sw:
			return local
		}
		least := hops.Least(sw, dst)
		for p := 1; p <= int(f.SwitchNode(sw).NumPorts); p++ {
			if hops.Through(sw, uint8(p), dst) == least {
				return uint8(p)
			}
		}
		return fabric.NoPath
	}
}
