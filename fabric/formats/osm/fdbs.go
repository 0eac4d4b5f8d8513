// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

// Hops are hop counts between switches, by switch index: OpenSM's lid matrices.
type Hops interface {
	// Least is the least number of hops from switch sw to switch dst, [NoHops] where there is no path.
	Least(sw, dst fabric.SwitchIndex) uint8
	// Through is the number of hops from sw to dst that leaves by this port, NoHops where that is no path.
	Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8
}

// LIDHops are hop counts to LIDs, those of adapters included, as OpenSM keeps them for the engines sssp,
// dfsssp and nue. A [Hops] that is one too is asked for these instead.
type LIDHops interface {
	LeastTo(sw fabric.SwitchIndex, lid uint16) uint8
	ThroughTo(sw fabric.SwitchIndex, port uint8, lid uint16) uint8
}

// NoHops is the hop count of what cannot be reached.
const NoHops = 0xff

// Recommend says by which port OpenSM would send to a LID if it had to choose
// now. opensm.fdbs names that port where the table takes a longer path.
type Recommend func(sw fabric.SwitchIndex, lid uint16) uint8

// WriteFDBs writes forwarding tables with their hop counts as OpenSM does in opensm.fdbs (osm_dump.c,
// dump_ucast_routes), byte for byte where the hop counts are those that OpenSM routed by. Recommend is asked in
// the order of the lines. O(switches x LIDs).
func WriteFDBs(w io.Writer, t *fabric.Tables, hops Hops, recommend Recommend) error {
	d := fdbWriter{b: bufio.NewWriterSize(w, 1<<16), t: t, hops: hops, recommend: recommend, targets: fdbTargets(t)}
	d.lidHops, _ = hops.(LIDHops)
	for s := range t.Fabric.NumSwitches() {
		if !t.Known[s] || !t.Fabric.SwitchNode(s).InSubnet {
			continue
		}
		if err := d.write(s); err != nil {
			return fmt.Errorf("write forwarding tables with hops: %w", err)
		}
	}
	return flush(d.b, "forwarding tables with hops")
}

// fdbTarget is what a LID belongs to.
type fdbTarget struct {
	// sw is the switch that has the LID or on which the end port hangs.
	sw fabric.SwitchIndex
	// owned says that some end port has the LID.
	owned, isSwitch bool
}

func fdbTargets(t *fabric.Tables) []fdbTarget {
	var top uint16
	for _, v := range t.Top {
		top = max(top, v)
	}
	targets := make([]fdbTarget, int(top)+1)
	for lid := range targets {
		e := t.Fabric.PortByLID(uint16(lid))
		if e == fabric.None {
			targets[lid].sw = fabric.None
			continue
		}
		sw, _ := t.Fabric.AttachedSwitch(e)
		isSwitch := t.Fabric.Nodes[t.Fabric.Ports[e].Node].IsSwitch()
		targets[lid] = fdbTarget{sw: sw, owned: true, isSwitch: isSwitch}
	}
	return targets
}

type fdbWriter struct {
	b         *bufio.Writer
	t         *fabric.Tables
	hops      Hops
	lidHops   LIDHops // nil where there are none
	recommend Recommend
	targets   []fdbTarget
	// direct says that an adapter with hop counts of its own LID was met on this
	// switch. OpenSM then adds the last hop to no later one.
	direct bool
}

func (d *fdbWriter) write(sw fabric.SwitchIndex) error {
	_, err := fmt.Fprintf(d.b, "dump_ucast_routes: Switch 0x%016x\nLID    : Port : Hops : Optimal\n",
		d.t.Fabric.SwitchNode(sw).GUID)
	if err != nil {
		return err
	}
	d.direct = false
	for lid := 1; lid <= int(d.t.Top[sw]); lid++ {
		line := append(d.b.AvailableBuffer(), "0x"...)
		line = appendHex16(line, uint16(lid), upperHex)
		line = append(line, " : "...)
		if _, err := d.b.Write(d.appendRoute(line, sw, uint16(lid))); err != nil {
			return err
		}
	}
	return nil
}

func (d *fdbWriter) appendRoute(line []byte, sw fabric.SwitchIndex, lid uint16) []byte {
	target, port := d.targets[lid], d.t.LFT.Port(sw, lid)
	if !target.owned || port == fabric.NoPath {
		return append(line, "UNREACHABLE\n"...)
	}
	line = appendDecimal3(line, port)
	hops, best := d.count(sw, port, lid, target)
	if hops == NoHops {
		return append(line, "  : HOPS UNKNOWN\n"...)
	}
	line = append(line, "  : "...)
	line = appendDecimal2(line, hops)
	line = append(line, "   : "...)
	if best == hops {
		return append(line, "yes\n"...)
	}
	return fmt.Appendf(line, "No %d hop path possible via port %d!\n", best, d.recommend(sw, lid))
}

// count returns the number of hops to a target by a port, and the least by any port.
func (d *fdbWriter) count(sw fabric.SwitchIndex, port uint8, lid uint16, target fdbTarget) (hops, best uint8) {
	if d.lidHops != nil && !target.isSwitch && port <= d.t.Fabric.SwitchNode(sw).NumPorts {
		if hops = d.lidHops.ThroughTo(sw, port, lid); hops != NoHops {
			d.direct = true
			return hops, d.lidHops.LeastTo(sw, lid)
		}
	}
	if hops = d.through(sw, port, target); hops == NoHops {
		return NoHops, NoHops
	}
	best = d.hops.Least(sw, target.sw)
	if !target.isSwitch && !d.direct {
		hops++
		best++
	}
	return hops, best
}

// through returns the number of hops to the switch of a target.
func (d *fdbWriter) through(sw fabric.SwitchIndex, port uint8, target fdbTarget) uint8 {
	switch {
	case target.sw == fabric.None || port > d.t.Fabric.SwitchNode(sw).NumPorts:
		return NoHops
	case target.sw == sw && !target.isSwitch:
		return 0
	case port == 0:
		return d.hops.Least(sw, target.sw)
	}
	return d.hops.Through(sw, port, target.sw)
}
