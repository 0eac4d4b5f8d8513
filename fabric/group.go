// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"cmp"
	"slices"
	"strings"

	"example.org/ibconsole/mad"
)

// LastMLID is the highest multicast LID (IBA 1.2.1, 4.1.3).
const LastMLID = mad.PermissiveLID - 1

// Group is a multicast group: its members and the properties of its packets. Unknown fields are 0. The MGID is 0 for a
// group that is known only from forwarding tables.
type Group struct {
	MGID             mad.GID
	MLID             uint16
	MTU, Rate, Life  uint8 // MTU, Rate and packet lifetime as codes of SA records (IBA 1.2.1, 15.2.5.17)
	SL, TrafficClass uint8
	SLUnknown        bool // the SL is not known; SL is 0 then
	HopLimit, Scope  uint8
	PKey             uint16
	QKey, FlowLabel  uint32
	WellKnown        bool     // the group stays without members
	Members          []Member // in ascending order of [LEKey] of the port GUID, each once
}

// Partition returns the number of the group's partition: that of its P_Key, or of an MGID of IP over InfiniBand (RFC
// 4391, section 4). It returns 0 if neither is known.
func (g *Group) Partition() uint16 {
	key := mad.PKey(g.PKey)
	if m := &g.MGID; key == 0 && (m[2] == 0x40 || m[2] == 0x60) && m[3] == 0x1b {
		key = mad.PKey(m[4])<<8 | mad.PKey(m[5])
	}
	return key.Partition()
}

// Member is an end port in a group.
type Member struct {
	Prefix, GUID uint64 // of the port's GID
	Join         JoinState
	Proxy        bool // it was joined by another port
}

// JoinState is the set of ways in which a port is a member of a group (IBA 1.2.1, 15.2.5.17).
type JoinState uint8

// The bits of a join state.
const (
	JoinFull         JoinState = 1 << iota
	JoinNon                    // sends and receives, but does not keep the group alive
	JoinSendOnly               // sends but does not receive
	JoinSendOnlyFull           // like JoinSendOnly, and keeps the group alive
)

var joinWords = [...]string{"full", "non", "sendonly", "sendonlyfull"}

// Receives reports whether the member receives packets of the group. Every member may send packets to the group.
func (j JoinState) Receives() bool { return j&(JoinFull|JoinNon) != 0 }

// String returns the names of the set bits, for example "full", "non+sendonly" or "none".
func (j JoinState) String() string {
	var words []string
	for i, w := range joinWords {
		if j>>i&1 != 0 {
			words = append(words, w)
		}
	}
	if words == nil {
		return "none"
	}
	return strings.Join(words, "+")
}

// SortMembers sorts members in place and merges members with the same port GUID.
func SortMembers(members []Member) []Member {
	slices.SortStableFunc(members, func(a, b Member) int { return cmp.Compare(LEKey(a.GUID), LEKey(b.GUID)) })
	kept := members[:0]
	for _, m := range members {
		if n := len(kept); n > 0 && kept[n-1].GUID == m.GUID {
			kept[n-1].Join |= m.Join
			continue
		}
		kept = append(kept, m)
	}
	return kept
}

// GroupsOf returns the multicast groups that the multicast tables of t contain. The members of a multicast LID are the
// hosts and the switch ports 0 to which the entries lead. They are assumed to be full members. O(switches x multicast
// LIDs).
func GroupsOf(t *Tables) []Group {
	var groups []Group
	if t.MFT == nil {
		return nil
	}
	for i := range t.MFT.LIDs() {
		g := Group{MLID: uint16(FirstMLID + i), SLUnknown: true}
		used := false
		for s := range SwitchIndex(len(t.Fabric.Switches)) {
			for port := range t.MFT.Each(s, g.MLID) {
				used = true
				if e := t.Fabric.EndBehind(s, port); e != None {
					g.Members = append(g.Members, Member{Prefix: mad.DefaultGIDPrefix, GUID: t.Fabric.Ports[e].GUID,
						Join: JoinFull})
				}
			}
		}
		if used {
			g.Members = SortMembers(g.Members)
			groups = append(groups, g)
		}
	}
	return groups
}

// GroupSLs returns a function that returns the SL for packets to a multicast LID. The SL is [NoSL] if it is unknown or
// if groups with the LID have different SLs.
func GroupSLs(groups []Group) func(mlid uint16) uint8 {
	sls := map[uint16]uint8{}
	for i := range groups {
		g := &groups[i]
		had, again := sls[g.MLID]
		if sls[g.MLID] = g.SL; g.SLUnknown || again && had != g.SL {
			sls[g.MLID] = NoSL
		}
	}
	return func(mlid uint16) uint8 {
		if sl, ok := sls[mlid]; ok {
			return sl
		}
		return NoSL
	}
}

// EndBehind returns the end port to which a port of a switch leads. For port 0 this is the end port of the switch
// itself, for a port linked to a host the end port of the host. For other ports it is None.
func (f *Fabric) EndBehind(sw SwitchIndex, num int) PortIndex {
	n := f.SwitchNode(sw)
	if num == 0 {
		return n.FirstPort
	}
	if num > int(n.NumPorts) {
		return None
	}
	peer := f.Ports[n.FirstPort+PortIndex(num)].Peer
	if peer == None || f.Nodes[f.Ports[peer].Node].IsSwitch() {
		return None
	}
	return peer
}
