// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
)

// TestNoVLsWithoutQoS checks that with quality of service off, when OpenSM writes no SL2VL tables (osm_qos.c), none are
// planned, and that checks use the VLs of the switches: those of ibsim, a VL for each SL, or those of a simulated
// subnet, VL 0.
func TestNoVLsWithoutQoS(t *testing.T) {
	testenv.Tool(t, "opensm")
	const warns = "with quality of service off (qos FALSE) OpenSM sets no SL2VL tables"
	for _, engine := range []string{"lash", "dfsssp"} {
		h := routedTorus(t, engine, false, true)
		known := "engine from=" + h.conf + "; sweep full sl2vl; calibrate; "
		for script, want := range map[string]string{
			"": "", "route": "", "check credits of=live": "no credit loop", "route; check credits": "no credit loop",
			"route; diff": "no difference", "route; commit dry-run": "nothing to write",
		} {
			r := try("-s", h.source, "-c", known+script)
			if !strings.Contains(r.out, want) || !strings.Contains(r.out, warns) || r.status != exitDone {
				t.Errorf("%s: %s: status %d: %s%s", engine, script, r.status, r.out, r.err)
			}
			if _, check, is := strings.Cut(r.out, "credits of "); is != strings.Contains(script, "check") || is &&
				!strings.Contains(check, warns) {
				t.Errorf("%s: %s does not warn: %s", engine, script, r.out)
			}
		}
		r := try("--json", "-s", h.source, "-c", "engine from="+h.conf+"; route; check credits")
		if got := loopOf(t, r, "loop"); got != nil {
			t.Errorf("%s on unread VLs: loop %v", engine, got)
		}
		r = try("--json", "-s", "sim:torus:6x5", "-c", "engine "+engine+" qos=no; route; check credits")
		if got := loopOf(t, r, "loop"); got != true {
			t.Errorf("%s on VL 0: loop %v", engine, got)
		}
	}
}

// TestHandoverSaysEachOptionOnce checks that handover writes each option once, and switches as TRUE or FALSE, because
// OpenSM takes everything except TRUE as off.
func TestHandoverSaysEachOptionOnce(t *testing.T) {
	for given, want := range map[string]string{
		"": "TRUE", " qos=yes lmc=0": "TRUE", " qos=FALSE lmc=0 reassign_lids=no": "FALSE",
	} {
		dir := filepath.Join(t.TempDir(), "out")
		ibconsole(t, "-s", "sim:torus:4x4", "-c", "engine lash"+given+"; route; handover "+dir)
		text, err := os.ReadFile(filepath.Join(dir, "opensm.conf"))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]string{}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			if seen[name] != "" {
				t.Errorf("%s: %s twice: %s", given, name, text)
			}
			seen[name] = value
		}
		if seen["qos"] != want || seen["lmc"] != "0" {
			t.Errorf("%s: %s", given, text)
		}
	}
}
