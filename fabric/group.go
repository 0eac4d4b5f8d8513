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

// Group is a multicast group: who is in it, and what its packets are like. Fields that are not known are
// zero, as is the MGID of a group that is only known by forwarding tables.
type Group struct {
	MGID             mad.GID
	MLID             uint16
	MTU, Rate, Life  uint8 // MTU, Rate and packet lifetime as codes of SA records (IBA 1.2.1, 15.2.5.17)
	SL, TrafficClass uint8
	SLUnknown        bool // nobody told the SL, which is 0 then
	HopLimit, Scope  uint8
	PKey             uint16
	QKey, FlowLabel  uint32
	WellKnown        bool     // the group stays without members
	Members          []Member // in ascending order of [LEKey] of the port GUID, each once
}

// Member is an end port in a group.
type Member struct {
	Prefix, GUID uint64 // of the port's GID
	Join         JoinState
	Proxy        bool // another port let it join
}

// JoinState is how a port is in a group (IBA 1.2.1, 15.2.5.17).
type JoinState uint8

// The bits of a join state.
const (
	JoinFull         JoinState = 1 << iota
	JoinNon                    // sends and receives, and does not keep the group alive
	JoinSendOnly               // sends and does not receive
	JoinSendOnlyFull           // JoinSendOnly that keeps the group alive
)

var joinWords = [...]string{"full", "non", "sendonly", "sendonlyfull"}

// Receives reports whether packets to the group are for such a member; every member may send.
func (j JoinState) Receives() bool { return j&(JoinFull|JoinNon) != 0 }

// String names the bits: "full", "non+sendonly", "none".
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

// SortMembers brings members into their order and makes one of those with the same port GUID, in place.
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

// GroupsOf returns the groups that multicast tables serve: of each multicast LID with entries the hosts and ports
// 0 of switches that packets go to, taken for full members. O(switches x multicast LIDs).
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

// GroupSLs returns the SLs of the packets of groups by multicast LID, [NoSL] where nobody told, or several.
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

// EndBehind returns the end port reached by a port of a switch: its own for port 0, a host's, or None.
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
