// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// LightOptions say how to sweep lightly.
type LightOptions struct {
	// Descriptions asks every node for its description, a MAD each, not only new ones and those with changed
	// links.
	Descriptions bool
	Links        bool // ask again what is behind every port that is up, a MAD a link: see [Light]
	// Tables, where set, are what the switches of the picture held: Sample of them is
	// read and compared, unless more than descriptions has changed.
	Tables   *fabric.Tables
	Sample   Sample
	Progress func(Progress) // that of [Options]
}

// Light sweeps a subnet of which an earlier picture is there, and gives the fabric that [Full] would give,
// without tables; Result.Changes says what is other than in the picture. It only reads, and concludes nothing
// from port-state-change bits of switches: they are the subnet manager's, which clears them as it likes.
//
// It reads NodeInfo, SwitchInfo and the PortInfo of every port from each switch, and PortInfo from each other
// node, which is 3 + ports MADs a switch and 1 a host. A link is taken over from the picture where both its
// ends are Active and as they were, a host also where it still has its LID; all others are asked. So these
// things are not seen: cables between switches that were swapped and whose ports a subnet manager has brought
// up again in the meantime, unless Links is set; and other descriptions of nodes whose links did not change,
// unless Descriptions is set.
//
// It fails as Full does.
func Light(ctx context.Context, client *mad.Client, previous *fabric.Fabric, opts LightOptions) (*Result, error) {
	start := time.Now()
	s := newSweeper(ctx, client, Options{Progress: opts.Progress})
	defer s.give(nil)
	s.memory = &memory{f: previous, opts: opts}
	if err := s.discover(); err != nil {
		return nil, fmt.Errorf("light sweep: %w", err)
	}
	b := builder{sweeper: s}
	if err := b.build(); err != nil {
		return nil, fmt.Errorf("light sweep: %w", err)
	}
	changes, rerouted := fabric.Changes(previous, b.fabric), 0
	moved := slices.ContainsFunc(changes, func(c fabric.Change) bool { return c.Kind != fabric.NodeRenamed })
	if opts.Tables != nil && !moved {
		r := &reader{sweeper: s, b: &b, f: b.fabric}
		var err error
		if rerouted, err = r.compare(opts.Tables, opts.Sample); err != nil {
			return nil, fmt.Errorf("light sweep: read tables: %w", err)
		}
	}
	res := s.result(b.fabric, start)
	res.Changes = changes
	res.Rerouted = rerouted
	return res, nil
}

// memory is the earlier picture of a light sweep.
type memory struct {
	f    *fabric.Fabric
	opts LightOptions
	open []task // ports that are up and lead to what is not known yet
}

// before is what a port was, nil where it or its node is new or the node became one of another kind.
func (m *memory) before(n *node, num uint8) *fabric.Port {
	i := m.f.NodeByGUID(n.info.NodeGUID)
	if i == fabric.None || !sameNode(&m.f.Nodes[i], &n.info) {
		return nil
	}
	return &m.f.Ports[m.f.Port(i, num)]
}

func sameNode(n *fabric.Node, info *mad.NodeInfo) bool {
	return n.GUID == info.NodeGUID && n.Type == info.Type && n.NumPorts == info.NumPorts
}

// unchanged is what a port was, nil where that cannot be told or its link is another now.
func (m *memory) unchanged(n *node, num uint8) *fabric.Port {
	p := &n.ports[num]
	was := m.before(n, num)
	if was == nil || was.Peer == fabric.None || !p.known || was.State != p.info.PortState {
		return nil
	}
	if width, speed := n.link(num); was.Width != width || was.Speed != speed {
		return nil
	}
	return was
}

// assumed is the port that a port's link led to and is taken to lead to, nil where it has to be asked.
func (m *memory) assumed(n *node, num uint8) *fabric.Port {
	was := m.unchanged(n, num)
	if was == nil || was.State != mad.PortActive || m.opts.Links {
		return nil
	}
	return &m.f.Ports[was.Peer]
}

// text is the description of a node that was met behind a port whose link did not change.
func (m *memory) text(from *node, num uint8, info *mad.NodeInfo) (mad.NodeDescription, bool) {
	was := m.unchanged(from, num)
	if m.opts.Descriptions || was == nil {
		return mad.NodeDescription{}, false
	}
	n := &m.f.Nodes[m.f.Ports[was.Peer].Node]
	return mad.NewNodeDescription(n.Desc), n.Desc != "" && sameNode(n, info)
}

// guess takes links over from the earlier picture, and asks for the others. It
// runs when no question is open, so what is said of a port there is known of it.
func (s *sweeper) guess() {
	open := s.memory.open
	s.memory.open = nil
	probed := map[uint64]bool{} // switches that are asked for in this round
	for _, t := range open {
		n := s.nodes[t.node]
		if n.ports[t.port].linked() {
			continue
		}
		to := s.memory.assumed(n, t.port)
		if to == nil {
			s.ask(t)
			continue
		}
		there := &s.memory.f.Nodes[to.Node]
		i, met := s.byGUID[there.GUID]
		switch {
		case met && (!sameNode(there, &s.nodes[i].info) || s.nodes[i].ports[to.Num].linked()):
			s.ask(t)
		case !there.IsSwitch() && to.LID != 0:
			s.ask(task{kind: askHost, node: t.node, port: t.port})
		case !there.IsSwitch():
			s.ask(t)
		case !met && probed[there.GUID]:
			s.memory.open = append(s.memory.open, t)
		case met && s.leadsTo(i, to.Num, n, t.port):
			info := s.nodes[i].info
			info.LocalPort = to.Num
			s.assume(t, i, info)
		default:
			probed[there.GUID] = true
			s.ask(t)
		}
	}
}

// assume notes a link that was taken over from the earlier picture.
func (s *sweeper) assume(t task, i int32, info mad.NodeInfo) bool {
	if !s.link(t.node, t.port, i, info) {
		return false
	}
	s.nodes[t.node].ports[t.port].assumed = true
	s.nodes[i].ports[info.LocalPort].assumed = true
	return true
}

// doubt takes an assumed link back, as one of its ends was met elsewhere, and asks what is behind both.
func (s *sweeper) doubt(p *port) {
	if !p.assumed {
		return
	}
	q := s.peer(p)
	for _, e := range [2]*port{p, q} {
		end := s.peer(e)
		if s.nodes[end.peer].isSwitch() {
			s.ask(task{kind: askNode, node: end.peer, port: end.peerNum})
		}
	}
	for _, e := range [2]*port{p, q} {
		e.peer, e.assumed = fabric.None, false
	}
}

// leadsTo reports whether the link of a switch's port is taken to lead to a port.
func (s *sweeper) leadsTo(i int32, num uint8, n *node, port uint8) bool {
	back := s.memory.assumed(s.nodes[i], num)
	return back != nil && back.Num == port && s.memory.f.Nodes[back.Node].GUID == n.info.NodeGUID
}

// gotHost handles the PortInfo of a port taken to be the one that was there, else what is there is asked.
func (s *sweeper) gotHost(t task, r *mad.Reply) {
	var info mad.PortInfo
	n := s.nodes[t.node]
	was := s.memory.assumed(n, t.port)
	if was == nil || r.Decode(&info) != nil || info.LID != was.LID || info.LMC != was.LMC || info.LocalPort != was.Num {
		s.ask(task{kind: askNode, node: t.node, port: t.port})
		return
	}
	node := nodeInfo(&s.memory.f.Nodes[was.Node], was)
	i, met := s.byGUID[node.NodeGUID]
	if met && !sameNode(&s.memory.f.Nodes[was.Node], &s.nodes[i].info) {
		s.ask(task{kind: askNode, node: t.node, port: t.port})
		return
	}
	if !met {
		if s.tooMany(&node) {
			return
		}
		text, known := s.memory.text(n, t.port, &node)
		i = s.enter(node, r.Request.Path)
		s.describe(i, text, known)
	}
	if s.assume(t, i, node) {
		p := &s.nodes[i].ports[was.Num]
		p.guid, p.info, p.known = was.GUID, info, true
		s.askFDR10(i, was.Num)
	}
}

// nodeInfo is what a node would say through a port, as far as a fabric keeps it.
func nodeInfo(n *fabric.Node, p *fabric.Port) mad.NodeInfo {
	return mad.NodeInfo{
		Type: n.Type, NumPorts: n.NumPorts, SystemImageGUID: n.SystemGUID, NodeGUID: n.GUID, PortGUID: p.GUID,
		DeviceID: n.DeviceID, Revision: n.Revision, VendorID: n.VendorID, LocalPort: p.Num,
	}
}
