// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

const (
	sl2vlColumns = "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
	sl2vlRule    = "#--------------------------------------------------------\n"
)

// WriteSL2VL writes SL2VL tables with the same bytes as OpenSM in opensm-sl2vl.dump (osm_dump.c, dump_sl2vl_tbl). Each
// end port has a section. The section of a switch has a line for each pair of a linked egress port and an ingress port.
// If some tables of a section were not read, their lines are omitted. O(switches x ports^2).
func WriteSL2VL(w io.Writer, f *fabric.Fabric, t *fabric.SL2VL) error {
	b := bufio.NewWriterSize(w, 1<<16)
	for _, e := range f.EndPorts {
		if err := writeSL2VL(b, f, t, e); err != nil {
			return fmt.Errorf("write SL2VL tables: %w", err)
		}
	}
	return flush(b, "SL2VL tables")
}

func writeSL2VL(b *bufio.Writer, f *fabric.Fabric, t *fabric.SL2VL, end fabric.PortIndex) error {
	p := &f.Ports[end]
	n := &f.Nodes[p.Node]
	_, err := fmt.Fprintf(b, "%s 0x%016x, base LID %d, \"%s\"\n%s%s", nodeTypeWords(n.Type), p.GUID, p.LID,
		printDesc(n.Desc), sl2vlColumns, sl2vlRule)
	if err != nil {
		return err
	}
	isUnread := func(in, out int) bool {
		return !t.Has(p.Node, uint8(in), uint8(out)) && f.MapsSLs(f.Port(p.Node, uint8(out)))
	}
	if !n.IsSwitch() && !isUnread(0, int(p.Num)) {
		// OpenSM writes 0 as the port number of an adapter.
		if _, err := b.Write(appendVLs(b.AvailableBuffer(), 0, 0, t.VLs(p.Node, 0, p.Num))); err != nil {
			return err
		}
	}
	for out := 1; out <= int(n.NumPorts) && n.IsSwitch(); out++ {
		if !f.Ports[n.FirstPort+fabric.PortIndex(out)].Linked() {
			continue
		}
		for in := range int(n.NumPorts) + 1 {
			if isUnread(in, out) {
				continue
			}
			line := appendVLs(b.AvailableBuffer(), in, out, t.VLs(p.Node, uint8(in), uint8(out)))
			if _, err := b.Write(line); err != nil {
				return err
			}
		}
	}
	_, err = b.WriteString(sl2vlRule + "\n")
	return err
}

func appendVLs(line []byte, in, out int, vls fabric.VLs) []byte {
	line = fmt.Appendf(line, "%-3d %-3d :", in, out)
	for _, vl := range vls {
		line = fmt.Appendf(line, " %-2d", vl)
	}
	return append(line, '\n')
}
