// SPDX-License-Identifier: Apache-2.0

package write

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// MFTBlock sets the entries of a switch for 32 multicast LIDs and 16 ports, see [mad.MulticastMod].
type MFTBlock struct {
	Switch   fabric.SwitchIndex
	Num      uint16 // LIDs from 0xc000 + 32*Num
	Position uint8  // ports from 16*Position
	// Grow is set if the block adds branches to the tree of a group. It is written after the other blocks, so that the
	// tree loses branches before it gets new ones.
	Grow     bool
	Old, New *mad.MulticastForwardingTable
	Read     bool // Old was read, or follows from earlier writes
}

// FirstLID returns the first multicast LID of the block.
func (b *MFTBlock) FirstLID() uint16 { return fabric.FirstMLID + b.Num*mad.MFTBlock }

// Check implements [Item].
func (b *MFTBlock) Check(f *fabric.Fabric) error {
	if err := checkSwitch(f, b.Switch); err != nil {
		return err
	}
	const last = (mad.PermissiveLID - fabric.FirstMLID - 1) / mad.MFTBlock
	if n := f.SwitchNode(b.Switch); b.Num > last || b.Position > n.NumPorts/mad.MFTPorts {
		return fmt.Errorf("%s: multicast block %d for ports from %d on %w: the last block is %d, the last port %d",
			switchName(f, b.Switch), b.Num, int(b.Position)*mad.MFTPorts, ErrUnfit, last, n.NumPorts)
	}
	return nil
}

// Target implements [Item].
func (b *MFTBlock) Target(f *fabric.Fabric) fabric.PortIndex { return f.SwitchNode(b.Switch).FirstPort }

// Get implements [Item].
func (b *MFTBlock) Get(*fabric.Fabric) mad.Request {
	return mad.Request{Attr: mad.AttrMulticastForwardingTable, Mod: mad.MulticastMod(b.Num, b.Position)}
}

// Data implements [Table].
func (b *MFTBlock) Data() [mad.DataSize]byte { return mad.Data(b.New) }

// Was implements [Table].
func (b *MFTBlock) Was() (data [mad.DataSize]byte, ok bool) {
	if b.Read {
		data = mad.Data(b.Old)
	}
	return data, b.Read
}

// Conflicts implements [Table].
func (b *MFTBlock) Conflicts(was, is, would *[mad.DataSize]byte, add func(what string, was, is, would any)) {
	var tables [3]mad.MulticastForwardingTable
	for i, data := range []*[mad.DataSize]byte{was, is, would} {
		_ = (&mad.Reply{Data: *data}).Decode(&tables[i]) // the size is right
	}
	hex := func(what string, was, is, would any) {
		add(what, fmt.Sprintf("0x%04x", was), fmt.Sprintf("0x%04x", is), fmt.Sprintf("0x%04x", would))
	}
	for k := range tables[0] {
		compare(func() string { return b.What(k) }, tables[0][k], tables[1][k], tables[2][k], hex)
	}
}

// What returns a text that names the entry of multicast LID k of the block and its ports.
func (b *MFTBlock) What(k int) string {
	return fmt.Sprintf("multicast LID 0x%04x, ports from %d on", int(b.FirstLID())+k, int(b.Position)*mad.MFTPorts)
}

// Verify implements [Item]. It reports at most one entry.
func (b *MFTBlock) Verify(_ *fabric.Fabric, now *mad.Reply, compare func(what string, want, got any)) {
	var table mad.MulticastForwardingTable
	_ = now.Decode(&table) // the answer is a good one
	for k, ports := range b.New {
		if table[k] != ports {
			compare(b.What(k), fmt.Sprintf("0x%04x", ports), fmt.Sprintf("0x%04x", table[k]))
			return
		}
	}
}
