// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"example.org/ibconsole/fabric"
)

// Hints are statements of the user that overrule what names and cabling suggest. Nil means no hints.
type Hints struct {
	// File is the name of the file that contained the hints.
	File string
	All  []Hint
}

// Hint states properties of the node with a GUID, or of nodes whose description matches a pattern.
type Hint struct {
	// Line is its first line in the file.
	Line int
	GUID uint64
	// Name is a pattern of [path.Match]. It is "" if the hint has a GUID.
	Name string
	// Role is the purpose of channel adapters, or "" if the hint does not state it.
	Role string
	// Tier, Pod and Plane are properties of switches, Rail is a property of leaves. Tiers count from 0, the others from
	// 1. A nil pointer means that the hint does not state the property.
	Tier, Pod, Plane, Rail *int32
}

// HintRoles are the roles that a hint can state.
var HintRoles = []string{"host", "storage", "gateway", "service", "aggregation"}

// byHint is the reason of roles from hints.
const byHint = "set by a hint"

// matches reports whether a hint applies to a node.
func (h *Hint) matches(n *fabric.Node) bool {
	if h.Name == "" {
		return n.GUID == h.GUID
	}
	ok, _ := path.Match(h.Name, n.Desc) // bad patterns were refused
	return ok
}

// switches iterates over the switches for which hints state properties, in the order of the hints.
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

// hintRoles applies the roles that hints state to adapters.
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

// IsAggregation reports whether a node is an aggregation node, by a hint or otherwise.
func (c *Classes) IsAggregation(node fabric.NodeIndex) bool {
	if role, ok := c.hinted[node]; ok {
		return role == Aggregation
	}
	return c.Fabric.IsAggregation(node)
}

// hintParts applies the pods and planes that hints state to switches.
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

// hintRails applies the rails that hints state to leaves.
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

const (
	mostTier = 15      // the highest tier
	mostPart = 1 << 14 // the highest pod, plane and rail
)

// ReadHints reads a file of hints. The file is a list of mappings. A mapping has the key name or guid, and at least one
// of the keys role, tier, pod, plane and rail. Errors contain the file, the line and what was expected.
func ReadHints(r io.Reader, file string) (*Hints, error) {
	hints := &Hints{File: file}
	var doc yaml.Node
	switch err := yaml.NewDecoder(r).Decode(&doc); {
	case errors.Is(err, io.EOF):
		return hints, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %s", file, fabric.Escape(strings.TrimPrefix(err.Error(), "yaml: ")))
	}
	list := doc.Content[0]
	if list.Kind != yaml.SequenceNode {
		return nil, refuse(file, list, "expected a list: - name: PATTERN, then role, tier, pod, plane or rail")
	}
	for _, n := range list.Content {
		h, err := readHint(file, n)
		if err != nil {
			return nil, err
		}
		hints.All = append(hints.All, h)
	}
	return hints, nil
}

func refuse(file string, n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", file, n.Line, fmt.Sprintf(format, args...))
}

// readHint reads an element of the list.
func readHint(file string, n *yaml.Node) (Hint, error) {
	h := Hint{Line: n.Line}
	if n.Kind != yaml.MappingNode {
		return h, refuse(file, n, "expected a mapping such as {name: \"spine-*\", tier: 1}")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case seen[key.Value]:
			return h, refuse(file, key, "%s is given twice", fabric.Escape(key.Value))
		case value.Kind != yaml.ScalarNode:
			return h, refuse(file, value, "expected a word or a number after %s", fabric.Escape(key.Value))
		}
		seen[key.Value] = true
		if err := h.take(key.Value, value.Value); err != nil {
			return h, refuse(file, value, "%v", err)
		}
	}
	switch {
	case seen["name"] == seen["guid"]:
		return h, refuse(file, n, "expected either name or guid")
	case len(seen) == 1:
		return h, refuse(file, n, "expected one of role, tier, pod, plane and rail in addition to %s",
			n.Content[0].Value)
	}
	return h, nil
}

// take sets the property of a key.
func (h *Hint) take(key, value string) (err error) {
	switch key {
	case "name":
		h.Name = value
		if _, err := path.Match(value, ""); err != nil || value == "" {
			return fmt.Errorf("%q is not a pattern, expected a node description with the wildcards * and ?", value)
		}
	case "guid":
		if h.GUID, err = strconv.ParseUint(value, 0, 64); err != nil || h.GUID == 0 {
			return fmt.Errorf("%q is not a GUID, expected a node GUID such as 0x0002c903000a0001", value)
		}
	case "role":
		if h.Role = value; !slices.Contains(HintRoles, value) {
			return fmt.Errorf("%q is not a role, expected one of %s", value, strings.Join(HintRoles, ", "))
		}
	case "tier":
		h.Tier, err = hintNumber(value, 0, mostTier)
	case "pod":
		h.Pod, err = hintNumber(value, 1, mostPart)
	case "plane":
		h.Plane, err = hintNumber(value, 1, mostPart)
	case "rail":
		h.Rail, err = hintNumber(value, 1, mostPart)
	default:
		return fmt.Errorf("unknown key %q, expected name, guid, role, tier, pod, plane or rail", key)
	}
	return err
}

func hintNumber(value string, least, most int32) (*int32, error) {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil || n < int64(least) || n > int64(most) {
		return nil, fmt.Errorf("%q, expected a number from %d to %d", value, least, most)
	}
	v := int32(n)
	return &v, nil
}
