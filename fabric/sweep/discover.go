// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"cmp"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// node is a node as far as it is known.
type node struct {
	info       mad.NodeInfo // as first seen
	text       mad.NodeDescription
	path       mad.Path // by which it was first seen
	ports      []port   // by number
	sw         mad.SwitchInfo
	swKnown    bool
	unanswered int // questions in a row
	detours    int // other paths that were tried
}

type port struct {
	guid      uint64
	info      mad.PortInfo
	known     bool // info is
	fdr10     bool
	assumed   bool  // its link was taken over from an earlier picture
	shadowed  bool  // another port has the same GUID and came first
	suspected int   // how many paths by its link led nowhere
	peer      int32 // node at the other end, None: none known
	peerNum   uint8
}

func (p *port) linked() bool { return p.peer != fabric.None }

func (n *node) isSwitch() bool { return n.info.Type == mad.NodeSwitch }

// ErrLocal says that the port that a sweep goes out from gives no good answer.
var ErrLocal = errors.New("local port")

// discover finds all nodes, ports and links. The local node is node 0.
func (s *sweeper) discover() error {
	s.batch.Go(mad.Request{Attr: mad.AttrNodeInfo}, func(r *mad.Reply) {
		var info mad.NodeInfo
		err := r.Decode(&info)
		if err == nil {
			err = usable(&info)
		}
		if err != nil {
			s.fatal = fmt.Errorf("%w: %w", ErrLocal, err)
			return
		}
		s.describe(s.add(info, mad.Path{}), mad.NodeDescription{}, false)
		s.pump()
	})
	s.stats.Requests++
	if err := s.look(); err != nil {
		return err
	}
	if s.fatal == nil && !s.nodes[0].ports[s.local].known {
		s.fatal = fmt.Errorf("%w: %w", ErrLocal, s.lastError(0))
	}
	return s.fatal
}

// look asks until nothing is left to ask.
func (s *sweeper) look() error {
	if err := s.explore(); err != nil || s.fatal != nil {
		return err
	}
	return s.settle()
}

// explore asks what is queued and what follows from it.
func (s *sweeper) explore() error {
	for {
		if err := s.run(); err != nil || s.memory == nil || len(s.memory.open) == 0 {
			return err
		}
		s.guess()
	}
}

// isLocal reports whether this is the port that the sweep goes out from.
func (s *sweeper) isLocal(node int32, num uint8) bool { return node == 0 && num == s.local }

// usable reports whether a node can be what its NodeInfo says.
func usable(info *mad.NodeInfo) error {
	switch {
	case info.NodeGUID == 0:
		return fmt.Errorf("node has GUID 0")
	case info.NumPorts == 0 || info.NumPorts == 255:
		return fmt.Errorf("node 0x%016x has %d ports, expected 1 to 254", info.NodeGUID, info.NumPorts)
	case info.LocalPort > info.NumPorts, info.LocalPort == 0 && info.Type != mad.NodeSwitch:
		return fmt.Errorf("node 0x%016x of %d ports was reached at its port %d", info.NodeGUID, info.NumPorts,
			info.LocalPort)
	}
	return nil
}

// add takes in a new node and asks for what is to be known of it, but for its
// description: of a switch all ports, of another node the one it was reached at.
func (s *sweeper) add(info mad.NodeInfo, path mad.Path) int32 {
	i := s.enter(info, path)
	n := s.nodes[i]
	if n.isSwitch() {
		s.switches++
		s.ask(task{kind: askSwitch, node: i})
		for p := range n.ports {
			s.ask(task{kind: askPort, node: i, port: uint8(p)})
		}
	}
	if i == 0 {
		if !n.isSwitch() {
			s.local = info.LocalPort
		}
		s.reached(0, info)
	}
	return i
}

// enter takes in a new node and asks nothing.
func (s *sweeper) enter(info mad.NodeInfo, path mad.Path) int32 {
	i := int32(len(s.nodes))
	n := s.room.node(int(info.NumPorts) + 1)
	n.info, n.path = info, path
	for p := range n.ports {
		n.ports[p].peer = fabric.None
	}
	s.nodes = append(s.nodes, n)
	s.ports += len(n.ports)
	s.byGUID[info.NodeGUID] = i
	return i
}

// room is memory for nodes and their ports, taken in large pieces.
type room struct {
	nodes []node
	ports []port
}

func (r *room) node(ports int) *node {
	const piece = 256
	if len(r.nodes) == 0 {
		r.nodes = make([]node, piece)
	}
	if len(r.ports) < ports {
		r.ports = make([]port, 4*piece)
	}
	n := &r.nodes[0]
	n.ports, r.nodes, r.ports = r.ports[:ports:ports], r.nodes[1:], r.ports[ports:]
	return n
}

// describe gives a new node its description, or asks for it where it is not known.
func (s *sweeper) describe(i int32, text mad.NodeDescription, known bool) {
	if known {
		s.nodes[i].text = text
		return
	}
	s.ask(task{kind: askText, node: i})
}

// reached notes the port at which a node was reached.
func (s *sweeper) reached(i int32, info mad.NodeInfo) {
	n := s.nodes[i]
	p := &n.ports[info.LocalPort]
	p.guid = info.PortGUID
	if !n.isSwitch() {
		s.ask(task{kind: askPort, node: i, port: info.LocalPort})
	}
}

// gotNode handles what answered beyond a port: a link, and perhaps a new node.
func (s *sweeper) gotNode(t task, r *mad.Reply) {
	var info mad.NodeInfo
	err := r.Decode(&info)
	if err == nil {
		err = usable(&info)
	}
	if err != nil {
		s.miss(t, err)
		return
	}
	i, known := s.byGUID[info.NodeGUID]
	if known && !s.same(i, &info, t) {
		return
	}
	here := &s.nodes[t.node].ports[t.port]
	if !known {
		if here.linked() {
			s.warn("%s led to %s at first and to node 0x%016x after that", s.portName(t.node, t.port),
				s.portName(here.peer, here.peerNum), info.NodeGUID)
			return
		}
		if s.tooMany(&info) {
			return
		}
		var text mad.NodeDescription
		if s.memory != nil {
			text, known = s.memory.text(s.nodes[t.node], t.port, &info)
		}
		i = s.add(info, r.Request.Path)
		s.describe(i, text, known)
	}
	if s.link(t.node, t.port, i, info) && !s.isLocal(i, info.LocalPort) {
		s.reached(i, info)
	}
}

// What a sweep takes in at most: a node with another GUID each time it is asked would be found for ever.
const (
	maxNodes = fabric.MaxUnicastLID
	maxPorts = 1 << 21
)

// tooMany says that there is no room for another node.
func (s *sweeper) tooMany(info *mad.NodeInfo) bool {
	if len(s.nodes) < cmp.Or(s.opts.maxNodes, maxNodes) && s.ports+int(info.NumPorts) < maxPorts {
		return false
	}
	if !s.full {
		s.full = true
		s.warn("there is no end to the nodes: after %d of them with %d ports the rest is left out",
			len(s.nodes), s.ports)
	}
	return true
}

// same reports whether a node that answers with a known GUID can be the known one.
func (s *sweeper) same(i int32, info *mad.NodeInfo, t task) bool {
	old := s.nodes[i].info
	if old.NumPorts == info.NumPorts && old.Type == info.Type && old.SystemImageGUID == info.SystemImageGUID {
		return true
	}
	s.duplicate(DuplicateNodeGUID, info.NodeGUID, t.node, int(t.port))
	s.warn("node GUID 0x%016x is that of two nodes: %s, a %s of %d ports, and a %s of %d ports behind %s, which is "+
		"left out",
		info.NodeGUID, s.name(i), old.Type, old.NumPorts, info.Type, info.NumPorts, s.portName(t.node, t.port))
	return false
}

// link notes that a port is cabled to the port where node i was reached; false if known or impossible.
func (s *sweeper) link(from int32, num uint8, i int32, info mad.NodeInfo) bool {
	a, b := &s.nodes[from].ports[num], &s.nodes[i].ports[info.LocalPort]
	if a.peer != i || a.peerNum != info.LocalPort {
		s.doubt(a)
		s.doubt(b)
	}
	switch {
	case a.peer == i && a.peerNum == info.LocalPort: // seen from both ends at once
		a.assumed, b.assumed = false, false
		return false
	case a == b:
		s.warn("%s leads back to itself", s.portName(from, num))
		return false
	case info.LocalPort == 0:
		s.warn("%s leads to port 0 of %s", s.portName(from, num), s.name(i))
		return false
	case a.linked():
		s.warn("%s led to %s at first and to %s after that", s.portName(from, num), s.portName(a.peer, a.peerNum),
			s.portName(i, info.LocalPort))
		return false
	case b.linked():
		s.duplicate(DuplicateNodeGUID, info.NodeGUID, from, int(num))
		s.warn("%s answers behind both %s and %s; two nodes with GUID 0x%016x, or a cable that was moved? The second "+
			"is left out",
			s.portName(i, info.LocalPort), s.portName(b.peer, b.peerNum), s.portName(from, num), info.NodeGUID)
		return false
	}
	a.peer, a.peerNum = i, info.LocalPort
	b.peer, b.peerNum = from, num
	return true
}

func (s *sweeper) gotText(t task, r *mad.Reply) { _ = r.Decode(&s.nodes[t.node].text) }

func (s *sweeper) gotSwitch(t task, r *mad.Reply) {
	n := s.nodes[t.node]
	n.swKnown = r.Decode(&n.sw) == nil
}

// gotPort handles a PortInfo: what is beyond a port that is up is asked next.
func (s *sweeper) gotPort(t task, r *mad.Reply) {
	n := s.nodes[t.node]
	p := &n.ports[t.port]
	if r.Decode(&p.info) != nil {
		return
	}
	p.known = true
	if p.info.PortState <= mad.PortDown || t.port == 0 {
		return
	}
	s.askFDR10(t.node, t.port)
	if !p.linked() && (n.isSwitch() || s.isLocal(t.node, t.port)) {
		s.beyond(task{kind: askNode, node: t.node, port: t.port})
	}
}

// beyond asks what is beyond a port that is up, a light sweep later.
func (s *sweeper) beyond(t task) {
	if s.memory != nil {
		s.memory.open = append(s.memory.open, t)
		return
	}
	s.ask(t)
}

// askFDR10 asks whether a port that says QDR does FDR10.
func (s *sweeper) askFDR10(node int32, num uint8) {
	n := s.nodes[node]
	info := &n.ports[num].info
	if fabric.MayBeFDR10(info, n.info.VendorID, n.info.DeviceID) {
		s.ask(task{kind: askSpeed, node: node, port: num})
	}
}

func (s *sweeper) gotSpeed(t task, r *mad.Reply) {
	var info mad.MellanoxExtendedPortInfo
	if r.Decode(&info) == nil {
		s.nodes[t.node].ports[t.port].fdr10 = info.FDR10()
	}
}

func (s *sweeper) warn(format string, args ...any) {
	s.warnings = append(s.warnings, func() string { return fmt.Sprintf(format, args...) })
}
