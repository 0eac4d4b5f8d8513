// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// smallNetFiles returns those of netFiles that a live test can use: below 300 switches, in a sample below 65.
func smallNetFiles(t *testing.T) map[string]*fabric.Fabric {
	below := 65
	if testenv.Full() {
		below = 300
	}
	out := map[string]*fabric.Fabric{}
	for _, file := range netFiles(t) {
		subnet, err := formats.ReadWith(context.Background(), file, formats.Options{AsIbsim: true})
		if err != nil {
			t.Fatal(err)
		}
		f := subnet.Fabric
		if len(f.Switches) < below {
			out[file] = f
		}
	}
	return out
}

func TestLiveDumpsEqualThoseOfTheRealTools(t *testing.T) {
	testenv.Tool(t, "opensm")
	for file := range smallNetFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			sim := ibsimtest.Start(t, file)
			dir := ibsimtest.OpenSM(t, sim, "-R", "minhop")
			out := t.TempDir()
			at := func(name string) string { return filepath.Join(out, name) }
			ibconsole(t, "-s", "ibsim:"+sim.Name, "-c",
				fmt.Sprintf("sweep; dump lfts %s; dump subnet %s; dump topology %s", at("lfts"), at("subnet"),
					at("topology")))
			sameFile(t, filepath.Join(dir, "opensm-lfts.dump"), at("lfts"))
			sameFile(t, filepath.Join(dir, "opensm-subnet.lst"), at("subnet"))
			sameTopology(t, sim.Output("ibnetdiscover"), at("topology"))
		})
	}
}

// sameTopology compares with the output of ibnetdiscover, except for its date.
func sameTopology(t *testing.T, theirs, file string) {
	t.Helper()
	date := regexp.MustCompile(`(?m)^# Topology file: generated on .*$`)
	ours, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := date.ReplaceAllString(string(ours), ""), date.ReplaceAllString(theirs, ""); got != want {
		g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				t.Fatalf("topology differs from ibnetdiscover's on line %d:\n  ibnetdiscover: %s\n  we:            %s",
					i+1, w[i], g[i])
			}
		}
		t.Fatalf("topology has %d lines, ibnetdiscover's %d", len(g), len(w))
	}
}

// TestCommitOnAnUnroutedSubnet brings up a subnet without a subnet manager, with a drained cable that stays plugged in,
// and checks it with the real tools.
func TestCommitOnAnUnroutedSubnet(t *testing.T) {
	for file, f := range smallNetFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			r := testenv.Rand(t)
			sim := ibsimtest.Start(t, file)
			lfts := filepath.Join(t.TempDir(), "lfts")
			drain := cutLinks(f, r, 1).commands
			out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c",
				"sweep; "+drain+"route; write on; commit yes force-loop; commit yes force-loop; dump lfts "+lfts)
			if n := strings.Count(out, `"written":true,"seconds"`); n != 1 {
				t.Fatalf("%d commits wrote, want the first of two alone:\n%s", n, out)
			}
			sameRoutes(t, f, sim.Output("dump_fts"), lfts)
			samePaths(t, sim, f, r)
		})
	}
}

// entry lines of dump_fts and of opensm-lfts.dump begin in the same way.
var (
	switchLine = regexp.MustCompile(`^Unicast lids .* guid (0x[0-9a-f]+)`)
	entryLine  = regexp.MustCompile(`^(0x[0-9a-f]{4}) ([0-9]{3}) `)
)

// routes returns "switch LID port" of each entry, except for the highest LID if that is a multiple of 64: dump_fts
// never prints it.
func routes(text string, highest uint16) map[string]bool {
	out := map[string]bool{}
	sw := ""
	for line := range strings.Lines(text) {
		if m := switchLine.FindStringSubmatch(line); m != nil {
			sw = m[1]
		}
		if m := entryLine.FindStringSubmatch(line); m != nil {
			if highest%64 != 0 || m[1] != fmt.Sprintf("0x%04x", highest) {
				out[sw+" "+m[1]+" "+m[2]] = true
			}
		}
	}
	return out
}

func sameRoutes(t *testing.T, f *fabric.Fabric, theirs, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	highest := uint16(0)
	if _, err := fmt.Sscanf(string(text), "Unicast lids [0-%d]", &highest); err != nil {
		t.Fatal(err)
	}
	want, got := routes(string(text), highest), routes(theirs, highest)
	if len(want) < len(f.Switches) {
		t.Fatalf("only %d entries", len(want))
	}
	for e := range want {
		if !got[e] {
			t.Fatalf("dump_fts does not show %q; it has %d entries, we %d", e, len(got), len(want))
		}
	}
	if len(got) != len(want) {
		t.Fatalf("dump_fts shows %d entries, we have %d", len(got), len(want))
	}
}

// samePaths traces random pairs with the real ibtracert and with ours.
func samePaths(t *testing.T, sim *ibsimtest.Sim, f *fabric.Fabric, r *rand.Rand) {
	t.Helper()
	var script, theirs strings.Builder
	staged := filepath.Join(t.TempDir(), "topology")
	ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", "dump topology "+staged)
	read, err := formats.Read(context.Background(), staged)
	if err != nil {
		t.Fatal(err)
	}
	seen := read.Fabric
	for range testenv.Count(t, 10, 200) {
		a, b := seen.EndPorts[r.IntN(len(seen.EndPorts))], seen.EndPorts[r.IntN(len(seen.EndPorts))]
		src, dst := seen.Ports[a].LID, seen.Ports[b].LID
		fmt.Fprintf(&script, "trace lid:%d lid:%d format=ibtracert\n", src, dst)
		theirs.WriteString(sim.Output("ibtracert", fmt.Sprint(src), fmt.Sprint(dst)))
	}
	if ours := ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", script.String()); ours != theirs.String() {
		t.Errorf("ibtracert prints\n%s\nwe print\n%s", theirs.String(), ours)
	}
}

// TestCommitWithAMaster commits next to a real OpenSM.
func TestCommitWithAMaster(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "net")
	ibconsole(t, "-c", "gen fattree 2 4 "+file)
	sim := ibsimtest.Start(t, file)
	ctx, cancel := context.WithCancel(context.Background())
	opensm := sim.Command(ctx, "opensm", "-f", filepath.Join(dir, "log"), "-R", "minhop", "-s", "0")
	opensm.Env = append(opensm.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir)
	if err := opensm.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cancel(); _ = opensm.Wait() }()
	waitFor(t, filepath.Join(dir, "opensm-subnet.lst"), "LOG=ACT") // its log is buffered

	const change = "sweep; fail link leaf-01 3; route; write on; "
	refused := try("-s", "ibsim:"+sim.Name, "-c", change+"commit yes")
	if refused.status != exitFailed || !strings.Contains(refused.err, "master subnet manager") {
		t.Fatalf("exit status %d, %s", refused.status, refused.err)
	}
	if r := try("-s", "ibsim:"+sim.Name, "-c", change+"commit yes sm=0x1"); r.status != exitFailed ||
		!strings.Contains(r.err, "is not the master") {
		t.Errorf("for a wrong GUID: exit status %d, %s", r.status, r.err)
	}
	sm := answerOf[struct{ GUID, State string }](t, ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", "show sms"),
		`"kind":"managers"`)
	if sm.State != "master" {
		t.Fatalf("show sms: %+v", sm)
	}
	out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", change+"commit yes sm="+sm.GUID)
	if !strings.Contains(out, `"written":true,"seconds"`) {
		t.Errorf("with the named master: %s", out)
	}
}

func waitFor(t *testing.T, file, text string) {
	t.Helper()
	for range 3000 {
		if b, _ := os.ReadFile(file); bytes.Contains(b, []byte(text)) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%q does not appear in %s", text, file)
}

// TestIbsimDiesInTheFirstSweep checks that a subnet that disappears gives an error and no partial state.
func TestIbsimDiesInTheFirstSweep(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "net")
	ibconsole(t, "-c", "gen fattree 3 20 "+file)
	sim := ibsimtest.Start(t, file)
	out := filepath.Join(dir, "out")
	done := make(chan result)
	go func() {
		done <- try("-s", "ibsim:"+sim.Name, "-c", "sweep; sweep; sweep; sweep; sweep; dump topology "+out)
	}()
	time.Sleep(60 * time.Millisecond)
	sim.Stop()
	r := <-done
	if r.status != exitFailed || !strings.Contains(r.err, sim.Name) {
		t.Errorf("exit status %d: %s", r.status, r.err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("something was dumped")
	}
}

// TestCommitWithAHole checks that a host that no longer responds prevents a commit unless an option allows it.
func TestCommitWithAHole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-c", "gen fattree 2 4 "+file)
	sim := ibsimtest.Start(t, file)
	sim.Console(`Error "node-0008" 100`)
	const script = "sweep; route; write on; "
	r := try("-s", "ibsim:"+sim.Name, "--window", "64", "-c", script+"commit yes")
	if r.status != exitFailed || !strings.Contains(r.err, "'commit yes force-incomplete'") ||
		!strings.Contains(r.err, "leaf-04 port 2") {
		t.Errorf("exit status %d: %s", r.status, r.err)
	}
	if out := ibconsole(t, "-s", "ibsim:"+sim.Name, "-c", script+"commit yes holes=yes"); !strings.Contains(out,
		"written in") {
		t.Errorf("with the old name of the option: %s", out)
	}
}
