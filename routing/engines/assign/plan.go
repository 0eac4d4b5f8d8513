// SPDX-License-Identifier: Apache-2.0

package assign

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// plan is what all switches are assigned by. It is read-only while they are.
type plan struct {
	Matrix
	targets
	f   *fabric.Fabric
	opt *routing.Options
	// most is the highest number of LIDs that a port has.
	most int
	dor  bool
	// plain says that first LIDs go by the use of ports alone.
	plain bool
	// keeping says that they do where a route is not kept.
	keeping bool
	// orders are the search orders that the user gave, by switch.
	orders map[fabric.SwitchIndex][]uint8
	// unused are the ports whose use does not count, by switch.
	unused map[fabric.SwitchIndex][]uint8
	// identity is the order of ports where the user gave none.
	identity [256]uint8
	// seeds are the random generators as each switch finds them.
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

// seed draws what all switches will draw, in their order, and notes how the generator stands before each.
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

// searchOrders completes the orders that are valid: port 0 stays first, those
// listed come next, then the others in ascending order.
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
