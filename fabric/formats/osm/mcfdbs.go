// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

// mcfdbsColumns is the line after that of a switch.
const mcfdbsColumns = "LID    : Out Port(s)"

// WriteMCFDBs writes multicast tables as OpenSM does in opensm.mcfdbs (osm_dump.c, dump_mcast_routes), byte for byte: a
// section for each switch with entries, with a line for each multicast LID. O(switches x multicast LIDs).
func WriteMCFDBs(w io.Writer, f *fabric.Fabric, t *fabric.MFT) error {
	return writeMCFDBs(w, f, t, func(fabric.SwitchIndex) bool { return false })
}

// WriteAllMCFDBs is [WriteMCFDBs] with a section for each switch of the subnet whose table was read, like ibdiagnet.
func WriteAllMCFDBs(w io.Writer, f *fabric.Fabric, t *fabric.MFT) error {
	return writeMCFDBs(w, f, t, func(sw fabric.SwitchIndex) bool { return f.SwitchNode(sw).InSubnet && t.WasRead(sw) })
}

// writeMCFDBs writes the sections of switches with entries, and of those for which always returns true.
func writeMCFDBs(w io.Writer, f *fabric.Fabric, t *fabric.MFT, always func(fabric.SwitchIndex) bool) error {
	b := bufio.NewWriterSize(w, 1<<16)
	for s := range fabric.SwitchIndex(len(f.Switches)) {
		if err := writeMCFDB(b, f, t, s, always(s)); err != nil {
			return fmt.Errorf("write multicast tables: %w", err)
		}
	}
	return flush(b, "multicast tables")
}

func writeMCFDB(b *bufio.Writer, f *fabric.Fabric, t *fabric.MFT, sw fabric.SwitchIndex, always bool) error {
	section := func(line []byte) []byte {
		return fmt.Appendf(line, "\nSwitch 0x%016x\n%s\n", f.SwitchNode(sw).GUID, mcfdbsColumns)
	}
	head := always
	if head {
		if _, err := b.Write(section(b.AvailableBuffer())); err != nil {
			return err
		}
	}
	for i := range t.LIDs() {
		mlid := uint16(fabric.FirstMLID + i)
		if !t.Any(sw, mlid) {
			continue
		}
		line := b.AvailableBuffer()
		if !head {
			head = true
			line = section(line)
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
