// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestSMLog records a subnet together with the log of a real OpenSM. A link goes down; another console then lists the
// heavy sweep that OpenSM made, next to the link. Without verbose lines the answer states what the log lacks.
func TestSMLog(t *testing.T) {
	for level, lacks := range map[string]bool{"0x07": false, "0x03": true} {
		t.Run(level, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			sim := sessiontest.Ibsim(t, "sim:fattree:2,8")
			source := "ibsim:" + sim.Name
			log := filepath.Join(ibsimtest.Master(t, sim, "-D", level, "-s", "1"), "opensm.log")
			recorder(t, source, "smlog="+log, "sweep=1")
			sim.Console(`Unlink "S-0000000000200000"[1]`)
			var got struct {
				SMLog  string `json:"sm_log"`
				Events []struct{ What, Text string }
			}
			var sm, link string
			for end := time.Now().Add(time.Minute); sm == "" || link == ""; {
				if time.Now().After(end) {
					t.Fatalf("no sweep of OpenSM or no link in %+v", got)
				}
				time.Sleep(time.Second)
				text := ibconsole(t, "-s", source, "--json", "-c", "changes since=10m")
				if err := json.NewDecoder(strings.NewReader(text)).Decode(&got); err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				for _, e := range got.Events {
					switch {
					case e.What == "SM" && strings.Contains(e.Text, "heavy sweep "):
						sm = e.Text
					case e.What == "link" || e.What == "node" || e.What == "port":
						link = e.Text
					}
				}
			}
			if began := strings.Contains(fmt.Sprint(got.Events), "heavy sweep began"); began == lacks {
				t.Errorf("the beginning of a heavy sweep is listed: %t; %+v", began, got.Events)
			}
			if states := strings.Contains(got.SMLog, "what is not logged may have happened"); states != lacks {
				t.Errorf("the log of the subnet manager: %q", got.SMLog)
			}
		})
	}
}
