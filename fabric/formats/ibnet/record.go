// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"cmp"
	"fmt"
	"sort"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// record is a node in the file.
type record struct {
	at    place
	name  *nodeName
	desc  string
	typ   mad.NodeType
	ports int
	// guid is the node GUID by ibsim's rules. guided is set if a line before the record states this GUID. bracketed is
	// the GUID B in switchguid=A(B).
	guid, bracketed uint64
	guided          bool
	system          uint64
	vendor          uint32
	device          uint16
	enhanced        bool
	addr            address
	cables          []cable
	listed          portSet // ports with a line, even one that could not be read
	taken           portSet // ports whose line was read
	start           enabled
	// node is the index of the node in the fabric, None if the record was skipped.
	node fabric.NodeIndex
}

// nodeName is the entry for the id of a node. Lines may refer to a node before its record, or to a node that has no
// record.
type nodeName struct {
	id      string
	record  *record // nil if there is no readable record
	skipped bool    // there is an unreadable record
}

// cable is one port line.
type cable struct {
	at     place
	port   int
	guid   uint64
	addr   address
	rate   enabled
	stated statedRate

	// ownAlias is the alias that the line gives to the port. A line that gives an alias has no remote port.
	ownAlias string

	remote      *nodeName
	remotePort  int
	remoteGUID  uint64
	remoteAlias string
	// comment is the part of the line's comment after the first quote, see remoteComment.
	comment string
	// hasNoTarget is set if the remote port does not exist. This fault has already been reported.
	hasNoTarget bool
}

// address is a LID and its LMC.
type address struct {
	lid uint16
	lmc uint8
}

// place is a position in the input: an index into parser.files, and a line number.
type place struct{ file, line int32 }

// portSet is a set of port numbers.
type portSet [4]uint64

func (s *portSet) add(port int)      { s[port/64] |= 1 << (port % 64) }
func (s *portSet) has(port int) bool { return s[port/64]&(1<<(port%64)) != 0 }

// cableAt returns the port line of a port, nil if the port has no line. The lines must be sorted by port.
func (r *record) cableAt(port int) *cable {
	i := sort.Search(len(r.cables), func(i int) bool { return r.cables[i].port >= port })
	if i < len(r.cables) && r.cables[i].port == port {
		return &r.cables[i]
	}
	return nil
}

// idGUID returns the GUID in an id such as "S-0002c90300000001", 0 for ids of other forms.
func idGUID(id string) uint64 {
	if len(id) != 18 || id[1] != '-' {
		return 0
	}
	guid, err := strconv.ParseUint(id[2:], 16, 64)
	if err != nil {
		return 0
	}
	return guid
}

// systemInGUIDLine reports whether the record has ibdiagnet's form. In this form the line switchguid=A(B) has the GUID
// of the system before that of the node.
func (r *record) systemInGUIDLine() bool {
	return r.bracketed != 0 && r.bracketed != r.guid && idGUID(r.name.id) == r.bracketed
}

// guids holds the GUIDs of a node and its system. For a switch it also holds the GUID of the ports.
type guids struct{ node, system, port uint64 }

// ibsimGUIDs returns the GUIDs that ibsim derives from the lines before the record.
func (r *record) ibsimGUIDs() guids { return guids{r.guid, cmp.Or(r.system, r.guid), r.guid} }

// statedGUIDs returns the GUIDs that the lines before the record and the node's id state. If the two node GUIDs differ,
// it returns the GUID in the id and an error.
func (r *record) statedGUIDs() (guids, error) {
	g := guids{r.guid, r.system, r.bracketed}
	in := idGUID(r.name.id)
	switch {
	case r.systemInGUIDLine():
		g.node, g.system = r.bracketed, cmp.Or(r.system, r.guid)
	case in != 0 && !r.guided:
		g.node = in
	case in != 0 && in != g.node:
		before := g.node
		g.node = in
		g.system, g.port = cmp.Or(g.system, in), in
		return g, fmt.Errorf("node %s: the lines before the record have GUID 0x%016x, expected 0x%016x",
			quote(r.name.id),
			before, in)
	}
	g.system, g.port = cmp.Or(g.system, g.node), cmp.Or(g.port, g.node)
	return g, nil
}

// quote returns text of the file for use in a message: in quotes, escaped and shortened.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strconv.Quote(s)
}
