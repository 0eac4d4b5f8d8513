// SPDX-License-Identifier: Apache-2.0

package session

import (
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/shell/answer"
)

// Need is a set of parts of a state that an answer depends on.
type Need uint8

// The parts.
const (
	NeedLinks  Need = 1 << iota // nodes, ports and links
	NeedTables                  // forwarding tables
	NeedFile                    // how the file of the source was read
	NeedSLs                     // service levels of paths
)

// Basis returns the basis of an answer about a state: the state, its time and source, and the needed parts that were
// not read.
func (st *State) Basis(p *Picture, needs Need) answer.Basis {
	b := answer.Basis{
		State: string(p.Kind), Title: st.Title(p), Source: st.Source.String(), AsOf: p.When,
		Stale: st.IsStale(p), Estimate: p.Kind == Staged && st.Estimate, Written: p.Kind == Staged && st.Written,
		Warnings: slices.Concat(st.divergedWarning(p), st.partial),
	}
	if st.Labels != nil {
		b.Labels = st.Labels.Plan
	}
	if maker, _ := st.MakerOf(p); maker != fabric.LiveOrigin {
		b.Engine = maker
	}
	if needs&NeedLinks != 0 {
		b.Unread = b.Unread.Add(st.unreadLinks())
	}
	if needs&NeedFile != 0 && st.Source.Offline() {
		b.Warnings = slices.Concat(st.divergedWarning(p), st.Warnings, st.partial)
	}
	if needs&NeedTables != 0 {
		b.Unread = b.Unread.Add(unreadTables(p))
	}
	if needs&NeedSLs != 0 && p.Tables != nil && p.Tables.Unread.SLs {
		why := "no switch has them"
		if try := st.ToKnow(fabric.Unread{SLs: true}); try != "" {
			why += "; hint: run '" + try + "'"
		}
		b.Unread = b.Unread.Add(answer.Unread{
			Count: 1, Causes: []answer.Cause{{What: "set of service levels of paths", Why: why, Count: 1}},
		})
	}
	return b
}

// SourceBasis returns the basis of an answer about the session.
func (st *State) SourceBasis() answer.Basis {
	return answer.Basis{Source: st.Source.String(), Warnings: slices.Clip(st.partial)}
}

// unreadLinks returns the requests of the last sweep that got no response, and the parts of the file that were not
// read.
func (st *State) unreadLinks() answer.Unread {
	var u answer.Unread
	if n := len(st.unansweredAt); n > 0 {
		c := answer.Cause{What: "question", Why: "no response", Count: n}
		for i := range st.unansweredAt[:min(n, answer.MaxPlaces)] {
			c.At = append(c.At, PlaceOf(st.Live.Fabric, &st.unansweredAt[i]))
		}
		u = u.Add(answer.Unread{Count: n, Causes: []answer.Cause{c}})
	}
	if n := st.Unread.Count; n > 0 {
		why := strings.Join(st.Unread.Lines(1)[:1], "")
		u = u.Add(answer.Unread{
			Count: n, Causes: []answer.Cause{
				{What: "part of the file", Why: strings.TrimPrefix(why, "not read: "), Count: n},
			},
		})
	}
	return u
}

// PlaceOf returns the node or port of a request that got no response, in the fabric of the sweep.
func PlaceOf(f *fabric.Fabric, u *sweep.Unanswered) answer.Place {
	place := answer.Place{GUID: u.GUID, Port: u.Port}
	if node := f.NodeByGUID(u.GUID); node != fabric.None {
		place.Name, place.Shared = f.Nodes[node].Desc, f.IsShared(node)
	}
	return place
}

// unreadTables returns the switches of the subnet whose forwarding tables were not read.
func unreadTables(p *Picture) answer.Unread {
	if p.Tables == nil {
		return answer.Unread{}
	}
	c := answer.Cause{What: "forwarding table"}
	for sw, known := range p.Tables.Known {
		if n := p.Fabric.SwitchNode(fabric.SwitchIndex(sw)); !known && n.InSubnet {
			c.Count++
			if len(c.At) < answer.MaxPlaces {
				at, _ := answer.Node(p.Fabric, p.Fabric.Switches[sw]).Place()
				c.At = append(c.At, at)
			}
		}
	}
	if c.Count == 0 {
		return answer.Unread{}
	}
	return answer.Unread{Count: c.Count, Causes: []answer.Cause{c}}
}
