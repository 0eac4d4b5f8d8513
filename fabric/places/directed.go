// SPDX-License-Identifier: Apache-2.0

package places

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// directed begins the text of a directed route.
const directed = "dr:"

// Hop is a link of a directed route.
type Hop struct {
	Out fabric.PortIndex // the port through which the packet leaves a node
	In  fabric.PortIndex // the port at the other end of the link
}

// ParseDirected returns the ports of a directed route as infiniband-diags write it: 0, and then the number of the port
// of exit on each node, such as 0,1,10,19.
func ParseDirected(text string) ([]uint8, error) {
	var route []uint8
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(word, 10, 8)
		if err != nil || (len(route) == 0) != (n == 0) {
			return nil, fmt.Errorf("%q is not a directed route, expected 0 and then ports of exit from 1 to 255, such "+
				"as 0,1,10,19", text)
		}
		route = append(route, uint8(n))
	}
	if len(route) > mad.MaxHops+1 {
		return nil, fmt.Errorf("a directed route of %d links, expected at most %d", len(route)-1, mad.MaxHops)
	}
	return route, nil
}

// DirectedText returns the text of a directed route, such as dr:0,1,10,19.
func DirectedText(hops []Hop, f *fabric.Fabric) string {
	var b strings.Builder
	b.WriteString("dr:0")
	for _, h := range hops {
		fmt.Fprintf(&b, ",%d", f.Ports[h.Out].Num)
	}
	return b.String()
}

// FollowDirected returns the links of a directed route that begins at a node. If the route leads over a port that does
// not exist or has no link, or through an adapter, it returns the links before this port and an error.
func FollowDirected(f *fabric.Fabric, from fabric.NodeIndex, route []uint8) ([]Hop, error) {
	var hops []Hop
	at := from
	for i, num := range route[1:] {
		if i > 0 && !f.Nodes[at].IsSwitch() {
			return hops, fmt.Errorf("link %d: %s is no switch, so it does not forward packets", i+1, f.NodeName(at))
		}
		out := f.PortAt(at, int(num))
		if out == fabric.None {
			return hops, fmt.Errorf("link %d: %s has no port %d", i+1, f.NodeName(at), num)
		}
		peer := f.Ports[out].Peer
		if peer == fabric.None {
			return hops, fmt.Errorf("link %d: %s has no link", i+1, f.PortName(out))
		}
		hops = append(hops, Hop{out, peer})
		at = f.Ports[peer].Node
	}
	return hops, nil
}

// FindDirected returns a shortest directed route from a node to a node. Of equal routes it returns the one with the
// lowest ports. It reports false if there is none. O(ports).
func FindDirected(f *fabric.Fabric, from, to fabric.NodeIndex) ([]Hop, bool) {
	before := make([]Hop, len(f.Nodes))
	seen := make([]bool, len(f.Nodes))
	seen[from] = true
	queue := []fabric.NodeIndex{from}
	for len(queue) > 0 && !seen[to] {
		at := queue[0]
		queue = queue[1:]
		if at != from && !f.Nodes[at].IsSwitch() {
			continue
		}
		for out := range f.Nodes[at].Ports() {
			peer := f.Ports[out].Peer
			if peer == fabric.None || seen[f.Ports[peer].Node] {
				continue
			}
			next := f.Ports[peer].Node
			seen[next], before[next] = true, Hop{out, peer}
			queue = append(queue, next)
		}
	}
	if !seen[to] {
		return nil, false
	}
	var hops []Hop
	for at := to; at != from; at = f.Ports[before[at].Out].Node {
		hops = append(hops, before[at])
	}
	slices.Reverse(hops)
	return hops, true
}

// byDirectedRoute returns the node at the end of a directed route from the port [fabric.Fabric.SMPort].
func byDirectedRoute(f *fabric.Fabric, text string) (Place, error) {
	if route, num, found := strings.Cut(text, "/"); found {
		return portBehind(f, num, byDirectedRoute, route)
	}
	route, err := ParseDirected(text)
	if err != nil {
		return Place{}, err
	}
	if f.SMPort == fabric.None {
		return Place{}, fmt.Errorf("dr:%s: the port at which the route begins is unknown", text)
	}
	at := f.Ports[f.SMPort].Node
	hops, err := FollowDirected(f, at, route)
	if err != nil {
		return Place{}, fmt.Errorf("dr:%s from %s: %w", text, f.NodeName(at), err)
	}
	if len(hops) == 0 {
		return Place{Node: at, Port: f.EndPortOf(f.SMPort), LID: f.LIDOf(f.EndPortOf(f.SMPort))}, nil
	}
	end := f.EndPortOf(hops[len(hops)-1].In)
	return Place{Node: f.Ports[end].Node, Port: end, LID: f.LIDOf(end), PortNamed: f.Ports[end].Num > 0}, nil
}

// byNodeGUID returns the node with a node GUID.
func byNodeGUID(f *fabric.Fabric, text string) (Place, error) {
	if guid, num, found := strings.Cut(text, "/"); found {
		return portBehind(f, num, byNodeGUID, guid)
	}
	guid, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return Place{}, fmt.Errorf("%q is not a GUID, expected 0x and up to 16 digits", text)
	}
	node := f.NodeByGUID(guid)
	if node == fabric.None {
		return Place{}, fmt.Errorf("no node has GUID 0x%016x", guid)
	}
	return placeOfNode(f, node), nil
}

// gidGUID returns the port GUID of a GID, which is written as an IPv6 address. It reports false for other texts. A
// multicast GID and a GID of another subnet are errors. The default prefix is valid in every subnet (IBA 4.1.1).
func gidGUID(f *fabric.Fabric, text string) (guid uint64, ok bool, err error) {
	gid, err := mad.ParseGID(text)
	switch {
	case err != nil:
		return 0, false, nil
	case gid[0] == 0xff:
		return 0, false, fmt.Errorf("%s is a multicast GID, expected the GID of a port", gid)
	case f.GIDPrefix != 0 && gid.Prefix() != f.GIDPrefix && gid.Prefix() != mad.DefaultGIDPrefix:
		return 0, false, fmt.Errorf("%s is a GID of another subnet: its prefix is 0x%016x, that of this subnet is "+
			"0x%016x", gid, gid.Prefix(), f.GIDPrefix)
	}
	return gid.GUID(), true, nil
}
