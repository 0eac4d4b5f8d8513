// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// ErrWrites says that a write makes no sense on the fabric it is for.
var ErrWrites = errors.New("cannot be written")

// Writes are what to write. Switches and ports are indexes of a fabric. There is a
// barrier between the kinds, and between the steps of blocks: what comes behind it
// is begun only when all before it is acknowledged.
type Writes struct {
	// LIDs are written first. One that fails keeps nothing else from being written.
	LIDs []LID
	// States come next: all ports are armed before the first becomes active. One that
	// fails counts only for links between switches, for no way leads through others.
	States []State
	// Tops come before the blocks that need them, as OpenSM does it, and those that
	// are Last after all blocks.
	Tops []Top
	// Lanes come before the blocks, those that are Late behind the tops that are Last.
	Lanes []Lanes
	// Blocks are in the order of their steps. Those of a step are sent in this order,
	// as many at a time as the client's window has room for.
	Blocks []Block
	// MFTs come last, those that Grow behind the others. A MulticastFDBTop that is too
	// low for them is raised before.
	MFTs []MFTBlock
}

// LID gives LIDs to an end port.
type LID struct {
	Port  fabric.PortIndex // an end port
	LID   uint16
	SMLID uint16 // MasterSMLID
	LMC   uint8
}

// Top sets a switch's LinearFDBTop.
type Top struct {
	Switch fabric.SwitchIndex
	Top    uint16
	Last   bool
}

// Block is 64 entries of a switch's forwarding table.
type Block struct {
	Switch fabric.SwitchIndex
	Num    uint16 // from 0 to 767; the block is for LIDs 64*Num to 64*Num+63
	Step   int
	Ports  [fabric.BlockSize]uint8
}

// Lanes sets an SLtoVLMappingTable: of packets that come into a node by one port and
// leave by another. In counts for switches only.
type Lanes struct {
	Node    fabric.NodeIndex
	In, Out uint8
	Late    bool
	VLs     fabric.VLs
}

// MFTBlock sets what a switch does with 32 multicast LIDs by 16 of its ports, see
// [mad.MulticastMod].
type MFTBlock struct {
	Switch   fabric.SwitchIndex
	Num      uint16
	Position uint8
	Grow     bool
	Ports    mad.MulticastForwardingTable
}

// State brings a port up. One that is up as far already, or farther, is left
// alone.
type State struct {
	Port  fabric.PortIndex // a port of a link, of either end
	State mad.PortState    // PortArmed or PortActive
}

// Len is the number of writes.
func (w *Writes) Len() int {
	return len(w.LIDs) + len(w.Tops) + len(w.Lanes) + len(w.Blocks) + len(w.MFTs) + len(w.States)
}

// check fails for the first write that makes no sense on f.
func (w *Writes) check(f *fabric.Fabric) error {
	for _, l := range w.LIDs {
		if err := checkLID(f, l); err != nil {
			return err
		}
	}
	for _, t := range w.Tops {
		if err := checkSwitch(f, t.Switch); err != nil {
			return err
		}
		if t.Top > fabric.MaxUnicastLID {
			return fmt.Errorf("%s: LinearFDBTop %d %w: the highest is %d", f.NodeName(f.Switches[t.Switch]), t.Top, ErrWrites, fabric.MaxUnicastLID)
		}
	}
	for i := range w.Blocks {
		b := &w.Blocks[i]
		if err := checkSwitch(f, b.Switch); err != nil {
			return err
		}
		if b.Num > fabric.MaxUnicastLID/fabric.BlockSize {
			return fmt.Errorf("%s: block %d %w: the last one is %d", f.NodeName(f.Switches[b.Switch]), b.Num, ErrWrites, fabric.MaxUnicastLID/fabric.BlockSize)
		}
		if i > 0 && b.Step < w.Blocks[i-1].Step {
			return fmt.Errorf("%s: block %d %w: step %d stands behind step %d", f.NodeName(f.Switches[b.Switch]), b.Num, ErrWrites, b.Step, w.Blocks[i-1].Step)
		}
	}
	for i := range w.Lanes {
		if err := checkLanes(f, &w.Lanes[i]); err != nil {
			return err
		}
		if i > 0 && w.Lanes[i-1].Late && !w.Lanes[i].Late {
			return fmt.Errorf("lanes of %s %w: they stand behind late ones", f.NodeName(w.Lanes[i].Node), ErrWrites)
		}
	}
	for i := range w.MFTs {
		if err := checkMFT(f, &w.MFTs[i]); err != nil {
			return err
		}
		if i > 0 && w.MFTs[i-1].Grow && !w.MFTs[i].Grow {
			return fmt.Errorf("%s: multicast block %d %w: it stands behind those that grow", f.NodeName(f.Switches[w.MFTs[i].Switch]), w.MFTs[i].Num, ErrWrites)
		}
	}
	for _, s := range w.States {
		if err := checkPort(f, s.Port); err != nil {
			return err
		}
		switch {
		case !f.Ports[s.Port].Linked():
			return fmt.Errorf("%s: state %v %w: it has no link", f.PortName(s.Port), s.State, ErrWrites)
		case s.State != mad.PortArmed && s.State != mad.PortActive:
			return fmt.Errorf("%s: state %v %w: only Armed and Active can", f.PortName(s.Port), s.State, ErrWrites)
		}
	}
	return nil
}

func checkLID(f *fabric.Fabric, l LID) error {
	if err := checkPort(f, l.Port); err != nil {
		return err
	}
	switch {
	case f.EndPortOf(l.Port) != l.Port:
		return fmt.Errorf("%s: a LID %w: it is no end port", f.PortName(l.Port), ErrWrites)
	case l.LMC > 7:
		return fmt.Errorf("%s: LMC %d %w: the highest is 7", f.PortName(l.Port), l.LMC, ErrWrites)
	case l.LID == 0 || int(l.LID)+1<<l.LMC-1 > fabric.MaxUnicastLID:
		return fmt.Errorf("%s: LID %d with LMC %d %w: unicast LIDs are 1 to %d", f.PortName(l.Port), l.LID, l.LMC, ErrWrites, fabric.MaxUnicastLID)
	case l.LID&(1<<l.LMC-1) != 0:
		return fmt.Errorf("%s: LID %d with LMC %d %w: it is no multiple of %d", f.PortName(l.Port), l.LID, l.LMC, ErrWrites, 1<<l.LMC)
	}
	return nil
}

func checkLanes(f *fabric.Fabric, l *Lanes) error {
	if l.Node < 0 || int(l.Node) >= len(f.Nodes) {
		return fmt.Errorf("node index %d %w: the subnet has %d", l.Node, ErrWrites, len(f.Nodes))
	}
	n := &f.Nodes[l.Node]
	if l.Out == 0 || max(l.In, l.Out) > n.NumPorts {
		return fmt.Errorf("%s: lanes from port %d to port %d %w: it has ports 1 to %d", f.NodeName(l.Node), l.In, l.Out, ErrWrites, n.NumPorts)
	}
	for sl, vl := range l.VLs {
		if vl > 15 {
			return fmt.Errorf("%s: lane %d for SL %d %w: the highest is 15", f.NodeName(l.Node), vl, sl, ErrWrites)
		}
	}
	return nil
}

func checkMFT(f *fabric.Fabric, b *MFTBlock) error {
	if err := checkSwitch(f, b.Switch); err != nil {
		return err
	}
	const last = (mad.PermissiveLID - fabric.FirstMLID - 1) / mad.MFTBlock
	if n := f.SwitchNode(b.Switch); b.Num > last || b.Position > n.NumPorts/mad.MFTPorts {
		return fmt.Errorf("%s: multicast block %d for ports from %d on %w: the last block is %d, the last port %d",
			f.NodeName(f.Switches[b.Switch]), b.Num, int(b.Position)*mad.MFTPorts, ErrWrites, last, n.NumPorts)
	}
	return nil
}

func checkPort(f *fabric.Fabric, port fabric.PortIndex) error {
	if port < 0 || int(port) >= len(f.Ports) {
		return fmt.Errorf("port index %d %w: the subnet has %d", port, ErrWrites, len(f.Ports))
	}
	return nil
}

func checkSwitch(f *fabric.Fabric, sw fabric.SwitchIndex) error {
	if sw < 0 || int(sw) >= len(f.Switches) {
		return fmt.Errorf("switch index %d %w: the subnet has %d", sw, ErrWrites, len(f.Switches))
	}
	return nil
}
