// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// ErrNoRoute reports that there is no directed route to a port.
var ErrNoRoute = errors.New("no directed route")

// Routes holds the shortest directed routes from a fabric's SM port. A route is valid as long as its links exist.
type Routes struct {
	f       *fabric.Fabric
	paths   []mad.Path // by node
	reached []bool
}

// NewRoutes computes the routes of a fabric. There is no route to ports that are not connected to the SM's port or are
// more than [mad.MaxHops] hops away. O(ports).
func NewRoutes(f *fabric.Fabric) *Routes {
	r := &Routes{f: f, paths: make([]mad.Path, len(f.Nodes)), reached: make([]bool, len(f.Nodes))}
	if f.SMPort == fabric.None {
		return r
	}
	queue := make([]fabric.NodeIndex, 0, len(f.Nodes))
	start := f.Ports[f.SMPort].Node
	r.reached[start] = true
	visit := func(from fabric.NodeIndex, port fabric.PortIndex) {
		peer := f.PeerNode(port)
		if peer == fabric.None || r.reached[peer] {
			return
		}
		path, err := r.paths[from].Append(f.Ports[port].Num)
		if err != nil {
			return
		}
		r.reached[peer], r.paths[peer] = true, path
		if f.Nodes[peer].IsSwitch() {
			queue = append(queue, peer)
		}
	}
	if f.Nodes[start].IsSwitch() {
		queue = append(queue, start)
	} else {
		visit(start, f.SMPort)
	}
	for next := 0; next < len(queue); next++ {
		n := &f.Nodes[queue[next]]
		for p := range n.Ports() {
			visit(queue[next], p)
		}
	}
	return r
}

// ToNode returns the route to a node. The route may end at any port of the node. The error wraps [ErrNoRoute].
func (r *Routes) ToNode(node fabric.NodeIndex) (mad.Path, error) {
	if !r.reached[node] {
		return mad.Path{}, fmt.Errorf("%s: %w", r.f.NodeName(node), ErrNoRoute)
	}
	return r.paths[node], nil
}

// ToPort returns the route that ends at the given end port. On a channel adapter the port matters, because the agent
// changes only the port that receives the request. For a port of a switch, ToPort returns the route to the switch. The
// error wraps [ErrNoRoute].
func (r *Routes) ToPort(port fabric.PortIndex) (mad.Path, error) {
	p := &r.f.Ports[port]
	if port == r.f.SMPort || r.f.Nodes[p.Node].IsSwitch() {
		return r.ToNode(p.Node)
	}
	peer := r.f.PeerNode(port)
	if peer == fabric.None || !r.reached[peer] || !r.f.Nodes[peer].IsSwitch() && p.Peer != r.f.SMPort {
		return mad.Path{}, fmt.Errorf("%s: %w", r.f.PortName(port), ErrNoRoute)
	}
	return r.paths[peer].Append(r.f.Ports[p.Peer].Num)
}
