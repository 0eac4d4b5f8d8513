// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/changes/diff"
)

// vlDiff counts what differs in VLs and service levels.
type vlDiff struct {
	// SL2VL counts tables, as a commit does, SLs paths between end ports by their first
	// LIDs. They are null where one of the pictures does not know its own.
	SL2VL *int `json:"sl2vl_tables"`
	SLs   *int `json:"path_sls"`
}

// vlsBetween compares the VLs and service levels of two pictures, nil where neither
// has any.
func vlsBetween(before, after *fabric.Tables) *vlDiff {
	if before == nil || after == nil || before.SL2VL == nil && after.SL2VL == nil && before.SLs == nil && after.SLs == nil {
		return nil
	}
	d := &vlDiff{}
	if before.SL2VL != nil && after.SL2VL != nil {
		n := 0
		for m := range diff.Mappings(before, after) {
			if m.Changed() {
				n++
			}
		}
		d.SL2VL = &n
	}
	if n, known := diff.PathSLs(before, after); known {
		d.SLs = &n
	}
	return d
}

// same reports whether nothing is known to differ.
func (d *vlDiff) same() bool {
	return d == nil || (d.SL2VL == nil || *d.SL2VL == 0) && (d.SLs == nil || *d.SLs == 0)
}

func (d *vlDiff) text(w io.Writer) {
	for _, c := range []struct {
		what string
		n    *int
	}{{"SL2VL tables", d.SL2VL}, {"path SLs", d.SLs}} {
		n := "not compared: one of the two does not know its own"
		if c.n != nil {
			n = fmt.Sprint(*c.n)
		}
		_, _ = fmt.Fprintf(w, "%-25s %s\n", c.what, n)
	}
}
