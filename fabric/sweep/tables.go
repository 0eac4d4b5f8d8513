// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// reader reads the tables of the nodes in a fabric.
type reader struct {
	*sweeper
	b      *builder
	f      *fabric.Fabric
	tables *fabric.Tables       // nil if not requested
	row    []fabric.SwitchIndex // switch of the fabric, by node of the sweep
	vlArb  map[fabric.PortIndex]*VLArb
	pKeys  map[fabric.PortIndex][]mad.PKey
	guids  map[fabric.PortIndex][]uint64
	// adaptive holds the adaptive-routing attributes by switch. It is nil if they are not requested.
	adaptive []adaptiveSwitch
}

// newReader returns a reader and queues the requests for all tables that the options select.
func newReader(s *sweeper, b *builder) *reader {
	r := &reader{sweeper: s, b: b, f: b.fabric}
	if !s.opts.NoTables {
		r.askLFTs()
		if s.opts.MFT {
			r.askMFTs()
		}
		if s.opts.SL2VL {
			r.askSL2VL()
		}
	}
	r.askPorts()
	return r
}

// spread queues requests for blocks such that no switch gets many requests at once, and successive requests use the
// same paths. It divides the nodes into groups of the client's window size. Within a group it queues the first block of
// each node, then the second block of each node, and so on.
//
// The function count returns the number of blocks of node i of the sweep. The function nth returns the request for
// block k of node i.
//
// If there are more than [maxBlocks] blocks, spread queues none, warns about the tables, and returns false.
func (r *reader) spread(tables string, nodes []fabric.NodeIndex, count func(i int32) int,
	nth func(i int32, k int) task) bool {
	blocks := int64(0)
	for _, n := range nodes {
		blocks += int64(count(r.b.order[n]))
	}
	if !r.fits(blocks, maxBlocks, "%s: they", tables) {
		return false
	}
	for some := range slices.Chunk(nodes, r.client.Options().Window) {
		for k, more := 0, true; more; k++ {
			more = false
			for _, n := range some {
				i := r.b.order[n]
				if k >= count(i) {
					continue
				}
				s := nth(i, k)
				s.node = i
				r.ask(s)
				r.progress.BlocksToDo++
				more = true
			}
		}
	}
	return true
}

// The limits of a sweep for the tables of one kind. Without them a subnet that reports endless tables would exhaust the
// memory.
const (
	// maxBytes is the maximum size of the tables. It is enough for the forwarding tables of 20,000 switches with all
	// LIDs, and for the multicast forwarding tables of 8,000 switches of up to 63 ports with all multicast LIDs.
	maxBytes = 1 << 30
	// maxBlocks is the maximum number of blocks. It is enough for the SL2VL tables of 8,000 switches of 64 ports.
	maxBlocks = 1 << 25
)

// fits reports whether the size of tables is within a limit. If it is not, fits warns that the tables, which the format
// describes, are not read.
func (r *reader) fits(size, limit int64, format string, args ...any) bool {
	if r.opts.maxTables > 0 {
		limit = r.opts.maxTables
	}
	if size > limit {
		r.warn("too many "+format+" are not read", args...)
	}
	return size <= limit
}

// known returns the nodes of the switches whose tables can be read, in ascending order.
func (r *reader) known() []fabric.NodeIndex {
	var nodes []fabric.NodeIndex
	for sw, n := range r.f.Switches {
		if r.tables.Known[sw] {
			nodes = append(nodes, n)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// askLFTs requests the blocks of all switches from block 0 up to LinearFDBTop.
func (r *reader) askLFTs() {
	r.row = make([]fabric.SwitchIndex, len(r.nodes))
	tops := make([]uint16, len(r.f.Switches))
	known := make([]bool, len(r.f.Switches))
	lives := make([]uint8, len(r.f.Switches))
	var top uint16
	for sw, n := range r.f.Switches {
		i := r.b.order[n]
		r.row[i] = fabric.SwitchIndex(sw)
		known[sw] = r.nodes[i].swKnown && r.f.Nodes[n].InSubnet
		tops[sw], lives[sw] = r.top(i), r.nodes[i].sw.LifeTimeValue
		top = max(top, tops[sw])
	}
	if !r.fits(int64(len(tops))*(int64(top)+1), maxBytes, "forwarding tables: those of %d switches with LIDs up to %d",
		len(tops), top) {
		top = 0
		clear(tops)
		clear(known)
	}
	r.tables = &fabric.Tables{Fabric: r.f, LFT: fabric.BlankLFT(len(r.f.Switches), top), Top: tops, Known: known,
		LifeTimes: lives, Origin: fabric.LiveOrigin, Unread: fabric.Unread{SLs: true, SL2VL: !r.opts.SL2VL}}
	for sw, top := range tops {
		row := r.tables.LFT.Row(fabric.SwitchIndex(sw))
		if known[sw] {
			row = row[(int(top)/fabric.BlockSize+1)*fabric.BlockSize:]
		}
		fabric.FillNoPath(row) // entries that are not read
	}
	r.answered[askBlock] = r.gotBlock
	r.spread("forwarding tables", r.known(), func(i int32) int {
		return int(tops[r.row[i]])/fabric.BlockSize + 1
	}, func(_ int32, k int) task {
		return task{kind: askBlock, mod: uint16(k)}
	})
}

// top returns the LinearFDBTop of a switch, but at most the highest unicast LID.
func (r *reader) top(i int32) uint16 {
	n := r.nodes[i]
	if n.sw.LinearFDBTop <= mad.LastUnicastLID {
		return n.sw.LinearFDBTop
	}
	r.warn("LinearFDBTop %[2]d of %[1]s is above the highest unicast LID %[3]d", r.name(i),
		n.sw.LinearFDBTop, mad.LastUnicastLID)
	return mad.LastUnicastLID
}

// read reads all queued tables.
func (r *reader) read() error {
	if err := r.askAll(); err != nil {
		return err
	}
	r.dropIncomplete()
	return nil
}

// askAll sends requests until all blocks have been requested, and repeats lost requests.
func (r *reader) askAll() error {
	for round := 0; len(r.queue) > 0; round++ {
		if err := r.run(); err != nil {
			return err
		}
		if round < maxRounds {
			if err := r.detour(); err != nil {
				return err
			}
			r.retry(round)
		}
	}
	return nil
}

func (r *reader) gotBlock(t task, reply *mad.Reply) {
	copy(r.tables.LFT.Block(r.row[t.node], int(t.mod)), reply.Data[:])
	r.progress.Blocks++
}

// dropIncomplete drops tables of which a block is missing.
func (r *reader) dropIncomplete() {
	for _, m := range r.misses {
		switch t := m.task; t.kind {
		case askBlock, askMFT, askSL2VL:
			if r.nodes[t.node].isSwitch() {
				r.markUnknown(r.row[t.node])
			}
		case askVLArb:
			delete(r.vlArb, r.port(t))
		case askPKeys:
			delete(r.pKeys, r.port(t))
		case askGUIDs:
			delete(r.guids, r.port(t))
		}
	}
}

// markUnknown marks the tables of a switch as unknown.
func (r *reader) markUnknown(sw fabric.SwitchIndex) {
	if !r.tables.Known[sw] {
		return
	}
	r.tables.Known[sw] = false
	fabric.FillNoPath(r.tables.LFT.Row(sw))
}

// port returns the index of the port that a request concerns.
func (r *reader) port(t task) fabric.PortIndex { return r.f.Port(r.b.index[t.node], t.port) }

// askMFTs requests the multicast forwarding tables of the switches up to their MulticastFDBTop.
func (r *reader) askMFTs() {
	top := uint16(fabric.FirstMLID - 1)
	switches := r.known()
	for _, n := range switches {
		top = max(top, mftTop(&r.nodes[r.b.order[n]].sw))
	}
	lids := int(top) - fabric.FirstMLID + 1
	if !r.fits(fabric.MFTSize(r.f, lids), maxBytes, "multicast forwarding tables: those of %d switches with %d "+
		"multicast LIDs", len(r.f.Switches), lids) {
		return
	}
	r.tables.MFT = fabric.NewMFT(r.f, top)
	r.answered[askMFT] = r.gotMFT
	masks := func(i int32) int { return int(r.nodes[i].info.NumPorts)/mad.MFTPorts + 1 }
	if !r.spread("multicast forwarding tables", switches, func(i int32) int {
		lids := int(mftTop(&r.nodes[i].sw)) - fabric.FirstMLID + 1
		return (lids + mad.MFTBlock - 1) / mad.MFTBlock * masks(i)
	}, func(i int32, k int) task {
		return task{kind: askMFT, mod: uint16(k / masks(i)), port: uint8(k % masks(i))}
	}) {
		r.tables.MFT = nil
	}
}

// mftTop returns the highest multicast LID for which a switch can have an entry. It returns FirstMLID-1 if the switch
// cannot have any. A MulticastFDBTop of 0 means that the switch does not support the field (IBA 1.2.1, 14.2.5.4).
func mftTop(sw *mad.SwitchInfo) uint16 {
	last := fabric.FirstMLID - 1 + int(min(sw.MulticastFDBCap, mad.PermissiveLID-fabric.FirstMLID))
	if top := sw.MulticastFDBTop; top >= fabric.FirstMLID-1 && int(top) < last {
		return top
	}
	return uint16(last)
}

// gotMFT handles a block with 32 LIDs (selected by task.mod) and 16 ports (selected by task.port).
func (r *reader) gotMFT(t task, reply *mad.Reply) {
	var block mad.MulticastForwardingTable
	if reply.Decode(&block) != nil {
		return
	}
	r.progress.Blocks++
	for i, ports := range block {
		set := r.tables.MFT.Ports(r.row[t.node], fabric.FirstMLID+t.mod*mad.MFTBlock+uint16(i))
		if word := int(t.port) / 4; word < len(set) {
			set[word] |= uint64(ports) << (t.port % 4 * mad.MFTPorts)
		}
	}
}

// askSL2VL requests the SL2VL tables of all linked ports. For a switch it requests the tables for packets from each
// port. This includes port 0 and ports without a link, because OpenSM also reads and dumps them. Nodes that report to
// have no SL2VL tables map all SLs to VL 0, and are omitted.
func (r *reader) askSL2VL() {
	r.answered[askSL2VL] = r.gotSL2VL
	mapped := map[int32][]uint8{} // by node of the sweep
	nodes := r.known()
	for n := range r.f.NumNodes() {
		if node := &r.f.Nodes[n]; node.InSubnet && !node.IsSwitch() {
			nodes = append(nodes, n)
		}
	}
	for _, n := range nodes {
		i := r.b.order[n]
		mapped[i] = r.mappedPorts(r.nodes[i])
	}
	ins := func(i int32) int {
		if n := r.nodes[i]; n.isSwitch() {
			return len(n.ports)
		}
		return 1
	}
	if r.tables.Unread.SL2VL = !r.spread("SL2VL tables", nodes, func(i int32) int {
		return len(mapped[i]) * ins(i)
	}, func(i int32, k int) task {
		return task{kind: askSL2VL, port: mapped[i][k/ins(i)], mod: uint16(k % ins(i))}
	}); !r.tables.Unread.SL2VL {
		r.tables.SL2VL = fabric.NewSL2VL(r.f)
	}
}

// mappedPorts returns the linked ports of a node that have SL2VL tables.
func (r *reader) mappedPorts(n *node) []uint8 {
	if n.isSwitch() && n.ports[0].info.CapabilityMask&mad.CapSLMapping == 0 {
		return nil
	}
	var ports []uint8
	for num := range n.ports {
		p := &n.ports[num]
		if p.linked() && (n.isSwitch() || p.info.CapabilityMask&mad.CapSLMapping != 0) {
			ports = append(ports, uint8(num))
		}
	}
	return ports
}

func (r *reader) gotSL2VL(t task, reply *mad.Reply) {
	var table mad.SLToVLTable
	if reply.Decode(&table) != nil {
		return
	}
	r.progress.Blocks++
	switch {
	case r.tables.SL2VL == nil:
	case r.tables.SL2VL.Full():
		r.warn("too many different SL2VL tables: they are ignored")
		r.tables.SL2VL, r.tables.Unread.SL2VL = nil, true
	default:
		r.tables.SL2VL.Set(r.b.index[t.node], uint8(t.mod), t.port, fabric.VLs(table.VL))
	}
}
