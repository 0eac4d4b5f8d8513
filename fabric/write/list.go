// SPDX-License-Identifier: Apache-2.0

// Package write defines the items that can be written to a subnet, as values: LIDs, port states, LinearFDBTops, blocks.
//
// An item provides its target, the requests that read and set it, and the comparison with the result.
// routing/changes/plan makes a [List] of items, and fabric/apply executes it.
package write

import (
	"cmp"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// ErrUnfit reports that an item does not fit its fabric.
var ErrUnfit = errors.New("cannot be written")

// Item is one thing to write: a [Field], a [Table] or a [State].
type Item interface {
	// Check returns an error that wraps [ErrUnfit] if the item does not fit f; the other methods require that it does.
	Check(f *fabric.Fabric) error
	// Target returns the port to which the item is sent; for a switch it may be any port.
	Target(f *fabric.Fabric) fabric.PortIndex
	// Get returns the request that reads the item, without a path.
	Get(f *fabric.Fabric) mad.Request
	// Verify compares the answer to Get with the data that Set wrote.
	Verify(f *fabric.Fabric, now *mad.Reply, compare func(what string, want, got any))
}

// Field is a part of an attribute; the rest remains unchanged.
type Field interface {
	Item
	// Set turns the request of Get into a request that writes, given the answer to Get. It reports whether a write is
	// necessary.
	Set(now *mad.Reply, req *mad.Request) bool
	// Conflicts compares the answer to Get with the known value, and calls add if another program changed it and Set
	// would overwrite that.
	Conflicts(f *fabric.Fabric, now *mad.Reply, add func(what string, was, is, would any))
}

// Table is a whole attribute.
type Table interface {
	Item
	// Data returns the attribute to write.
	Data() [mad.DataSize]byte
	// Was returns the known attribute; ok is false if it was not read.
	Was() (data [mad.DataSize]byte, ok bool)
	// Conflicts calls add for each entry that equals neither the known entry nor the entry to be written.
	Conflicts(was, is, would *[mad.DataSize]byte, add func(what string, was, is, would any))
}

// List holds the items to write, with the indexes of a fabric. Barriers separate the kinds of items and the steps of
// blocks: a kind or a step begins only when all earlier writes are acknowledged.
type List struct {
	// LIDs are written first. A failure does not prevent other writes.
	LIDs []LID
	// States follow: all ports are armed before the first is activated. A failure stops later writes only for a link
	// between switches, because no path leads through other ports.
	States []State
	// Tops precede the blocks that need them, as in OpenSM. Lowered tops follow all blocks.
	Tops []Top
	// SL2VLs precede the blocks. Late SL2VLs follow the lowered tops.
	SL2VLs []SL2VL
	// Blocks are sorted by step. The blocks of a step are sent in this order. The client's window limits the number of
	// blocks in flight.
	Blocks []Block
	// MFTs are last. MFTs with Grow follow the other MFTs. A MulticastFDBTop that is too low is raised first.
	MFTs []MFTBlock
}

// Len is the number of items.
func (l *List) Len() int {
	return len(l.LIDs) + len(l.Tops) + len(l.SL2VLs) + len(l.Blocks) + len(l.MFTs) + len(l.States)
}

// Empty reports whether there is nothing to write.
func (l *List) Empty() bool { return l.Len() == 0 }

// Check returns an error that wraps [ErrUnfit] for the first item that does not fit f or is out of order.
func (l *List) Check(f *fabric.Fabric) error {
	return cmp.Or(
		check(f, l.LIDs, nil),
		check(f, l.Tops, nil),
		check(f, l.Blocks, func(before, b *Block) error {
			if b.Step < before.Step {
				return fmt.Errorf("%s: block %d %w: step %d follows step %d", switchName(f, b.Switch), b.Num,
					ErrUnfit, b.Step, before.Step)
			}
			return nil
		}),
		check(f, l.SL2VLs, func(before, t *SL2VL) error {
			if before.Late && !t.Late {
				return fmt.Errorf("SL2VL tables of %s %w: they follow late ones", f.NodeName(t.Node), ErrUnfit)
			}
			return nil
		}),
		check(f, l.MFTs, func(before, b *MFTBlock) error {
			if before.Grow && !b.Grow {
				return fmt.Errorf("%s: multicast block %d %w: it follows blocks that grow",
					switchName(f, b.Switch), b.Num, ErrUnfit)
			}
			return nil
		}),
		check(f, l.States, nil),
	)
}

// check checks items of one kind, and with order, if not nil, the order of successive items.
func check[T any, P interface {
	*T
	Item
}](f *fabric.Fabric, list []T, order func(before, item *T) error) error {
	for i := range list {
		if err := P(&list[i]).Check(f); err != nil {
			return err
		}
		if i > 0 && order != nil {
			if err := order(&list[i-1], &list[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkPort(f *fabric.Fabric, port fabric.PortIndex) error {
	if port < 0 || int(port) >= len(f.Ports) {
		return fmt.Errorf("port index %d %w: the subnet has %d", port, ErrUnfit, len(f.Ports))
	}
	return nil
}

func checkSwitch(f *fabric.Fabric, sw fabric.SwitchIndex) error {
	if sw < 0 || int(sw) >= len(f.Switches) {
		return fmt.Errorf("switch index %d %w: the subnet has %d", sw, ErrUnfit, len(f.Switches))
	}
	return nil
}

func switchName(f *fabric.Fabric, sw fabric.SwitchIndex) string { return f.NodeName(f.Switches[sw]) }
