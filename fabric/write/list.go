// SPDX-License-Identifier: Apache-2.0

// Package write is what can be written to a subnet, as values: LIDs, port states, LinearFDBTops, blocks.
//
// An item knows where it goes, how it is asked for, what is set and what reads
// otherwise. routing/changes/plan makes a [List] of them, fabric/apply carries it out.
package write

import (
	"cmp"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// ErrUnfit says that an item makes no sense on the fabric it is for.
var ErrUnfit = errors.New("cannot be written")

// Item is one thing to write. It is a [Field] or a [Table], or a [State].
type Item interface {
	// Check fails with [ErrUnfit]. The other methods are for a fabric for which it does not.
	Check(f *fabric.Fabric) error
	// Target is the port that the item goes to. For a switch it is any of its ports.
	Target(f *fabric.Fabric) fabric.PortIndex
	// Get asks for what the item sets, by no path yet.
	Get(f *fabric.Fabric) mad.Request
	// Verify compares the answer to Get with what was set.
	Verify(f *fabric.Fabric, now *mad.Reply, compare func(what string, want, got any))
}

// Field is part of an attribute, whose rest stays as it is.
type Field interface {
	Item
	// Set makes of Get's request one that writes, given the answer, and reports whether that is necessary.
	Set(now *mad.Reply, req *mad.Request) bool
	// Conflicts compares the answer to Get with what it was read as, and calls add for what somebody
	// else wrote since and Set would write over.
	Conflicts(f *fabric.Fabric, now *mad.Reply, add func(what string, was, is, would any))
}

// Table is a whole attribute.
type Table interface {
	Item
	// Data is the attribute.
	Data() [mad.DataSize]byte
	// Was is what it was read as; ok is false where it was not read.
	Was() (data [mad.DataSize]byte, ok bool)
	// Conflicts calls add for the entries that are something else than they were and than they would become.
	Conflicts(was, is, would *[mad.DataSize]byte, add func(what string, was, is, would any))
}

// List is what to write, by the indexes of a fabric. There is a barrier between the kinds, and between steps of
// blocks: what comes behind it is begun only when all before it is acknowledged.
type List struct {
	// LIDs are written first. One that fails keeps nothing else from being written.
	LIDs []LID
	// States come next: all ports are armed before the first becomes active. One that
	// fails counts only for links between switches, for no path leads through others.
	States []State
	// Tops come before the blocks that need them, as OpenSM does it, and those that fall after all blocks.
	Tops []Top
	// SL2VLs come before the blocks, those that are Late behind the tops that fall.
	SL2VLs []SL2VL
	// Blocks are in the order of their steps. Those of a step are sent in this order,
	// as many at a time as the client's window has room for.
	Blocks []Block
	// MFTs come last, those that Grow behind the others. A MulticastFDBTop that is too low is raised before.
	MFTs []MFTBlock
}

// Len is the number of items.
func (l *List) Len() int {
	return len(l.LIDs) + len(l.Tops) + len(l.SL2VLs) + len(l.Blocks) + len(l.MFTs) + len(l.States)
}

// Empty reports whether there is nothing to write.
func (l *List) Empty() bool { return l.Len() == 0 }

// Check fails with [ErrUnfit] for the first item that makes no sense on f or is out of order.
func (l *List) Check(f *fabric.Fabric) error {
	return cmp.Or(
		check(f, l.LIDs, nil),
		check(f, l.Tops, nil),
		check(f, l.Blocks, func(before, b *Block) error {
			if b.Step < before.Step {
				return fmt.Errorf("%s: block %d %w: step %d stands behind step %d", switchName(f, b.Switch), b.Num,
					ErrUnfit, b.Step, before.Step)
			}
			return nil
		}),
		check(f, l.SL2VLs, func(before, t *SL2VL) error {
			if before.Late && !t.Late {
				return fmt.Errorf("SL2VL tables of %s %w: they stand behind late ones", f.NodeName(t.Node), ErrUnfit)
			}
			return nil
		}),
		check(f, l.MFTs, func(before, b *MFTBlock) error {
			if before.Grow && !b.Grow {
				return fmt.Errorf("%s: multicast block %d %w: it stands behind those that grow",
					switchName(f, b.Switch), b.Num, ErrUnfit)
			}
			return nil
		}),
		check(f, l.States, nil),
	)
}

// check looks at items of one kind, and with order, where given, at each and the one before it.
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
