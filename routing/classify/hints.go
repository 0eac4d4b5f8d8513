// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"iter"
	"path"

	"example.org/ibconsole/fabric"
)

// Hints say of nodes what is so, whatever their names and cabling say. A nil one says nothing.
type Hints struct {
	// File is where they were read.
	File string
	All  []Hint
}

// Hint says something of the nodes with a GUID, or of those whose description a pattern matches.
type Hint struct {
	// Line is where it begins in the file.
	Line int
	GUID uint64
	// Name is a pattern as [path.Match] has it, "" where there is a GUID.
	Name string
	// Role is what channel adapters are for, "" where nothing is said.
	Role string
	// Tier, Pod and Plane are of switches, Rail of leaves. Tiers count from 0, the others from 1; nil where nothing is
	// said.
	Tier, Pod, Plane, Rail *int32
}

// HintRoles are the roles that hints may say.
var HintRoles = []string{"host", "storage", "gateway", "service", "aggregation"}

// The reason where a hint gave the role.
const byHint = "a hint says so"

// matches reports whether a hint is about a node.
func (h *Hint) matches(n *fabric.Node) bool {
	if h.Name == "" {
		return n.GUID == h.GUID
	}
	ok, _ := path.Match(h.Name, n.Desc) // bad patterns were refused
	return ok
}

// switches are the switches of which something is said; the last hint comes last.
func (h *Hints) switches(f *fabric.Fabric) iter.Seq2[fabric.SwitchIndex, *Hint] {
	return func(yield func(fabric.SwitchIndex, *Hint) bool) {
		for i := 0; h != nil && i < len(h.All); i++ {
			hint := &h.All[i]
			if hint.Tier == nil && hint.Pod == nil && hint.Plane == nil && hint.Rail == nil {
				continue
			}
			for s := range f.NumSwitches() {
				if hint.matches(f.SwitchNode(s)) && !yield(s, hint) {
					return
				}
			}
		}
	}
}

// hintRoles gives adapters the roles that hints say.
func (c *Classes) hintRoles() {
	if c.hints == nil {
		return
	}
	c.hinted = map[fabric.NodeIndex]Role{}
	for i := range c.Adapters {
		a := &c.Adapters[i]
		n := &c.Fabric.Nodes[c.Fabric.Ports[a.End].Node]
		for j := range c.hints.All {
			h := &c.hints.All[j]
			if h.Role == "" || !h.matches(n) {
				continue
			}
			a.Role, a.Kind, a.Reason = Service, KindHost, byHint
			switch h.Role {
			case "host":
				a.Role = Compute
			case "aggregation":
				a.Role = Aggregation
			case "storage":
				a.Kind = KindStorage
			case "gateway":
				a.Kind = KindGateway
			default:
				a.Kind = KindService
			}
			c.hinted[c.Fabric.Ports[a.End].Node] = a.Role
		}
	}
}

// IsAggregation reports whether a node is an aggregation node, or is one by a hint.
func (c *Classes) IsAggregation(node fabric.NodeIndex) bool {
	if role, ok := c.hinted[node]; ok {
		return role == Aggregation
	}
	return c.Fabric.IsAggregation(node)
}

// hintParts puts switches into the pods and planes that hints say.
func (s *Structure) hintParts(hints *Hints) {
	put := func(of *Parts, sw fabric.SwitchIndex, part *int32) {
		if part != nil {
			of.Of[sw] = *part - 1
			of.Count = max(of.Count, int(*part))
		}
	}
	for sw, h := range hints.switches(s.Fabric) {
		put(&s.Pods, sw, h.Pod)
		put(&s.Planes, sw, h.Plane)
	}
}

// hintRails puts leaves on the rails that hints say.
func (s *Structure) hintRails(hints *Hints, r *Rails) {
	for sw, h := range hints.switches(s.Fabric) {
		if h.Rail == nil {
			continue
		}
		if n := int(*h.Rail) - len(r.Names); n > 0 {
			r.name(len(r.Names) + n)
		}
		r.Of[sw] = *h.Rail - 1
	}
}
