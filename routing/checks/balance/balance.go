// SPDX-License-Identifier: Apache-2.0

// Package balance measures how evenly tables distribute LIDs over the ports of switches, by the rules of OpenSM's
// console (osm_console.c: switchbalance and lidbalance).
package balance

import (
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/mad"
)

// PortCount is the number of LIDs that leave a switch by a port.
type PortCount struct {
	Port uint8
	LIDs int
}

// NodeCount is the number of LIDs that a switch forwards to one neighbour.
type NodeCount struct {
	Node fabric.NodeIndex
	LIDs int
}

// Switch is the distribution of the LIDs of CAs over the ports of one switch that lead to switches, in ascending order
// of ports.
type Switch struct {
	Switch fabric.SwitchIndex
	Ports  []PortCount // none if the verdict is unknown
	// Verdict is Found if two ports differ by more than one LID, and Unknown if the switch's table was not read.
	Verdict verdict.Verdict
}

// OfSwitch counts, at one switch, the LIDs that leave by each port. O(LIDs).
func OfSwitch(t *fabric.Tables, sw fabric.SwitchIndex) Switch {
	f := t.Fabric
	if !t.Known[sw] {
		return Switch{Switch: sw, Verdict: verdict.Unknown}
	}
	var count [256]int
	for _, e := range f.EndPorts {
		p := &f.Ports[e]
		if f.Nodes[p.Node].IsSwitch() || p.LID == 0 {
			continue
		}
		for i := range uint16(1) << p.LMC {
			count[t.Port(sw, p.LID+i)]++
		}
	}
	out := Switch{Switch: sw}
	least, most := -1, 0
	n := f.SwitchNode(sw)
	for port := range n.Ports() {
		if f.PeerSwitch(port) == fabric.None {
			continue
		}
		num := f.Ports[port].Num
		c := count[num]
		out.Ports = append(out.Ports, PortCount{num, c})
		most = max(most, c)
		if least < 0 || c < least {
			least = c
		}
	}
	out.Verdict = verdict.Of(least >= 0 && most-least > 1, false)
	return out
}

// Text writes the distribution as OpenSM's console does. If the table was not read, it writes this fact instead of the
// counts.
func (s *Switch) Text(w io.Writer, f *fabric.Fabric) {
	word, notRead := "Switch", ""
	switch s.Verdict {
	case verdict.Found:
		word = "Unbalanced Switch"
	case verdict.Unknown:
		notRead = ": its forwarding table was not read"
	}
	n := f.SwitchNode(s.Switch)
	_, _ = fmt.Fprintf(w, "%s: 0x%016x (%s)%s\n", word, n.GUID, fabric.Escape(n.Desc), notRead)
	for _, p := range s.Ports {
		_, _ = fmt.Fprintf(w, "Port %d: %d\n", p.Port, p.LIDs)
	}
}

// End is the distribution of the LIDs of one end port at a switch. If the end port has several LIDs, the switch should
// forward them to different neighbours.
type End struct {
	Switch fabric.SwitchIndex
	Port   fabric.PortIndex
	// Neighbours are in the order of the LIDs that lead to them. Their ports are in ascending order.
	Neighbours []NodeCount
	Ports      []PortCount
	// UnevenNeighbours is set if two neighbours differ by more than one LID, UnevenPorts if two ports do.
	UnevenNeighbours, UnevenPorts bool
}

// OfEnd counts, at one switch, the LIDs of one end port by neighbour and port. O(2^LMC).
func OfEnd(t *fabric.Tables, sw fabric.SwitchIndex, end fabric.PortIndex) End {
	f := t.Fabric
	out := End{Switch: sw, Port: end}
	p := &f.Ports[end]
	var count [256]int
	if p.LID == 0 {
		return out
	}
	for i := range uint16(1) << p.LMC {
		num := t.Port(sw, p.LID+i)
		at := f.PortAt(f.Switches[sw], int(num))
		if at == fabric.None || f.Ports[at].Peer == fabric.None {
			continue
		}
		count[num]++
		out.add(f.PeerNode(at))
	}
	for num, c := range count {
		if c > 0 {
			out.Ports = append(out.Ports, PortCount{uint8(num), c})
		}
	}
	out.UnevenNeighbours = uneven(out.Neighbours, func(n NodeCount) int { return n.LIDs })
	out.UnevenPorts = uneven(out.Ports, func(p PortCount) int { return p.LIDs })
	return out
}

func (e *End) add(node fabric.NodeIndex) {
	for i := range e.Neighbours {
		if e.Neighbours[i].Node == node {
			e.Neighbours[i].LIDs++
			return
		}
	}
	e.Neighbours = append(e.Neighbours, NodeCount{node, 1})
}

func uneven[T any](all []T, lids func(T) int) bool {
	if len(all) == 0 {
		return false
	}
	least, most := lids(all[0]), lids(all[0])
	for _, x := range all[1:] {
		least, most = min(least, lids(x)), max(most, lids(x))
	}
	return most-least > 1
}

// Text writes uneven distributions as OpenSM's console does. It writes nothing if the distribution is even.
func (e *End) Text(w io.Writer, f *fabric.Fabric) {
	node := &f.Nodes[f.Ports[e.Port].Node]
	sw := f.SwitchNode(e.Switch)
	head := func(what string) {
		_, _ = fmt.Fprintf(w, "Unbalanced %s Forwarding: Switch 0x%016x (%s): %s 0x%016x (%s): ", what,
			sw.GUID, fabric.Escape(sw.Desc), typeWord(node), node.GUID, fabric.Escape(node.Desc))
	}
	if e.UnevenNeighbours {
		head("Remote")
		for _, n := range e.Neighbours {
			_, _ = fmt.Fprintf(w, "Dest 0x%016x(%s) - %d ", f.Nodes[n.Node].GUID, fabric.Escape(f.Nodes[n.Node].Desc),
				n.LIDs)
		}
		_, _ = fmt.Fprintln(w)
	}
	if e.UnevenPorts {
		head("Port")
		for _, p := range e.Ports {
			_, _ = fmt.Fprintf(w, "Port %d - %d: ", p.Port, p.LIDs)
		}
		_, _ = fmt.Fprintln(w)
	}
}

// typeWord returns the word of OpenSM's console for the type of a node.
func typeWord(n *fabric.Node) string {
	if n.Type == mad.NodeRouter {
		return "Router"
	}
	return "CA"
}
