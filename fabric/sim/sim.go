// SPDX-License-Identifier: Apache-2.0

// Package sim simulates a subnet inside the program. The simulated subnet answers management packets with the same
// bytes as switches and channel adapters do. A [Conn] is a [mad.Transport] at a port of the simulated subnet.
//
// Packets traverse the subnet as specified by IBA 1.2.1, 14.2.2. Answers are modelled on ibsim, whose subnets satisfy
// OpenSM and the diagnostic tools. Values that the fabric does not determine (capabilities, VLs, MTU) equal the values
// of ibsim. A packet gets no answer if its path is broken or its destination is silent.
//
// Performance management answers with the counters assigned to a port. A port with a master subnet manager answers as
// the subnet administration. Its records describe the current state of the subnet, and its path records follow the
// forwarding tables. Tables are segmented, and lost segments are repeated. Packets are not routed adaptively.
//
// A [Sim] can be changed while it runs: nodes and links appear and disappear; packets are lost, delayed and repeated.
package sim

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Options controls the initial state of a subnet.
type Options struct {
	// Tables holds the initial forwarding tables of the switches; if it is nil, they are empty. Its SL2VL and MFT are
	// the initial tables of all nodes. NVIDIA switches report the adaptive routing in it. Private tables cannot be
	// read.
	Tables *fabric.Tables
	// Active sets all links to Active, as a subnet manager does. Otherwise a link begins in Initialize if the fabric
	// does not contain its state.
	Active bool
	// SendBack returns a request to the sender at once if the request has no path or reaches a silent node, as ibsim
	// does. Without SendBack the sender waits for its timeout. Packets lost by chance are not returned.
	SendBack bool
	// Vendor is the vendor ID of switches whose vendor ID is not in the fabric.
	Vendor uint32
	// Device is the device ID of switches whose device ID is not in the fabric.
	Device uint16
	// Wide makes all agents have errors and XmitWait as 64-bit counters. Otherwise they are limited to the widths of
	// PortCounters.
	Wide   bool
	Faults Faults           // initial faults
	Now    func() time.Time // clock of M_Key leases and traffic; nil is [time.Now]
}

// Sim is a simulated subnet. It is safe for concurrent use. Nodes and ports have the indexes of the fabric from which
// the Sim was made.
type Sim struct {
	f        *fabric.Fabric
	tables   *fabric.Tables // nil or as in the options
	sendBack bool
	wide     bool
	clock    func() time.Time

	mu       sync.Mutex
	nodes    []node
	ports    []port
	faults   Faults
	rand     *rand.Rand
	requests uint64  // received so far
	schedule []event // sorted by time
	flaps    *flaps
	groups   []Group

	load      *Load     // nil without flows
	unsettled bool      // the traffic changed after it was computed
	disturbed time.Time // when it changed
	timed     []timed
	frozen    time.Time // of the scheduled change that runs
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
	fresh  bool // was switched on: does not have the initial tables of the options
}

// port is a port, or the unused slot 0 of a node that is not a switch.
type port struct {
	node  fabric.NodeIndex
	num   uint8
	cable fabric.PortIndex // port at the other end, or None
	cut   bool             // the cable is broken
	asked bool             // a request changed the enabled widths or speeds
	guid  uint64
	info  mad.PortInfo
	wire  [mad.DataSize]byte // encoded info
	sm    *mad.SMInfo

	leaseEnd time.Time                 // zero: no lease is active
	counters *mad.PortCountersExtended // nil: all 0
	details  mad.PortRcvErrorDetails
	traffic  *traffic // nil without traffic
}

// New returns a simulated subnet with the nodes, links, LIDs and port states of f.
func New(f *fabric.Fabric, opts Options) *Sim {
	s := &Sim{
		f: f, tables: opts.Tables, sendBack: opts.SendBack, wide: opts.Wide, clock: opts.Now,
		nodes: make([]node, len(f.Nodes)), ports: make([]port, len(f.Ports)),
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	for i := range f.Nodes {
		s.nodes[i] = newNode(&f.Nodes[i])
		if info := &s.nodes[i].info; info.Type == mad.NodeSwitch {
			info.VendorID = cmp.Or(info.VendorID, opts.Vendor)
			info.DeviceID = cmp.Or(info.DeviceID, opts.Device)
		}
	}
	for i := range f.NumPorts() {
		s.ports[i] = newPort(f, i, opts.Active)
		s.ports[i].encode()
	}
	if opts.Tables != nil {
		s.copyTables(opts.Tables)
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

// copyTables copies tables into the switches.
func (s *Sim) copyTables(t *fabric.Tables) {
	for sw, n := range s.f.Switches {
		if t.Known[sw] {
			state := s.nodes[n].sw
			state.info.LinearFDBTop = t.Top[sw]
			state.lft = append([]byte(nil), t.LFT.Row(fabric.SwitchIndex(sw))...)
			if t.MFT != nil {
				state.growMulticast(t.MFT.Top)
			}
		}
	}
}

// Unlink breaks the cable of a port. It returns an error if the port has no cable.
func (s *Sim) Unlink(port fabric.PortIndex) error { return s.setCut(port, true) }

// Relink restores the cable of a port. Both ends then train to Initialize.
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
	s.disturb()
	peer := s.ports[i].cable
	s.ports[i].cut, s.ports[peer].cut = cut, cut
	s.train(i, false)
}

// Silence makes a node stop answering while it continues to forward, or makes it answer again.
func (s *Sim) Silence(node fabric.NodeIndex, silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[node].silent = silent
}

// SetGUID changes the GUID of a node. Two nodes can then have the same GUID.
func (s *Sim) SetGUID(node fabric.NodeIndex, guid uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[node].info.NodeGUID = guid
}

// SetLID changes the LID of a port. Two ports can then have the same LID.
func (s *Sim) SetLID(port fabric.PortIndex, lid uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ports[port].info.LID = lid
	s.ports[port].encode()
}

// SetSM places a subnet manager on an end port. The port then has the IsSM bit and answers SMInfo. If the argument info
// is nil, SetSM removes the subnet manager.
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
