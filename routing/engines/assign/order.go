// SPDX-License-Identifier: Apache-2.0

package assign

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// targets lists all end ports to which tables have routes, in the order in which they are routed.
type targets struct {
	list []target
	lids []uint16 // the first LID of each
	runs []run
	// stretches lists the indexes of the runs whose field counted differs from that of the previous run.
	stretches []int
}

// run is a sequence of targets on one switch. The targets share the least-hop ports. They have the indexes first to
// end-1.
type run struct {
	sw         fabric.SwitchIndex
	first, end int32
	// counted is set if the routes to the targets count as uses of ports.
	counted bool
}

func (t *targets) of(r *run) []target { return t.list[r.first:r.end] }

// target is an end port to route to.
type target struct {
	lid uint16
	// lid is the lowest LID of the port. lids is the number of its LIDs to which tables have routes.
	lids uint8
	// local is the port of the run's switch that leads to the target. It is 0 if the target is the switch itself.
	local   uint8
	scatter bool
}

// lister sorts the end ports of a subnet into OpenSM's order of routing.
type lister struct {
	f      *fabric.Fabric
	opt    *routing.Options
	listed []bool // by port
	targets
}

// targetOrder lists the end ports in the order in which OpenSM routes to them (osm_ucast_mgr.c, ucast_mgr_build_lfts).
// First come the ports that the routing order lists. Then come adapters and routers, starting with the switch that has
// the most of them. Switches with the same number are in table order, and the adapters of one switch in the order of
// ports. Switches come last, in table order.
func targetOrder(f *fabric.Fabric, opt *routing.Options) targets {
	l := lister{f: f, opt: opt, listed: make([]bool, len(f.Ports)), targets: targets{
		list: make([]target, 0, len(f.EndPorts)), lids: make([]uint16, 0, len(f.EndPorts)),
		runs: make([]run, 0, 2*len(f.Switches)),
	}}
	for _, guid := range opt.RoutingOrder {
		if e := f.PortByGUID(guid); e != fabric.None {
			l.add(e, !opt.RoutingOrderNoScatter)
		}
	}
	for _, s := range byLoad(f) {
		n := f.SwitchNode(s)
		for p := range n.Ports() {
			if isHost(f, f.Ports[p].Peer) {
				l.add(f.Ports[p].Peer, true)
			}
		}
	}
	for _, e := range f.EndPorts {
		l.add(e, true)
	}
	return l.targets
}

func (l *lister) add(e fabric.PortIndex, scatter bool) {
	if l.listed[e] {
		return
	}
	l.listed[e] = true
	sw, local := l.f.AttachedSwitch(e)
	if sw == fabric.None {
		return // a host attached to another host
	}
	counted := local != 0 || l.opt.ProfileSwitchNodes
	if k := len(l.runs) - 1; k < 0 || l.runs[k].sw != sw || l.runs[k].counted != counted {
		if k < 0 || l.runs[k].counted != counted {
			l.stretches = append(l.stretches, len(l.runs))
		}
		at := int32(len(l.list))
		l.runs = append(l.runs, run{sw: sw, counted: counted, first: at, end: at})
	}
	l.runs[len(l.runs)-1].end++
	lid, lmc := l.f.Ports[e].LID, min(l.opt.LMC, l.f.Ports[e].LMC)
	l.list = append(l.list, target{lid: lid, lids: 1 << lmc, local: local, scatter: scatter})
	l.lids = append(l.lids, lid)
}

// byLoad returns the switches of the subnet, sorted by descending number of hosts.
func byLoad(f *fabric.Fabric) []fabric.SwitchIndex {
	var switches []fabric.SwitchIndex
	hosts := make([]int, len(f.Switches))
	for s := range f.NumSwitches() {
		n := f.SwitchNode(s)
		if !n.InSubnet {
			continue
		}
		switches = append(switches, s)
		for p := range n.Ports() {
			if isHost(f, f.Ports[p].Peer) {
				hosts[s]++
			}
		}
	}
	slices.SortStableFunc(switches, func(a, b fabric.SwitchIndex) int { return cmp.Compare(hosts[b], hosts[a]) })
	return switches
}

func isHost(f *fabric.Fabric, port fabric.PortIndex) bool {
	return port != fabric.None && !f.Nodes[f.Ports[port].Node].IsSwitch()
}
