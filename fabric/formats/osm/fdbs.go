// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

// Hops returns hop counts between switches. Switches are identified by their index. OpenSM calls these hop counts lid
// matrices.
type Hops interface {
	// Least returns the smallest number of hops from switch sw to switch dst, [NoHops] if there is no path.
	Least(sw, dst fabric.SwitchIndex) uint8
	// Through returns the number of hops from switch sw to switch dst if the path begins with this port. It returns
	// NoHops if no path does.
	Through(sw fabric.SwitchIndex, port uint8, dst fabric.SwitchIndex) uint8
}

// LIDHops returns hop counts from switches to LIDs. OpenSM keeps such counts for the engines sssp, dfsssp and nue. If a
// [Hops] also implements LIDHops, WriteFDBs uses these counts for the LIDs of adapters.
type LIDHops interface {
	LeastTo(sw fabric.SwitchIndex, lid uint16) uint8
	ThroughTo(sw fabric.SwitchIndex, port uint8, lid uint16) uint8
}

// NoHops is the hop count of an unreachable destination.
const NoHops = 0xff

// Recommend returns the port that OpenSM would choose now for a LID. WriteFDBs writes this port for an entry of the
// table whose path is longer than necessary.
type Recommend func(sw fabric.SwitchIndex, lid uint16) uint8

// WriteFDBs writes forwarding tables with their hop counts as OpenSM does in opensm.fdbs (osm_dump.c,
// dump_ucast_routes). The bytes are the same as OpenSM's if OpenSM routed with these hop counts. WriteFDBs calls the
// function recommend in the order of the lines. O(switches x LIDs).
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

// fdbTarget describes the owner of a LID.
type fdbTarget struct {
	// sw is the switch that has the LID, or the switch to which the end port with the LID is attached.
	sw fabric.SwitchIndex
	// owned is set if an end port has the LID.
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
	lidHops   LIDHops // nil if there are none
	recommend Recommend
	targets   []fdbTarget
	// direct is set once the line of an adapter with its own hop counts has been written for this switch. From then on
	// OpenSM does not add the hop from the last switch to an adapter.
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

// count returns the number of hops to a target through a port, and the smallest number through any port.
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

// through returns the number of hops, through a port, to the switch of a target.
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
