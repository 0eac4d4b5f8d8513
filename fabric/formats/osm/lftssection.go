// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"slices"

	"example.org/ibconsole/internal/base/hugepages"
)

// routeSection is the table of one switch. Entry i is for targets[i] and leaves by ports[i].
type routeSection struct {
	guid    uint64
	name    string
	line    int
	targets []target
	ports   []uint8
	first   int  // the number of the first entry in the file
	ended   bool // with "N lids dumped"
	// shared is set while the targets are those of the table before. While the table is being read, their number may
	// differ from that of ports.
	shared bool
}

// target is the destination of an entry.
type target struct {
	guid int32 // index into guids, -1 without one
	lid  uint16
}

type routeEntry struct {
	target
	port uint8
}

// add adds an entry. Most tables have the same targets as the table before, in the same order.
func (s *routeSection) add(e routeEntry) {
	n := len(s.ports)
	s.ports = append(s.ports, e.port)
	switch {
	case s.shared && n < len(s.targets) && s.targets[n] == e.target:
		return
	case s.shared:
		s.targets, s.shared = slices.Clone(s.targets[:n]), false
	}
	s.targets = append(s.targets, e.target)
}

// close ends the table.
func (s *routeSection) close() { s.targets = s.targets[:len(s.ports):len(s.ports)] }

// memory returns the size of the entries in bytes.
func (s *routeSection) memory() int {
	if s.shared {
		return cap(s.ports)
	}
	return cap(s.ports) + cap(s.targets)*targetMemory
}

// portArena is the unused part of a slab for the ports of many tables.
type portArena []uint8

// alloc returns an empty slice with capacity n.
func (r *portArena) alloc(n int) []uint8 {
	if n > len(*r) {
		*r = hugepages.Make[uint8](max(n, 4<<20))
	}
	ports := (*r)[:0:n]
	*r = (*r)[n:]
	return ports
}
