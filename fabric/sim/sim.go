// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Options say in what state a subnet begins.
type Options struct {
	// Tables are what the switches hold at first; nil leaves them empty.
	// SL2VL and MFT of them are what the nodes' tables are until they are written, and switches of NVIDIA's tell how
	// they route adaptively where Tables have it. Private tables cannot be asked for.
	Tables *fabric.Tables
	// Active brings all links up to Active, as a subnet manager leaves them;
	// else those whose state the fabric does not know begin in Initialize.
	Active bool
	// SendBack hands requests that find no path or a silent node back at once, as ibsim does; else their
	// sender has to wait until it gives up. Packets that are lost by chance are not handed back.
	SendBack bool
	// Vendor is that of switches of which the fabric does not say it.
	Vendor uint32
	Faults Faults           // from the beginning
	Now    func() time.Time // the time by which M_Key leases run out; nil is [time.Now]
}

// Sim is a simulated subnet, for any goroutine. Nodes and ports go by their indexes in the fabric it is made of.
type Sim struct {
	f        *fabric.Fabric
	tables   *fabric.Tables // nil or as in the options
	sendBack bool
	now      func() time.Time

	mu       sync.Mutex
	nodes    []node
	ports    []port
	faults   Faults
	rand     *rand.Rand
	requests uint64  // so far
	agenda   []event // in the order of their times
	flaps    *flaps
	groups   []Group
}

// node is a node with its subnet management agent.
type node struct {
	info   mad.NodeInfo
	desc   mad.NodeDescription
	first  fabric.PortIndex // index of port 0
	sw     *switchState
	tables map[tableKey][mad.DataSize]byte
	silent bool
	off    bool
	fresh  bool // was switched on: has nothing of what the tables of the options say
}

// port is a port, slot 0 of nodes without a port 0 included.
type port struct {
	node  fabric.NodeIndex
	num   uint8
	cable fabric.PortIndex // the port at the other end, None: nothing is plugged in
	cut   bool             // the cable is broken
	guid  uint64
	info  mad.PortInfo
	wire  [mad.DataSize]byte // info, encoded
	sm    *mad.SMInfo

	leaseEnd time.Time // zero: no lease runs
	counters *mad.PortCountersExtended
	traffic  *traffic // nil for none
}

// New makes a subnet like f: its nodes, links, LIDs and port states.
func New(f *fabric.Fabric, opts Options) *Sim {
	s := &Sim{
		f: f, tables: opts.Tables, sendBack: opts.SendBack, now: opts.Now,
		nodes: make([]node, len(f.Nodes)), ports: make([]port, len(f.Ports)),
	}
	if s.now == nil {
		s.now = time.Now
	}
	for i := range f.Nodes {
		s.nodes[i] = newNode(&f.Nodes[i])
		if info := &s.nodes[i].info; info.VendorID == 0 && info.Type == mad.NodeSwitch {
			info.VendorID = opts.Vendor
		}
	}
	for i := range f.NumPorts() {
		s.ports[i] = newPort(f, i, opts.Active)
		s.ports[i].encode()
	}
	if opts.Tables != nil {
		s.load(opts.Tables)
	}
	s.setFaults(opts.Faults)
	return s
}

func newNode(n *fabric.Node) node {
	out := node{
		info: mad.NodeInfo{
			BaseVersion:     1,
			ClassVersion:    1,
			Type:            n.Type,
			NumPorts:        n.NumPorts,
			SystemImageGUID: n.SystemGUID,
			NodeGUID:        n.GUID,
			PartitionCap:    caPartitionCap,
			DeviceID:        n.DeviceID,
			Revision:        n.Revision,
			VendorID:        n.VendorID,
		},
		desc:  mad.NewNodeDescription(n.Desc),
		first: n.FirstPort,
	}
	if out.info.Revision == 0 {
		out.info.Revision = defaultRevision
	}
	if n.IsSwitch() {
		out.info.PartitionCap = port0PartitionCap
		out.sw = newSwitch(n)
	}
	return out
}

// load puts tables into the switches.
func (s *Sim) load(t *fabric.Tables) {
	for sw, n := range s.f.Switches {
		if t.Known[sw] {
			state := s.nodes[n].sw
			state.info.LinearFDBTop = t.Top[sw]
			state.lft = append([]byte(nil), t.LFT.Row(fabric.SwitchIndex(sw))...)
			if t.MFT != nil {
				state.holdMulticast(t.MFT.Top)
			}
		}
	}
}

// Unlink breaks the cable of a port. It fails where there is none.
func (s *Sim) Unlink(port fabric.PortIndex) error { return s.setCut(port, true) }

// Relink mends the cable of a port; both ends then train to Initialize.
func (s *Sim) Relink(port fabric.PortIndex) error { return s.setCut(port, false) }

func (s *Sim) setCut(i fabric.PortIndex, cut bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	peer := s.ports[i].cable
	if peer == fabric.None {
		return fmt.Errorf("%s has no cable", s.f.PortName(i))
	}
	if s.ports[i].cut == cut {
		return nil
	}
	s.cut(i, cut)
	return nil
}

func (s *Sim) cut(i fabric.PortIndex, cut bool) {
	peer := s.ports[i].cable
	s.ports[i].cut, s.ports[peer].cut = cut, cut
	s.train(i, false)
}

// Silence makes a node answer nothing, while it goes on forwarding; or lets it answer again.
func (s *Sim) Silence(node fabric.NodeIndex, silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[node].silent = silent
}

// SetGUID changes a node's GUID, so that two nodes can have the same.
func (s *Sim) SetGUID(node fabric.NodeIndex, guid uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[node].info.NodeGUID = guid
}

// SetLID changes a port's LID, so that two ports can claim the same.
func (s *Sim) SetLID(port fabric.PortIndex, lid uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ports[port].info.LID = lid
	s.ports[port].encode()
}

// SetSM puts a subnet manager on an end port, which gets its IsSM bit and answers SMInfo; nil takes it away.
func (s *Sim) SetSM(port fabric.PortIndex, info *mad.SMInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.ports[port]
	p.sm = info
	p.info.CapabilityMask &^= mad.CapIsSM
	if info != nil {
		p.info.CapabilityMask |= mad.CapIsSM
	}
	p.encode()
}
