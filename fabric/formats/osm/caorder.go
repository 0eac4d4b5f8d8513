// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
)

// WriteCAOrder writes an order of compute nodes like OpenSM's file opensm-ftree-ca-order.dump (osm_ucast_ftree.c,
// fabric_dump_hca_ordering). The file has one line per end port with its LID and node description. The line is DUMMY
// for fabric.None.
func WriteCAOrder(w io.Writer, f *fabric.Fabric, order []fabric.PortIndex) error {
	b := bufio.NewWriterSize(w, 1<<16)
	for _, e := range order {
		lid, desc := uint16(0xffff), "DUMMY"
		digits := upperHex
		if e != fabric.None {
			p := &f.Ports[e]
			lid, desc, digits = p.LID, printDesc(f.Nodes[p.Node].Desc), lowerHex
		}
		line := appendHex16(append(b.AvailableBuffer(), "0x"...), lid, digits)
		line = append(line, '\t')
		line = append(append(line, desc...), '\n')
		if _, err := b.Write(line); err != nil {
			return fmt.Errorf("write CA order: %w", err)
		}
	}
	return flush(b, "CA order")
}
