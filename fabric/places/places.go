// SPDX-License-Identifier: Apache-2.0

// Package places finds the nodes, ports, links and systems of a fabric that a text names.
package places

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// maxCandidates is the maximum number of candidates that an error about an ambiguous name lists.
const maxCandidates = 8

// Place is a named node or port.
type Place struct {
	Node     fabric.NodeIndex
	Port     fabric.PortIndex // by default port 0 of a switch, the first linked port of another node
	LID      uint16           // the given LID, or the LID of the port; 0 if the port has no LID in this fabric
	LIDNamed bool             // by a LID
	// PortNamed is set for a port number, and for a LID or port GUID of a CA or router. The LID and GUID of a switch
	// name the switch.
	PortNamed bool
}

// Resolve returns the node or port that a text names: the name of a node, NAME/PORT, "NAME/PORT (LABEL)", lid:N,
// guid:0xN, guid:0xN/PORT, a number (LID), a 0x number (GUID), node:0xN (node GUID), a GID, or dr:0,1,10,19 (a directed
// route from the port [fabric.Fabric.SMPort]). A GID and a directed route may be followed by /PORT, too. A name may be
// shortened to a unique prefix, which takes O(nodes); use a [Finder] for many names.
func Resolve(f *fabric.Fabric, text string) (Place, error) {
	return resolve(f, text, func(prefix string) (nodes []fabric.NodeIndex) {
		for i := range f.Nodes {
			node := fabric.NodeIndex(i)
			if strings.HasPrefix(f.Nodes[i].Desc, prefix) || strings.HasPrefix(f.NodeName(node), prefix) {
				nodes = append(nodes, node)
			}
		}
		return nodes
	})
}

// resolve is [Resolve] with the function that returns the nodes whose names begin with a prefix.
func resolve(f *fabric.Fabric, text string, begin func(prefix string) []fabric.NodeIndex) (Place, error) {
	switch {
	case strings.HasPrefix(text, "lid:"):
		return byLID(f, text[len("lid:"):])
	case strings.HasPrefix(text, "guid:"):
		return byGUID(f, text[len("guid:"):])
	case strings.HasPrefix(text, "node:0x"):
		return byNodeGUID(f, text[len("node:"):])
	case strings.HasPrefix(text, directed):
		return byDirectedRoute(f, text[len(directed):])
	}
	if nodes := f.NodesByDescription(text); len(nodes) > 0 {
		return one(f, text, nodes)
	}
	if port, label, ok := cutLabel(text); ok {
		if p, err := resolve(f, port, begin); err == nil && p.PortNamed {
			if has := fabric.Escape(f.Label(p.Port)); has != "" && has != label {
				return Place{}, fmt.Errorf("%s has not the label %q", f.PortName(p.Port), label)
			}
			return p, nil
		}
	}
	if strings.HasPrefix(text, "0x") {
		return byGUID(f, text)
	}
	if gid, num, _ := strings.Cut(text, "/"); strings.Count(gid, ":") > 1 {
		if guid, ok, err := gidGUID(f, gid); err != nil {
			return Place{}, err
		} else if ok {
			return byGUID(f, strings.TrimSuffix(fmt.Sprintf("0x%016x/%s", guid, num), "/"))
		}
	}
	if _, err := strconv.ParseUint(text, 10, 64); err == nil {
		return byLID(f, text)
	}
	if p, ok, err := nameAndPort(f, text, begin); ok || err != nil {
		return p, err
	}
	if nodes := begin(text); len(nodes) > 0 {
		return one(f, text, nodes)
	}
	return Place{}, fmt.Errorf("no node is called %q%s", text, suggestion(f, text))
}

// cutLabel splits the name of a port with its label, as [fabric.Fabric.PortName] returns it.
func cutLabel(text string) (port, label string, ok bool) {
	text, ok = strings.CutSuffix(text, ")")
	i := strings.LastIndex(text, " (")
	if !ok || i < 0 {
		return "", "", false
	}
	return text[:i], text[i+len(" ("):], true
}

// Finder resolves many names in a fabric.
type Finder struct {
	f     *fabric.Fabric
	names []nodeName // in order; a node whose name is escaped has two
}

type nodeName struct {
	name string
	node fabric.NodeIndex
}

// NewFinder returns a finder for a fabric. O(nodes log nodes).
func NewFinder(f *fabric.Fabric) *Finder {
	finder := &Finder{f: f}
	for i := range f.Nodes {
		node, desc := fabric.NodeIndex(i), f.Nodes[i].Desc
		name := f.NodeName(node)
		finder.names = append(finder.names, nodeName{name, node})
		if desc != name {
			finder.names = append(finder.names, nodeName{desc, node})
		}
	}
	slices.SortFunc(finder.names, func(a, b nodeName) int { return strings.Compare(a.name, b.name) })
	return finder
}

// Resolve is [Resolve] in O(log nodes) for a unique prefix.
func (d *Finder) Resolve(text string) (Place, error) {
	return resolve(d.f, text, func(prefix string) (nodes []fabric.NodeIndex) {
		at, _ := slices.BinarySearchFunc(d.names, prefix, func(n nodeName, prefix string) int {
			return strings.Compare(n.name, prefix)
		})
		for ; at < len(d.names) && strings.HasPrefix(d.names[at].name, prefix); at++ {
			nodes = append(nodes, d.names[at].node)
		}
		slices.Sort(nodes)
		return slices.Compact(nodes)
	})
}

// suggestion returns a text that suggests nodes with names similar to an unknown name. It returns "" if there are none.
func suggestion(f *fabric.Fabric, text string) string {
	near := prose.Words(Near(f, text), strconv.Quote)
	if len(near) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(near, ", ") + "?)"
}

// Near returns up to three names of nodes that are similar to an unknown name. For NAME/PORT it considers only NAME.
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

// ResolveSystem returns the switches of one system, such as a director. The text PREFIX* selects switches by the
// beginning of their names. Any other text is a system image GUID, or names a switch that has a system image GUID.
func ResolveSystem(f *fabric.Fabric, text string) (nodes []fabric.NodeIndex, name string, err error) {
	if prefix, ok := strings.CutSuffix(text, "*"); ok {
		for _, n := range f.Switches {
			if strings.HasPrefix(f.NodeName(n), prefix) {
				nodes = append(nodes, n)
			}
		}
		if len(nodes) == 0 || prefix == "" {
			return nil, "", fmt.Errorf("no switch name begins with %q", prefix)
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
			return nil, "", fmt.Errorf("%s has no system image GUID; hint: 'fail director NAME*' selects "+
				"switches by name", f.NodeName(f.Switches[sw]))
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

// ResolveNode is [Resolve] for a node.
func ResolveNode(f *fabric.Fabric, text string) (fabric.NodeIndex, error) {
	p, err := Resolve(f, text)
	return p.Node, err
}

// ResolveSwitch is like [ResolveNode], but the node must be a switch. It returns the index of the switch.
func ResolveSwitch(f *fabric.Fabric, text string) (fabric.SwitchIndex, error) {
	n, err := ResolveNode(f, text)
	if err != nil {
		return fabric.None, err
	}
	sw := f.Nodes[n].Switch
	if sw == fabric.None {
		return fabric.None, fmt.Errorf("%s is not a switch", f.NodeName(n))
	}
	return sw, nil
}

func byLID(f *fabric.Fabric, text string) (Place, error) {
	lid, err := strconv.ParseUint(text, 0, 16)
	if err != nil || lid == 0 || lid > fabric.MaxUnicastLID {
		return Place{}, fmt.Errorf("%q is not a unicast LID, expected 1 to %d", text, fabric.MaxUnicastLID)
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
	return Place{
		Node: f.Ports[port].Node, Port: port, LID: uint16(lid), PortNamed: f.Ports[port].Num != 0, LIDNamed: true,
	}, nil
}

// portBehind returns the port with a number of the node that an address without a port identifies.
func portBehind(f *fabric.Fabric, num string, resolve func(*fabric.Fabric, string) (Place, error),
	address string) (Place, error) {
	p, err := resolve(f, address)
	if err != nil {
		return p, err
	}
	n, err := strconv.Atoi(num)
	if err != nil {
		return Place{}, fmt.Errorf("%q is not a port number", num)
	}
	return onNode(f, p.Node, n)
}

func byGUID(f *fabric.Fabric, text string) (Place, error) {
	if node, num, found := strings.Cut(text, "/"); found {
		return portBehind(f, num, byGUID, node)
	}
	guid, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return Place{}, fmt.Errorf("%q is not a GUID, expected 0x and up to 16 digits", text)
	}
	port := f.PortByGUID(guid)
	if port == fabric.None {
		port = unreachable(f, func(e fabric.PortIndex) bool { return f.Ports[e].GUID == guid })
	}
	if port != fabric.None {
		return Place{Node: f.Ports[port].Node, Port: port, LID: f.LIDOf(port), PortNamed: f.Ports[port].Num != 0}, nil
	}
	if n := f.NodeByGUID(guid); n != fabric.None {
		return placeOfNode(f, n), nil
	}
	return Place{}, fmt.Errorf("nothing has GUID 0x%016x", guid)
}

// unreachable returns an end port for which is returns true among those that failures have separated from the subnet.
// Such a port keeps its GUID. It keeps its LIDs unless another port has taken them.
func unreachable(f *fabric.Fabric, is func(fabric.PortIndex) bool) fabric.PortIndex {
	if i := slices.IndexFunc(f.Unreachable, is); i >= 0 {
		return f.Unreachable[i]
	}
	return fabric.None
}

// nameAndPort resolves a text NAME/PORT. A name may contain slashes.
func nameAndPort(f *fabric.Fabric, text string, begin func(prefix string) []fabric.NodeIndex) (Place, bool, error) {
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
		nodes = begin(text[:i])
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

// onNode returns the place of the port of a node with this number.
func onNode(f *fabric.Fabric, node fabric.NodeIndex, num int) (Place, error) {
	port := f.PortAt(node, num)
	if port == fabric.None {
		return Place{}, fmt.Errorf("%s has no port %d", f.NodeName(node), num)
	}
	return placeOfNamedPort(f, port), nil
}

// placeOfNamedPort returns the place of a port whose number the text contains.
func placeOfNamedPort(f *fabric.Fabric, port fabric.PortIndex) Place {
	return Place{Node: f.Ports[port].Node, Port: port, LID: f.LIDOf(f.EndPortOf(port)), PortNamed: true}
}

// one returns the place of the only node in nodes, or of the only one that belongs to the subnet. Otherwise it returns
// an error with the names of the nodes.
func one(f *fabric.Fabric, text string, nodes []fabric.NodeIndex) (Place, error) {
	if len(nodes) > 1 {
		unreachable := f.UnreachableNodes()
		inside := slices.DeleteFunc(slices.Clone(nodes), func(n fabric.NodeIndex) bool {
			return !f.Nodes[n].InSubnet && !unreachable[n]
		})
		if len(inside) > 0 {
			nodes = inside
		}
	}
	if len(nodes) == 1 {
		return placeOfNode(f, nodes[0]), nil
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

// placeOfNode returns the place of a node for which the text names no port. The place has port 0 of a switch, otherwise
// the first linked port, or port 1 if there is none.
func placeOfNode(f *fabric.Fabric, node fabric.NodeIndex) Place {
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

// PortError reports that a text does not have the form of a port's name, so it names no port in any fabric.
type PortError struct{ text string }

func (e *PortError) Error() string { return e.text }

// Link returns the port that the words NODE PORT or NODE/PORT name. It returns a [PortError] if the words do not name a
// port.
func Link(f *fabric.Fabric, words []string) (fabric.PortIndex, error) {
	p, err := Resolve(f, words[0])
	if err != nil {
		return fabric.None, err
	}
	if len(words) > 1 {
		num, err := strconv.Atoi(words[1])
		if err != nil {
			return fabric.None, &PortError{fmt.Sprintf("%q is not a port number", words[1])}
		}
		port := f.PortAt(p.Node, num)
		switch {
		case port == fabric.None:
			return fabric.None, fmt.Errorf("%s has no port %d", f.NodeName(p.Node), num)
		case p.PortNamed && port != p.Port && strings.HasSuffix(words[0], fmt.Sprintf("/%d", f.Ports[p.Port].Num)):
			return fabric.None, &PortError{fmt.Sprintf("%q is port %d, not port %d", words[0], f.Ports[p.Port].Num,
				num)}
		}
		p.Port = port
	} else if !p.PortNamed && f.Nodes[p.Node].NumPorts > 1 {
		return fabric.None, &PortError{fmt.Sprintf("which port of %s?", f.NodeName(p.Node))}
	}
	if f.Ports[p.Port].Num == 0 {
		return fabric.None, fmt.Errorf("port 0 of %s has no link", f.NodeName(p.Node))
	}
	return p.Port, nil
}

// NodeOrSwitch is like [ResolveNode]. If the argument what is "switch", the node must be a switch.
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

// NodeRef returns a text for which [ResolveNode] returns the node: the name of the node if possible, otherwise the
// GUID.
func NodeRef(f *fabric.Fabric, node fabric.NodeIndex) string {
	name := f.NodeName(node)
	if n, err := ResolveNode(f, name); err == nil && n == node && prose.Plain(name) {
		return name
	}
	return guidRef(f.Nodes[node].GUID)
}

// PortRef returns a text for which [Resolve] returns an end port. The text names only the node if the node is a switch
// or has no other linked port. Otherwise it is NAME/PORT or the port GUID.
func PortRef(f *fabric.Fabric, end fabric.PortIndex) string {
	node := f.Ports[end].Node
	n := &f.Nodes[node]
	if n.IsSwitch() {
		return NodeRef(f, node)
	}
	if p, err := Resolve(f, f.NodeName(node)); err == nil && p.Port == end && f.LinkedPorts(n) < 2 {
		return NodeRef(f, node)
	}
	if ref := LinkRef(f, end); !strings.HasPrefix(ref, "guid:") {
		return ref
	}
	return guidRef(f.Ports[end].GUID)
}

// LinkRef returns a text for which [Resolve] returns a port: NAME/PORT if possible, otherwise guid:0xN/PORT with the
// GUID of the node.
func LinkRef(f *fabric.Fabric, port fabric.PortIndex) string {
	p := &f.Ports[port]
	name := fmt.Sprintf("%s/%d", f.NodeName(p.Node), p.Num)
	if at, err := Resolve(f, name); err == nil && at.Port == port && prose.Plain(name) {
		return name
	}
	return fmt.Sprintf("%s/%d", guidRef(f.Nodes[p.Node].GUID), p.Num)
}

// HintNode returns the words that name a node in a command within a text, such as a hint. They are in double quotes if
// necessary.
func HintNode(f *fabric.Fabric, node fabric.NodeIndex) string {
	return quoted(NodeRef(f, node), guidRef(f.Nodes[node].GUID))
}

// HintPort is [HintNode] for a port.
func HintPort(f *fabric.Fabric, port fabric.PortIndex) string {
	p := &f.Ports[port]
	return quoted(LinkRef(f, port), fmt.Sprintf("%s/%d", guidRef(f.Nodes[p.Node].GUID), p.Num))
}

// quoted returns a reference in the form of a word of a command. It returns the argument guid if the reference contains
// characters that are special within quotes, or would end the quotes around the command.
func quoted(ref, guid string) string {
	switch {
	case strings.ContainsAny(ref, "\"\\$`'!"):
		return guid
	case strings.ContainsFunc(ref, func(r rune) bool { return !isWord(r) }):
		return `"` + ref + `"`
	}
	return ref
}

// isWord reports whether a character needs no quotes in a command.
func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("0123456789_-.,:/", r)
}

func guidRef(guid uint64) string { return fmt.Sprintf("guid:0x%016x", guid) }

// Mentioned returns the first node whose full name occurs in a text. If the text has NAME/PORT, it also returns the
// port. If several names begin at the same position, it returns the node with the longest name. Node is [fabric.None]
// if the text contains no name of a node. O(nodes x length of text).
func Mentioned(f *fabric.Fabric, text string) Place {
	best, length := len(text), 0
	found := Place{Node: fabric.None, Port: fabric.None}
	for i := range f.Nodes {
		name := f.NodeName(fabric.NodeIndex(i))
		if at := wordsAt(text, name); at >= 0 && (at < best || at == best && len(name) > length) {
			best, length, found.Node = at, len(name), fabric.NodeIndex(i)
		}
	}
	if found.Node == fabric.None {
		return found
	}
	found = placeOfNode(f, found.Node)
	if rest, ok := strings.CutPrefix(text[best+length:], "/"); ok {
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if num, err := strconv.Atoi(digits); err == nil {
			if port := f.PortAt(found.Node, num); port != fabric.None {
				found = placeOfNamedPort(f, port)
			}
		}
	}
	return found
}

// wordsAt returns the first index at which words occur in a text as whole words. It returns -1 if they do not occur.
func wordsAt(text, words string) int {
	for from := 0; words != ""; {
		at := strings.Index(text[from:], words)
		if at < 0 {
			break
		}
		at += from
		if end := at + len(words); (at == 0 || !inWord(text[at-1])) && (end == len(text) || !inWord(text[end])) {
			return at
		}
		from = at + 1
	}
	return -1
}

// inWord reports whether a byte can be part of a node's name.
func inWord(b byte) bool {
	return b == '-' || b == '_' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80
}
