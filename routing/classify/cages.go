// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
)

// Cage is a switch chassis that the subnet sees as several switches, one for each of its planes (XDR). The switches
// share a system GUID and are not linked to each other. Each switch leads to the same neighbours as the other switches
// of the cage. If a neighbour has planes itself, each switch leads to the part of the neighbour in its own plane.
type Cage struct {
	Name   string
	Planes []fabric.SwitchIndex // fewer than [CagePlanes] where some are missing
}

// CagePlanes is how many planes a cage has.
const CagePlanes = 4

// findCages finds the cages among all switches. It includes switches outside the subnet, because planes that only hosts
// connect are not in one subnet. It accepts incomplete cages only if the fabric has complete cages.
func (s *Structure) findCages() []Cage {
	systems := map[uint64][]fabric.SwitchIndex{}
	for sw := range s.Fabric.NumSwitches() {
		if guid := s.Fabric.SwitchNode(sw).SystemGUID; guid != 0 {
			systems[guid] = append(systems[guid], sw)
		}
	}
	var all []Cage
	complete := false
	for _, guid := range slices.Sorted(maps.Keys(systems)) {
		if of := s.inOrder(systems[guid]); len(of) > 1 && len(of) <= CagePlanes && s.isCage(of, systems) {
			all = append(all, Cage{chassisOf(s.Fabric, of), of})
			complete = complete || len(of) == CagePlanes
		}
	}
	if !complete {
		return nil
	}
	return all
}

// isCage reports whether the switches of a system are a cage. They must lead to nodes of the same systems. If a
// neighbouring system consists of several switches, each switch of the cage must lead to different switches of that
// system.
func (s *Structure) isCage(of []fabric.SwitchIndex, systems map[uint64][]fabric.SwitchIndex) bool {
	f := s.Fabric
	having := map[uint64]int{} // by neighbouring system, the number of switches that lead to it
	leads, linked := 0, 0
	taken := map[fabric.NodeIndex]bool{}
	for _, sw := range of {
		mine := map[uint64]bool{}
		met := map[fabric.NodeIndex]bool{}
		for p := range f.SwitchNode(sw).Ports() {
			n := f.PeerNode(p)
			if n == fabric.None || f.Aggregation(n) != "" {
				continue
			}
			system := cmp.Or(f.Nodes[n].SystemGUID, f.Nodes[n].GUID)
			if f.Nodes[n].IsSwitch() && len(systems[system]) > 1 {
				if taken[n] || slices.Contains(of, f.Nodes[n].Switch) {
					return false
				}
				met[n] = true
			}
			mine[system] = true
		}
		maps.Copy(taken, met)
		leads += len(mine)
		linked += min(len(mine), 1)
		for system := range mine {
			having[system]++
		}
	}
	return linked > 1 && 4*leads > 3*len(having)*linked // cables may be missing
}

// orderCages sorts the planes of cages by the planes of the subnet, if the planes of the subnet are known. If each pod
// is just one cage, it removes the pods.
func (s *Structure) orderCages() {
	if len(s.Cages) == 0 {
		return
	}
	if s.podsAreCages() {
		s.Pods = s.noParts()
	}
	for i := range s.Cages {
		// None last
		slices.SortStableFunc(s.Cages[i].Planes, func(a, b fabric.SwitchIndex) int {
			return cmp.Compare(uint32(s.Planes.Of[a]), uint32(s.Planes.Of[b]))
		})
	}
}

// podsAreCages reports whether each pod contains switches of one cage only. It returns false if a pod contains switches
// of two cages, or of a cage and of no cage.
func (s *Structure) podsAreCages() bool {
	in := map[fabric.SwitchIndex]int{}
	for i, c := range s.Cages {
		for _, sw := range c.Planes {
			in[sw] = i + 1
		}
	}
	cage := map[int32]int{}
	for sw, pod := range s.Pods.Of {
		c := in[fabric.SwitchIndex(sw)]
		if known, ok := cage[pod]; pod != None && (c == 0 || ok && known != c) {
			return false
		}
		cage[pod] = c
	}
	return true
}

// findLostPlanes reports incomplete cages.
func (s *Structure) findLostPlanes() {
	f := s.Fabric
	for _, c := range s.Cages {
		var linked []fabric.SwitchIndex
		for _, sw := range c.Planes {
			for p := range f.SwitchNode(sw).Ports() {
				if f.Ports[p].Linked() {
					linked = append(linked, sw)
					break
				}
			}
		}
		if len(linked) > 0 && len(linked) < CagePlanes {
			s.addAnomaly(f.Switches[linked[0]], "a switch of %d planes of which %d are linked", CagePlanes, len(linked))
		}
	}
}
