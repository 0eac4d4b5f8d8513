// SPDX-License-Identifier: Apache-2.0

// Package write defines the items that can be written to a subnet as values: LIDs, port states, LinearFDBTops, blocks
// of tables, and so on.
//
// An item provides its target, the requests that read and set it, and the comparison with the result. Package
// routing/changes/plan makes a [List] of items, and package fabric/apply writes the items of a list.
package write

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// ErrUnfit reports that an item does not fit the fabric for which it is used.
var ErrUnfit = errors.New("cannot be written")

// Item is a value to write: a [Field], a [Table] or a [State].
type Item interface {
	// Check returns an error that wraps [ErrUnfit] if the item does not fit f. The other methods require that the item
	// fits.
	Check(f *fabric.Fabric) error
	// Target returns the port to which the item is sent. For a switch it may be any port of the switch.
	Target(f *fabric.Fabric) fabric.PortIndex
	// Get returns the request that reads the item. The request has no path yet.
	Get(f *fabric.Fabric) mad.Request
	// Verify compares the answer to Get with the written data. It calls compare for values that may differ.
	Verify(f *fabric.Fabric, now *mad.Reply, compare func(what string, want, got any))
}

// Field is a part of an attribute. Writing it leaves the other parts of the attribute unchanged.
type Field interface {
	Item
	// Set changes the request of Get into a request that writes, based on the answer to Get. It returns false if no
	// write is necessary.
	Set(now *mad.Reply, req *mad.Request) bool
	// Conflicts compares the answer to Get with the known value. It calls add if another program has changed the value
	// and Set would overwrite it.
	Conflicts(f *fabric.Fabric, now *mad.Reply, add func(what string, was, is, would any))
}

// Table is a whole attribute.
type Table interface {
	Item
	// Data returns the attribute to write.
	Data() [mad.DataSize]byte
	// Was returns the known data of the attribute. ok is false if it was not read.
	Was() (data [mad.DataSize]byte, ok bool)
	// Conflicts calls add for each entry that equals neither the known entry nor the entry to be written.
	Conflicts(was, is, would *[mad.DataSize]byte, add func(what string, was, is, would any))
}

// List holds the items to write. Indexes are those of a fabric. The kinds of items, and the steps of blocks, are
// written one after the other: a kind or a step begins only when all earlier writes are acknowledged.
type List struct {
	// LIDs are written first. If a LID cannot be written, the other writes are done nevertheless.
	LIDs []LID
	// States are written second. All ports are armed before the first port is activated. Later writes are not done if a
	// link between switches fails to come up. Failures at other ports do not matter, because no path leads through
	// these ports.
	States []State
	// Tops holds LinearFDBTops. Raised LinearFDBTops are written before the blocks, as in OpenSM. Lowered LinearFDBTops
	// are written after all blocks.
	Tops []Top
	// SL2VLs are sorted by step. Those of step 0 are written before all blocks. Those of a step after the last one of
	// the blocks are written after the lowered LinearFDBTops.
	SL2VLs []SL2VL
	// Blocks are sorted by step. The blocks of a step are sent in this order, as many at a time as the client's window
	// allows.
	Blocks []Block
	// Settles lists, in ascending order, the steps of SL2VLs and blocks that begin only when the packets that met
	// earlier entries have left the switches. SettleTime is how long that takes.
	Settles    []int
	SettleTime time.Duration
	// MFTs are written last, but those without Grow are written before SL2VLs and blocks if CutFirst is set. Those with
	// Grow set are written after the others, after settling if CutFirst is set. If a MulticastFDBTop is too low, it is
	// raised before.
	MFTs     []MFTBlock
	CutFirst bool
	// ReadSteps is set if everything that a step wrote is read back before the next step begins.
	ReadSteps bool
	// Controls are written after everything else, one after the other in this order.
	Controls []Control
}

// Len is the number of items.
func (l *List) Len() int {
	return len(l.LIDs) + len(l.Tops) + len(l.SL2VLs) + len(l.Blocks) + len(l.MFTs) + len(l.States) +
		len(l.Controls)
}

// Empty reports whether the list has no items.
func (l *List) Empty() bool { return l.Len() == 0 }

// Down returns the links of f that the list takes down, at least for a while.
func (l *List) Down(f *fabric.Fabric) (links []fabric.Link) {
	for i := range l.Controls {
		if link, ok := f.LinkOf(l.Controls[i].Port); ok && l.Controls[i].TakesDown() && !slices.Contains(links, link) {
			links = append(links, link)
		}
	}
	return links
}

// Check returns an error for the first item that does not fit f or is out of order. The error wraps [ErrUnfit].
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
			if t.Step < before.Step {
				return fmt.Errorf("SL2VL tables of %s %w: step %d follows step %d", f.NodeName(t.Node), ErrUnfit,
					t.Step, before.Step)
			}
			return nil
		}),
		check(f, l.MFTs, func(before, b *MFTBlock) error {
			if before.Grow && !b.Grow {
				return fmt.Errorf("%s: multicast block %d %w: it follows blocks of a later step",
					switchName(f, b.Switch), b.Num, ErrUnfit)
			}
			return nil
		}),
		check(f, l.States, nil),
		check(f, l.Controls, nil),
	)
}

// check checks the items of one kind. If the function order is not nil, check also calls it to check successive items.
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
		return fmt.Errorf("port index %d %w: the subnet has %d ports", port, ErrUnfit, len(f.Ports))
	}
	return nil
}

func checkSwitch(f *fabric.Fabric, sw fabric.SwitchIndex) error {
	if sw < 0 || int(sw) >= len(f.Switches) {
		return fmt.Errorf("switch index %d %w: the subnet has %d switches", sw, ErrUnfit, len(f.Switches))
	}
	return nil
}

func switchName(f *fabric.Fabric, sw fabric.SwitchIndex) string { return f.NodeName(f.Switches[sw]) }
