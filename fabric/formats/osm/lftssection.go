// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"slices"

	"example.org/ibconsole/internal/base/hugepages"
)

// routeSection is the table of one switch. Entry i is for targets[i], by ports[i].
type routeSection struct {
	guid    uint64
	name    string
	line    int
	targets []target
	ports   []uint8
	first   int  // the number of the first entry in the file
	ended   bool // by "N lids dumped"
	// shared says that the targets are those of the table before, of which there may be more or fewer than ports while
	// the table is being read.
	shared bool
}

// target is what an entry is for.
type target struct {
	guid int32 // index into guids, -1 without one
	lid  uint16
}

type routeEntry struct {
	target
	port uint8
}

// add adds an entry. Most tables are for the targets of the one before, in their order.
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

// memory is what entries take, in bytes.
func (s *routeSection) memory() int {
	if s.shared {
		return cap(s.ports)
	}
	return cap(s.ports) + cap(s.targets)*targetMemory
}

// rooms are what is left of memory in which ports of many tables lie.
type rooms []uint8

// take gives room for so many ports.
func (r *rooms) take(n int) []uint8 {
	if n > len(*r) {
		*r = hugepages.Make[uint8](max(n, 4<<20))
	}
	ports := (*r)[:0:n]
	*r = (*r)[n:]
	return ports
}
