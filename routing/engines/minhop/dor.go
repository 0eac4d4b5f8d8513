// SPDX-License-Identifier: Apache-2.0

package minhop

import (
	"context"
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/sssp"
)

// DOR is dimension order routing. It takes the lowest of the least-hop ports. If each dimension has the same port on
// every switch, packets therefore travel along the first dimension first. The tables equal OpenSM's byte for byte. They
// can deadlock on tori, and on fabrics that are not cabled in dimensions; see [routing.Options].
type DOR struct{}

// Name implements [routing.Engine].
func (DOR) Name() string { return "dor" }

// Route implements [routing.Engine]. It warns of cables that cannot be in the dimension of their port. It has the cost
// of [Engine.Route], and the same parts are sequential.
func (e DOR) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	g := routing.NewGraph(f)
	res, err := route(ctx, f, g, opt, e.Name(), true)
	if err != nil {
		return nil, err
	}
	res.Warnings = append(res.Warnings, inconsistent(f, g)...)
	if !opt.DORVLs {
		return res, nil
	}
	if err := e.giveVLs(ctx, f, opt, res); err != nil {
		return nil, err
	}
	return res, nil
}

// giveVLs adds SLs and VLs to the tables so that packets cannot deadlock.
func (e DOR) giveVLs(ctx context.Context, f *fabric.Fabric, opt routing.Options, res *routing.Result) error {
	sls, sl2vl, needed, err := sssp.ServiceLevels(ctx, res.Tables.LFT, f, opt, e.Name())
	if err != nil {
		return err
	}
	res.Tables.SLs, res.Tables.SL2VL = sls, sl2vl
	note := "the paths are free of credit loops on one VL"
	if needed > 1 {
		note = fmt.Sprintf("the paths are free of credit loops on %d VLs by SLs, which OpenSM's dor does not set",
			needed)
	}
	res.Warnings = append(res.Warnings, note)
	return nil
}

// inconsistent returns warnings about port numbers whose cables do not arrive at the same port number everywhere. A
// dimension of a hypercube has the same port number at both ends of all its cables. A dimension of a mesh has the same
// pair of port numbers (OpenSM's doc/current-routing.txt, DOR Routing Algorithm).
func inconsistent(f *fabric.Fabric, g *routing.Graph) []string {
	ports := 0
	for _, l := range g.Links {
		ports = max(ports, int(l.Port)+1, int(l.PeerPort)+1)
	}
	all := make([]int, ports*ports) // by near and far port
	for _, l := range g.Links {
		all[int(l.Port)*ports+int(l.PeerPort)]++
	}
	var warnings []string
	for port := range ports {
		usual, all, arrivals := 0, 0, all[port*ports:][:ports]
		for there, n := range arrivals {
			if all += n; n > arrivals[usual] {
				usual = there
			}
		}
		if others := all - arrivals[usual]; others > 0 {
			warnings = append(warnings,
				fmt.Sprintf("port %d is not one dimension: its cables lead to port %d, but %d of %d do not: %s",
					port, usual, others, all, exceptions(f, g, uint8(port), uint8(usual))))
		}
	}
	return warnings
}

// maxListed is the maximum number of examples in a warning.
const maxListed = 3

// exceptions lists the cables of a port number that do not arrive at the usual port number.
func exceptions(f *fabric.Fabric, g *routing.Graph, port, usual uint8) string {
	var names []string
	for s := range f.NumSwitches() {
		for _, l := range g.Of(s) {
			if l.Port != port || l.PeerPort == usual {
				continue
			}
			if len(names) == maxListed {
				return strings.Join(names, ", ") + ", ..."
			}
			here, there := f.Port(f.Switches[s], l.Port), f.Port(f.Switches[l.Peer], l.PeerPort)
			names = append(names, f.PortName(here)+" to "+f.PortName(there))
		}
	}
	return strings.Join(names, ", ")
}
