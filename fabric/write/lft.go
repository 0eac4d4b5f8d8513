// SPDX-License-Identifier: Apache-2.0

package write

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Top sets a switch's LinearFDBTop.
type Top struct {
	Switch   fabric.SwitchIndex
	Old, New uint16
}

// Falls reports whether the LinearFDBTop is lowered. A lowered LinearFDBTop is written after the blocks, a raised one
// before them.
func (t *Top) Falls() bool { return t.New < t.Old }

// Check implements [Item].
func (t *Top) Check(f *fabric.Fabric) error {
	if err := checkSwitch(f, t.Switch); err != nil {
		return err
	}
	if t.New > fabric.MaxUnicastLID {
		return fmt.Errorf("%s: LinearFDBTop %d %w: the highest is %d", switchName(f, t.Switch), t.New, ErrUnfit,
			fabric.MaxUnicastLID)
	}
	return nil
}

// Target implements [Item].
func (t *Top) Target(f *fabric.Fabric) fabric.PortIndex { return f.SwitchNode(t.Switch).FirstPort }

// Get implements [Item].
func (t *Top) Get(*fabric.Fabric) mad.Request { return mad.Request{Attr: mad.AttrSwitchInfo} }

// Set implements [Field].
func (t *Top) Set(now *mad.Reply, req *mad.Request) bool {
	info := switchInfo(now)
	if info.LinearFDBTop == t.New {
		return false
	}
	info.LinearFDBTop = t.New
	info.PortStateChange = false // otherwise it is cleared, and a subnet manager misses a change
	req.Set(&info)
	return true
}

// Conflicts implements [Field].
func (t *Top) Conflicts(_ *fabric.Fabric, now *mad.Reply, add func(what string, was, is, would any)) {
	info := switchInfo(now)
	compare(func() string { return "LinearFDBTop" }, t.Old, info.LinearFDBTop, t.New, add)
}

// Verify implements [Item].
func (t *Top) Verify(_ *fabric.Fabric, now *mad.Reply, compare func(what string, want, got any)) {
	info := switchInfo(now)
	compare("LinearFDBTop", t.New, info.LinearFDBTop)
}

// switchInfo decodes a valid answer.
func switchInfo(now *mad.Reply) (info mad.SwitchInfo) {
	_ = now.Decode(&info)
	return info
}

// Block sets the entries 64*Num to 64*Num+63 of a switch's table. The arrays are shared and must not be changed.
type Block struct {
	Switch fabric.SwitchIndex
	Num    uint16 // from 0 to 767
	Step   int    // begins when all blocks of the previous step are written
	// Old is all NoPath if the contents are unknown. New may contain both old and staged entries if a later step writes
	// the block again.
	Old, New *[fabric.BlockSize]uint8
	// Read is set if Old was read from the switch, or is the result of earlier steps.
	Read bool
}

// Check implements [Item].
func (b *Block) Check(f *fabric.Fabric) error {
	const last = fabric.MaxUnicastLID / fabric.BlockSize
	if err := checkSwitch(f, b.Switch); err != nil {
		return err
	}
	if b.Num > last {
		return fmt.Errorf("%s: block %d %w: the last one is %d", switchName(f, b.Switch), b.Num, ErrUnfit, last)
	}
	return nil
}

// Target implements [Item].
func (b *Block) Target(f *fabric.Fabric) fabric.PortIndex { return f.SwitchNode(b.Switch).FirstPort }

// Get implements [Item].
func (b *Block) Get(*fabric.Fabric) mad.Request {
	return mad.Request{Attr: mad.AttrLinearForwardingTable, Mod: uint32(b.Num)}
}

// Data implements [Table].
func (b *Block) Data() [mad.DataSize]byte { return *b.New }

// Was implements [Table].
func (b *Block) Was() (data [mad.DataSize]byte, ok bool) {
	if b.Read {
		data = *b.Old
	}
	return data, b.Read
}

// Conflicts implements [Table]. It ignores the entry of LID 0.
func (b *Block) Conflicts(was, is, would *[mad.DataSize]byte, add func(what string, was, is, would any)) {
	for k := range is {
		if lid := int(b.Num)*fabric.BlockSize + k; lid > 0 {
			compare(func() string { return fmt.Sprintf("LID %d", lid) }, was[k], is[k], would[k], add)
		}
	}
}

// Verify implements [Item]. It reports at most one entry.
func (b *Block) Verify(_ *fabric.Fabric, now *mad.Reply, compare func(what string, want, got any)) {
	for k, port := range b.New {
		if now.Data[k] != port {
			compare(fmt.Sprintf("block %d, LID %d", b.Num, int(b.Num)*fabric.BlockSize+k), port, now.Data[k])
			return
		}
	}
}
