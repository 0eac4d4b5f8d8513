// SPDX-License-Identifier: Apache-2.0

package torus

import (
	"context"
	"sync/atomic"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
)

// host is an end port with LIDs on a switch. It is a port of an adapter or router, or the switch itself.
type host struct {
	lid  uint16
	lids uint8
	port uint8 // of the switch, 0 for itself
}

// hosts returns the hosts on each switch, in the order in which they are routed.
func (t *Torus) hosts() [][]host {
	all := make([][]host, len(t.switches))
	for s := range t.switches {
		n := t.f.SwitchNode(t.switches[s].sw)
		for _, p := range t.inOrder {
			if p > n.NumPorts || t.group[n.FirstPort+fabric.PortIndex(p)] != hostGroup {
				continue
			}
			end := n.FirstPort
			if p != 0 {
				end = t.f.Ports[n.FirstPort+fabric.PortIndex(p)].Peer
			}
			e := &t.f.Ports[end]
			all[s] = append(all[s], host{lid: e.LID, lids: 1 << e.LMC, port: p})
		}
	}
	return all
}

// tables computes the routes from every switch to every host. Routes to hosts use parallel links in turn. Routes to
// switches do the same, independently of hosts. O(switches^2 + switches x LIDs).
func (t *Torus) tables(ctx context.Context, progress func(done, total int)) (*fabric.LFT, error) {
	lft := fabric.NewLFT(len(t.f.Switches), t.f.MaxLID)
	w, hosts := t.newPaths(), t.hosts()
	var lost atomic.Int64 // a pair of switches without a path, plus 1
	err := routing.ForEach(ctx, len(t.switches), progress, func(_, s int) {
		if d := t.fill(lft.Row(t.switches[s].sw), int32(s), w, hosts); d != absent {
			lost.CompareAndSwap(0, int64(s)*int64(len(t.switches))+int64(d)+1)
		}
	})
	if err != nil {
		return nil, err
	}
	if pair := lost.Load(); pair != 0 {
		n := int64(len(t.switches))
		return nil, routing.Refuse(Name, "%s has no path to %s (ERR 4E39)", t.name(int32((pair-1)/n)),
			t.name(int32((pair-1)%n)))
	}
	return lft, nil
}

// fill fills in the table of switch s. It returns a switch to which s has no path, or absent.
func (t *Torus) fill(row []uint8, s int32, w *paths, hosts [][]host) (lost int32) {
	lost = absent
	var turns [2 * dims]turn
	for d := range int32(len(t.switches)) {
		if d == s {
			for _, h := range hosts[d] {
				h.write(row, h.port)
			}
			continue
		}
		group := t.towards(w, s, d)
		if group == noPath {
			lost = d
			continue
		}
		ports := t.switches[s].groups[group]
		if len(ports) > 1 {
			turns[group].fill(row, hosts[d], ports)
			continue
		}
		for _, h := range hosts[d] {
			h.write(row, ports[0])
		}
	}
	return lost
}

// write sets the entries for all LIDs of a host to a port.
func (h host) write(row []uint8, port uint8) {
	row[h.lid] = port
	for l := int(h.lid) + 1; l < min(int(h.lid)+int(h.lids), len(row)); l++ {
		row[l] = port
	}
}

// turn holds which of several parallel links is next, for routes to switches and for routes to hosts.
type turn struct{ switches, hosts int }

func (u *turn) fill(row []uint8, hosts []host, ports []uint8) {
	for _, h := range hosts {
		at := &u.hosts
		if h.port == 0 {
			at = &u.switches
		}
		h.write(row, ports[*at])
		if *at++; *at == len(ports) {
			*at = 0
		}
	}
}
