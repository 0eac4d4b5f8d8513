// SPDX-License-Identifier: Apache-2.0

// Package places finds what somebody named in a fabric: a node, a port, a link, the switches of a system.
package places

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// maxCandidates is how many names an error about an ambiguous one lists.
const maxCandidates = 8

// Place is a spot in a fabric that somebody named.
type Place struct {
	Node      fabric.NodeIndex
	Port      fabric.PortIndex // named or meant: else port 0 of a switch, another node's first linked port
	LID       uint16           // the LID that was named, else that of the port, 0 where it has none in this fabric
	PortNamed bool             // a port number, LID or port GUID was given
	LIDNamed  bool             // a LID was given
}

// Resolve finds a place: a node's name, NAME/PORT, lid:N, guid:0xN, guid:0xN/PORT, a bare number for a LID or a bare 0x
// number for a GUID. A name may be shortened to a prefix that only one node has.
func Resolve(f *fabric.Fabric, text string) (Place, error) {
	switch {
	case strings.HasPrefix(text, "lid:"):
		return byLID(f, text[len("lid:"):])
	case strings.HasPrefix(text, "guid:"):
		return byGUID(f, text[len("guid:"):])
	}
	if nodes := f.NodesByDescription(text); len(nodes) > 0 {
		return one(f, text, nodes)
	}
	if strings.HasPrefix(text, "0x") {
		return byGUID(f, text)
	}
	if _, err := strconv.ParseUint(text, 10, 64); err == nil {
		return byLID(f, text)
	}
	if p, ok, err := nameAndPort(f, text); ok || err != nil {
		return p, err
	}
	if nodes := byPrefix(f, text); len(nodes) > 0 {
		return one(f, text, nodes)
	}
	return Place{}, fmt.Errorf("no node is called %q%s", text, meant(f, text))
}

// meant names nodes that an unknown name may have been meant to be, "" for none.
func meant(f *fabric.Fabric, text string) string {
	near := prose.Words(Near(f, text), strconv.Quote)
	if len(near) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(near, ", ") + "?)"
}

// Near returns up to three names of nodes that an unknown name, or the NAME of NAME/PORT, may have been meant to be.
func Near(f *fabric.Fabric, text string) []string {
	if i := strings.LastIndexByte(text, '/'); i > 0 {
		text = text[:i]
	}
	names := make([]string, len(f.Nodes))
	for i := range f.Nodes {
		names[i] = f.NodeName(fabric.NodeIndex(i))
	}
	slices.Sort(names)
	var near []string
	for len(near) < 3 {
		name := prose.Nearest(text, names)
		if name == "" {
			break
		}
		near = append(near, name)
		names = slices.DeleteFunc(names, func(n string) bool { return n == name })
	}
	return near
}

// ResolveSystem finds the switches of one system, such as a director: those whose names begin with a prefix
// before a *, or those with the system image GUID of a switch or that is given itself.
func ResolveSystem(f *fabric.Fabric, text string) (nodes []fabric.NodeIndex, name string, err error) {
	if prefix, ok := strings.CutSuffix(text, "*"); ok {
		for _, n := range f.Switches {
			if strings.HasPrefix(f.NodeName(n), prefix) {
				nodes = append(nodes, n)
			}
		}
		if len(nodes) == 0 || prefix == "" {
			return nil, "", fmt.Errorf("no switch has a name that begins with %q", prefix)
		}
		return nodes, fabric.Escape(text) + countSwitches(nodes), nil
	}
	system, err := strconv.ParseUint(strings.TrimPrefix(text, "guid:"), 0, 64)
	if nodes = switchesOf(f, system); err != nil || system == 0 || len(nodes) == 0 {
		sw, err := ResolveSwitch(f, text)
		if err != nil {
			return nil, "", err
		}
		if system = f.SwitchNode(sw).SystemGUID; system == 0 {
			return nil, "", fmt.Errorf("%s has no system image GUID (a prefix of names does as well: fail director "+
				"'NAME*')", f.NodeName(f.Switches[sw]))
		}
		nodes = switchesOf(f, system)
	}
	return nodes, fmt.Sprintf("0x%016x with %s", system, f.NodeName(nodes[0])) + countSwitches(nodes), nil
}

func countSwitches(nodes []fabric.NodeIndex) string {
	return " (" + prose.Count(len(nodes), "switch") + ")"
}

func switchesOf(f *fabric.Fabric, system uint64) (nodes []fabric.NodeIndex) {
	for _, n := range f.Switches {
		if f.Nodes[n].SystemGUID == system {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// ResolveNode is like [Resolve] where the node is meant and not a port of it.
func ResolveNode(f *fabric.Fabric, text string) (fabric.NodeIndex, error) {
	p, err := Resolve(f, text)
	return p.Node, err
}

// ResolveSwitch is like [ResolveNode] for a switch, and returns its index.
func ResolveSwitch(f *fabric.Fabric, text string) (fabric.SwitchIndex, error) {
	n, err := ResolveNode(f, text)
	if err != nil {
		return fabric.None, err
	}
	sw := f.Nodes[n].Switch
	if sw == fabric.None {
		return fabric.None, fmt.Errorf("%s is no switch", f.NodeName(n))
	}
	return sw, nil
}

func byLID(f *fabric.Fabric, text string) (Place, error) {
	lid, err := strconv.ParseUint(text, 0, 16)
	if err != nil || lid == 0 || lid > fabric.MaxUnicastLID {
		return Place{}, fmt.Errorf("%q is no unicast LID, expected 1 to %d", text, fabric.MaxUnicastLID)
	}
	port := f.PortByLID(uint16(lid))
	if port == fabric.None {
		port = unreachable(f, func(e fabric.PortIndex) bool {
			first := int(f.LIDOf(e))
			return first > 0 && int(lid) >= first && int(lid) < first+1<<f.Ports[e].LMC
		})
	}
	if port == fabric.None {
		return Place{}, fmt.Errorf("no port has LID %d", lid)
	}
	return Place{Node: f.Ports[port].Node, Port: port, LID: uint16(lid), PortNamed: true, LIDNamed: true}, nil
}

func byGUID(f *fabric.Fabric, text string) (Place, error) {
	if node, num, found := strings.Cut(text, "/"); found {
		p, err := byGUID(f, node)
		if err != nil {
			return p, err
		}
		n, err := strconv.Atoi(num)
		if err != nil {
			return Place{}, fmt.Errorf("%q is no port number", num)
		}
		return onNode(f, p.Node, n)
	}
	guid, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return Place{}, fmt.Errorf("%q is no GUID, expected 0x and up to 16 digits", text)
	}
	port := f.PortByGUID(guid)
	if port == fabric.None {
		port = unreachable(f, func(e fabric.PortIndex) bool { return f.Ports[e].GUID == guid })
	}
	if port != fabric.None {
		return Place{Node: f.Ports[port].Node, Port: port, LID: f.LIDOf(port), PortNamed: true}, nil
	}
	if n := f.NodeByGUID(guid); n != fabric.None {
		return of(f, n), nil
	}
	return Place{}, fmt.Errorf("nothing has GUID 0x%016x", guid)
}

// unreachable finds an end port that failures have separated from the subnet; it keeps its GUID, and its LIDs where no
// other port has them.
func unreachable(f *fabric.Fabric, is func(fabric.PortIndex) bool) fabric.PortIndex {
	if i := slices.IndexFunc(f.Unreachable, is); i >= 0 {
		return f.Unreachable[i]
	}
	return fabric.None
}

// nameAndPort reads NAME/PORT. Names may hold slashes themselves.
func nameAndPort(f *fabric.Fabric, text string) (Place, bool, error) {
	i := strings.LastIndexByte(text, '/')
	if i <= 0 {
		return Place{}, false, nil
	}
	num, err := strconv.Atoi(text[i+1:])
	if err != nil {
		return Place{}, false, nil
	}
	nodes := f.NodesByDescription(text[:i])
	if len(nodes) == 0 {
		nodes = byPrefix(f, text[:i])
	}
	if len(nodes) == 0 {
		return Place{}, false, nil
	}
	p, err := one(f, text[:i], nodes)
	if err != nil {
		return Place{}, false, err
	}
	p, err = onNode(f, p.Node, num)
	return p, err == nil, err
}

// onNode is the port of a number on a node.
func onNode(f *fabric.Fabric, node fabric.NodeIndex, num int) (Place, error) {
	port := f.PortAt(node, num)
	if port == fabric.None {
		return Place{}, fmt.Errorf("%s has no port %d", f.NodeName(node), num)
	}
	return named(f, port), nil
}

// named is a port that was named by its number.
func named(f *fabric.Fabric, port fabric.PortIndex) Place {
	return Place{Node: f.Ports[port].Node, Port: port, LID: f.LIDOf(f.EndPortOf(port)), PortNamed: true}
}

func byPrefix(f *fabric.Fabric, text string) []fabric.NodeIndex {
	var nodes []fabric.NodeIndex
	for i := range f.Nodes {
		if strings.HasPrefix(f.Nodes[i].Desc, text) || strings.HasPrefix(f.NodeName(fabric.NodeIndex(i)), text) {
			nodes = append(nodes, fabric.NodeIndex(i))
		}
	}
	return nodes
}

func one(f *fabric.Fabric, text string, nodes []fabric.NodeIndex) (Place, error) {
	if len(nodes) == 1 {
		return of(f, nodes[0]), nil
	}
	names := make([]string, 0, len(nodes))
	for _, n := range nodes {
		names = append(names, f.NodeName(n))
	}
	slices.Sort(names)
	if names[0] == names[len(names)-1] {
		for i, n := range nodes {
			names[i] = fmt.Sprintf("guid:0x%016x", f.Nodes[n].GUID)
		}
	}
	return Place{}, fmt.Errorf("%q is ambiguous: %s", text, prose.List(names, maxCandidates))
}

// of is a node without a port: port 0 of a switch, else its first port with a LID, with a link, or at all.
func of(f *fabric.Fabric, node fabric.NodeIndex) Place {
	n := &f.Nodes[node]
	port := n.FirstPort
	if !n.IsSwitch() {
		port++
		for p := n.FirstPort + fabric.PortIndex(n.NumPorts); p > n.FirstPort; p-- {
			if f.Ports[p].Linked() {
				port = p
			}
		}
	}
	return Place{Node: node, Port: port, LID: f.LIDOf(port)}
}

// PortError says that words do not say which port is meant, whatever there is.
type PortError struct{ text string }

func (e *PortError) Error() string { return e.text }

// Link finds the port whose link NODE PORT or NODE/PORT names, else it fails with a [PortError].
func Link(f *fabric.Fabric, words []string) (fabric.PortIndex, error) {
	p, err := Resolve(f, words[0])
	if err != nil {
		return fabric.None, err
	}
	if len(words) > 1 {
		num, err := strconv.Atoi(words[1])
		if err != nil {
			return fabric.None, &PortError{fmt.Sprintf("%q is no port number", words[1])}
		}
		if p.Port = f.PortAt(p.Node, num); p.Port == fabric.None {
			return fabric.None, fmt.Errorf("%s has no port %d", f.NodeName(p.Node), num)
		}
	} else if !p.PortNamed && f.Nodes[p.Node].NumPorts > 1 {
		return fabric.None, &PortError{fmt.Sprintf("which port of %s?", f.NodeName(p.Node))}
	}
	if f.Ports[p.Port].Num == 0 {
		return fabric.None, fmt.Errorf("port 0 of %s is no link", f.NodeName(p.Node))
	}
	return p.Port, nil
}

// NodeOrSwitch is [ResolveNode], which must be a switch where what is "switch".
func NodeOrSwitch(f *fabric.Fabric, what, text string) (fabric.NodeIndex, error) {
	if what != "switch" {
		return ResolveNode(f, text)
	}
	sw, err := ResolveSwitch(f, text)
	if err != nil {
		return fabric.None, err
	}
	return f.Switches[sw], nil
}
