// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// state is a packet at a switch since a step.
type state struct {
	sw   fabric.SwitchIndex
	step int32
}

const (
	unknown = iota
	underway
	arrives
	lost
)

// delivery returns an error if a packet is lost or comes to a switch twice in a window, although the old and the new
// tables both connect its ports.
func (v *verifier) delivery(w window) error {
	_, err := v.each(w, len(v.ends), func(x *follower, i int) {
		if x.dst = v.ends[i]; !v.drained[x.dst.lid] {
			x.deliver()
		}
	})
	return err
}

func (x *follower) deliver() {
	for i := range x.fate {
		x.column.load(x.verifier, x.dst.lid, window{alone: i + 1})
		clear(x.fate[i])
		for s := range x.column {
			x.settleFate(x.fate[i], fabric.SwitchIndex(s))
		}
	}
	x.column.load(x.verifier, x.dst.lid, x.w)
	clear(x.visited)
	for _, src := range x.hosts {
		s := x.f.Nodes[x.f.Ports[src.at].Node].Switch
		if src.port == x.dst.port || x.fate[0][s] != arrives || x.fate[1][s] != arrives {
			continue
		}
		if x.err = x.follow(state{s, int32(x.w.first)}); x.err != nil {
			return
		}
	}
}

// settleFate finds out whether a packet at a switch arrives by the first entries of the column.
func (x *follower) settleFate(fate []int8, s fabric.SwitchIndex) {
	var path []fabric.SwitchIndex
	result := int8(lost)
	for fate[s] == unknown {
		fate[s] = underway
		path = append(path, s)
		next, end := x.next(s, x.column[s][0].out)
		if end {
			result = arrives
			break
		}
		if next == fabric.None {
			break
		}
		s = next
	}
	if fate[s] == arrives {
		result = arrives
	}
	for _, p := range path {
		fate[p] = result
	}
}

// next returns the switch to which a switch forwards a packet, or None. end is set if the packet arrives.
func (x *follower) next(s fabric.SwitchIndex, out uint8) (next fabric.SwitchIndex, end bool) {
	node := x.f.SwitchNode(s)
	if int(out) > int(node.NumPorts) {
		return fabric.None, false
	}
	port := node.FirstPort + fabric.PortIndex(out)
	if port == x.dst.port || out != 0 && x.peer[port] == x.dst.port {
		return fabric.None, true
	}
	if out == 0 {
		return fabric.None, false
	}
	return x.to[port], false
}

// follow follows a packet on all its ways from a switch, where it is since a step.
func (x *follower) follow(at state) error {
	switch x.visited[at] {
	case underway:
		return fmt.Errorf("step %d: a packet to LID %d comes to %s again", at.step, x.dst.lid,
			x.f.NodeName(x.f.Switches[at.sw]))
	case arrives:
		return nil
	}
	x.visited[at] = underway
	for _, v := range x.column[at.sw] {
		from := max(at.step, v.first)
		if from > v.last {
			continue
		}
		next, end := x.next(at.sw, v.out)
		switch {
		case end:
		case next == fabric.None:
			return fmt.Errorf("step %d: a packet to LID %d is lost at %s", from, x.dst.lid,
				x.f.NodeName(x.f.Switches[at.sw]))
		default:
			if err := x.follow(state{next, from}); err != nil {
				return err
			}
		}
	}
	x.visited[at] = arrives
	return nil
}
