// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"example.org/ibconsole/internal/test/testenv"
)

// TestVLsAreCountedOnce checks that diff and commit print the same number of changed SL2VL tables, and that the SLs of
// paths are compared if those of both states are known. With a failed switch, torus-2QoS(8) grants the same SLs,
// because these do not depend on failures.
func TestVLsAreCountedOnce(t *testing.T) {
	testenv.Tool(t, "opensm")
	h := routedTorus(t, "torus-2QoS", true, false)
	change := "sweep full sl2vl; engine from=" + h.conf + "; fail switch sw-1-3; route; "
	known := "engine from=" + h.conf + "; calibrate; " + change
	counted := func(script string) (tables, sls any) {
		o := object(t, try("--json", "-s", h.source, "-c", script+"diff"))
		return o["vls_sl2vl_tables"], o["vls_path_sls"]
	}
	diff, sls := counted(known)
	plan, _ := object(t, try("--json", "-s", h.source, "-c", known+"commit dry-run"))["plan"].(map[string]any)
	dry := plan["sl2vl_tables"]
	if diff == nil || diff == 0.0 || diff != dry || sls != 0.0 {
		t.Errorf("diff %v SL2VL tables and %v path SLs, commit %v tables", diff, sls, dry)
	}
	if diff, sls = counted(change); diff != dry || sls != nil {
		t.Errorf("with unknown SLs: %v SL2VL tables, %v path SLs; want %v and null", diff, sls, dry)
	}
}
