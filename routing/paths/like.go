// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
)

// like arranges the ports and LIDs in the order of another database.
func (b *builder) like(v *pathdb.View) error {
	differ := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", pathdb.ErrLayout, fmt.Sprintf(format, args...))
	}
	guids := v.Switches()
	if !slices.EqualFunc(guids, b.out.Switches, func(guid uint64, s pathdb.Switch) bool { return guid == s.GUID }) {
		return differ("other switches")
	}
	here := make(map[uint64]int, len(b.out.Ports))
	for i := range b.out.Ports {
		here[b.out.Ports[i].GUID] = i
	}
	var ports []pathdb.Port
	var ends []fabric.PortIndex
	for _, p := range v.Ports() {
		i, ok := here[p.GUID]
		if !ok {
			p.Flags |= pathdb.Gone
			p.Row, p.Peer, p.PKeys = -1, -1, -1
			ports, ends = append(ports, p), append(ends, fabric.None)
			continue
		}
		now := b.out.Ports[i]
		if now.LID != p.LID || now.LMC != p.LMC || now.Switch != p.Switch {
			return differ("port 0x%016x has another LID or is attached to another switch", p.GUID)
		}
		ports, ends = append(ports, now), append(ends, b.ends[i])
		delete(here, p.GUID)
	}
	for guid := range here {
		return differ("port 0x%016x is new", guid)
	}
	b.out.Ports, b.ends = ports, ends
	places := make(map[uint16]fabric.SwitchIndex, len(ports))
	for i := range ports {
		for l := range 1 << ports[i].LMC {
			places[ports[i].LID+uint16(l)] = fabric.SwitchIndex(ports[i].Switch)
		}
	}
	b.groups = b.groups[:0]
	for _, g := range v.Groups() {
		b.groups = append(b.groups, group{sw: places[g.LIDs[0]], lids: g.LIDs})
	}
	return nil
}
