// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"example.org/ibconsole/fabric"
)

// WriteUpdnRoots writes root switches as OpenSM does in opensm-updn-roots.dump
// (osm_ucast_updn.c, dump_roots): a node GUID a line, in the order of switch
// indexes. [ReadGUIDFile] reads it, and so does OpenSM as a root_guid_file.
func WriteUpdnRoots(w io.Writer, f *fabric.Fabric, roots []fabric.SwitchIndex) error {
	b := bufio.NewWriter(w)
	for _, sw := range slices.Compact(slices.Sorted(slices.Values(roots))) {
		fmt.Fprintf(b, "0x%x\n", f.SwitchNode(sw).GUID)
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write roots: %w", err)
	}
	return nil
}
