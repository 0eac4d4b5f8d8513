// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
)

// SwitchPort is a port of a switch, with data from a file. GUID is the node GUID of the switch.
type SwitchPort struct {
	GUID uint64
	Port uint8
	// Weight is the weight from a hop_weights_file. It is 0 for other files.
	Weight uint8
}

// SwitchPorts holds the ports of one switch in the order that a port_search_ordering_file states.
type SwitchPorts struct {
	GUID  uint64
	Ports []uint8
}

// GUIDs returns the GUIDs of all lines in order, including repeated GUIDs.
func (f *GUIDFile) GUIDs() []uint64 {
	all := make([]uint64, len(f.Lines))
	for i, l := range f.Lines {
		all[i] = l.GUID
	}
	return all
}

// IDs parses an ids_guid_file (osm_ucast_updn.c, update_id) and returns the number of each switch by GUID. If a switch
// occurs twice, the later line counts.
//
// OpenSM stops at a line with an invalid number, and IDs returns a note about this line. Lines of switches that are not
// in the subnet are skipped. The function known reports whether a switch is in the subnet; if the function known is
// nil, all are.
func (f *GUIDFile) IDs(known func(guid uint64) bool) (ids map[uint64]uint64, stop *FileNote) {
	ids = map[uint64]uint64{}
	for _, l := range f.Lines {
		if known != nil && !known(l.GUID) {
			continue
		}
		id, rest, _ := l.Number()
		if rest != "" && !isCSpace(rest[0]) {
			n := f.lineNote(l, "%q is not a number; OpenSM stops reading here (ERR AA05)", shorten([]byte(l.Rest)))
			return ids, &n
		}
		ids[l.GUID] = id
	}
	return ids, nil
}

// Ports parses a port_prof_ignore_file (osm_ucast_mgr.c, mark_ignored_port). OpenSM skips lines without a port number.
// Ports returns a note for each of them.
func (f *GUIDFile) Ports() (ports []SwitchPort, notes []FileNote) {
	for _, l := range f.Lines {
		port, _, fault := l.port()
		if fault != "" {
			notes = append(notes, f.lineNote(l, "%s; OpenSM skips the line", fault))
			continue
		}
		ports = append(ports, SwitchPort{GUID: l.GUID, Port: port})
	}
	return ports, notes
}

// Weights parses a hop_weights_file (osm_ucast_mgr.c, set_hop_wf). OpenSM skips a line unless it has a port number and
// a weight from 1 to 255. Weights returns a note for each skipped line.
func (f *GUIDFile) Weights() (weights []SwitchPort, notes []FileNote) {
	for _, l := range f.Lines {
		port, rest, fault := l.port()
		var weight uint8
		if fault == "" {
			weight, fault = hopWeight(rest)
		}
		if fault != "" {
			notes = append(notes, f.lineNote(l, "%s; OpenSM skips the line", fault))
			continue
		}
		weights = append(weights, SwitchPort{l.GUID, port, weight})
	}
	return weights, notes
}

// Orders parses a port_search_ordering_file (osm_ucast_mgr.c, set_search_ordering_ports). OpenSM skips lines with an
// invalid or repeated port number, and Orders returns a note for each of them. If two lines are for the same switch,
// the first one with valid ports counts.
func (f *GUIDFile) Orders() (orders []SwitchPorts, notes []FileNote) {
	for _, l := range f.Lines {
		ports, fault := l.order()
		switch {
		case fault != "":
			notes = append(notes, f.lineNote(l, "%s; OpenSM skips the line", fault))
		case len(ports) > 0:
			orders = append(orders, SwitchPorts{l.GUID, ports})
		}
	}
	return orders, notes
}

// port parses the port number of a line. OpenSM uses the lower 32 bits of the number.
func (l *GUIDLine) port() (port uint8, rest, fault string) {
	n, rest, ok := l.Number()
	if n = uint64(uint32(n)); !ok || n == 0 || n >= fabric.NoPath {
		return 0, rest, fmt.Sprintf("%q does not begin with a port number", shorten([]byte(l.Rest)))
	}
	return uint8(n), rest, ""
}

// hopWeight parses a weight that follows one arbitrary character.
func hopWeight(s string) (weight uint8, fault string) {
	if s == "" {
		return 0, "no weight after the port number"
	}
	n, rest, _ := cUnsigned(s[1:])
	if n = uint64(uint32(n)); rest == s[1:] || n == 0 || n > 255 {
		return 0, fmt.Sprintf("%q is not a weight from 1 to 255", shorten([]byte(s[1:])))
	}
	return uint8(n), ""
}

// order parses port numbers up to a comment. OpenSM uses the lower 8 bits of each number.
func (l *GUIDLine) order() (ports []uint8, fault string) {
	var seen [256]bool
	for rest := l.Rest; rest != "" && rest[0] != '#'; rest = strings.TrimLeft(rest, cSpace) {
		n, after, ok := leadingNumber(rest)
		port := uint8(n)
		switch {
		case !ok || port == 0 || port == fabric.NoPath:
			return nil, fmt.Sprintf("%q does not begin with a port number", shorten([]byte(rest)))
		case seen[port]:
			return nil, fmt.Sprintf("port %d is listed twice", port)
		}
		seen[port] = true
		ports, rest = append(ports, port), after
	}
	return ports, ""
}

func (f *GUIDFile) lineNote(l GUIDLine, format string, args ...any) FileNote {
	return FileNote{File: f.Name, Line: l.Line, Text: fmt.Sprintf(format, args...)}
}
