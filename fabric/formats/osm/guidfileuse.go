// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
)

// SwitchPort is a port of a switch, named by the switch's node GUID, with what a file says of it.
type SwitchPort struct {
	GUID uint64
	Port uint8
	// Weight is that of a hop_weights_file, else 0.
	Weight uint8
}

// SwitchPorts are ports of a switch in the order of a port_search_ordering_file.
type SwitchPorts struct {
	GUID  uint64
	Ports []uint8
}

// GUIDs returns the GUIDs of all lines, also those that come again.
func (f *GUIDFile) GUIDs() []uint64 {
	all := make([]uint64, len(f.Lines))
	for i, l := range f.Lines {
		all[i] = l.GUID
	}
	return all
}

// IDs reads an ids_guid_file (osm_ucast_updn.c, update_id): the number of each switch, the last one where
// there are several. OpenSM stops at a number that it cannot read, which the note then says, unless the
// switch is not in the subnet. known says which switches are; nil is all.
func (f *GUIDFile) IDs(known func(guid uint64) bool) (ids map[uint64]uint64, stop *FileNote) {
	ids = map[uint64]uint64{}
	for _, l := range f.Lines {
		if known != nil && !known(l.GUID) {
			continue
		}
		id, rest, _ := l.Number()
		if rest != "" && !isCSpace(rest[0]) {
			n := f.lineNote(l, "%q is no number; OpenSM reads no further (ERR AA05)", shorten([]byte(l.Rest)))
			return ids, &n
		}
		ids[l.GUID] = id
	}
	return ids, nil
}

// Ports reads a port_prof_ignore_file (osm_ucast_mgr.c, mark_ignored_port).
// OpenSM passes over lines without a port number, which are noted.
func (f *GUIDFile) Ports() (ports []SwitchPort, notes []FileNote) {
	for _, l := range f.Lines {
		port, _, why := l.port()
		if why != "" {
			notes = append(notes, f.lineNote(l, "%s; OpenSM passes over the line", why))
			continue
		}
		ports = append(ports, SwitchPort{GUID: l.GUID, Port: port})
	}
	return ports, notes
}

// Weights reads a hop_weights_file (osm_ucast_mgr.c, set_hop_wf). OpenSM passes
// over lines without a port number and a weight of 1 to 255, which are noted.
func (f *GUIDFile) Weights() (weights []SwitchPort, notes []FileNote) {
	for _, l := range f.Lines {
		port, rest, why := l.port()
		var weight uint8
		if why == "" {
			weight, why = hopWeight(rest)
		}
		if why != "" {
			notes = append(notes, f.lineNote(l, "%s; OpenSM passes over the line", why))
			continue
		}
		weights = append(weights, SwitchPort{l.GUID, port, weight})
	}
	return weights, notes
}

// Orders reads a port_search_ordering_file (osm_ucast_mgr.c, set_search_ordering_ports). OpenSM passes over lines
// with something that is no port number, or with one twice, which are noted. Of two lines for a switch the first
// whose ports it has counts.
func (f *GUIDFile) Orders() (orders []SwitchPorts, notes []FileNote) {
	for _, l := range f.Lines {
		ports, why := l.order()
		switch {
		case why != "":
			notes = append(notes, f.lineNote(l, "%s; OpenSM passes over the line", why))
		case len(ports) > 0:
			orders = append(orders, SwitchPorts{l.GUID, ports})
		}
	}
	return orders, notes
}

// port reads the port number of a line. OpenSM keeps the low 32 bits of it.
func (l *GUIDLine) port() (port uint8, rest, why string) {
	n, rest, ok := l.Number()
	if n = uint64(uint32(n)); !ok || n == 0 || n >= fabric.NoPath {
		return 0, rest, fmt.Sprintf("%q does not begin with a port number", shorten([]byte(l.Rest)))
	}
	return uint8(n), rest, ""
}

// hopWeight reads a weight behind one character of any kind.
func hopWeight(s string) (weight uint8, why string) {
	if s == "" {
		return 0, "there is no weight after the port number"
	}
	n, rest, _ := cUnsigned(s[1:])
	if n = uint64(uint32(n)); rest == s[1:] || n == 0 || n > 255 {
		return 0, fmt.Sprintf("%q is no weight of 1 to 255", shorten([]byte(s[1:])))
	}
	return uint8(n), ""
}

// order reads port numbers up to a comment. OpenSM keeps the low 8 bits of them.
func (l *GUIDLine) order() (ports []uint8, why string) {
	var seen [256]bool
	for rest := l.Rest; rest != "" && rest[0] != '#'; rest = strings.TrimLeft(rest, cSpace) {
		n, after, ok := leadingNumber(rest)
		port := uint8(n)
		switch {
		case !ok || port == 0 || port == fabric.NoPath:
			return nil, fmt.Sprintf("%q does not begin with a port number", shorten([]byte(rest)))
		case seen[port]:
			return nil, fmt.Sprintf("port %d stands there twice", port)
		}
		seen[port] = true
		ports, rest = append(ports, port), after
	}
	return ports, ""
}

func (f *GUIDFile) lineNote(l GUIDLine, format string, args ...any) FileNote {
	return FileNote{File: f.Name, Line: l.Line, Text: fmt.Sprintf(format, args...)}
}
