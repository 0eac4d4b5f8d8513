// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
)

// TestTraceIsSmpquerys checks a torus that a master OpenSM with quality of service has routed: the SL of a trace must
// be that of the path record that saquery gets, and the VL at each hop that of the table that smpquery sl2vl prints.
func TestTraceIsSmpquerys(t *testing.T) {
	testenv.Tool(t, "saquery")
	for _, engine := range []string{"lash", "torus-2QoS"} {
		t.Run(engine, func(t *testing.T) {
			h := routedTorus(t, engine, true, true)
			var changed bool
			for _, pair := range []string{farPair, "node-0014 node-0002"} {
				var a struct {
					SL   *int `json:"sl"`
					LID  int
					Hops []struct {
						Node struct{ Name string }
						LID  int
						In   int
						Out  *int
						VL   *int
						InVL *int `json:"in_vl"`
					}
				}
				out := ibconsole(t, "--json", "-s", h.source, "-c", "sweep full sl sl2vl; trace "+pair)
				lines := strings.Split(strings.TrimSpace(out), "\n")
				if err := json.Unmarshal([]byte(lines[len(lines)-1]), &a); err != nil || a.SL == nil {
					t.Fatalf("%v: %s", err, out)
				}
				record := h.sim.Output("saquery", "PR", "--slid", fmt.Sprint(a.Hops[0].LID), "--dlid",
					fmt.Sprint(a.LID))
				if m := regexp.MustCompile(`\bsl\.+(0x[0-9a-fA-F]+|\d+)`).FindStringSubmatch(record); m == nil ||
					number(t, m[1]) != *a.SL {
					t.Errorf("%s: SL %d, saquery has\n%s", pair, *a.SL, record)
				}
				for _, hop := range a.Hops[:len(a.Hops)-1] {
					said := h.sim.Output("smpquery", "sl2vl", fmt.Sprint(hop.LID), fmt.Sprint(*hop.Out))
					out := *hop.Out
					if hop.In == 0 { // a host, whose table smpquery prints without ports
						out = 0
					}
					if want := vlOf(t, said, hop.In, out, *a.SL); hop.VL == nil {
						t.Fatalf("%s at %s: no VL, smpquery has %d", pair, hop.Node.Name, want)
					} else if *hop.VL != want {
						t.Errorf("%s at %s: VL %d, smpquery has %d:\n%s", pair, hop.Node.Name, *hop.VL, want, said)
					}
					changed = changed || hop.InVL != nil && *hop.InVL != *hop.VL
				}
			}
			if engine == "torus-2QoS" && !changed {
				t.Error("no path changes its VL")
			}
		})
	}
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.ParseInt(text, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// vlOf returns the VL of an SL in the output of smpquery sl2vl: a line "ports: in  1, out  2: | 0| 1|...|" for each
// input port.
func vlOf(t *testing.T, said string, in, out, sl int) int {
	t.Helper()
	m := regexp.MustCompile(fmt.Sprintf(`in +%d, out +%d: *\|([^\n]*)\|`, in, out)).FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("no line of ports %d and %d:\n%s", in, out, said)
	}
	return number(t, strings.TrimSpace(strings.Split(m[1], "|")[sl]))
}
