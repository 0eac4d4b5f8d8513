// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell/session/sessiontest"
)

// logHas waits until the log of OpenSM has a text a number of times.
func logHas(t *testing.T, log, text string, times int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if read, _ := os.ReadFile(log); strings.Count(string(read), text) >= times {
			return
		}
	}
	t.Fatalf("%s has not %d times %q", log, times, text)
}

// startOpenSM runs OpenSM on a node until the test ends, and returns its log.
func startOpenSM(t *testing.T, sim *ibsimtest.Sim, node string) (log string) {
	t.Helper()
	testenv.Tool(t, "opensm")
	dir := t.TempDir()
	log, conf := filepath.Join(dir, "log"), filepath.Join(dir, "conf")
	if err := os.WriteFile(conf, []byte("force_log_flush TRUE\nsweep_interval 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := sim.Command(ctx, "opensm", "-F", conf, "-f", log, "-D", "0x47")
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir, "SIM_HOST="+node)
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	logHas(t, log, "SUBNET UP", 1)
	return log
}

// TestDrainNextToOpenSM drains a link next to a real OpenSM on another node, and checks what the plan announces: light
// sweeps keep the tables, and after a link went down OpenSM routes over all links again, also over the drained one. It
// does not send blocks that equal its own copy, so that the switches hold a mixture.
func TestDrainNextToOpenSM(t *testing.T) {
	n := sessiontest.NewSubnet(t, "fattree:2,6")
	n.Other = sessiontest.Ibsim(t, "sim:fattree:2,6")
	log := startOpenSM(t, n.Other, "node-0017 HCA-1")
	s := n.Console()
	st := s.State()
	master, ok := st.Master()
	if !ok || !strings.Contains(master.Port, "node-0017") {
		t.Fatalf("master SM %+v", master)
	}
	drain := "drain link leaf-01 4 yes"
	if out, err := runIn(t.Context(), s, drain); err == nil || !strings.Contains(err.Error(), "sm=0x") {
		t.Fatalf("without sm=: %v\n%s", err, out)
	}
	out, err := runIn(t.Context(), s, fmt.Sprintf("%s sm=0x%x", drain, master.GUID))
	if err != nil || !strings.Contains(out, "the SM keeps these tables until it routes again") ||
		!strings.Contains(out, "the mixture may have loops") {
		t.Fatal(err, out)
	}
	uses := func() (count int) { // entries of leaf-01 that lead over port 4
		tables := n.LFT()
		f := tables.Fabric
		leaf := f.Nodes[f.NodesByDescription("leaf-01")[0]].Switch
		for lid := uint16(1); lid <= f.MaxLID; lid++ {
			if tables.Port(leaf, lid) == 4 {
				count++
			}
		}
		return count
	}
	if k := uses(); k > 0 {
		t.Fatalf("after the drain %d entries lead over the link", k)
	}
	text, _ := os.ReadFile(log)
	sweeps := func(kind string) int { return strings.Count(string(text), kind+" SWEEP COMPLETE") }
	logHas(t, log, "LIGHT SWEEP COMPLETE", sweeps("LIGHT")+1)
	if k := uses(); k > 0 {
		t.Errorf("after a light sweep %d entries lead over the link", k)
	}
	f := s.State().Live.Fabric
	n.Other.Console(fmt.Sprintf(`Unlink "S-%016x"[5]`, f.Nodes[f.NodesByDescription("leaf-02")[0]].GUID))
	logHas(t, log, "HEAVY SWEEP COMPLETE", sweeps("HEAVY")+1)
	if uses() == 0 {
		t.Error("OpenSM does not use the drained link after it routed again")
	}
	_, err = runIn(t.Context(), n.Console(), "check reach of=live")
	t.Logf("the mixture of both routes: %v", err) // often loops, as the plan announces
}
