// SPDX-License-Identifier: Apache-2.0

package treestest

import (
	"math/rand/v2"
	"slices"

	"example.org/ibconsole/fabric"
)

// RandomAdaptive gives the switches of the tables random groups of ports. Most groups contain only ports with links.
func RandomAdaptive(r *rand.Rand, t *fabric.Tables) *fabric.Adaptive {
	f := t.Fabric
	a := &fabric.Adaptive{Switches: make([]fabric.AdaptiveSwitch, len(f.Switches))}
	dense := 1 + r.IntN(8)
	mask := func() uint16 { return [...]uint16{0xffff, 0xffff, 0x0001, 0xfffe}[r.IntN(4)] }
	for s := range a.Switches {
		sw := &a.Switches[s]
		if r.IntN(8) == 0 {
			continue
		}
		*sw = fabric.AdaptiveSwitch{Enabled: r.IntN(6) > 0, FastReroute: r.IntN(3) == 0, SLs: mask(), HashSLs: mask()}
		n := f.SwitchNode(fabric.SwitchIndex(s))
		for range r.IntN(5) {
			var g fabric.PortGroup
			for range r.IntN(3) {
				var sub []uint8
				for range r.IntN(3) {
					sub = append(sub, uint8(r.IntN(int(n.NumPorts)+2)))
				}
				g = append(g, sub)
			}
			sw.Groups = append(sw.Groups, g)
		}
		entry := func() fabric.AdaptiveEntry {
			return fabric.NewAdaptiveEntry(fabric.AdaptiveState(r.IntN(4)), r.IntN(6))
		}
		table := fabric.AdaptiveTable{
			Top: t.LFT.MaxLID - uint16(r.IntN(3)), Entries: make([]fabric.AdaptiveEntry, int(t.LFT.MaxLID)+1),
		}
		for lid := range table.Entries {
			if near := f.PortByLID(uint16(lid)); near != fabric.None && r.IntN(dense) == 0 {
				table.Entries[lid] = entry()
			}
		}
		sw.Tables = append(sw.Tables, table)
		if r.IntN(4) != 0 {
			continue
		}
		for range 1 + r.IntN(2) {
			var p fabric.AdaptiveTable
			for lid := uint16(1); lid <= t.LFT.MaxLID; lid++ {
				if r.IntN(4) == 0 {
					p.Private = append(p.Private, fabric.PrivateEntry{
						LID: lid, Port: uint8(r.IntN(int(n.NumPorts) + 1)), Entry: entry(),
					})
				}
			}
			sw.Tables = append(sw.Tables, p)
		}
		sw.Private = make([]uint8, (int(n.NumPorts)+1)*16)
		for i := range sw.Private {
			sw.Private[i] = uint8(r.IntN(len(sw.Tables)))
		}
	}
	return a
}

// Up reports whether a port of a switch has a link; port 0 leads to the switch itself.
func Up(f *fabric.Fabric, sw fabric.SwitchIndex, port int) bool {
	n := f.SwitchNode(sw)
	return port == 0 || port <= int(n.NumPorts) && f.Ports[n.FirstPort+fabric.PortIndex(port)].Peer != fabric.None
}

// Exits returns the table and the ports that a switch may use for a packet. The argument at is the port by which the
// packet enters. Exits is a simple implementation for comparison with package choices.
func Exits(t *fabric.Tables, at fabric.PortIndex, lid uint16, sl uint8) (table int, up []int) {
	f := t.Fabric
	sw := f.Nodes[f.Ports[at].Node].Switch
	var a fabric.AdaptiveSwitch
	if t.Adaptive != nil {
		a = t.Adaptive.Switches[sw]
	}
	if i := int(f.Ports[at].Num)*16 + int(sl); i < len(a.Private) && int(a.Private[i]) < len(a.Tables) {
		table = int(a.Private[i])
	}
	static, entry := int(t.Port(sw, lid)), fabric.AdaptiveEntry(0)
	if len(a.Tables) > 0 && int(lid) < len(a.Tables[0].Entries) && lid <= a.Tables[0].Top {
		entry = a.Tables[0].Entries[lid]
	}
	if table > 0 {
		for _, p := range a.Tables[table].Private {
			if p.LID == lid {
				static, entry = int(p.Port), p.Entry
			}
		}
	}
	if g := entry.Group(); g < len(a.Groups) {
		for p := 1; p < 255; p++ {
			for _, sub := range a.Groups[g] {
				if slices.Contains(sub, uint8(p)) && Up(f, sw, p) && !slices.Contains(up, p) {
					up = append(up, p)
				}
			}
		}
	}
	free := a.Enabled && (a.SLs>>sl&1 == 1 && entry.State() != fabric.StateStatic || a.HashSLs>>sl&1 == 1 &&
		entry.State() == fabric.StateHash)
	over := a.FastReroute && !Up(f, sw, static) && entry != 0
	if !free && !over || len(up) == 0 {
		up = []int{static}
	}
	return table, up
}
