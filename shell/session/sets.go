// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// HostSet is a named set of hosts, such as the hosts of a job.
type HostSet struct {
	Name string
	// Ports are the GUIDs of their end ports.
	Ports []uint64
}

// In returns the end ports of the set in a subnet, and separately those that failures made unreachable. The result
// missing is the number of hosts that are not in the subnet.
func (h *HostSet) In(f *fabric.Fabric) (ends, unreachable []fabric.PortIndex, missing int) {
	for _, guid := range h.Ports {
		p := f.PortByGUID(guid)
		at := slices.IndexFunc(f.Unreachable, func(e fabric.PortIndex) bool { return f.Ports[e].GUID == guid })
		switch {
		case p != fabric.None:
			ends = append(ends, p)
		case at >= 0:
			unreachable = append(unreachable, f.Unreachable[at])
		default:
			missing++
		}
	}
	return ends, unreachable, missing
}

// List returns the set as a host list of Slurm: the GUIDs of its end ports, sorted.
func (h *HostSet) List() string {
	return strings.Join(prose.Words(slices.Sorted(slices.Values(h.Ports)), func(guid uint64) string {
		return fmt.Sprintf("0x%016x", guid)
	}), ",")
}

// HostSets are sets of hosts in the order of their creation.
type HostSets []HostSet

// Named returns the set with a name, or nil if there is none.
func (l HostSets) Named(name string) *HostSet {
	for i := range l {
		if l[i].Name == name {
			return &l[i]
		}
	}
	return nil
}

// With returns the sets with another set added, which replaces a set of the same name. A set without ports only removes
// the set of the same name.
func (l HostSets) With(set HostSet) HostSets {
	sets := slices.Clone(l)
	at := slices.IndexFunc(sets, func(h HostSet) bool { return h.Name == set.Name })
	switch {
	case at < 0 && len(set.Ports) > 0:
		return append(sets, set)
	case at < 0:
		return sets
	case len(set.Ports) > 0:
		sets[at] = set
		return sets
	}
	return slices.Delete(sets, at, at+1)
}
