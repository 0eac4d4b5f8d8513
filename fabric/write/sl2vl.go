// SPDX-License-Identifier: Apache-2.0

package write

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// SL2VL sets the SL2VL table for packets from port In to port Out of a node (IBA 1.2.1, 14.2.5.8). In is used only for
// switches.
type SL2VL struct {
	Node     fabric.NodeIndex
	In, Out  uint8
	Step     int // written before the blocks of this step; after all blocks if it is higher than their last step
	Old, New fabric.VLs
	Read     bool // Old was read, or follows from earlier writes
}

// Check implements [Item].
func (t *SL2VL) Check(f *fabric.Fabric) error {
	if t.Node < 0 || int(t.Node) >= len(f.Nodes) {
		return fmt.Errorf("node index %d %w: the subnet has %d nodes", t.Node, ErrUnfit, len(f.Nodes))
	}
	n := &f.Nodes[t.Node]
	if t.Out == 0 || max(t.In, t.Out) > n.NumPorts {
		return fmt.Errorf("%s: SL2VL table from port %d to port %d %w: the node has ports 1 to %d", f.NodeName(t.Node),
			t.In,
			t.Out, ErrUnfit, n.NumPorts)
	}
	for sl, vl := range t.New {
		if vl > 15 {
			return fmt.Errorf("%s: VL %d for SL %d %w: the highest is 15", f.NodeName(t.Node), vl, sl, ErrUnfit)
		}
	}
	return nil
}

// Target implements [Item].
func (t *SL2VL) Target(f *fabric.Fabric) fabric.PortIndex { return f.Port(t.Node, t.Out) }

// Get implements [Item].
func (t *SL2VL) Get(f *fabric.Fabric) mad.Request {
	req := mad.Request{Attr: mad.AttrSLToVLTable}
	if f.Nodes[t.Node].IsSwitch() {
		req.Mod = mad.SLToVLMod(t.In, t.Out)
	}
	return req
}

// Data implements [Table].
func (t *SL2VL) Data() [mad.DataSize]byte { return mad.Data(&mad.SLToVLTable{VL: t.New}) }

// Was implements [Table].
func (t *SL2VL) Was() (data [mad.DataSize]byte, ok bool) {
	return mad.Data(&mad.SLToVLTable{VL: t.Old}), t.Read
}

// Conflicts implements [Table].
func (t *SL2VL) Conflicts(was, is, would *[mad.DataSize]byte, add func(what string, was, is, would any)) {
	var tables [3]mad.SLToVLTable
	for i, data := range []*[mad.DataSize]byte{was, is, would} {
		_ = (&mad.Reply{Data: *data}).Decode(&tables[i]) // the size is right
	}
	compare(t.what, tables[0].VL, tables[1].VL, tables[2].VL, add)
}

func (t *SL2VL) what() string { return fmt.Sprintf("VLs from port %d to port %d", t.In, t.Out) }

// Verify implements [Item].
func (t *SL2VL) Verify(_ *fabric.Fabric, now *mad.Reply, compare func(what string, want, got any)) {
	var table mad.SLToVLTable
	_ = now.Decode(&table) // the answer is a good one
	compare(t.what(), t.New, fabric.VLs(table.VL))
}
