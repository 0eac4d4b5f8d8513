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
	path       mad.Path // path to the node
	ports      []port   // by number
	sw         mad.SwitchInfo
	swKnown    bool
	unanswered int // consecutive unanswered requests
	detours    int // other paths that were tried
}

type port struct {
	guid      uint64
	info      mad.PortInfo
	known     bool // info is valid
	fdr10     bool
	assumed   bool  // the link was copied from the earlier fabric
	shadowed  bool  // an earlier port has the same GUID
	suspected int   // failed paths over the link
	peer      int32 // node at the other end, or None
	peerNum   uint8
}

func (p *port) linked() bool { return p.peer != fabric.None }

func (n *node) isSwitch() bool { return n.info.Type == mad.NodeSwitch }

// ErrLocal reports that the local port, at which a sweep begins, does not give a valid answer.
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
	if err := s.exploreAll(); err != nil {
		return err
	}
	if s.fatal == nil && !s.nodes[0].ports[s.local].known {
		s.fatal = fmt.Errorf("%w: %w", ErrLocal, s.lastError(0))
	}
	return s.fatal
}

// exploreAll sends requests until further requests cannot find anything new.
func (s *sweeper) exploreAll() error {
	if err := s.explore(); err != nil || s.fatal != nil {
		return err
	}
	return s.settle()
}

// explore sends the queued requests and the requests that follow from their answers.
func (s *sweeper) explore() error {
	for {
		if err := s.run(); err != nil || s.memory == nil || len(s.memory.open) == 0 {
			return err
		}
		s.assumeLinks()
	}
}

// isLocal reports whether a port is the local port, at which the sweep begins.
func (s *sweeper) isLocal(node int32, num uint8) bool { return node == 0 && num == s.local }

// usable returns an error if a NodeInfo is not plausible.
func usable(info *mad.NodeInfo) error {
	switch {
	case info.NodeGUID == 0:
		return fmt.Errorf("node has GUID 0")
	case info.NumPorts == 0 || info.NumPorts == 255:
		return fmt.Errorf("node 0x%016x has %d ports, expected 1 to 254", info.NodeGUID, info.NumPorts)
	case info.LocalPort > info.NumPorts, info.LocalPort == 0 && info.Type != mad.NodeSwitch:
		return fmt.Errorf("node 0x%016x has %d ports, but was reached at its port %d", info.NodeGUID, info.NumPorts,
			info.LocalPort)
	}
	return nil
}

// add adds a new node and requests its attributes except for the description. For a switch it requests the attributes
// of all ports. For another node it requests those of the port by which the node was reached.
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

// enter adds a new node without requests.
func (s *sweeper) enter(info mad.NodeInfo, path mad.Path) int32 {
	i := int32(len(s.nodes))
	n := s.slab.node(int(info.NumPorts) + 1)
	n.info, n.path = info, path
	for p := range n.ports {
		n.ports[p].peer = fabric.None
	}
	s.nodes = append(s.nodes, n)
	s.ports += len(n.ports)
	s.byGUID[info.NodeGUID] = i
	return i
}

// slab allocates nodes and their ports in large blocks of memory.
type slab struct {
	nodes []node
	ports []port
}

func (r *slab) node(ports int) *node {
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

// describe sets the description of a new node, or requests it if it is not known.
func (s *sweeper) describe(i int32, text mad.NodeDescription, known bool) {
	if known {
		s.nodes[i].text = text
		return
	}
	s.ask(task{kind: askText, node: i})
}

// reached records the port by which a node was reached. For nodes other than switches it requests the PortInfo of this
// port.
func (s *sweeper) reached(i int32, info mad.NodeInfo) {
	n := s.nodes[i]
	p := &n.ports[info.LocalPort]
	p.guid = info.PortGUID
	if !n.isSwitch() {
		s.ask(task{kind: askPort, node: i, port: info.LocalPort})
	}
}

// gotNode handles the NodeInfo of the node beyond a port. It records the link, and adds the node if it is new.
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
	if known && !s.canBeNode(i, &info, t) {
		return
	}
	here := &s.nodes[t.node].ports[t.port]
	if !known {
		if here.linked() {
			s.warn("%s first led to %s and then to node 0x%016x", s.portName(t.node, t.port),
				s.portName(here.peer, here.peerNum), info.NodeGUID)
			return
		}
		if s.tooMany(&info) {
			return
		}
		var text mad.NodeDescription
		if s.memory != nil {
			text, known = s.memory.description(s.nodes[t.node], t.port, &info)
		}
		i = s.add(info, r.Request.Path)
		s.describe(i, text, known)
	}
	if s.link(t.node, t.port, i, info) && !s.isLocal(i, info.LocalPort) {
		s.reached(i, info)
	}
}

// The limits of a sweep. Without them a sweep would not end if a node reported a new GUID each time.
const (
	maxNodes = fabric.MaxUnicastLID
	maxPorts = 1 << 21
)

// tooMany reports whether one more node would exceed the limits of a sweep.
func (s *sweeper) tooMany(info *mad.NodeInfo) bool {
	if len(s.nodes) < cmp.Or(s.opts.maxNodes, maxNodes) && s.ports+int(info.NumPorts) < maxPorts {
		return false
	}
	if !s.full {
		s.full = true
		s.warn("too many nodes: those after the first %d with %d ports are ignored", len(s.nodes), s.ports)
	}
	return true
}

// canBeNode reports whether the node that answered can be the known node i, which has the same GUID. If not, it records
// a duplicate.
func (s *sweeper) canBeNode(i int32, info *mad.NodeInfo, t task) bool {
	old := s.nodes[i].info
	if old.NumPorts == info.NumPorts && old.Type == info.Type && old.SystemImageGUID == info.SystemImageGUID {
		return true
	}
	s.duplicate(DuplicateNodeGUID, info.NodeGUID, t.node, int(t.port))
	s.warn("node GUID 0x%016x is used by two nodes: %s, a %s of %d ports, and a %s of %d ports behind %s, which is "+
		"ignored", info.NodeGUID, s.name(i), old.Type, old.NumPorts, info.Type, info.NumPorts,
		s.portName(t.node, t.port))
	return false
}

// link records that a port is cabled to the port by which node i was reached. It returns false if the link is already
// known or is impossible.
func (s *sweeper) link(from int32, num uint8, i int32, info mad.NodeInfo) bool {
	a, b := &s.nodes[from].ports[num], &s.nodes[i].ports[info.LocalPort]
	if a.peer != i || a.peerNum != info.LocalPort {
		s.revoke(a)
		s.revoke(b)
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
		s.warn("%s first led to %s and then to %s", s.portName(from, num), s.portName(a.peer, a.peerNum),
			s.portName(i, info.LocalPort))
		return false
	case b.linked():
		s.duplicate(DuplicateNodeGUID, info.NodeGUID, from, int(num))
		s.warn("%s answers behind both %s and %s: two nodes have GUID 0x%016x, or a cable was moved; the second is "+
			"ignored", s.portName(i, info.LocalPort), s.portName(b.peer, b.peerNum), s.portName(from, num),
			info.NodeGUID)
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

// gotPort handles the PortInfo of a port. If the port is up, gotPort requests the node beyond the port.
func (s *sweeper) gotPort(t task, r *mad.Reply) {
	n := s.nodes[t.node]
	p := &n.ports[t.port]
	if decodePort(r, &p.info) != nil {
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

// beyond requests the node beyond a port that is up. In a light sweep the request is made later.
func (s *sweeper) beyond(t task) {
	if s.memory != nil {
		s.memory.open = append(s.memory.open, t)
		return
	}
	s.ask(t)
}

// askFDR10 sends a request to find out whether a port that reports QDR runs at FDR10.
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
	s.warnings = append(s.warnings, warning{format, args})
}
