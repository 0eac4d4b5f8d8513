// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
)

// Director is a switch chassis with several boards, each of which is a switch of the subnet.
type Director struct {
	Name string
	// Leaves are the leaf boards of the director, with links to other nodes. Spines are its spine boards, which are
	// linked only to its leaf boards.
	Leaves, Spines []fabric.SwitchIndex
}

// board matches the name of a board as vendors write it: NAME, then L01/U1, leaf1.U1 or similar.
var board = regexp.MustCompile(`^(?:MF0;)?(.*?)[ ./:-]*\b(?i:(l|leaf|s|spine|fi|fc|line|fabric)-?\d+)[./]U\d+$`)

// chassisName returns the name of the director that the name of its board contains, or "" if it contains none.
func chassisName(desc string) string {
	m := board.FindStringSubmatch(strings.TrimSpace(desc))
	if m == nil {
		return ""
	}
	name, _, _ := strings.Cut(m[1], ":")
	return name
}

// findDirectors groups linked switches into directors. The switches of a director share a system GUID, or the name of
// the chassis in their own names.
func (s *Structure) findDirectors() (all []Director) {
	systems := map[uint64][]fabric.SwitchIndex{}
	for _, m := range s.inOrder(s.members()) {
		if guid := s.Fabric.SwitchNode(m).SystemGUID; guid != 0 {
			systems[guid] = append(systems[guid], m)
		}
	}
	taken := map[fabric.SwitchIndex]bool{}
	named := map[string][]fabric.SwitchIndex{}
	var names []string
	for _, m := range s.inOrder(s.members()) {
		n := s.Fabric.SwitchNode(m)
		if system := systems[n.SystemGUID]; len(system) > 1 && !taken[m] {
			for _, b := range system {
				taken[b] = true
			}
			all = s.addDirector(all, chassisOf(s.Fabric, system), system)
		}
		if name := chassisName(n.Desc); name != "" && !taken[m] {
			if named[name] == nil {
				names = append(names, name)
			}
			named[name] = append(named[name], m)
		}
	}
	for _, name := range names {
		all = s.addDirector(all, name, named[name])
	}
	return all
}

// chassisOf returns the chassis name that most boards have in common. If no board has a chassis name, it returns the
// name of the first board.
func chassisOf(f *fabric.Fabric, boards []fabric.SwitchIndex) string {
	having := map[string]int{}
	best := ""
	for _, b := range boards {
		name := chassisName(f.SwitchNode(b).Desc)
		if having[name]++; name != "" && having[name] > having[best] {
			best = name
		}
	}
	if 2*having[best] > len(boards) && best != "" {
		return best
	}
	first := f.SwitchNode(boards[0]).Desc
	return cmp.Or(chassisName(first), first)
}

// addDirector appends a director with a name. Its boards are those members of boards that are linked to another member.
func (s *Structure) addDirector(all []Director, name string, boards []fabric.SwitchIndex) []Director {
	in := map[fabric.SwitchIndex]bool{}
	for _, b := range boards {
		in[b] = true
	}
	d := Director{Name: name}
	var rest []fabric.SwitchIndex
	for _, b := range boards {
		inside := slices.ContainsFunc(s.peers[b], func(p peer) bool { return in[p.sw] })
		outside := s.Switches[b].Hosts > 0 || slices.ContainsFunc(s.peers[b], func(p peer) bool { return !in[p.sw] })
		switch {
		case !inside:
		case outside:
			d.Leaves = append(d.Leaves, b)
		default:
			rest = append(rest, b)
		}
	}
	outer := slices.Clone(d.Leaves)
	for _, b := range rest {
		if slices.ContainsFunc(outer, func(leaf fabric.SwitchIndex) bool { return s.linked(b, leaf) }) {
			d.Spines = append(d.Spines, b)
		} else {
			d.Leaves = append(d.Leaves, b) // a leaf board to which nothing is attached yet
		}
	}
	if len(d.Leaves) == 0 || len(d.Spines) == 0 {
		return all
	}
	return append(all, d)
}
