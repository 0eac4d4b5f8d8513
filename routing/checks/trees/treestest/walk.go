// SPDX-License-Identifier: Apache-2.0

package treestest

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
)

// Path is one path as found by a simple walk.
type Path struct {
	Verdict walk.Verdict
	// Out lists the ports by which the path leaves the source and the switches. If the path loops, Out repeats the loop
	// a few times.
	Out []fabric.PortIndex
}

// Walk follows one packet node by node from an end port to a LID of another end port, until the packet ends or is known
// to loop.
func Walk(t *fabric.Tables, src fabric.PortIndex, lid uint16) Path {
	f := t.Fabric
	var p Path
	at := src
	if !f.Nodes[f.Ports[src].Node].IsSwitch() {
		p.Out = append(p.Out, src)
		if at = f.Ports[src].Peer; at == fabric.None {
			p.Verdict = walk.DeadEnd
			return p
		}
	}
	for range 2*len(f.Switches) + 2 {
		node := &f.Nodes[f.Ports[at].Node]
		if !node.IsSwitch() {
			return p.arrive(f, at, lid)
		}
		if !t.Known[node.Switch] {
			p.Verdict = walk.Unknown
			return p
		}
		entry := 255
		if int(lid) < len(t.LFT.Row(node.Switch)) && lid <= t.Top[node.Switch] {
			entry = int(t.LFT.Row(node.Switch)[lid])
		}
		if entry == 0 {
			return p.arrive(f, node.FirstPort, lid)
		}
		if entry > int(node.NumPorts) || f.Ports[int(node.FirstPort)+entry].Peer == fabric.None {
			p.Verdict = walk.DeadEnd
			return p
		}
		p.Out = append(p.Out, node.FirstPort+fabric.PortIndex(entry))
		at = f.Ports[int(node.FirstPort)+entry].Peer
	}
	p.Verdict = walk.Loop
	return p
}

func (p Path) arrive(f *fabric.Fabric, port fabric.PortIndex, lid uint16) Path {
	owner := &f.Ports[port]
	switch {
	case owner.LID == 0 || int(lid) < int(owner.LID) || int(lid) >= int(owner.LID)+1<<owner.LMC:
		p.Verdict = walk.Misdelivered
	case len(p.Out) > 63:
		p.Verdict = walk.TooLong
	default:
		p.Verdict = walk.Delivered
	}
	return p
}
