// SPDX-License-Identifier: Apache-2.0

package fabric

import "errors"

// ErrNoLIDs says that the unicast LIDs do not suffice for the ports of a subnet.
var ErrNoLIDs = errors.New("more end ports than unicast LIDs")

// AssignLIDs gives every end port of the subnet one LID as OpenSM does at
// LMC 0 (osm_lid_mgr.c): a port keeps the LID it has; the others get the lowest
// free ones, the SM's port first and the rest in the order of EndPorts. It
// returns f itself where every port has a LID already.
func AssignLIDs(f *Fabric) (*Fabric, error) {
	lids := make([]uint16, len(f.EndPorts))
	used := make([]bool, MaxUnicastLID+2)
	missing := false
	for i, e := range f.EndPorts {
		lids[i] = f.Ports[e].LID
		used[lids[i]] = true
		missing = missing || lids[i] == 0
	}
	if !missing {
		return f, nil
	}
	next := uint16(1)
	assign := func(i int) error {
		for used[next] {
			next++
		}
		if next > MaxUnicastLID {
			return ErrNoLIDs
		}
		lids[i] = next
		used[next] = true
		return nil
	}
	sm := f.EndPortOf(f.SMPort)
	for pass := range 2 {
		for i, e := range f.EndPorts {
			if (e == sm) != (pass == 0) || lids[i] != 0 {
				continue
			}
			if err := assign(i); err != nil {
				return nil, err
			}
		}
	}
	return f.WithLIDs(lids)
}
