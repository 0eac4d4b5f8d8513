// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// reader reads what the nodes of a fabric hold in their tables.
type reader struct {
	*sweeper
	b      *builder
	f      *fabric.Fabric
	tables *fabric.Tables       // nil: not wanted
	row    []fabric.SwitchIndex // switch of the fabric, by node of the sweep
	vlArb  map[fabric.PortIndex]*VLArb
	pKeys  map[fabric.PortIndex][]mad.PKey
	guids  map[fabric.PortIndex][]uint64
	// adaptive is what switches told of adaptive routing, by switch, nil where that is not wanted.
	adaptive []adaptiveSwitch
}

// newReader asks for all that the options want.
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

// spread asks a number of nodes, as many as may be asked at a time, for their first blocks, then for their
// second ones and so on, and then the next nodes, so that no switch gets a flood of requests and packets go
// by the same paths for a while: count is how many blocks a node of the sweep has, and nth one of them.
func (r *reader) spread(nodes []fabric.NodeIndex, count func(i int32) int, nth func(i int32, k int) task) {
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
}

// known are the nodes of the switches that can be asked, in their own order.
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

// askLFTs asks for blocks 0 to LinearFDBTop of all switches.
func (r *reader) askLFTs() {
	r.row = make([]fabric.SwitchIndex, len(r.nodes))
	tops := make([]uint16, len(r.f.Switches))
	known := make([]bool, len(r.f.Switches))
	var top uint16
	for sw, n := range r.f.Switches {
		i := r.b.order[n]
		r.row[i] = fabric.SwitchIndex(sw)
		known[sw] = r.nodes[i].swKnown && r.f.Nodes[n].InSubnet
		tops[sw] = r.top(i)
		top = max(top, tops[sw])
	}
	r.tables = &fabric.Tables{Fabric: r.f, LFT: fabric.BlankLFT(len(r.f.Switches), top), Top: tops, Known: known,
		Origin: fabric.LiveOrigin, Unread: fabric.Unread{SLs: true, SL2VL: !r.opts.SL2VL}}
	for sw, top := range tops {
		row := r.tables.LFT.Row(fabric.SwitchIndex(sw))
		if known[sw] {
			row = row[(int(top)/fabric.BlockSize+1)*fabric.BlockSize:]
		}
		fabric.FillNoPath(row) // what is not read
	}
	r.answered[askBlock] = r.gotBlock
	r.spread(r.known(), func(i int32) int {
		return int(tops[r.row[i]])/fabric.BlockSize + 1
	}, func(_ int32, k int) task {
		return task{kind: askBlock, mod: uint16(k)}
	})
}

// top is the LinearFDBTop of a switch, if that can be.
func (r *reader) top(i int32) uint16 {
	n := r.nodes[i]
	if n.sw.LinearFDBTop <= mad.LastUnicastLID {
		return n.sw.LinearFDBTop
	}
	r.warn("%s says that its LinearFDBTop is %d, which is above the highest unicast LID %d", r.name(i),
		n.sw.LinearFDBTop, mad.LastUnicastLID)
	return mad.LastUnicastLID
}

// read reads all that was asked for.
func (r *reader) read() error {
	if err := r.askAll(); err != nil {
		return err
	}
	r.giveUp()
	return nil
}

// askAll asks until no block is left, for what was lost on its way again.
func (r *reader) askAll() error {
	for round := 0; len(r.queue) > 0; round++ {
		if err := r.run(); err != nil {
			return err
		}
		if round < rounds {
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

// giveUp forgets the tables of which a block is missing.
func (r *reader) giveUp() {
	for _, m := range r.misses {
		switch t := m.task; t.kind {
		case askBlock, askMFT, askSL2VL:
			if r.nodes[t.node].isSwitch() {
				r.forget(r.row[t.node])
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

// forget makes the tables of a switch unknown.
func (r *reader) forget(sw fabric.SwitchIndex) {
	if !r.tables.Known[sw] {
		return
	}
	r.tables.Known[sw] = false
	fabric.FillNoPath(r.tables.LFT.Row(sw))
}

// port is the port of the fabric that a question is about.
func (r *reader) port(t task) fabric.PortIndex { return r.f.Port(r.b.index[t.node], t.port) }
