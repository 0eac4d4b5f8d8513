// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
)

// GUIDFile is a file whose lines begin with a GUID. Further data may follow the GUID. [GUIDFileKind] lists the files of
// this form.
type GUIDFile struct {
	Name string
	// Lines holds the lines that OpenSM accepts.
	Lines []GUIDLine
	// Broken is set if OpenSM stops reading at an invalid line. Only the lines before it take effect.
	Broken bool
	// Notes lists lines that OpenSM skips or interprets in an unexpected way.
	Notes []FileNote
}

// GUIDLine is a line of a [GUIDFile].
type GUIDLine struct {
	GUID uint64
	// Rest is the text after the GUID and the space that follows it.
	Rest string
	Line int
}

// guidLine is the size of the buffer into which OpenSM reads a line of these files (cl_nodenamemap.c).
const guidLine = 256

// ReadGUIDFile reads a file of GUIDs as OpenSM does (cl_nodenamemap.c, parse_node_map). It skips empty lines and lines
// that begin with #. A GUID is a number in C's notation, so it is hexadecimal only after 0x. Notes lists faults and how
// OpenSM handles them. ReadGUIDFile returns an error only if reading fails. O(bytes).
func ReadGUIDFile(r io.Reader, name string) (*GUIDFile, error) {
	f := &GUIDFile{Name: name}
	pieces := newPieceReader(r, name, guidLine)
	for {
		piece, err := pieces.next()
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			return f, err
		}
		if pieces.rest && strings.Trim(piece, cSpace) != "" {
			f.note(pieces.line, "the line is longer than %d bytes; OpenSM reads the rest as a separate line",
				guidLine-1)
		}
		text := strings.TrimLeft(piece, cSpace)
		if text == "" || text[0] == '#' {
			continue
		}
		guid, rest, _ := cUnsigned(text)
		if rest == text || (rest != "" && !isCSpace(rest[0]) && rest[0] != '#') {
			f.Broken = true
			f.note(pieces.line, "%q does not begin with a GUID, expected 0x and up to 16 digits; OpenSM reads no "+
				"further", shorten([]byte(text)))
			return f, nil
		}
		if !strings.HasPrefix(strings.ToLower(text), "0x") {
			f.note(pieces.line, "the GUID has no 0x; OpenSM reads it as 0x%x", guid)
		}
		rest, _, _ = strings.Cut(strings.TrimLeft(rest, cSpace), "\n")
		f.Lines = append(f.Lines, GUIDLine{GUID: guid, Rest: rest, Line: pieces.line})
	}
}

func (f *GUIDFile) note(line int, format string, args ...any) {
	f.Notes = append(f.Notes, FileNote{File: f.Name, Line: line, Text: fmt.Sprintf(format, args...)})
}

// Number parses the number at the beginning of Rest like C's strtoull with base 0. It also returns the text after the
// number.
func (l *GUIDLine) Number() (n uint64, rest string, ok bool) { return leadingNumber(l.Rest) }

// leadingNumber parses the number at the beginning of s. ok is false if s does not begin with a number.
func leadingNumber(s string) (n uint64, rest string, ok bool) {
	n, rest, _ = cUnsigned(s)
	return n, rest, rest != s
}

// GUIDFileKind identifies an OpenSM option whose value is the name of a file of GUIDs.
type GUIDFileKind uint8

// The options. The comments state what each line of the file contains.
const (
	RootGUIDs    GUIDFileKind = iota // root_guid_file: a switch
	ComputeNodes                     // cn_guid_file: a port
	IONodes                          // io_guid_file: a port
	SwitchIDs                        // ids_guid_file: a switch and a number
	RoutingOrder                     // guid_routing_order_file: a port
	IgnoredPorts                     // port_prof_ignore_file: a switch and a port number
	HopWeights                       // hop_weights_file: a switch, a port number and a weight
	SearchOrder                      // port_search_ordering_file: a switch and port numbers
)

var guidFileKinds = []struct {
	option string
	ports  bool
	broken string
}{
	{
		"root_guid_file", false, "updn uses the roots before it and searches for others; ftree searches for roots " +
			"and does not require a pure fat-tree (ERR AA02, AB2A)",
	},
	{"cn_guid_file", true, "ftree, dfsssp and sssp refuse to route (ERR AB23, AD33)"},
	{"io_guid_file", true, "ftree, dfsssp and sssp refuse to route (ERR AB28, AD35)"},
	{"ids_guid_file", false, "updn uses the numbers before it (ERR AA03)"},
	{"guid_routing_order_file", true, "OpenSM uses the ports before it (ERR 3A0D)"},
	{"port_prof_ignore_file", false, "OpenSM uses the lines before it (ERR 3A0E)"},
	{"hop_weights_file", false, "OpenSM uses the lines before it (ERR 3A05)"},
	{"port_search_ordering_file", false, "OpenSM uses the lines before it (ERR 3A0F)"},
}

// Option returns the name of the option.
func (k GUIDFileKind) Option() string { return guidFileKinds[k].option }

// OfPorts reports whether the GUIDs in the file are port GUIDs. Otherwise they are node GUIDs of switches.
func (k GUIDFileKind) OfPorts() bool { return guidFileKinds[k].ports }

// AfterBroken describes how OpenSM continues if a file of this kind is [GUIDFile.Broken] or cannot be read.
func (k GUIDFileKind) AfterBroken() string { return guidFileKinds[k].broken }

// Check returns a note for each line that has no effect on the subnet. Either the GUID is absent or of the wrong type,
// or the switch does not have the port, or an earlier line overrides the line.
//
// Check does not repeat faults of the lines themselves. [GUIDFile.Notes] and the functions that parse each kind list
// these faults. O(lines).
func (f *GUIDFile) Check(net *fabric.Fabric, kind GUIDFileKind) []FileNote {
	c := guidFileCheck{net: net, kind: kind, seen: map[uint64]int{}}
	var notes []FileNote
	for _, l := range f.Lines {
		fault := c.wrongGUID(l.GUID)
		if fault == "" {
			fault = c.withoutEffect(l)
		}
		if fault != "" {
			notes = append(notes, f.lineNote(l, "%s; OpenSM skips the line", fault))
		}
	}
	return notes
}

type guidFileCheck struct {
	net  *fabric.Fabric
	kind GUIDFileKind
	// seen maps a GUID to its line number. It is used for the kinds of files in which only the first line of a GUID
	// counts.
	seen map[uint64]int
}

// wrongGUID returns the reason why a GUID does not fit the option, "" if it fits.
func (c *guidFileCheck) wrongGUID(guid uint64) string {
	node, port := c.net.NodeByGUID(guid), c.net.PortByGUID(guid)
	known := node != fabric.None && c.net.Nodes[node].InSubnet
	switch {
	case c.kind.OfPorts() && port != fabric.None:
		return ""
	case c.kind.OfPorts() && known:
		return fmt.Sprintf("0x%016x is the node GUID of %s, expected a port GUID", guid, c.net.NodeName(node))
	case !c.kind.OfPorts() && known && c.net.Nodes[node].IsSwitch():
		return ""
	case !c.kind.OfPorts() && known:
		return fmt.Sprintf("0x%016x is %s, expected the node GUID of a switch", guid, c.net.NodeName(node))
	case !c.kind.OfPorts() && port != fabric.None:
		return fmt.Sprintf("0x%016x is the port GUID of %s, expected the node GUID of a switch", guid,
			c.net.PortName(port))
	}
	return fmt.Sprintf("0x%016x is not in the subnet", guid)
}

// withoutEffect returns the reason why a line with a valid GUID has no effect, "" if the line has an effect. It ignores
// invalid numbers, because the functions that parse them note them.
func (c *guidFileCheck) withoutEffect(l GUIDLine) string {
	if at := c.seen[l.GUID]; at > 0 {
		return fmt.Sprintf("0x%016x is already on line %d", l.GUID, at)
	}
	var ports []uint8
	switch c.kind {
	case IgnoredPorts, HopWeights:
		if port, _, fault := l.port(); fault == "" {
			ports = append(ports, port)
		}
	case SearchOrder:
		ports, _ = l.order()
	}
	for _, p := range ports {
		if n := &c.net.Nodes[c.net.NodeByGUID(l.GUID)]; p > n.NumPorts {
			return fmt.Sprintf("%s has no port %d", c.net.NodeName(c.net.NodeByGUID(l.GUID)), p)
		}
	}
	if c.kind == RoutingOrder || (c.kind == SearchOrder && len(ports) > 0) {
		c.seen[l.GUID] = l.Line
	}
	return ""
}
