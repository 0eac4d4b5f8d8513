// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"example.org/ibconsole/fabric/formats/pathdb"
)

// writeForACM writes the records of the selected sources in the format that ibacm reads at its start (route_prov
// opensm_full_v1). Each port has a section with its GUID and LID. The section of a selected source has a line for each
// destination.
func writeForACM(ctx context.Context, w io.Writer, v *pathdb.View, sources func(pathdb.PortIndex) bool) error {
	b := bufio.NewWriter(w)
	var records []pathdb.Record
	for i, p := range v.Ports() {
		if p.Flags&pathdb.Gone != 0 {
			continue
		}
		kind := "Channel Adapter"
		switch {
		case p.Flags&pathdb.SwitchPort != 0:
			kind = "Switch"
		case p.Flags&pathdb.RouterPort != 0:
			kind = "Router"
		}
		_, _ = fmt.Fprintf(b, "%s 0x%016x, base LID %d, LMC %d\n", kind, p.GUID, p.LID, p.LMC)
		if !sources(i) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		_, _ = fmt.Fprintln(b, "# LID : SL : MTU : RATE")
		for j := range v.Ports() {
			records, _ = v.Paths(records[:0], i, j, pathdb.Want{})
			for _, r := range records {
				if r.SLID == p.LID || p.LMC > 0 {
					_, _ = fmt.Fprintf(b, "0x%04X : %d : %d : %d\n", r.DLID, r.SL, r.MTU, r.Rate)
				}
			}
		}
		if _, err := fmt.Fprintln(b); err != nil {
			return err
		}
	}
	return b.Flush()
}
