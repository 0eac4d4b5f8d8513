// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"io"
	"strings"
)

// GUIDFile is a file with one GUID per line, followed by further data. [GUIDFileKind] lists the files of this form.
type GUIDFile struct {
	Name string
	// Lines holds the lines that OpenSM accepts.
	Lines []GUIDLine
	// Broken is set if OpenSM stops reading at an invalid line. The lines before it have taken effect.
	Broken bool
	// Notes lists lines that OpenSM skips or interprets in an unexpected way.
	Notes []FileNote
}

// GUIDLine is a line of a [GUIDFile].
type GUIDLine struct {
	GUID uint64
	// Rest is the text after the GUID and space.
	Rest string
	Line int
}

// guidLine is the size of the buffer into which OpenSM reads a line of these files (cl_nodenamemap.c).
const guidLine = 256

// ReadGUIDFile reads a file of GUIDs as OpenSM does (cl_nodenamemap.c, parse_node_map). Empty lines and lines that
// begin with # are skipped. A GUID is a number in C's notation, so it is hexadecimal only after 0x. Faults are noted
// together with OpenSM's action. The error is that of reading. O(bytes).
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

// Number parses a number at the beginning of Rest like C's strtoull with base 0. It also returns the text after it.
func (l *GUIDLine) Number() (n uint64, rest string, ok bool) { return leadingNumber(l.Rest) }

// leadingNumber parses a number at the beginning of s; ok is false if there is none.
func leadingNumber(s string) (n uint64, rest string, ok bool) {
	n, rest, _ = cUnsigned(s)
	return n, rest, rest != s
}

// GUIDFileKind is an option of OpenSM whose value is the name of a file of GUIDs.
type GUIDFileKind uint8

// The options, with the content of a line of their files.
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
		"root_guid_file", false, "updn uses the roots before it and searches for others; ftree searches for roots and does " +
			"not require a pure fat-tree (ERR AA02, AB2A)",
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

// OfPorts reports whether the GUIDs in the file are port GUIDs. If not, they are node GUIDs of switches.
func (k GUIDFileKind) OfPorts() bool { return guidFileKinds[k].ports }

// AfterBroken describes what OpenSM does if such a file is [GUIDFile.Broken] or cannot be read.
func (k GUIDFileKind) AfterBroken() string { return guidFileKinds[k].broken }
