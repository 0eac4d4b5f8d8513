// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/mad/umad/umadtest"
)

// measured are the parts that differ from run to run: durations, numbers of retries, and times.
var measured = regexp.MustCompile(
	`[0-9.]+(ns|µs|ms|s)\b|\([0-9]+ MADs\)|"(seconds|took|mads)":[0-9.e+-]+|generated on .*`)

// adaptive is the note of a trace about switches that are not simulated.
var adaptive = regexp.MustCompile(`(?m)^.*route adaptively.*\n`)

// TestUmadIsAsIbsim checks that reading, tracing and writing over the umad devices of an ibsim give the same as over
// its sockets.
func TestUmadIsAsIbsim(t *testing.T) {
	names := []string{"real-qdr-11sw.topo", "reindeer1100-116sw.net", "real-cs8500-hdr-192sw.net"}
	for _, name := range names[:testenv.Count(t, 1, len(names))] {
		file := testenv.SharedFile(t, filepath.Join("fabrics", name))
		t.Run(name, func(t *testing.T) {
			subnet, err := formats.ReadWith(t.Context(), file, formats.Options{AsIbsim: true})
			if err != nil {
				t.Fatal(err)
			}
			f := subnet.Fabric
			sims := []*ibsimtest.Sim{ibsimtest.Start(t, file), ibsimtest.Start(t, file)}
			run := umadtest.Devices(t, sims[1].Name)
			dirs := []string{t.TempDir(), t.TempDir()}
			t.Setenv("XDG_STATE_HOME", t.TempDir()) // the commits have the same number
			ours := ibconsole(t, "-s", "ibsim:"+sims[0].Name, "-c", everything(f, dirs[0]))
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			over := run(program, "-s", "umad", "-c", everything(f, dirs[1]))
			if !adaptive.MatchString(over) {
				t.Error("a trace over umad does not warn of adaptive routing")
			}
			over = adaptive.ReplaceAllString(over, "")
			sameText(t, "output", strings.ReplaceAll(ours, dirs[0], "DIR"), strings.ReplaceAll(over, dirs[1], "DIR"))
			for _, kind := range []string{"topology", "lfts"} {
				sameText(t, kind, contents(t, filepath.Join(dirs[0], kind)), contents(t, filepath.Join(dirs[1], kind)))
			}
			sameTopology(t, run(testenv.Tool(t, "ibnetdiscover")), filepath.Join(dirs[1], "topology"))
		})
	}
}

// everything sweeps, reads, traces, routes and writes.
func everything(f *fabric.Fabric, dir string) string {
	name := func(node fabric.NodeIndex) string { return fmt.Sprintf("guid:0x%016x", f.Nodes[node].GUID) }
	sw := name(f.Switches[len(f.Switches)/2])
	first, last := f.EndPorts[0], f.EndPorts[len(f.EndPorts)-1]
	trace := fmt.Sprintf("trace %s %s of=live; ", name(f.Ports[first].Node), name(f.Ports[last].Node))
	return "sweep; show nodes; show switches; show links; show ports " + sw +
		"; show sms; route; write on; commit yes force-loop; sweep; " +
		"show lft " + sw + " of=live; " + trace + "commit; dump topology " + filepath.Join(dir, "topology") +
		"; dump lfts " + filepath.Join(dir, "lfts")
}

func contents(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sameText compares line by line, except for measured parts.
func sameText(t *testing.T, what, ibsim, umad string) {
	t.Helper()
	a, b := strings.Split(measured.ReplaceAllString(ibsim, "#"), "\n"),
		strings.Split(measured.ReplaceAllString(umad, "#"), "\n")
	if len(a) < 20 {
		t.Errorf("%s: only %q", what, ibsim)
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s differs on line %d:\n  ibsim: %s\n  umad:  %s", what, i+1, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		t.Errorf("%s has %d lines over ibsim, %d over umad", what, len(a), len(b))
	}
}

// TestUmadIsDefault checks that the local port is the default source.
func TestUmadIsDefault(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-c", "gen fattree 2 4 "+file)
	sim := ibsimtest.Start(t, file)
	run := umadtest.Devices(t, sim.Name)
	if out := run("env", "-u", "IBCONSOLE_SOURCE", program, "-c", "summary"); !strings.Contains(out,
		"subnet umad:ibsim0:1, live\n  6 switches, 8 channel adapters") {
		t.Error(out)
	}
	if out := run(program, "-c", "summary"); !strings.Contains(out, "SIMULATED") {
		t.Errorf("with IBCONSOLE_SOURCE=%s: %s", os.Getenv("IBCONSOLE_SOURCE"), out)
	}
	if out := run(program, "doctor"); !strings.Contains(out, "umad:ibsim0:1: an agent for subnet management was "+
		"registered, the port answered it") {
		t.Error(out)
	}
}

// TestDoctorOnAKernel checks the report about a port of Soft-RoCE on a real Linux.
func TestDoctorOnAKernel(t *testing.T) {
	run := umadtest.Kernel(t, true)
	out, status := run(umadtest.Build(t, "example.org/ibconsole", false), "doctor", "--json")
	if status != exitDone {
		t.Fatalf("exit status %d\n%s", status, out)
	}
	var all strings.Builder
	var a struct{ Findings []umad.Finding }
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	for _, f := range a.Findings {
		fmt.Fprintf(&all, "%s|%s|%s|%s\n", f.Level, f.Port, f.Text, f.Remedy)
	}
	for _, want := range []string{
		"ok||the module ib_umad is loaded, interface version 5|",
		"note|umad:rxe0:1|the link layer is Ethernet (RoCE): there is no SMI, so no subnet management packets and no " +
			"subnet manager, and no way to read a subnet",
		"note|umad:rxe0:1|as expected, the kernel has no agent for subnet management: register an agent for " +
			"class 0x81: refused: protocol not supported|",
		"ok|umad:rxe0:1|an agent for general services was registered, a request to an unused address came back with " +
			"the kernel's time-out (connection timed out) after ",
		"source umad: no InfiniBand port is usable: none is an InfiniBand port with a link: " +
			"rxe0 port 1 (Ethernet, Active)",
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%q is not in\n%s", want, all.String())
		}
	}
	// The request has a time-out of 200 ms, so a kernel that returns it at once does not wait for a response.
	ms := regexp.MustCompile(`after ([0-9]+) ms`).FindStringSubmatch(out)
	if ms == nil {
		t.Fatalf("no time in\n%s", out)
	}
	if n, err := strconv.Atoi(ms[1]); err != nil || n < 200 {
		t.Errorf("the kernel returned it after %s ms", ms[1])
	}
}

// TestDoctorWithoutModules is the same machine without modules loaded.
func TestDoctorWithoutModules(t *testing.T) {
	run := umadtest.Kernel(t, false)
	out, status := run(umadtest.Build(t, "example.org/ibconsole", false), "doctor")
	for _, want := range []string{
		"fault  umad: no RDMA module is loaded: there is no /sys/class/infiniband\n", "modprobe mlx5_ib",
		"modprobe ib_umad", "without -s: sim:fattree:2,36",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if status != exitFailed {
		t.Errorf("exit status %d", status)
	}
}

// TestUmadErrors has sources that cannot be opened here, on any machine.
func TestUmadErrors(t *testing.T) {
	oneLine(t, try("-s", "umad:a:b:c"), exitUsage, `"a:b:c"`, "from 0 to 255")
	oneLine(t, try("-s", "umad:nosuch0", "-c", "summary"), exitFailed, "umad:nosuch0", "no InfiniBand port is "+
		"usable",
		"ibconsole doctor")
	doctored(t, try("doctor"), "without -s: "+os.Getenv("IBCONSOLE_SOURCE"))
}
