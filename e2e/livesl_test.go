// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
)

// The positions in the torus between which paths of torus-2QoS cross the dateline of x.
const farPair = "node-0001 node-0019"

// TestSLsOfLivePaths checks that in every command the service level of a live path is that of OpenSM's path records, or
// unknown.
func TestSLsOfLivePaths(t *testing.T) {
	testenv.Tool(t, "opensm")
	all := []struct {
		engine string
		// drawn is set if OpenSM draws a random SL among those of a VL for every response (osm_ucast_dfsssp.c,
		// get_dfsssp_sl).
		drawn bool
	}{{"torus-2QoS", false}, {"dfsssp", true}, {"lash", false}, {"nue", false}, {"minhop", false}}
	for _, tc := range all[:testenv.Count(t, 2, len(all))] {
		t.Run(tc.engine, func(t *testing.T) {
			h := routedTorus(t, tc.engine, true, true, "nue_max_num_vls 4\n")
			record := answerOf[map[string]any](t, try("--json", "-s", h.source, "-c", "sa path "+farPair).out,
				`"kind":"records"`)
			h.sl(t, "", nil)
			for _, known := range []string{"sweep full sl; ", "engine from=" + h.conf + "; calibrate; ",
				"engine from=" + h.conf + "; calibrate; sweep full sl2vl; sweep; "} {
				asked := strings.HasPrefix(known, "sweep")
				switch {
				case asked && tc.drawn:
					h.sl(t, known, nil)
					if r := try("-s", h.source, "-c", known); !strings.Contains(r.out,
						"repeated requests for a path return different service levels") {
						t.Errorf("%s%s", r.out, r.err)
					}
					continue
				case !tc.drawn:
					h.sl(t, known, record["sl"])
				}
				if out := ibconsole(t, "-s", h.source, "-c", known+"sa path node-0001 all"); strings.Contains(out,
					"by the tables") {
					t.Errorf("%s: other SLs than the path records: %s", known, out)
				}
				loop := loopOf(t, try("--json", "-s", h.source, "-c", known+"sweep full sl2vl; check credits of=live"),
					"loop")
				out := ibconsole(t, "-s", h.source, "-c", known+"sweep full sl2vl; problems")
				if loop != (tc.engine == "minhop") || strings.Contains(out, "error   credit loop") != (loop == true) ||
					strings.Contains(out, "unknown") {
					t.Errorf("%s: loop %v: %s", known, loop, out)
				}
			}
		})
	}
}

// sl checks that all commands report the same SL for a live path, nil for unknown.
func (h healthy) sl(t *testing.T, before string, want any) {
	t.Helper()
	for _, c := range []string{"show sl " + farPair + " of=live", "paths query " + farPair + " of=live", "trace " +
		farPair + " of=live"} {
		r := try("--json", "-s", h.source, "-c", before+c)
		got := slOf(t, r)
		if strings.HasPrefix(c, "trace") && want != nil && !strings.Contains(before, "sl2vl") && got == nil {
			continue // without SLs of its own and without SL2VL tables a trace does not report them
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s%s: SL %v, want %v: %s%s", before, c, got, want, r.out, r.err)
		}
	}
}

// TestSLsOfTheSameTables: sssp and dfsssp make the same forwarding tables (osm_ucast_dfsssp.c), and only one of them
// gives service levels.
func TestSLsOfTheSameTables(t *testing.T) {
	testenv.Tool(t, "opensm")
	for _, master := range []bool{true, false} {
		h := routedTorus(t, "dfsssp", true, master)
		r := try("--json", "-s", h.source, "-c", "engine sssp; calibrate; sweep full sl2vl; check credits of=live")
		if got := loopOf(t, r, "loop"); got != nil || !strings.Contains(r.out, `"differ":0,`) ||
			!strings.Contains(r.out, `"sls_taken":false`) {
			t.Errorf("master %v: loop %v: %s%s", master, got, r.out, r.err)
		}
	}
}
