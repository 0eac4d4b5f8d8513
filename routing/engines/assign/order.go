// SPDX-License-Identifier: Apache-2.0

package assign

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// run is targets that follow one another in the order of routing and lie behind
// one switch, so that they share its least-hop ports.
type run struct {
	sw      fabric.SwitchIndex
	targets []target
	// counted says that routes to them count as use of a port.
	counted bool
}

// target is an end port that is to be reached.
type target struct {
	lid uint16
	// lids is how many LIDs of the port are routed, from lid on.
	lids uint8
	// local is the port of the run's switch that leads to it, 0 for the switch.
	local   uint8
	scatter bool
}

// lister puts the end ports of a subnet into OpenSM's order of routing.
type lister struct {
	f      *fabric.Fabric
	opt    *routing.Options
	listed []bool // by port
	runs   []run
}

// targetOrder lists the end ports behind switches in the order in which OpenSM spreads them over ports
// (osm_ucast_mgr.c, ucast_mgr_build_lfts): those that the user named; then the adapters and routers, from the
// switch with the most of them on, alike ones in table order, by port number within a switch; then the rest,
// switches, in table order.
func targetOrder(f *fabric.Fabric, opt *routing.Options) []run {
	l := lister{f: f, opt: opt, listed: make([]bool, len(f.Ports))}
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
	return l.runs
}

func (l *lister) add(e fabric.PortIndex, scatter bool) {
	if l.listed[e] {
		return
	}
	l.listed[e] = true
	sw, local := l.f.AttachedSwitch(e)
	if sw == fabric.None {
		return // a host that is attached to another host
	}
	counted := local != 0 || l.opt.ProfileSwitchNodes
	if k := len(l.runs) - 1; k < 0 || l.runs[k].sw != sw || l.runs[k].counted != counted {
		l.runs = append(l.runs, run{sw: sw, counted: counted})
	}
	r := &l.runs[len(l.runs)-1]
	r.targets = append(r.targets, target{
		lid: l.f.Ports[e].LID, lids: 1 << min(l.opt.LMC, l.f.Ports[e].LMC), local: local, scatter: scatter,
	})
}

// byLoad are the switches of the subnet, from that with the most hosts on.
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
