// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
)

// matching maps the nodes, ports and links of two states to each other.
type matching struct {
	old, new side
	// hosts lists the end ports of CAs in either state, by LID.
	hosts []host
	// groups are sets of hosts attached to the same switches. The packets of a group take the same path after their
	// first link. groupOf is the group of each host.
	groups  []group
	groupOf []int32
	// sameLink reports, for each port of the old fabric, whether the new fabric has the same link.
	sameLink []bool
	// aligned is set if both fabrics have the same indexes and the same links.
	aligned bool
}

type side struct {
	t     *fabric.Tables
	f     *fabric.Fabric
	wires walk.Wires
	// other maps each port of this fabric to the same port of the other fabric, or to None.
	other []fabric.PortIndex
	// first is port 0 of each switch. otherSwitch maps each switch to its index in the other fabric, or to None.
	first       []fabric.PortIndex
	otherSwitch []fabric.SwitchIndex
}

// host is an end port of a CA: its index in the old and in the new fabric, None if a fabric lacks it. at is the port
// that results show. It is a port of the new fabric if inNew is set, otherwise of the old fabric.
type host struct {
	old, new fabric.PortIndex
	at       fabric.PortIndex
	inNew    bool
}

// group is a set of hosts that are attached to the same switch in each state.
type group struct {
	// old and new are the switches where packets of the group enter the fabric. They are Nowhere if the hosts do not
	// exist in this state.
	old, new walk.Target
	// same is set if each host has the same link in both states.
	same  bool
	hosts []int32
}

func match(before, after *fabric.Tables) *matching {
	m := &matching{old: newSide(before), new: newSide(after)}
	m.old.match(m.new.f)
	m.new.match(m.old.f)
	m.sameLink = make([]bool, len(m.old.f.Ports))
	for p := range m.sameLink {
		q, peer := m.old.other[p], m.old.f.Ports[p].Peer
		m.sameLink[p] = q != fabric.None && peer != fabric.None && m.old.other[peer] != fabric.None &&
			m.new.f.Ports[q].Peer == m.old.other[peer]
	}
	m.aligned = len(m.new.other) == len(m.old.other) && slices.Equal(m.old.wires, m.new.wires)
	for p, q := range m.old.other {
		m.aligned = m.aligned && q == fabric.PortIndex(p)
	}
	m.matchHosts()
	m.group()
	return m
}

func newSide(t *fabric.Tables) side { return side{t: t, f: t.Fabric, wires: walk.NewWires(t)} }

// match maps the ports and switches of s to the ports and switches of the other fabric.
func (s *side) match(other *fabric.Fabric) {
	s.other = matchPorts(s.f, other)
	for _, n := range s.f.Switches {
		port := s.f.Nodes[n].FirstPort
		s.first = append(s.first, port)
		var sw fabric.SwitchIndex = fabric.None
		if p := s.other[port]; p != fabric.None {
			sw = other.Nodes[other.Ports[p].Node].Switch
		}
		s.otherSwitch = append(s.otherSwitch, sw)
	}
}

func matchPorts(f, g *fabric.Fabric) []fabric.PortIndex {
	ports := make([]fabric.PortIndex, len(f.Ports))
	for i := range f.Nodes {
		n := &f.Nodes[i]
		other := g.NodeByGUID(n.GUID)
		for num := range fabric.PortIndex(n.NumPorts) + 1 {
			ports[n.FirstPort+num] = fabric.None
			if other != fabric.None && g.Nodes[other].Type == n.Type &&
				num <= fabric.PortIndex(g.Nodes[other].NumPorts) {
				ports[n.FirstPort+num] = g.Nodes[other].FirstPort + num
			}
		}
	}
	return ports
}

// matchHosts lists the end ports of both states, including ports that failures made unreachable.
func (m *matching) matchHosts() {
	seen := map[uint64]bool{}
	add := func(s *side, ends []fabric.PortIndex) {
		for _, e := range ends {
			if guid := s.f.Ports[e].GUID; !seen[guid] {
				seen[guid] = true
				m.hosts = append(m.hosts, host{m.old.f.PortByGUID(guid), m.new.f.PortByGUID(guid), e, s == &m.new})
			}
		}
	}
	for _, s := range []*side{&m.old, &m.new} {
		reachable, unreachable := s.f.Ends(false)
		add(s, reachable)
		add(s, unreachable)
	}
	slices.SortStableFunc(m.hosts, func(x, y host) int {
		p, q := m.port(x), m.port(y)
		return cmp.Or(cmp.Compare(p.LID, q.LID), cmp.Compare(p.GUID, q.GUID))
	})
}

// port returns the port that is shown for a host.
func (m *matching) port(h host) *fabric.Port {
	if h.inNew {
		return &m.new.f.Ports[h.at]
	}
	return &m.old.f.Ports[h.at]
}

func (m *matching) group() {
	type key struct {
		old, new walk.Target
		same     bool
	}
	index := map[key]int32{}
	m.groupOf = make([]int32, len(m.hosts))
	for i, h := range m.hosts {
		k := key{m.old.entrance(h.old), m.new.entrance(h.new), false}
		k.same = h.old != fabric.None && h.new == m.old.other[h.old] && m.sameLink[h.old]
		g, ok := index[k]
		if !ok {
			g = int32(len(m.groups))
			index[k] = g
			m.groups = append(m.groups, group{old: k.old, new: k.new, same: k.same})
		}
		m.groups[g].hosts = append(m.groups[g].hosts, int32(i))
		m.groupOf[i] = g
	}
}

// entrance returns the switch where packets of an end port enter the fabric.
func (s *side) entrance(port fabric.PortIndex) walk.Target {
	if port == fabric.None || s.f.Ports[port].LID == 0 || !s.f.Ports[port].Linked() {
		return walk.Nowhere
	}
	return walk.Beyond(s.f, s.f.Ports[port].Peer)
}

// lid returns the LID of an end port, or 0 if the argument port is None.
func (s *side) lid(port fabric.PortIndex) uint16 {
	if port == fabric.None {
		return 0
	}
	return s.f.Ports[port].LID
}
