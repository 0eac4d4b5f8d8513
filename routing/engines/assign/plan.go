// SPDX-License-Identifier: Apache-2.0

package assign

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// plan is the input that the routing of all switches shares. It is read-only while tables are computed.
type plan struct {
	Matrix
	targets
	f   *fabric.Fabric
	opt *routing.Options
	// most is the maximum number of LIDs of a port.
	most int
	dor  bool
	// plain is set if the route to a port's first LID depends only on the uses of ports.
	plain bool
	// keeping is set if the same is true except that existing routes are kept.
	keeping bool
	// orders holds the configured search order of each switch that has one.
	orders map[fabric.SwitchIndex][]uint8
	// unused holds, for each switch, the ports whose uses do not count.
	unused map[fabric.SwitchIndex][]uint8
	// identity is the default order of ports.
	identity [256]uint8
	// seeds holds, for each switch, the state of the random generator at the beginning of the switch.
	seeds []routing.Random
}

func newPlan(f *fabric.Fabric, m Matrix, opt *routing.Options, dor bool) *plan {
	p := &plan{
		Matrix: m, f: f, opt: opt, dor: dor,
		targets: targetOrder(f, opt),
		orders:  searchOrders(f, opt.PortSearchOrder),
		unused:  map[fabric.SwitchIndex][]uint8{},
	}
	for port, ignored := range opt.IgnoredPorts {
		if sw := f.SwitchByGUID(port.GUID); ignored && sw != fabric.None && port.Port <= f.SwitchNode(sw).NumPorts {
			p.unused[sw] = append(p.unused[sw], port.Port)
		}
	}
	for i := range p.identity {
		p.identity[i] = uint8(i)
	}
	for i := range p.list {
		p.most = max(p.most, int(p.list[i].lids))
	}
	simple := opt.ScatterPorts == 0 && !opt.PortShifting && len(p.unused) == 0
	p.plain = simple && opt.Existing == nil
	p.keeping = simple && opt.Existing != nil && !dor
	return p
}

// seed records the state of the random generator before each switch, and advances the generator by the draws of this
// switch.
func (p *plan) seed(draws []int) {
	r := routing.NewRandom(p.opt.ScatterPorts)
	p.seeds = make([]routing.Random, len(draws))
	for s, n := range draws {
		p.seeds[s] = r
		for range n {
			r.Next()
		}
	}
}

// searchOrders returns complete search orders for the valid orders among the given orders. Port 0 stays first. Then
// come the listed ports, and then the other ports in ascending order.
func searchOrders(f *fabric.Fabric, given []routing.PortOrder) map[fabric.SwitchIndex][]uint8 {
	orders := map[fabric.SwitchIndex][]uint8{}
	for _, g := range given {
		sw := f.SwitchByGUID(g.GUID)
		if sw == fabric.None || orders[sw] != nil || len(g.Ports) == 0 {
			continue
		}
		if order := complete(g.Ports, int(f.SwitchNode(sw).NumPorts)); order != nil {
			orders[sw] = order
		}
	}
	return orders
}

func complete(ports []uint8, numPorts int) []uint8 {
	var seen [256]bool
	order := make([]uint8, 1, numPorts+1)
	for _, p := range ports {
		if p == 0 || int(p) > numPorts || seen[p] {
			return nil
		}
		seen[p] = true
		order = append(order, p)
	}
	for p := 1; p <= numPorts; p++ {
		if !seen[p] {
			order = append(order, uint8(p))
		}
	}
	return order
}
