// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

// vlDiff counts what differs in VLs and service levels.
type vlDiff struct {
	// SL2VL counts tables, SLs paths between end ports by their first LIDs.
	SL2VL int `json:"sl2vl_tables"`
	SLs   int `json:"path_sls"`
}

// vlsBetween compares the VLs and service levels of two pictures of the same
// nodes. What was neither read nor computed is SL 0 on VL 0; where neither picture
// has any, or the nodes are others, there is nothing to compare.
func vlsBetween(before, after *fabric.Tables) *vlDiff {
	if before == nil || after == nil || !fabric.SameNodes(before.Fabric, after.Fabric) ||
		before.SL2VL == nil && after.SL2VL == nil && before.SLs == nil && after.SLs == nil {
		return nil
	}
	d := &vlDiff{}
	f := after.Fabric
	for i := range f.Nodes {
		n := &f.Nodes[i]
		ins := 1
		if n.IsSwitch() {
			ins = int(n.NumPorts) + 1
		}
		for in := range ins {
			for out := range int(n.NumPorts) + 1 {
				if vlsOf(before, fabric.NodeIndex(i), in, out) != vlsOf(after, fabric.NodeIndex(i), in, out) {
					d.SL2VL++
				}
			}
		}
	}
	if before.SLs == nil && after.SLs == nil {
		return d
	}
	for _, src := range f.EndPorts {
		for _, dst := range f.EndPorts {
			was, _ := before.SL(f.Ports[src].LID, f.Ports[dst].LID)
			if is, _ := after.SL(f.Ports[src].LID, f.Ports[dst].LID); is != was {
				d.SLs++
			}
		}
	}
	return d
}

func vlsOf(t *fabric.Tables, node fabric.NodeIndex, in, out int) fabric.VLs {
	if t.SL2VL == nil {
		return fabric.VLs{}
	}
	return t.SL2VL.VLs(node, uint8(in), uint8(out))
}

func (d *vlDiff) text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%-25s %d\n%-25s %d\n", "SL2VL tables", d.SL2VL, "path SLs", d.SLs)
}
