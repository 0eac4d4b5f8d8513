// SPDX-License-Identifier: Apache-2.0

package mcast

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// Tree is the tree of a packet from an end port, or from a switch, to a multicast LID.
type Tree struct {
	MLID uint16
	// Src is the end port, None for the tree from a switch.
	Src fabric.PortIndex
	// First is the first switch, or nil if Src is not attached to a switch.
	First *Hop
	// Delivered counts the copies in the tree that end ports receive.
	Delivered int
	// Circles is set if a copy returns to a port that it has already entered, and loops for ever.
	Circles bool
	// Twice lists the end ports that receive more than one copy.
	Twice []fabric.PortIndex
}

// Hop is a switch that a copy of a packet reaches.
type Hop struct {
	Switch fabric.SwitchIndex
	In     uint8
	// Fate tells how the switch treats the copy.
	Fate   HopFate
	Copies []Copy
}

// HopFate is the treatment of a copy by a switch.
type HopFate uint8

// The fates.
const (
	// Passed: the switch forwards copies, or is the last switch of a branch.
	Passed HopFate = iota
	// Circling: this copy has entered the switch before. It is not followed again.
	Circling
	// Again: another copy of the packet has entered the switch by the same port.
	Again
	// Dropped: the table of the switch has no ports for the LID.
	Dropped
	// Unread: the table was not read.
	Unread
)

func (h HopFate) String() string {
	return [...]string{"passed", "circles", "again", "dropped", "unread"}[h]
}

// Copy is a copy of a packet that leaves a switch by a port.
type Copy struct {
	Out uint8
	// Next is the switch at the other end of the link, or nil.
	Next *Hop
	// End is the end port that receives the copy, or None.
	End fabric.PortIndex
}

// Trace follows a packet from an end port to a multicast LID through the multicast tables. It returns an error if there
// are no multicast tables, or if mlid is not a multicast LID. O(switch ports of the tree).
func Trace(t *fabric.Tables, src fabric.PortIndex, mlid uint16) (*Tree, error) {
	tr, err := newTracer(t, src, mlid)
	if err != nil {
		return nil, err
	}
	if sw, port := t.Fabric.AttachedSwitch(src); sw != fabric.None {
		tr.tree.First = tr.come(sw, port)
	}
	return tr.tree, nil
}

// TraceRoot returns the tree of packets to a multicast LID that start at a switch. The switch copies the packet to all
// ports of its entry, because the packet enters by no port ([fabric.NoPath]). Errors and cost are those of [Trace].
func TraceRoot(t *fabric.Tables, root fabric.SwitchIndex, mlid uint16) (*Tree, error) {
	tr, err := newTracer(t, fabric.None, mlid)
	if err != nil {
		return nil, err
	}
	tr.tree.First = &Hop{Switch: root, In: fabric.NoPath, Copies: tr.copies(root, fabric.NoPath)}
	return tr.tree, nil
}

func newTracer(t *fabric.Tables, src fabric.PortIndex, mlid uint16) (*tracer, error) {
	switch {
	case mlid < fabric.FirstMLID || mlid > fabric.LastMLID:
		return nil, fmt.Errorf("not a multicast LID: %d, expected 0x%X to 0x%X", mlid, fabric.FirstMLID,
			fabric.LastMLID)
	case t.MFT == nil:
		return nil, ErrNoTables
	}
	return &tracer{
		t: t, tree: &Tree{MLID: mlid, Src: src}, state: map[fabric.PortIndex]bool{}, got: map[fabric.PortIndex]int{},
	}, nil
}

type tracer struct {
	t    *fabric.Tables
	tree *Tree
	// state contains the switch ports by which copies entered. The value is true while the copies are being followed.
	state map[fabric.PortIndex]bool
	got   map[fabric.PortIndex]int
}

func (tr *tracer) come(sw fabric.SwitchIndex, in uint8) *Hop {
	f := tr.t.Fabric
	h := &Hop{Switch: sw, In: in}
	at := f.SwitchNode(sw).FirstPort + fabric.PortIndex(in)
	underway, met := tr.state[at]
	switch {
	case underway:
		h.Fate, tr.tree.Circles = Circling, true
		return h
	case !tr.t.MulticastKnown(sw):
		h.Fate = Unread
		return h
	case !tr.t.MFT.Any(sw, tr.tree.MLID):
		h.Fate = Dropped
		return h
	case met:
		h.Fate = Again
	}
	tr.state[at] = true
	if !met {
		h.Copies = tr.copies(sw, in)
	}
	tr.state[at] = false
	return h
}

func (tr *tracer) copies(sw fabric.SwitchIndex, in uint8) []Copy {
	f := tr.t.Fabric
	node := f.SwitchNode(sw)
	var copies []Copy
	for out := range tr.t.MFT.Each(sw, tr.tree.MLID) {
		if out == int(in) || out > int(node.NumPorts) {
			continue
		}
		c := Copy{Out: uint8(out), End: f.EndBehind(sw, out)}
		if next := f.PeerSwitch(node.FirstPort + fabric.PortIndex(out)); out != 0 && next != fabric.None {
			c.Next = tr.come(next, f.Ports[f.Ports[node.FirstPort+fabric.PortIndex(out)].Peer].Num)
		}
		if c.End != fabric.None {
			tr.tree.Delivered++
			if tr.got[c.End]++; tr.got[c.End] == 2 {
				tr.tree.Twice = append(tr.tree.Twice, c.End)
			}
		}
		copies = append(copies, c)
	}
	return copies
}
