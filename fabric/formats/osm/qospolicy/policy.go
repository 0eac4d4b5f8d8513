// SPDX-License-Identifier: Apache-2.0

// Package qospolicy reads OpenSM's quality-of-service policy (qos_policy_file). It determines the level of service that
// a request for paths gets.
package qospolicy

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/mad"
)

// Policy is the content of a policy file. It has levels of service, and rules that assign a level to a request for
// paths. OpenSM ignores the VL tables in the file.
type Policy struct {
	Name string

	groups    []*group
	levels    []*Level
	rules     []rule
	byDefault *Level
}

// Level is a level of service.
type Level struct {
	Name string
	// SL is the service level. It may exceed 15, because OpenSM does not check it.
	SL   uint8
	Line int // of the SL

	pKeys ranges // allowed partitions, nil for all
}

// Granted returns the SL that OpenSM grants to paths with this level. ok is false if OpenSM grants no path. OpenSM
// tests the bit with the number of the SL in a mask of 16 bits. It uses the lower 5 bits of the SL for this test, and
// stores the lower 4 bits.
func (l *Level) Granted() (sl uint8, ok bool) { return l.SL & mostSL, l.SL&0x1f <= mostSL }

// Allows reports whether the level permits paths in a partition, given by number.
func (l *Level) Allows(partition uint16) bool {
	return l.pKeys == nil || l.pKeys.has(uint64(partition))
}

// group is a port group.
type group struct {
	name       string
	guids      ranges // of ports
	pKeys      ranges // the members of partitions
	partitions []string
	names      []portName
	types      []mad.NodeType
	self       bool // the port of the subnet manager
}

// portName identifies a port by the description of its node and its number.
type portName struct {
	node string
	port uint64
	line int
}

// rule assigns a level to those requests that match all criteria of the rule.
type rule struct {
	line                          int
	level                         *Level
	sources, destinations         []*group
	services, classes, pKeys      ranges
	ipoib                         bool // the partitions must exist
	levelName                     string
	sourceNames, destinationNames []string
}

// span is a range of numbers. ranges is a list of such ranges.
type (
	span   struct{ low, high uint64 }
	ranges []span
)

func (s span) sorted() span { return span{min(s.low, s.high), max(s.low, s.high)} }

func (r ranges) has(n uint64) bool {
	return slices.ContainsFunc(r, func(s span) bool { return s.low <= n && n <= s.high })
}

func (p *Policy) levelNamed(name string) *Level {
	i := slices.IndexFunc(p.levels, func(l *Level) bool { return strings.EqualFold(l.Name, name) })
	if i < 0 {
		return nil
	}
	return p.levels[i]
}

func (p *Policy) groupNamed(name string) *group {
	i := slices.IndexFunc(p.groups, func(g *group) bool { return strings.EqualFold(g.name, name) })
	if i < 0 {
		return nil
	}
	return p.groups[i]
}

// Levels returns the levels that requests can get, in the order of the file.
func (p *Policy) Levels() []*Level {
	all := []*Level{p.byDefault}
	for i := range p.rules {
		all = append(all, p.rules[i].level)
	}
	slices.SortStableFunc(all, func(a, b *Level) int { return a.Line - b.Line })
	return slices.Compact(all)
}

// Bound is a policy together with the subnet to which it applies.
type Bound struct {
	p  *Policy
	f  *fabric.Fabric
	of map[*group]map[fabric.PortIndex]bool
}

// On applies the policy to a subnet with partitions. If OpenSM rejects the policy for this subnet, the error is the
// reason.
func (p *Policy) On(f *fabric.Fabric, partitions []osm.Partition) (*Bound, error) {
	b := &Bound{p, f, map[*group]map[fabric.PortIndex]bool{}}
	for _, g := range p.groups {
		ports, err := p.members(g, f, partitions)
		if err != nil {
			return nil, err
		}
		b.of[g] = ports
	}
	for i := range p.rules {
		if err := p.checkIPoIB(&p.rules[i], partitions); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// checkIPoIB returns an error if a partition in a rule for IPoIB has fewer than two full members.
func (p *Policy) checkIPoIB(r *rule, partitions []osm.Partition) error {
	if !r.ipoib {
		return nil
	}
	full := map[uint64]int{}
	for i := range partitions {
		for _, isFull := range partitions[i].Members {
			if isFull {
				full[uint64(partitions[i].Number)]++
			}
		}
	}
	for _, s := range r.pKeys {
		for number := s.low; number <= s.high; number++ {
			if n := full[number]; n < 2 {
				return fmt.Errorf("%s:%d: partition 0x%04x for IPoIB has %d full members, expected 2 or more", p.Name,
					r.line, number, n)
			}
		}
	}
	return nil
}

// members returns the end ports of a group.
func (p *Policy) members(g *group, f *fabric.Fabric, partitions []osm.Partition) (map[fabric.PortIndex]bool, error) {
	ports := map[fabric.PortIndex]bool{}
	for _, e := range f.EndPorts {
		port := &f.Ports[e]
		if f.Nodes[port.Node].InSubnet && (g.guids.has(port.GUID) || g.self && e == f.SMPort ||
			slices.Contains(g.types, f.Nodes[port.Node].Type)) {
			ports[e] = true
		}
	}
	named := map[string]bool{}
	for i := range partitions {
		q := &partitions[i]
		if !g.pKeys.has(uint64(q.Number)) && (named[q.Name] || !slices.Contains(g.partitions, q.Name)) {
			continue
		}
		named[q.Name] = true
		for guid := range q.Members {
			ports[f.PortByGUID(guid)] = true
		}
	}
	for _, n := range g.names {
		if err := p.addNamed(ports, f, n); err != nil {
			return nil, err
		}
	}
	return ports, nil
}

// addNamed adds the end port that a name identifies. As in OpenSM, names of nodes that do not exist are skipped. If
// several nodes have the name, addNamed uses the first in OpenSM's order.
func (p *Policy) addNamed(ports map[fabric.PortIndex]bool, f *fabric.Fabric, n portName) error {
	var first *fabric.Node
	for _, i := range f.NodesByDescription(n.node) {
		node := &f.Nodes[i]
		if node.InSubnet && (first == nil || fabric.LEKey(node.GUID) < fabric.LEKey(first.GUID)) {
			first = node
		}
	}
	if first == nil {
		return nil
	}
	out := n.port > uint64(first.NumPorts)
	port := first.FirstPort
	if !first.IsSwitch() && !out {
		port += fabric.PortIndex(n.port)
		out = !f.Ports[port].Linked()
	}
	if out {
		return fmt.Errorf("%s:%d: %s has no port %d with a link", p.Name, n.line, fabric.Escape(n.node), n.port)
	}
	ports[port] = true
	return nil
}

// Request holds the criteria of a request for paths.
type Request struct {
	PKey      mad.PKey // 0 for any
	ServiceID *uint64
	Class     *uint16
}

// Level returns the level of service of a request for paths between two end ports. It is the level of the first rule
// that matches, otherwise the default level. A rule with service IDs, classes or P_Keys does not match a request that
// lacks them (osm_qos_policy.c).
func (b *Bound) Level(src, dst fabric.PortIndex, q Request) *Level {
	in := func(groups []*group, port fabric.PortIndex) bool {
		return groups == nil || slices.ContainsFunc(groups, func(g *group) bool { return b.of[g][port] })
	}
	for i := range b.p.rules {
		r := &b.p.rules[i]
		if in(r.sources, src) && in(r.destinations, dst) &&
			(r.classes == nil || q.Class != nil && r.classes.has(uint64(*q.Class))) &&
			(r.services == nil || q.ServiceID != nil && r.services.has(*q.ServiceID)) &&
			(r.pKeys == nil || q.PKey != 0 && r.pKeys.has(uint64(q.PKey.Partition()))) {
			return r.level
		}
	}
	return b.p.byDefault
}
