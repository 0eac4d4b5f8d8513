// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

// mcfdbsColumns follows the line of a switch.
const mcfdbsColumns = "LID    : Out Port(s)"

// WriteMCFDBs writes multicast tables as OpenSM does in opensm.mcfdbs (osm_dump.c,
// dump_mcast_routes), byte for byte: a section for each switch with entries, and in
// it a line for each multicast LID. O(switches x multicast LIDs).
func WriteMCFDBs(w io.Writer, f *fabric.Fabric, t *fabric.MFT) error {
	b := bufio.NewWriterSize(w, 1<<16)
	for s := range fabric.SwitchIndex(len(f.Switches)) {
		if err := writeMCFDB(b, f, t, s); err != nil {
			return fmt.Errorf("write multicast tables: %w", err)
		}
	}
	return flush(b, "multicast tables")
}

func writeMCFDB(b *bufio.Writer, f *fabric.Fabric, t *fabric.MFT, sw fabric.SwitchIndex) error {
	head := false
	for i := range t.LIDs() {
		mlid := uint16(fabric.FirstMLID + i)
		if !t.Any(sw, mlid) {
			continue
		}
		line := b.AvailableBuffer()
		if !head {
			head = true
			line = fmt.Appendf(line, "\nSwitch 0x%016x\n%s\n", f.SwitchNode(sw).GUID, mcfdbsColumns)
		}
		line = fmt.Appendf(line, "0x%04X :", mlid)
		for port := range t.Each(sw, mlid) {
			line = fmt.Appendf(line, " 0x%03X ", port)
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}
