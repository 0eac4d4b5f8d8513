// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

// WriteLIDMatrix writes hop counts as OpenSM does in opensm-lid-matrix.dump
// (osm_dump.c, dump_lid_matrix): for each switch of the subnet a row for each
// switch LID that it reaches, and in it a column for each port, the first one
// being the least of all. O(switches^2 x ports).
func WriteLIDMatrix(w io.Writer, f *fabric.Fabric, hops Hops) error {
	b := bufio.NewWriterSize(w, 1<<16)
	for s := range f.Switches {
		if !f.SwitchNode(int32(s)).InSubnet {
			continue
		}
		if err := writeMatrix(b, f, int32(s), hops); err != nil {
			return fmt.Errorf("write lid matrix: %w", err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write lid matrix: %w", err)
	}
	return nil
}

func writeMatrix(b *bufio.Writer, f *fabric.Fabric, sw int32, hops Hops) error {
	node := f.SwitchNode(sw)
	if _, err := fmt.Fprintf(b, "Switch: guid 0x%016x\n", node.GUID); err != nil {
		return err
	}
	for lid := 1; lid <= int(f.MaxLID); lid++ {
		e := f.PortByLID(uint16(lid))
		if e == fabric.None || int(f.Ports[e].LID) != lid {
			continue
		}
		dst := f.Nodes[f.Ports[e].Node].Switch
		if dst == fabric.None || hops.Least(sw, dst) == NoHops {
			continue
		}
		line := append(b.AvailableBuffer(), "0x"...)
		line = appendHex16(line, uint16(lid), lowerHex)
		line = append(line, ':')
		for p := range int(node.NumPorts) + 1 {
			h := hops.Least(sw, dst)
			if p > 0 {
				h = hops.Through(sw, uint8(p), dst)
			}
			line = append(line, ' ', lowerHex[h>>4], lowerHex[h&15])
		}
		line = append(line, " # portguid 0x"...)
		line = fmt.Appendf(line, "%016x\n", f.Ports[e].GUID)
		if _, err := b.Write(line); err != nil {
			return err
		}
	}
	return nil
}
