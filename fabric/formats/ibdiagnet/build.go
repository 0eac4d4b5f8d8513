// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// DB holds the content of a database.
type DB struct {
	Fabric *fabric.Fabric
	When   time.Time // when ibdiagnet ran, zero if the file does not state it
	// Limits holds the limits that ports set for their links, by port index. It is nil if the file has no such limits.
	Limits []fabric.LinkLimit
	// Counters holds the values of counters. Deltas holds their increase during an interval of ibdiagnet, whose length
	// the file does not state. Both are nil if they were not read.
	Counters *counters.Reading
	Deltas   []counters.Delta
	Health   *health.Report
	PKeys    map[uint64][]mad.PKey // by port GUID, nil if they were not read
	Managers []Manager
	// Warnings holds sentences, each beginning with the name of the file.
	Warnings []string
}

// maxSlots is the maximum number of port slots of all nodes. It limits the memory that a file can request by the port
// counts of its nodes.
const maxSlots = 4 << 20

// build makes the fabric and the other parts of the database from all rows.
func (p *parser) build() (*DB, error) {
	f, err := p.fabric()
	if err != nil {
		return nil, err
	}
	if len(f.Nodes) == 0 {
		return nil, fmt.Errorf("%s: no valid node, expected rows of a section NODES", fabric.Escape(p.name))
	}
	db := &DB{Fabric: f, When: p.when, Managers: p.managers, Health: &health.Report{}}
	for _, add := range []func(*DB) error{p.portsOf, p.keysOf, p.countsOf, p.cablesOf, p.hardwareOf} {
		if err := add(db); err != nil {
			return nil, err
		}
	}
	db.Warnings = p.warnings()
	return db, nil
}

// fabric makes the fabric: the nodes with their ports and links.
func (p *parser) fabric() (*fabric.Fabric, error) {
	var b fabric.Builder
	p.guessPortCounts()
	lines := map[fabric.NodeIndex]int{}
	slots := 0
	for _, n := range p.nodes {
		if slots += int(n.NumPorts) + 1; slots > maxSlots {
			return nil, fmt.Errorf("%s:%d: more than %d ports", fabric.Escape(p.name), n.line, maxSlots)
		}
		n.EnhancedPort0 = p.enp0[n.GUID]
		i, err := b.AddNode(n.Node)
		if err != nil {
			if err = p.refuseAt(n.line, "%w", err); err != nil {
				return nil, err
			}
			continue
		}
		lines[i] = n.line
		if n.IsSwitch() {
			b.Port(i, 0).State = mad.PortActive
		}
	}
	if err := p.fill(&b); err != nil {
		return nil, err
	}
	if err := p.join(&b); err != nil {
		return nil, err
	}
	for _, l := range p.labels {
		if n := b.NodeByGUID(l.node); n == fabric.None || !b.SetLabel(n, l.num, l.label) {
			if err := p.refuseAt(l.line, "port %d of node 0x%016x, which is not among the nodes", l.num,
				l.node); err != nil {
				return nil, err
			}
		}
	}
	b.SetGIDPrefix(p.gidPrefix)
	p.setOtherStates(&b)
	p.setSM(&b)
	if p.found != nil {
		for _, e := range b.ResolveConflicts() {
			p.found.Clash(p.name, lines[e.Node], e, b.Node(e.Node).GUID)
		}
	}
	return b.Build()
}

// guessPortCounts sets the number of ports of nodes for which the file does not state it, as in opensm-smdb.dump. The
// number is the highest port number of the node in other rows.
func (p *parser) guessPortCounts() {
	none := map[uint64]uint8{}
	for i := range p.nodes {
		if p.nodes[i].NumPorts == 0 {
			none[p.nodes[i].GUID] = 0
		}
	}
	if len(none) == 0 {
		return
	}
	see := func(guid uint64, num int) {
		if most, ok := none[guid]; ok && num < 255 {
			none[guid] = max(most, uint8(num))
		}
	}
	for i := range p.ports {
		see(p.ports[i].node, int(p.ports[i].Num))
	}
	for i := range p.links {
		see(p.links[i].guid[0], p.links[i].port[0])
		see(p.links[i].guid[1], p.links[i].port[1])
	}
	for i := range p.nodes {
		if n := &p.nodes[i]; n.NumPorts == 0 {
			n.NumPorts = none[n.GUID]
		}
	}
}

// addUnlisted adds the nodes that occur only in section PORTS. The rows of section NODES may be missing together with
// the beginning of the file. A node with a port 0 is a switch. The added nodes have no description.
func (p *parser) addUnlisted() error {
	listed := make(map[uint64]bool, len(p.nodes))
	for i := range p.nodes {
		listed[p.nodes[i].GUID] = true
	}
	added := map[uint64]int{}
	for i := range p.ports {
		r := &p.ports[i]
		if listed[r.node] {
			continue
		}
		at, ok := added[r.node]
		if !ok {
			at = len(p.nodes)
			added[r.node] = at
			p.nodes = append(p.nodes, node{fabric.Node{GUID: r.node, SystemGUID: r.node, Type: mad.NodeCA,
				NoRevision: true}, r.line})
		}
		if r.Num == 0 {
			p.nodes[at].Type = mad.NodeSwitch
		}
	}
	if len(added) == 0 {
		return nil
	}
	return p.refuse("%s known only from rows of ports, so the descriptions are unknown",
		prose.Verb(len(added), "node", "is", "are"))
}

// fill sets the properties of ports from the rows of section PORTS.
func (p *parser) fill(b *fabric.Builder) error {
	for i := range p.ports {
		r := &p.ports[i]
		n := b.NodeByGUID(r.node)
		var at *fabric.Port
		if n != fabric.None {
			at = b.Port(n, int(r.Num))
		}
		if at == nil {
			if err := p.refuseAt(r.line, "port %d of node 0x%016x, which is not among the nodes", r.Num,
				r.node); err != nil {
				return err
			}
			continue
		}
		if b.Node(n).IsSwitch() {
			r.GUID = at.GUID
			if r.Num != 0 {
				r.LID, r.LMC = 0, 0
			}
		}
		r.Port.Node, r.Peer = at.Node, at.Peer
		if r.Num == 0 && r.State == 0 {
			r.State = at.State
		}
		if r.Num == 0 || r.State == mad.PortDown {
			r.Width, r.Speed = 0, fabric.SpeedUnknown
		}
		*at = r.Port
	}
	return nil
}

// join adds the links in the rows of LINKS.
func (p *parser) join(b *fabric.Builder) error {
	for _, l := range p.links {
		x, y := b.NodeByGUID(l.guid[0]), b.NodeByGUID(l.guid[1])
		err := error(nil)
		if x == fabric.None || y == fabric.None {
			err = fmt.Errorf("the cable between 0x%016x and 0x%016x was skipped: a node of the cable has no row",
				l.guid[0], l.guid[1])
		} else {
			err = b.Connect(x, l.port[0], y, l.port[1])
		}
		if err != nil {
			if err = p.refuseAt(l.line, "%w", err); err != nil {
				return err
			}
			continue
		}
		setLinkState(b, x, l.port[0])
		setLinkState(b, y, l.port[1])
	}
	return nil
}

// setLinkState sets the state of a linked port if the file does not state it. The state is Active if the port's LID is
// known, as in ibnetdiscover's files, otherwise Init.
func setLinkState(b *fabric.Builder, n fabric.NodeIndex, num int) {
	at := b.Port(n, num)
	if at.State != 0 {
		return
	}
	lid := at.LID
	if b.Node(n).IsSwitch() {
		lid = b.Port(n, 0).LID
	}
	at.State = mad.PortInit
	if lid != 0 {
		at.State = mad.PortActive
	}
}

// setOtherStates sets the state of the remaining ports without a state to Down.
func (p *parser) setOtherStates(b *fabric.Builder) {
	for _, n := range p.nodes {
		i := b.NodeByGUID(n.GUID)
		if i == fabric.None {
			continue
		}
		for num := range int(b.Node(i).NumPorts) + 1 {
			if at := b.Port(i, num); at != nil && at.State == 0 {
				at.State = mad.PortDown
			}
		}
	}
}

// setSM sets the SM's port. This is the port with the LID that most ports have as their SM LID.
func (p *parser) setSM(b *fabric.Builder) {
	votes := map[uint16]int{}
	for i := range p.ports {
		if lid := p.ports[i].SMLID; lid != 0 {
			votes[lid]++
		}
	}
	most := 0
	for i := range p.ports {
		r := &p.ports[i]
		n := b.NodeByGUID(r.node)
		if r.LID == 0 || n == fabric.None || votes[r.LID] <= most {
			continue
		}
		if b.SetSMPort(n, int(r.Num)) == nil {
			most = votes[r.LID]
		}
	}
}

// at returns the port that a row describes. If the fabric does not have the port, at records the row as unread and
// returns None.
func (p *parser) at(f *fabric.Fabric, node uint64, num uint8, line int) (fabric.PortIndex, error) {
	if n := f.NodeByGUID(node); n != fabric.None {
		if at := f.PortAt(n, int(num)); at != fabric.None {
			return at, nil
		}
	}
	return fabric.None, p.refuseAt(line, "port %d of node 0x%016x, which is not among the nodes", num, node)
}

// portsOf adds the data of section PORTS that does not belong to the fabric: the link limits, and the FEC and
// retransmission modes.
func (p *parser) portsOf(db *DB) error {
	for i := range p.ports {
		r := &p.ports[i]
		n := db.Fabric.NodeByGUID(r.node)
		if n == fabric.None || db.Fabric.PortAt(n, int(r.Num)) == fabric.None {
			continue // already reported
		}
		at := db.Fabric.PortAt(n, int(r.Num))
		if r.limit != (fabric.LinkLimit{}) {
			if db.Limits == nil {
				db.Limits = make([]fabric.LinkLimit, len(db.Fabric.Ports))
			}
			db.Limits[at] = r.limit
		}
		if r.State > mad.PortDown && r.Num != 0 && (r.fec != health.Unknown || r.retrans != health.Unknown) {
			h := db.Health.Of(at)
			h.FEC, h.Retrans = r.fec, r.retrans
		}
	}
	return nil
}

func (p *parser) keysOf(db *DB) error {
	for _, k := range p.keys {
		at, err := p.at(db.Fabric, k.node, k.port, k.line)
		if err != nil {
			return err
		}
		if at == fabric.None || db.Fabric.EndPortOf(at) != at {
			continue // the P_Keys of external switch ports are those of their filters
		}
		if db.PKeys == nil {
			db.PKeys = map[uint64][]mad.PKey{}
		}
		guid := db.Fabric.Ports[at].GUID
		db.PKeys[guid] = append(db.PKeys[guid], k.key)
	}
	return nil
}

func (p *parser) countsOf(db *DB) error {
	for _, c := range p.counts {
		at, err := p.at(db.Fabric, c.node, c.port, c.line)
		if err != nil {
			return err
		}
		if at == fabric.None {
			continue
		}
		if db.Counters == nil {
			db.Counters = &counters.Reading{Fabric: db.Fabric}
		}
		c.Port.Port, c.At = at, p.when
		db.Counters.Ports = append(db.Counters.Ports, c.Port)
	}
	for _, c := range p.deltas {
		at, err := p.at(db.Fabric, c.node, c.port, c.line)
		if err != nil {
			return err
		}
		if at != fabric.None {
			db.Deltas = append(db.Deltas, counters.Delta{Port: at, Increase: c.Values, Has: c.Has})
		}
	}
	return nil
}

func (p *parser) cablesOf(db *DB) error {
	for i := range p.cables {
		c := &p.cables[i]
		at, err := p.at(db.Fabric, c.node, c.port, c.line)
		if err != nil {
			return err
		}
		if at != fabric.None && c.Cable != (health.Cable{}) {
			db.Health.Of(at).Cable = &c.Cable
		}
	}
	return nil
}
