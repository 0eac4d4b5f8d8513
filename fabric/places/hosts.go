// SPDX-License-Identifier: Apache-2.0

package places

import (
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/slurm"
)

// HostFinder finds hosts by name, including the hosts of host lists of Slurm. Simulated failures do not change its
// results: a host keeps its switch and its name while it is unreachable. [fabric.Fabric.Without] keeps the indexes.
type HostFinder struct {
	Fabric *fabric.Fabric
	byName map[string][]fabric.PortIndex // end ports by Slurm's name of their host
}

// Find returns the end ports of the hosts that word names: a host list, a host, a directed route to a node, or a
// switch, which means all its hosts.
func (h *HostFinder) Find(word string) ([]fabric.PortIndex, error) {
	names, err := []string{word}, error(nil)
	if !strings.HasPrefix(word, directed) { // whose commas separate ports
		names, err = slurm.Expand(word)
	}
	if err != nil {
		return nil, err
	}
	if h.byName == nil {
		h.byName = map[string][]fabric.PortIndex{}
		for _, e := range h.Fabric.Whole().EndPorts {
			if n := &h.Fabric.Nodes[h.Fabric.Ports[e].Node]; !n.IsSwitch() {
				name := HostName(n)
				h.byName[name] = append(h.byName[name], e)
			}
		}
	}
	var ends []fabric.PortIndex
	for _, name := range names {
		if found := h.byName[name]; found != nil {
			ends = append(ends, found...)
			continue
		}
		at, err := Resolve(h.Fabric, name)
		if err != nil {
			return nil, err
		}
		if n := &h.Fabric.Nodes[at.Node]; n.IsSwitch() {
			ends = append(ends, h.attached(n)...)
			continue
		}
		ends = append(ends, h.Fabric.EndPortOf(at.Port))
	}
	return ends, nil
}

// JobEnds returns the end ports of the hosts of a job, a host list of Slurm, and the names of hosts that the fabric
// does not have.
func (h *HostFinder) JobEnds(list string) (ends []fabric.PortIndex, missing []string, err error) {
	names, err := slurm.Expand(list)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		found, err := h.Find(name)
		if err != nil {
			missing = append(missing, name)
		}
		ends = append(ends, found...)
	}
	slices.Sort(ends)
	return slices.Compact(ends), missing, nil
}

// attached returns the end ports of the hosts that are attached to a switch.
func (h *HostFinder) attached(n *fabric.Node) []fabric.PortIndex {
	var ends []fabric.PortIndex
	f := h.Fabric.Whole()
	for p := range n.Ports() {
		if f.Ports[p].Linked() && !f.Nodes[f.PeerNode(p)].IsSwitch() && !f.IsAggregation(f.PeerNode(p)) {
			ends = append(ends, f.EndPortOf(f.Ports[p].Peer))
		}
	}
	return ends
}

// HostName returns the name of the host that contains an adapter.
func HostName(n *fabric.Node) string { return slurm.NodeName(n.Desc, n.GUID) }
