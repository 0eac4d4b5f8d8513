// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"cmp"
	"fmt"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// record is a node as the file has it.
type record struct {
	at    place
	name  *named
	desc  string
	typ   mad.NodeType
	ports int
	// guid is the GUID by ibsim's rules, guided says that a line before the record
	// states it; bracketed is the one in switchguid=A(B).
	guid, bracketed uint64
	guided          bool
	system          uint64
	vendor          uint32
	device          uint16
	enhanced        bool
	addr            address
	cables          []cable
	listed          portSet // ports with a line, be it one that could not be read
	taken           portSet // ports whose line was read
	start           enabled
	// node is the one that was made of it, None where it is left out.
	node fabric.NodeIndex
}

// named is what an id stands for: lines name nodes before they have a record, and some that have none.
type named struct {
	id     string
	record *record // nil where there is none that could be read
	gone   bool    // there is one that could not be read
}

// cable is one port line.
type cable struct {
	at     place
	port   int
	guid   uint64
	addr   address
	rate   enabled
	stated statedRate

	// own is the alias that the line gives to the port; it then names no remote.
	own string

	remote      *named
	remotePort  int
	remoteGUID  uint64
	remoteAlias string
	// comment is what follows the first quote of the comment, see remoteSays.
	comment string
	// void says that the remote port is not there, and that this was told.
	void bool
}

// address is a LID and its LMC.
type address struct {
	lid uint16
	lmc uint8
}

// place is where something stands: an index into parser.files, and a line.
type place struct{ file, line int32 }

// portSet is a set of port numbers.
type portSet [4]uint64

func (s *portSet) add(port int)      { s[port/64] |= 1 << (port % 64) }
func (s *portSet) has(port int) bool { return s[port/64]&(1<<(port%64)) != 0 }

// cableAt returns the line of a port, nil where it has none. The lines must be sorted.
func (r *record) cableAt(port int) *cable {
	lo, hi := 0, len(r.cables)
	for lo < hi {
		mid := (lo + hi) / 2
		if r.cables[mid].port < port {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(r.cables) && r.cables[lo].port == port {
		return &r.cables[lo]
	}
	return nil
}

// idGUID returns the GUID within an id such as "S-0002c90300000001"; 0 if the id is
// no such.
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

// systemInGUIDLine says that the record is in ibdiagnet's form, where
// switchguid=A(B) states the system's GUID before the node's own.
func (r *record) systemInGUIDLine() bool {
	return r.bracketed != 0 && r.bracketed != r.guid && idGUID(r.name.id) == r.bracketed
}

// guids are those of a node, its system and, of a switch, its ports.
type guids struct{ node, system, port uint64 }

// ibsimGUIDs are what ibsim makes of the lines before the record.
func (r *record) ibsimGUIDs() guids { return guids{r.guid, cmp.Or(r.system, r.guid), r.guid} }

// statedGUIDs are what those lines and the id state; where they differ, the id's with
// an error.
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
		return g, fmt.Errorf("node %s has GUID 0x%016x in the lines before it, expected 0x%016x", quote(r.name.id),
			before, in)
	}
	g.system, g.port = cmp.Or(g.system, g.node), cmp.Or(g.port, g.node)
	return g, nil
}

// quote makes text of the file safe and short for a message.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strconv.Quote(s)
}
