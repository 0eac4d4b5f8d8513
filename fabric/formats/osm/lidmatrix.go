// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

// WriteLIDMatrix writes hop counts as OpenSM does in opensm-lid-matrix.dump (osm_dump.c, dump_lid_matrix). Each switch
// of the subnet has a row for each switch LID that it reaches, and a row has a column for each port. The first column
// is the least of all. O(switches^2 x ports).
func WriteLIDMatrix(w io.Writer, f *fabric.Fabric, hops Hops) error {
	b := bufio.NewWriterSize(w, 1<<16)
	for s := range f.NumSwitches() {
		if !f.SwitchNode(s).InSubnet {
			continue
		}
		if err := writeMatrix(b, f, s, hops); err != nil {
			return fmt.Errorf("write lid matrix: %w", err)
		}
	}
	return flush(b, "lid matrix")
}

func writeMatrix(b *bufio.Writer, f *fabric.Fabric, sw fabric.SwitchIndex, hops Hops) error {
	node := f.SwitchNode(sw)
	if _, err := fmt.Fprintf(b, "Switch: guid 0x%016x\n", node.GUID); err != nil {
		return err
	}
	for lid := 1; lid <= int(f.MaxLID); lid++ {
		e := f.PortByLID(uint16(lid))
		if e == fabric.None {
			continue
		}
		through := hopsTo(f, hops, sw, uint16(lid), e)
		if through == nil || through(0) == NoHops {
			continue
		}
		line := append(b.AvailableBuffer(), "0x"...)
		line = appendHex16(line, uint16(lid), lowerHex)
		line = append(line, ':')
		for p := range int(node.NumPorts) + 1 {
			h := through(uint8(p))
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

// hopsTo returns a function for the hop counts from a switch to a LID by port, the least at port 0; nil if the LID has
// none.
func hopsTo(f *fabric.Fabric, hops Hops, sw fabric.SwitchIndex, lid uint16,
	endPort fabric.PortIndex) func(port uint8) uint8 {
	if h, ok := hops.(LIDHops); ok {
		return func(port uint8) uint8 {
			if port == 0 {
				return h.LeastTo(sw, lid)
			}
			return h.ThroughTo(sw, port, lid)
		}
	}
	dst := f.Nodes[f.Ports[endPort].Node].Switch
	if dst == fabric.None || f.Ports[endPort].LID != lid {
		return nil
	}
	return func(port uint8) uint8 {
		if port == 0 {
			return hops.Least(sw, dst)
		}
		return hops.Through(sw, port, dst)
	}
}
