// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/umad/umadtest"
	"example.org/ibconsole/shell"
	answers "example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// TestLiveTracesOverIbsim traces repeatedly in one session: nothing may fail or grow. In between, a table is changed by
// another program.
func TestLiveTracesOverIbsim(t *testing.T) {
	testenv.Tool(t, "ibsim")
	stateHome(t)
	r := testenv.Rand(t)
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,12", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", "route; write on; commit yes")

	trace := tracer(t, "ibsim:"+sim.Name)
	traceOften(t, trace, testenv.Count(t, 200, 100000))
	ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", "engine minhop port_shifting=TRUE; route keep=no; write on; commit yes")
	pairs := filepath.Join(t.TempDir(), "pairs")
	var lines strings.Builder
	for range 200 {
		lines.WriteString(randomPair(trace.fabric, r) + "\n")
	}
	if err := os.WriteFile(pairs, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out := trace.live("file=" + pairs)
	if !strings.Contains(out, `"arrive":200`) || strings.Contains(out, `"part":0`) {
		t.Errorf("after another routing was written the traces still use the old tables: %s", out)
	}
}

// liveTracer traces in one session.
type liveTracer struct {
	fabric *fabric.Fabric
	live   func(words string) string
}

func tracer(t *testing.T, from string) liveTracer {
	t.Helper()
	src, err := source.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(t.Context(), src, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	sh := shell.New(s)
	return liveTracer{s.State().Live.Fabric, func(words string) string {
		var out strings.Builder
		if err := sh.Run(t.Context(), "test", "trace live "+words,
			&shell.Output{W: &out, Form: answers.FormJSON}); err != nil && out.Len() == 0 {
			t.Fatal(err) // it also fails if paths do not arrive
		}
		return out.String()
	}}
}

// traceOften traces random pairs, which all arrive, and compares resources before and afterwards.
func traceOften(t *testing.T, trace liveTracer, n int) {
	t.Helper()
	r := testenv.Rand(t)
	for range 100 {
		trace.live(randomPair(trace.fabric, r))
	}
	before := testenv.Resources(t)
	for range n {
		pair := randomPair(trace.fabric, r)
		if out := trace.live(pair); !strings.Contains(out, `"arrives":true`) || strings.Contains(out, `"parts"`) {
			t.Fatalf("%s: %s", pair, out)
		}
	}
	before.CheckReleased(t)
}

// TestLiveTracesOverUmad is the same over umad devices, and checks the agents as well.
func TestLiveTracesOverUmad(t *testing.T) {
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-s", "sim:fattree:2,12", "-c", "dump topology "+net)
	sim := ibsimtest.Start(t, net)
	run := umadtest.Devices(t, sim.Name)
	ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", "route; write on; commit yes")
	out := run("env", onDevices+"=1", programVar+"="+program, umadtest.Build(t, ".", true), "-test.v", "-test.run",
		"^TestLiveTracesOnDevices$")
	if !strings.Contains(out, "--- PASS: TestLiveTracesOnDevices") {
		t.Error(out)
	}
}

func TestLiveTracesOnDevices(t *testing.T) {
	if os.Getenv(onDevices) == "" {
		t.Skip("runs where TestLiveTracesOverUmad makes devices")
	}
	stateHome(t)
	before := freeAgents(t)
	t.Run("often", func(t *testing.T) { traceOften(t, tracer(t, "umad"), testenv.Count(t, 200, 100000)) })
	if after := freeAgents(t); after != before {
		t.Errorf("%d agents were free before, %d afterwards", before, after)
	}
}

// randomPair returns two end ports by their LIDs.
func randomPair(f *fabric.Fabric, r *rand.Rand) string {
	lid := func() uint16 { return f.Ports[f.EndPorts[r.IntN(len(f.EndPorts))]].LID }
	return fmt.Sprintf("lid:%d lid:%d", lid(), lid())
}

// TestLiveTraceShowsBothEnds checks on a real fabric of FDR10 and QDR that a live trace has the widths and speeds that
// ibnetdiscover prints, and the errors of the receiving port as well as those of the sending one.
func TestLiveTraceShowsBothEnds(t *testing.T) {
	stateHome(t)
	sim := ibsimtest.Start(t, testenv.SharedFile(t, "fabrics/real-fdr10-8sw.topo"))
	ibsimtest.OpenSM(t, sim)
	sim.Console(`PerformanceSet "S-f4521403007ea570"[30] PortCounters.SymbolErrorCounter=7`)
	sim.Console(`PerformanceSet "S-f4521403001165a0"[25] PortCounters.PortXmitDiscards=3`)
	speed := map[string]string{}
	for line := range strings.Lines(sim.Output("ibnetdiscover", "-p")) {
		if f := strings.Fields(line); len(f) > 6 {
			speed[f[3]+"/"+f[2]] = f[4] + f[5]
		}
	}
	out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", `trace live "node-0023 mlx4_0" "node-0100 mlx4_0"`)
	var path struct {
		Hops []struct {
			Node         struct{ GUID string }
			Link, Errors string
			In, Out      int
			InLink       string `json:"in_link"`
			InErrors     string `json:"in_errors"`
		}
	}
	if err := json.Unmarshal([]byte(out), &path); err != nil || len(path.Hops) != 5 {
		t.Fatalf("%v: %s", err, out)
	}
	fdr10 := 0
	for i, h := range path.Hops {
		if i > 0 && i < 4 { // for adapters it prints the GUIDs of ports
			in, out := speed[fmt.Sprintf("%s/%d", h.Node.GUID, h.In)], speed[fmt.Sprintf("%s/%d", h.Node.GUID, h.Out)]
			if h.InLink != in || h.Link != out || in == "" || out == "" {
				t.Errorf("hop %d: %+v, ibnetdiscover has %q and %q", i, h, in, out)
			}
		}
		if h.InLink == "4xFDR10" {
			fdr10++
		}
		var in, out string
		switch h.Node.GUID {
		case "0xf4521403001165a0":
			out = "PortXmitDiscards 3"
		case "0xf4521403007ea570":
			in = "SymbolErrorCounter 7"
		}
		if h.InErrors != in || h.Errors != out {
			t.Errorf("hop %d: errors %q coming in, %q going out, want %q and %q", i, h.InErrors, h.Errors, in, out)
		}
	}
	if fdr10 != 2 {
		t.Errorf("%d links at FDR10: %s", fdr10, out)
	}
}
