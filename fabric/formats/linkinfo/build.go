// SPDX-License-Identifier: Apache-2.0

package linkinfo

import (
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// nodeKey identifies the node of a port.
type nodeKey struct {
	typ     mad.NodeType
	guid    uint64
	section int
	name    string
	lid     uint16
	// line identifies a node without a GUID whose name is not unique.
	line int
}

// node is a node whose ports have rows, or to which cables lead.
type node struct {
	typ   mad.NodeType
	guid  uint64
	name  string
	ports map[int]*row // nil for a port without a row
	// line is the line in which the node first occurs. far is set if the node occurs only as the far end of cables, and
	// expected if such nodes have no rows in a list of this kind.
	line          int
	far, expected bool
	index         fabric.NodeIndex
}

// nodePort is a port of a node.
type nodePort struct {
	node *node
	port int
}

type guidPort struct {
	guid uint64
	port int
}

type lidPort struct {
	lid  uint16
	port int
}

type namePort struct {
	name string
	port int
}

// address identifies the node of a far end.
type address struct {
	guid uint64
	lid  uint16
}

type builder struct {
	p     *parser
	b     fabric.Builder
	nodes []*node
	added []*node // by node index
	byKey map[nodeKey]*node
	// byGUID, byLID and byName find a port by the properties that a row states for its far end. byName finds ports
	// without a LID. switches finds a switch by the LID of port 0.
	byGUID   map[guidPort]nodePort
	byLID    map[lidPort]nodePort
	byName   map[namePort][]nodePort
	switches map[uint16]*node
	// rows is the number of rows by GUID. A switch has several rows with the same GUID.
	rows map[uint64]int
	// only is the type of all nodes with rows, 0 if they have several types. ends is the number of cables to a node
	// without rows. repeated contains the names that several such nodes have.
	only     mad.NodeType
	ends     map[address]int
	repeated map[string]bool
	// expected counts the nodes that have no rows in a list of this kind, madeUp those without a GUID.
	expected, madeUp int
	taken            map[uint64]bool
	slots            int
	// whole is set if all lines were read. open counts the cables that only one end lists.
	whole bool
	open  int
}

func (b *builder) build() (*fabric.Fabric, error) {
	b.byKey, b.byGUID, b.byLID = map[nodeKey]*node{}, map[guidPort]nodePort{}, map[lidPort]nodePort{}
	b.byName, b.ends, b.repeated = map[namePort][]nodePort{}, map[address]int{}, map[string]bool{}
	b.switches = map[uint16]*node{}
	b.rows, b.taken = map[uint64]int{}, map[uint64]bool{}
	for i := range b.p.rows {
		b.rows[b.p.rows[i].near.guid]++
	}
	for i := range b.p.rows {
		if err := b.near(&b.p.rows[i]); err != nil {
			return nil, err
		}
	}
	b.whole = b.p.found == nil || b.p.found.Count == 0
	far, err := b.farEnds()
	if err != nil {
		return nil, err
	}
	if err := b.addNodes(); err != nil {
		return nil, err
	}
	if len(b.added) == 0 {
		return nil, b.p.found.Findings[0] // the reason why there is no node
	}
	for i := range b.p.rows {
		if err := b.link(&b.p.rows[i], far[i]); err != nil {
			return nil, err
		}
	}
	b.truncated()
	return b.finish()
}

// typeOf returns the type of the node in a row. If the format does not state the type, a GUID with several rows belongs
// to a switch. A node without rows is a switch if several cables lead to its GUID or LID, or if only adapters have
// rows.
func (b *builder) typeOf(s *side) mad.NodeType {
	switch hasRows := b.rows[s.guid] > 0 && s.guid != 0; {
	case s.typ != unknown:
		return s.typ
	case b.rows[s.guid] > 1 && hasRows, !hasRows && b.only == mad.NodeCA, b.ends[s.address()] > 1:
		return mad.NodeSwitch
	}
	return mad.NodeCA
}

// address returns the address of the node of a far end without rows. The LID identifies the node if there is no GUID.
func (s *side) address() address {
	if s.guid != 0 {
		return address{guid: s.guid}
	}
	return address{lid: s.lid}
}

// onlyType returns the type of all nodes with rows, 0 if they have several types.
func (b *builder) onlyType() mad.NodeType {
	only := b.nodes[0].typ
	for _, n := range b.nodes {
		if n.typ != only {
			return unknown
		}
	}
	return only
}

// nodeOf returns the node to which a port belongs. It adds the node if it does not exist yet.
func (b *builder) nodeOf(s *side, line int) *node {
	key := nodeKey{typ: b.typeOf(s), guid: s.guid}
	switch {
	case s.guid == 0:
		if key.name, key.lid = s.name, s.lid; key.typ != mad.NodeSwitch {
			key.lid = 0 // the ports of an adapter have different LIDs
			if b.repeated[s.name] {
				key.line = line
			}
		}
	case key.typ == mad.NodeSwitch:
	case s.section > 0:
		key = nodeKey{section: s.section}
	default:
		key.guid, key.name = s.guid-uint64(s.port), s.name
	}
	n := b.byKey[key]
	if n == nil {
		n = &node{typ: b.typeOf(s), guid: key.guid, name: s.name, ports: map[int]*row{}, line: line}
		if s.section > 0 && n.typ != mad.NodeSwitch {
			n.guid = s.guid - uint64(s.port)
		}
		if n.typ == mad.NodeSwitch {
			n.guid = s.guid
		}
		if s.guid == 0 {
			n.guid = b.makeUpGUID(s.lid)
		}
		if n.typ == mad.NodeSwitch {
			b.taken[n.guid] = true
		}
		b.byKey[key] = n
		b.nodes = append(b.nodes, n)
	}
	return n
}

// near adds the port of a row.
func (b *builder) near(r *row) error {
	if r.near.guid == 0 {
		return b.p.refuse(r.line, "port %d of %s has no GUID", r.near.port, fabric.Escape(r.near.name))
	}
	n := b.nodeOf(&r.near, r.line)
	if old := n.ports[r.near.port]; old != nil {
		return b.p.refuse(r.line, "port %d of %s is already in line %d", r.near.port, fabric.Escape(n.name), old.line)
	}
	n.ports[r.near.port] = r
	at := nodePort{n, r.near.port}
	b.byGUID[guidPort{r.near.guid, r.near.port}] = at
	if key := (lidPort{r.near.lid, r.near.port}); r.near.lid == 0 {
		key := namePort{r.near.name, r.near.port}
		b.byName[key] = append(b.byName[key], at)
	} else {
		if _, twice := b.byLID[key]; !twice {
			b.byLID[key] = at
		}
		if n.typ == mad.NodeSwitch && b.switches[r.near.lid] == nil {
			b.switches[r.near.lid] = n
		}
	}
	return nil
}

// makeUpGUID returns a GUID for a node whose GUID the list does not contain. The bit of locally administered EUI-64
// addresses is set, so no device has the GUID.
func (b *builder) makeUpGUID(lid uint16) uint64 {
	const local, noLID = 0x02 << 56, 1 << 32
	b.madeUp++
	if lid != 0 {
		return local + uint64(lid)<<8
	}
	return local + noLID + uint64(b.madeUp)<<8
}

// farEnds returns the ports to which the cables of the rows lead. It adds ports and nodes that do not exist yet.
func (b *builder) farEnds() ([]nodePort, error) {
	if len(b.nodes) > 0 {
		b.only = b.onlyType()
	}
	far := make([]nodePort, len(b.p.rows))
	var open []int
	alike := map[namePort]bool{}
	for i := range b.p.rows {
		r := &b.p.rows[i]
		if !r.linked {
			continue
		}
		var err error
		if far[i], err = b.known(r); err != nil {
			return nil, err
		}
		if far[i].node == nil && far[i].port == 0 {
			open = append(open, i)
			key := namePort{r.far.name, r.far.port}
			b.repeated[key.name] = b.repeated[key.name] || alike[key]
			alike[key] = true
			if s := r.far.address(); s != (address{}) {
				b.ends[s]++
			}
		}
	}
	for _, i := range open {
		var err error
		if far[i], err = b.far(&b.p.rows[i]); err != nil {
			return nil, err
		}
	}
	return far, nil
}

// known returns the port to which the cable of a row leads. The node is nil if the port has no row. The port is then 0,
// or unknown if the row does not identify it.
func (b *builder) known(r *row) (nodePort, error) {
	s := &r.far
	switch {
	case s.guid != 0:
		return b.byGUID[guidPort{s.guid, s.port}], nil
	case s.lid != 0:
		at, ok := b.byLID[lidPort{s.lid, s.port}]
		if n := b.switches[s.lid]; !ok && n != nil {
			return b.unlisted(n, s.port), nil
		}
		return at, nil
	}
	var found []nodePort
	for _, at := range b.byName[namePort{s.name, s.port}] {
		if back := at.node.ports[at.port].far; back.name == r.near.name && back.port == r.near.port {
			found = append(found, at)
		}
	}
	switch len(found) {
	case 0:
		return nodePort{}, nil
	case 1:
		return found[0], nil
	}
	return nodePort{port: s.port}, b.p.refuse(r.line, "port %d of %s is cabled to port %d of %s, but %d such ports "+
		"have no LID", r.near.port, fabric.Escape(r.near.name), s.port, fabric.Escape(s.name), len(found))
}

// far returns the port to which the cable of a row leads, if the port has no row.
func (b *builder) far(r *row) (nodePort, error) {
	s, known := &r.far, len(b.nodes)
	n := b.nodeOf(s, r.line)
	if len(b.nodes) > known {
		n.far, n.expected = true, b.only != unknown && n.typ != b.only
		if n.expected {
			b.expected++
		} else if err := b.p.refuse(r.line, "%s has no row; it was added because cables of other rows lead to it",
			fabric.Escape(n.name)); err != nil {
			return nodePort{}, err
		}
	}
	return b.unlisted(n, s.port), nil
}

// unlisted returns a port of a node. It adds the port if the port has no row.
func (b *builder) unlisted(n *node, port int) nodePort {
	if _, ok := n.ports[port]; !ok {
		n.ports[port] = nil
	}
	return nodePort{n, port}
}

// addNodes adds all nodes to the fabric, with the LIDs and rates of their ports.
func (b *builder) addNodes() error {
	for _, n := range b.nodes {
		most := 1
		for num := range n.ports {
			most = max(most, num)
		}
		if b.slots += most + 1; b.slots > maxSlots {
			return fmt.Errorf("%s:%d: more than %d ports", fabric.Escape(b.p.name), n.line, maxSlots)
		}
		if n.typ != mad.NodeSwitch {
			for n.guid == 0 || b.taken[n.guid] {
				n.guid--
			}
			b.taken[n.guid] = true
		}
		var err error
		n.index, err = b.b.AddNode(fabric.Node{GUID: n.guid, SystemGUID: n.guid, Desc: n.name, Type: n.typ,
			NumPorts: uint8(most), NoRevision: true})
		if err != nil {
			if err = b.p.refuse(n.line, "%w", err); err != nil {
				return err
			}
			continue
		}
		b.added = append(b.added, n)
		b.fill(n, most)
	}
	return nil
}

// fill sets the properties of the ports of a node.
func (b *builder) fill(n *node, most int) {
	for num := range most + 1 {
		port := b.b.Port(n.index, num)
		if port == nil {
			continue
		}
		port.State = mad.PortDown
		if n.typ != mad.NodeSwitch {
			port.GUID = n.guid + uint64(num)
		}
		if r := n.ports[num]; r != nil {
			b.setAddress(nodePort{n, num}, &r.near)
		}
	}
	if n.typ == mad.NodeSwitch {
		b.b.Port(n.index, 0).State = mad.PortActive
	}
}

// setAddress sets the GUID and LID of a port.
func (b *builder) setAddress(at nodePort, s *side) {
	port := b.b.Port(at.node.index, at.port)
	if at.node.typ == mad.NodeSwitch {
		port = b.b.Port(at.node.index, 0)
	} else if s.guid != 0 {
		port.GUID = s.guid
	}
	if port.LID == 0 {
		port.LID = s.lid
	}
}

// link connects the port of a row to the port to which its cable leads.
func (b *builder) link(r *row, to nodePort) error {
	if to.node == nil {
		return nil
	}
	at, ok := b.byGUID[guidPort{r.near.guid, r.near.port}]
	if !ok || at.node.ports[at.port] != r || at.node.index == fabric.None || to.node.index == fabric.None {
		return nil // already reported
	}
	if err := b.b.Connect(at.node.index, at.port, to.node.index, to.port); err != nil {
		return b.p.refuse(r.line, "%w", err)
	}
	near, far := b.b.Port(at.node.index, at.port), b.b.Port(to.node.index, to.port)
	near.Width, near.Speed, near.State = r.width, r.speed, stateOf(r)
	back := to.node.ports[to.port]
	if back != nil && back.linked {
		return nil
	}
	far.Width, far.Speed, far.State = r.width, r.speed, near.State
	b.setAddress(to, &r.far)
	if to.node.expected {
		return nil
	}
	b.open++
	if to.node.far {
		return nil // already reported with the node
	}
	return b.p.refuse(r.line, "port %d of %s is cabled to port %d of %s, but that port has no line; expected a "+
		"line for each port of a cable", at.port, fabric.Escape(at.node.name), to.port, fabric.Escape(to.node.name))
}

// stateOf returns the state of a linked port. If the format does not state it, the state is derived from the LIDs.
func stateOf(r *row) mad.PortState {
	switch {
	case r.state != 0:
		return r.state
	case r.near.lid != 0 && r.far.lid != 0:
		return mad.PortActive
	}
	return mad.PortInit
}

// truncated records an unreadable part if the file appears to be truncated.
func (b *builder) truncated() {
	p, why := b.p, ""
	switch {
	case p.found == nil || p.found.Count == 0:
		return
	case p.cut:
		why = "truncated: the last line has no newline"
	case b.whole && b.open > 0:
		why = fmt.Sprintf("truncated? %s listed by only one end", prose.Verb(b.open, "cable", "is", "are"))
	default:
		return
	}
	f := unread.At(p.name, p.line, "%s; expected the whole file", why)
	f.Kind = unread.Truncated
	p.found.Add(f)
}

func (b *builder) finish() (*fabric.Fabric, error) {
	lineOf := func(e *fabric.PortError) int {
		n := b.added[e.Node]
		if r := n.ports[int(e.Num)]; r != nil {
			return r.line
		}
		return n.line
	}
	if b.p.found != nil {
		for _, e := range b.b.ResolveConflicts() {
			b.p.found.Clash(b.p.name, lineOf(e), e, b.added[e.Node].guid)
		}
	}
	f, err := b.b.Build()
	if e, ok := errors.AsType[*fabric.PortError](err); ok {
		return nil, unread.At(b.p.name, lineOf(e), "%w", err)
	}
	return f, err
}

// warnings returns sentences about nodes without rows.
func (b *builder) warnings() []string {
	var w []string
	if b.expected > 0 {
		w = append(w, fmt.Sprintf("%s: only %s; %s known from the cables that lead to them", fabric.Escape(b.p.name),
			prose.When(b.only == mad.NodeSwitch, "switches have rows", "adapters have rows"),
			prose.Verb(b.expected, "other node", "is", "are")))
	}
	if b.madeUp > 0 {
		w = append(w, fmt.Sprintf("%s: the list does not contain the GUIDs of %s; they get GUIDs that begin with "+
			"0x02, which no device has", fabric.Escape(b.p.name), prose.Count(b.madeUp, "node")))
	}
	return w
}
