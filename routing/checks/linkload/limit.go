// SPDX-License-Identifier: Apache-2.0

package linkload

import "example.org/ibconsole/fabric"

// The shares of the limit of a link from which on its load is high, above the limit, and far above the limit. A tenth
// more than the limit does not count: a routing is rarely completely even.
const (
	HalfLimit    = 0.5
	OverLimit    = 1.1
	FarOverLimit = 1.5
)

// Limits holds, by port, the number of paths up to which a link is no bottleneck.
type Limits []float64

// Limits returns the limit of each port. It is the larger of two numbers:
//   - The number of paths at which the link is as busy as the busiest link of a host. Up to this number, traffic of all
//     hosts to all others waits for the links of hosts only. If all links have the same speed, it is the number of
//     other hosts.
//   - The paths between the same two tiers in the same direction, divided evenly among their links. No routing can
//     lower the busiest of these links below this number, so a tapered tree is not over its limit.
//
// The argument tier is the tier of each switch, nil if all are in the same tier. The limit is 0 for ports without a
// link. Both numbers are proportional to the speed of the link. O(ports).
func (l *Loads) Limits(tier []int32) Limits {
	f := l.Fabric
	type step struct{ from, to int32 }
	at := func(p fabric.PortIndex) int32 {
		if sw := f.Nodes[f.Ports[p].Node].Switch; sw != fabric.None && tier != nil {
			return tier[sw]
		}
		return 0
	}
	hosts := 0.0 // paths by Gbit/s of the busiest link of a host
	paths, rates := map[step]float64{}, map[step]float64{}
	for p := range f.NumPorts() {
		switch ClassOf(f, p) {
		case None:
		case FromHost, ToHost:
			hosts = max(hosts, float64(l.Paths[p])/rateOf(f, p))
		case BetweenSwitches:
			s := step{at(p), at(f.Ports[p].Peer)}
			paths[s] += float64(l.Paths[p])
			rates[s] += rateOf(f, p)
		}
	}
	limits := make(Limits, len(f.Ports))
	for p := range f.NumPorts() {
		switch ClassOf(f, p) {
		case None:
		case FromHost, ToHost:
			limits[p] = hosts * rateOf(f, p)
		case BetweenSwitches:
			s := step{at(p), at(f.Ports[p].Peer)}
			limits[p] = max(hosts, paths[s]/rates[s]) * rateOf(f, p)
		}
	}
	return limits
}

// rateOf returns the rate of a link in Gbit/s, or 1 if it is not known.
func rateOf(f *fabric.Fabric, p fabric.PortIndex) float64 {
	if rate := f.Ports[p].Gbps(); rate > 0 {
		return rate
	}
	return 1
}

// OfLimit returns the paths over the link of a port, divided by its limit. It returns false if the number of paths is
// not known or the port has no link.
func (l *Loads) OfLimit(limits Limits, port fabric.PortIndex) (float64, bool) {
	if !l.Known(port) || limits[port] == 0 {
		return 0, false
	}
	return float64(l.Paths[port]) / limits[port], true
}
