// SPDX-License-Identifier: Apache-2.0

package failures

import (
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
)

// Paper is a subnet on paper.
type Paper struct {
	// Whole is the subnet with all that was added, as if nothing had failed.
	Whole *fabric.Fabric
	// Now is the same without the links that do not work, which are Failed.
	Now    *fabric.Fabric
	Failed map[fabric.Link]bool
}

// ConflictError says that something cannot have happened after what happened before.
type ConflictError struct {
	Of  Failure
	Why string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%s %s, number %d: %s", e.Of.What, e.Of.Name, e.Of.Number, e.Why)
}

// On lets one thing after the other happen to a subnet. It fails with a [ConflictError] where one needs a port
// that is taken, or something that is not there. O(ports), and without additions as [fabric.Fabric.Without].
func On(base *fabric.Fabric, all []Failure) (*Paper, error) {
	d := drawing{
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
	return &Paper{whole, whole.Without(slices.Collect(maps.Keys(d.failed))), d.failed}, nil
}

// drawing is a subnet while things happen to it.
type drawing struct {
	base *fabric.Fabric
	// come are the nodes that are new, ports how many port slots there are.
	come  []fabric.Node
	ports fabric.PortIndex
	// peer is where ports lead now whose cables are not those of the base, None for nowhere.
	peer map[fabric.PortIndex]fabric.PortIndex
	// failed are the cables that do not work, dead the nodes that failed as such.
	failed map[fabric.Link]bool
	dead   map[fabric.NodeIndex]bool
}

// do lets one thing happen; else why says why it cannot.
func (d *drawing) do(f *Failure) (why string) {
	if f.Added {
		if why := d.nodesCome(f); why != "" {
			return why
		}
	}
	if slices.ContainsFunc(f.Links, func(l fabric.Link) bool { return max(l.A, l.B) >= d.ports }) ||
		slices.ContainsFunc(f.Nodes, func(n fabric.NodeIndex) bool { return n >= d.numNodes() }) {
		return "it is of something that was added, and is not there then"
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

func (d *drawing) fail(p, peer fabric.PortIndex) {
	if peer != fabric.None {
		d.failed[fabric.Link{A: min(p, peer), B: max(p, peer)}] = true
	}
}

func (d *drawing) repair(f *Failure) (why string) {
	for _, n := range f.Nodes {
		delete(d.dead, n)
	}
	for _, l := range f.Links {
		if d.cabledTo(l.A) != l.B {
			return "the cable is no more, as a port got another one"
		}
		delete(d.failed, l)
	}
	return ""
}

// nodesCome puts new nodes behind those that are there, where the indexes of what came later count on them.
func (d *drawing) nodesCome(f *Failure) (why string) {
	for i, n := range f.New {
		if f.Nodes[i] != d.numNodes() {
			return "it came after another node, and has to be undone before that"
		}
		n.FirstPort = d.ports
		d.come = append(d.come, n)
		d.ports += fabric.PortIndex(n.NumPorts) + 1
	}
	return ""
}

func (d *drawing) numNodes() fabric.NodeIndex {
	return d.base.NumNodes() + fabric.NodeIndex(len(d.come))
}

func (d *drawing) add(f *Failure) (why string) {
	for _, l := range f.Left {
		if d.cabledTo(l.A) != l.B {
			return "the cable that it left is no more"
		}
		d.unplug(l)
	}
	for _, l := range f.Links {
		for _, p := range [2]fabric.PortIndex{l.A, l.B} {
			if why := d.free(p); why != "" {
				return why
			}
		}
		d.peer[l.A], d.peer[l.B] = l.B, l.A
	}
	return ""
}

// free makes a port free for a cable: one that has failed goes.
func (d *drawing) free(p fabric.PortIndex) (why string) {
	n := d.nodeOf(p)
	name := fmt.Sprintf("%s/%d", fabric.Escape(d.node(n).Desc), p-d.node(n).FirstPort)
	peer := d.cabledTo(p)
	old := fabric.Link{A: min(p, peer), B: max(p, peer)}
	switch {
	case d.dead[n]:
		return fabric.Escape(d.node(n).Desc) + " has failed on paper"
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

// unplug takes a cable away.
func (d *drawing) unplug(l fabric.Link) {
	d.peer[l.A], d.peer[l.B] = fabric.None, fabric.None
	delete(d.failed, l)
}

// cabledTo is where a port's cable leads, whether it works or not.
func (d *drawing) cabledTo(p fabric.PortIndex) fabric.PortIndex {
	if peer, ok := d.peer[p]; ok {
		return peer
	}
	if p >= d.base.NumPorts() {
		return fabric.None
	}
	return d.base.Ports[p].Peer
}

// node is one that is there, or that came.
func (d *drawing) node(n fabric.NodeIndex) *fabric.Node {
	if n < d.base.NumNodes() {
		return &d.base.Nodes[n]
	}
	return &d.come[n-d.base.NumNodes()]
}

func (d *drawing) nodeOf(p fabric.PortIndex) fabric.NodeIndex {
	if p < d.base.NumPorts() {
		return d.base.Ports[p].Node
	}
	i := slices.IndexFunc(d.come, func(n fabric.Node) bool { return p <= n.FirstPort+fabric.PortIndex(n.NumPorts) })
	return d.base.NumNodes() + fabric.NodeIndex(i)
}

// whole is the base with the nodes and the cables that there are.
func (d *drawing) whole() (*fabric.Fabric, error) {
	if len(d.come)+len(d.peer) == 0 {
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
	return d.base.With(gone, d.come, come)
}
