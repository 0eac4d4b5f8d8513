// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
)

// Simulation is a subnet with simulated changes.
type Simulation struct {
	// Whole is the subnet with all additions, but without any failure.
	Whole *fabric.Fabric
	// Now is Whole without the failed links. Failed contains these links.
	Now    *fabric.Fabric
	Failed map[fabric.Link]bool
}

// ConflictError reports a change that contradicts earlier changes.
type ConflictError struct {
	Of  Failure
	Why string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s %s, number %d: %s", e.Of.What, e.Of.Name, e.Of.Number, e.Why)
}

// Apply applies changes to a subnet in order. It returns a [ConflictError] if a change needs an occupied port or a part
// that does not exist. O(ports); if nothing is added, it costs as much as [fabric.Fabric.Without].
func Apply(base *fabric.Fabric, all []Failure) (*Simulation, error) {
	d := builder{
		base: base, ports: base.NumPorts(), peer: map[fabric.PortIndex]fabric.PortIndex{},
		failed: map[fabric.Link]bool{}, dead: map[fabric.NodeIndex]bool{},
	}
	for i := range all {
		if why := d.do(&all[i]); why != "" {
			return nil, &ConflictError{all[i], why}
		}
	}
	whole, err := d.whole()
	if err != nil {
		return nil, err
	}
	return &Simulation{whole, whole.Without(slices.Collect(maps.Keys(d.failed))), d.failed}, nil
}

// builder applies changes.
type builder struct {
	base *fabric.Fabric
	// newNodes holds the new nodes. ports is the number of port slots including those of new nodes.
	newNodes []fabric.Node
	ports    fabric.PortIndex
	// peer holds the new peer of each port whose cable differs from the base fabric, None for a port without a cable.
	peer map[fabric.PortIndex]fabric.PortIndex
	// failed contains the failed cables. dead contains the failed nodes.
	failed map[fabric.Link]bool
	dead   map[fabric.NodeIndex]bool
}

// do applies one change. If the change is impossible, the result why is the reason, otherwise it is "".
func (d *builder) do(f *Failure) (why string) {
	if f.Added {
		if why := d.addNodes(f); why != "" {
			return why
		}
	}
	if slices.ContainsFunc(f.Links, func(l fabric.Link) bool { return max(l.A, l.B) >= d.ports }) ||
		slices.ContainsFunc(f.Nodes, func(n fabric.NodeIndex) bool { return n >= d.numNodes() }) {
		return "it depends on an addition that is missing"
	}
	switch {
	case f.Added:
		return d.add(f)
	case f.Repair:
		return d.repair(f)
	}
	for _, n := range f.Nodes {
		d.dead[n] = true
		for p := range d.node(n).Ports() {
			d.fail(p, d.cabledTo(p))
		}
	}
	for _, l := range f.Links {
		if d.cabledTo(l.A) == l.B {
			d.fail(l.A, l.B)
		}
	}
	return ""
}

func (d *builder) fail(p, peer fabric.PortIndex) {
	if peer != fabric.None {
		d.failed[fabric.Link{A: min(p, peer), B: max(p, peer)}] = true
	}
}

func (d *builder) repair(f *Failure) (why string) {
	for _, n := range f.Nodes {
		delete(d.dead, n)
	}
	for _, l := range f.Links {
		if d.cabledTo(l.A) != l.B {
			return "the cable no longer exists, a port has another one"
		}
		delete(d.failed, l)
	}
	return ""
}

// addNodes appends the new nodes of an addition to the existing nodes. Later changes refer to the new nodes by these
// indexes. If this is impossible, the result why is the reason.
func (d *builder) addNodes(f *Failure) (why string) {
	for i, n := range f.New {
		if f.Nodes[i] != d.numNodes() {
			return "it follows another added node, and must be undone before that"
		}
		n.FirstPort = d.ports
		d.newNodes = append(d.newNodes, n)
		d.ports += fabric.PortIndex(n.NumPorts) + 1
	}
	return ""
}

func (d *builder) numNodes() fabric.NodeIndex {
	return d.base.NumNodes() + fabric.NodeIndex(len(d.newNodes))
}

func (d *builder) add(f *Failure) (why string) {
	for _, l := range f.Left {
		if d.cabledTo(l.A) != l.B {
			return "its old cable no longer exists"
		}
		d.unplug(l)
	}
	for _, l := range f.Links {
		for _, p := range [2]fabric.PortIndex{l.A, l.B} {
			if why := d.freePort(p); why != "" {
				return why
			}
		}
		d.peer[l.A], d.peer[l.B] = l.B, l.A
	}
	return ""
}

// freePort makes a port free for a new cable: it removes a failed cable from the port. If the port cannot be freed, the
// result why is the reason.
func (d *builder) freePort(p fabric.PortIndex) (why string) {
	n := d.nodeOf(p)
	name := fmt.Sprintf("%s/%d", fabric.Escape(d.node(n).Desc), p-d.node(n).FirstPort)
	peer := d.cabledTo(p)
	old := fabric.Link{A: min(p, peer), B: max(p, peer)}
	switch {
	case d.dead[n]:
		return fabric.Escape(d.node(n).Desc) + " has failed in the what-if"
	case peer == fabric.None:
		return ""
	case !d.failed[old]:
		return fmt.Sprintf("%s is cabled to %s/%d", name, fabric.Escape(d.node(d.nodeOf(peer)).Desc),
			peer-d.node(d.nodeOf(peer)).FirstPort)
	case p == d.base.SMPort || peer == d.base.SMPort:
		return name + " has the only cable of the subnet manager's port"
	}
	d.unplug(old)
	return ""
}

// unplug removes a cable.
func (d *builder) unplug(l fabric.Link) {
	d.peer[l.A], d.peer[l.B] = fabric.None, fabric.None
	delete(d.failed, l)
}

// cabledTo returns the port at the other end of the cable of a port. The cable may have failed.
func (d *builder) cabledTo(p fabric.PortIndex) fabric.PortIndex {
	if peer, ok := d.peer[p]; ok {
		return peer
	}
	if p >= d.base.NumPorts() {
		return fabric.None
	}
	return d.base.Ports[p].Peer
}

// node returns node n, which is a node of the base fabric or a new node.
func (d *builder) node(n fabric.NodeIndex) *fabric.Node {
	if n < d.base.NumNodes() {
		return &d.base.Nodes[n]
	}
	return &d.newNodes[n-d.base.NumNodes()]
}

func (d *builder) nodeOf(p fabric.PortIndex) fabric.NodeIndex {
	if p < d.base.NumPorts() {
		return d.base.Ports[p].Node
	}
	i := slices.IndexFunc(d.newNodes, func(n fabric.Node) bool { return p <= n.FirstPort+fabric.PortIndex(n.NumPorts) })
	return d.base.NumNodes() + fabric.NodeIndex(i)
}

// whole returns the base fabric with the new nodes and the current cables.
func (d *builder) whole() (*fabric.Fabric, error) {
	if len(d.newNodes)+len(d.peer) == 0 {
		return d.base, nil
	}
	var gone, come []fabric.Link
	for _, p := range slices.Sorted(maps.Keys(d.peer)) {
		peer, was := d.peer[p], fabric.PortIndex(fabric.None)
		if p < d.base.NumPorts() {
			was = d.base.Ports[p].Peer
		}
		if peer == was {
			continue
		}
		if was > p {
			gone = append(gone, fabric.Link{A: p, B: was})
		}
		if peer > p {
			come = append(come, fabric.Link{A: p, B: peer})
		}
	}
	return d.base.With(gone, d.newNodes, come)
}
