// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// LightOptions controls a light sweep.
type LightOptions struct {
	// Descriptions makes Light read the description of every node, at the cost of one MAD for each node. Without it,
	// Light reads only the descriptions of new nodes and of nodes with changed links.
	Descriptions bool
	Links        bool // read again which node is behind every port that is up, one MAD per link: see [Light]
	// Tables, if set, holds the earlier tables of the switches. Light then reads the part of the tables that Sample
	// selects, and compares it with Tables. It does not do so if nodes, links or ports have changed.
	Tables   *fabric.Tables
	Sample   Sample
	Progress func(Progress) // as in [Options]
}

// Light sweeps a subnet, starting from an earlier fabric of the same subnet. It returns the fabric that [Full] would
// return, without tables. Result.Changes lists the differences from the earlier fabric. Light writes nothing. It
// ignores the port-state-change bits of switches, which belong to the subnet manager.
//
// Light reads NodeInfo, SwitchInfo and the PortInfo of every port of each switch, and one PortInfo of each other node.
// This takes 3 + ports MADs for a switch and 1 MAD for a host. Light takes a link from the earlier fabric if both ends
// are Active and unchanged. A host at the link must also have its earlier LID. All other links are read.
//
// Light therefore does not detect two kinds of changes:
//
//   - Swapped cables between switches, if a subnet manager has activated their ports again in the meantime. Set Links
//     to detect them.
//   - Changed descriptions of nodes whose links did not change. Set Descriptions to detect them.
//
// Light fails under the same conditions as Full.
func Light(ctx context.Context, client *mad.Client, previous *fabric.Fabric, opts LightOptions) (*Result, error) {
	start := time.Now()
	s := newSweeper(ctx, client, Options{Progress: opts.Progress})
	defer s.cancel(nil)
	s.memory = &memory{f: previous, opts: opts}
	if err := s.discover(); err != nil {
		return nil, fmt.Errorf("light sweep: %w", err)
	}
	b := builder{sweeper: s}
	if err := b.build(); err != nil {
		return nil, fmt.Errorf("light sweep: %w", err)
	}
	changes, rerouted := fabric.Changes(previous, b.fabric), 0
	changed := slices.ContainsFunc(changes, func(c fabric.Change) bool { return c.Kind != fabric.NodeRenamed })
	if opts.Tables != nil && !changed {
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

// memory holds the earlier fabric on which a light sweep is based.
type memory struct {
	f    *fabric.Fabric
	opts LightOptions
	open []task // ports that are up and whose peers are not yet known
}

// earlierPort returns the port in the earlier fabric. It returns nil if the node is new, or has changed its type or
// number of ports.
func (m *memory) earlierPort(n *node, num uint8) *fabric.Port {
	i := m.f.NodeByGUID(n.info.NodeGUID)
	if i == fabric.None || !sameNode(&m.f.Nodes[i], &n.info) {
		return nil
	}
	return &m.f.Ports[m.f.Port(i, num)]
}

func sameNode(n *fabric.Node, info *mad.NodeInfo) bool {
	return n.GUID == info.NodeGUID && n.Type == info.Type && n.NumPorts == info.NumPorts
}

// unchanged returns the port in the earlier fabric, nil if the link of the port has or may have changed.
func (m *memory) unchanged(n *node, num uint8) *fabric.Port {
	p := &n.ports[num]
	was := m.earlierPort(n, num)
	if was == nil || was.Peer == fabric.None || !p.known || was.State != p.info.PortState {
		return nil
	}
	if width, speed := n.link(num); was.Width != width || was.Speed != speed {
		return nil
	}
	return was
}

// assumed returns the peer of a port in the earlier fabric. It returns nil if the link cannot be assumed to be
// unchanged and must be read.
func (m *memory) assumed(n *node, num uint8) *fabric.Port {
	was := m.unchanged(n, num)
	if was == nil || was.State != mad.PortActive || m.opts.Links {
		return nil
	}
	return &m.f.Ports[was.Peer]
}

// description returns the earlier description of the node behind a port. It returns false if the link of the port may
// have changed.
func (m *memory) description(from *node, num uint8, info *mad.NodeInfo) (mad.NodeDescription, bool) {
	was := m.unchanged(from, num)
	if m.opts.Descriptions || was == nil {
		return mad.NodeDescription{}, false
	}
	n := &m.f.Nodes[m.f.Ports[was.Peer].Node]
	return mad.NewNodeDescription(n.Desc), n.Desc != "" && sameNode(n, info)
}

// assumeLinks takes unchanged links from the earlier fabric, and requests the nodes behind the other links. It runs
// when no request is open, because the states of all reached ports must be known.
func (s *sweeper) assumeLinks() {
	open := s.memory.open
	s.memory.open = nil
	probed := map[uint64]bool{} // switches requested in this round
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

// assume records a link from the earlier fabric as assumed.
func (s *sweeper) assume(t task, i int32, info mad.NodeInfo) bool {
	if !s.link(t.node, t.port, i, info) {
		return false
	}
	s.nodes[t.node].ports[t.port].assumed = true
	s.nodes[i].ports[info.LocalPort].assumed = true
	return true
}

// revoke removes an assumed link because a request found one of its ends elsewhere. It then requests the nodes behind
// both ends.
func (s *sweeper) revoke(p *port) {
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

// leadsTo reports whether the link of port num of node i is assumed to lead to the given port of node n.
func (s *sweeper) leadsTo(i int32, num uint8, n *node, port uint8) bool {
	back := s.memory.assumed(s.nodes[i], num)
	return back != nil && back.Num == port && s.memory.f.Nodes[back.Node].GUID == n.info.NodeGUID
}

// gotHost handles the PortInfo of a host whose link is assumed to be unchanged. If the PortInfo is not that of the
// expected port, gotHost requests the NodeInfo of the node.
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
		text, known := s.memory.description(n, t.port, &node)
		i = s.enter(node, r.Request.Path)
		s.describe(i, text, known)
	}
	if s.assume(t, i, node) {
		p := &s.nodes[i].ports[was.Num]
		p.guid, p.info, p.known = was.GUID, info, true
		s.askFDR10(i, was.Num)
	}
}

// nodeInfo returns the NodeInfo that a node would return through a port. It contains only the fields that the fabric
// knows.
func nodeInfo(n *fabric.Node, p *fabric.Port) mad.NodeInfo {
	return mad.NodeInfo{
		Type: n.Type, NumPorts: n.NumPorts, SystemImageGUID: n.SystemGUID, NodeGUID: n.GUID, PortGUID: p.GUID,
		DeviceID: n.DeviceID, Revision: n.Revision, VendorID: n.VendorID, LocalPort: p.Num,
	}
}

// Sample selects a part of the forwarding tables. The blocks of each switch are divided into runs of Of blocks, and
// Sample selects the block with index Nth (from 0) of each run. Sweeps with all Nth from 0 to Of-1 cover all entries.
type Sample struct{ Nth, Of int }

// sampler compares a sample of the tables with the earlier tables.
type sampler struct {
	*reader
	was     *fabric.Tables
	changed map[fabric.SwitchIndex]bool // changed switches, by their index in was
}

// compare reads a sample of the tables. It returns the number of switches whose entries or LinearFDBTop have changed.
// It does not count switches whose earlier table is unknown or that have a missing block. Missing blocks are listed as
// [Unanswered].
func (r *reader) compare(was *fabric.Tables, part Sample) (int, error) {
	s := sampler{r, was, map[fabric.SwitchIndex]bool{}}
	r.row = make([]fabric.SwitchIndex, len(r.nodes))
	tops := map[int32]uint16{}
	var nodes []fabric.NodeIndex
	for _, n := range r.f.Switches {
		i := r.b.order[n]
		old := was.Fabric.SwitchByGUID(r.f.Nodes[n].GUID)
		if old == fabric.None || !was.Known[old] || !r.nodes[i].swKnown || !r.f.Nodes[n].InSubnet {
			continue
		}
		r.row[i] = old
		if tops[i] = r.top(i); tops[i] != was.Top[old] {
			s.changed[old] = true
			continue
		}
		nodes = append(nodes, n)
	}
	r.answered[askBlock] = s.gotBlock
	r.spread("forwarding tables", nodes, func(i int32) int {
		return (int(tops[i])/fabric.BlockSize + part.Of - part.Nth) / part.Of
	}, func(_ int32, k int) task {
		return task{kind: askBlock, mod: uint16(part.Nth + k*part.Of)}
	})
	if err := r.askAll(); err != nil {
		return 0, err
	}
	return len(s.changed), nil
}

// gotBlock compares the entries of a block up to LinearFDBTop with the earlier entries.
func (s *sampler) gotBlock(t task, reply *mad.Reply) {
	s.progress.Blocks++
	old, first := s.row[t.node], int(t.mod)*fabric.BlockSize
	n := min(fabric.BlockSize, int(s.was.Top[old])+1-first)
	if !bytes.Equal(reply.Data[:n], s.was.LFT.Block(old, int(t.mod))[:n]) {
		s.changed[old] = true
	}
}
