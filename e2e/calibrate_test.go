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
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// confs are ten opensm.conf files. %s stands for the GUID files of confFiles.
var confs = []string{
	"",
	"routing_engine updn\n",
	"routing_engine updn\nroot_guid_file %[1]s\nconnect_roots TRUE\n",
	"routing_engine dnup,minhop\nport_shifting TRUE\n",
	"routing_engine dor\nlmc 1\n",
	"lmc 2 # two bits\nport_shifting TRUE\n",
	"scatter_ports 7\nguid_routing_order_file \"%[2]s\"\n",
	"port_prof_ignore_file %[3]s\nport_profile_switch_nodes TRUE\n",
	"hop_weights_file %[4]s\nscatter_ports 0x10\n",
	"routing_engine minhop\nport_search_ordering_file %[5]s\nlmc 1\n",
}

// confFiles writes the GUID files, including lines that OpenSM ignores.
func confFiles(t *testing.T, f *fabric.Fabric, r *rand.Rand) []any {
	var texts [5]strings.Builder
	for i := range f.Switches {
		n := f.SwitchNode(fabric.SwitchIndex(i))
		if strings.HasPrefix(n.Desc, "spine") {
			fmt.Fprintf(&texts[0], "0x%x # a root\n", n.GUID)
		}
		fmt.Fprintf(&texts[2], "0x%x %d\n", n.GUID, 1+r.IntN(int(n.NumPorts)))
		fmt.Fprintf(&texts[3], "0x%x %d %d\n", n.GUID, 1+r.IntN(int(n.NumPorts)), 1+r.IntN(3))
		fmt.Fprintf(&texts[4], "0x%x %d 1\n", n.GUID, 2+r.IntN(int(n.NumPorts)-1))
	}
	for _, e := range f.EndPorts[:len(f.EndPorts)/2] {
		fmt.Fprintf(&texts[1], "0x%016x\n", f.Ports[e].GUID)
	}
	var names []any
	for i := range texts {
		texts[i].WriteString("# the end\n\n0xdeadbeef 1 1\n")
		names = append(names, write(t, texts[i].String()))
	}
	return names
}

type calibration struct{ Entries, Differ int }

func calibrate(t *testing.T, sim *ibsimtest.Sim, conf string) calibration {
	t.Helper()
	out := ibconsole(t, "--json", "-s", "ibsim:"+sim.Name, "-c", "engine from="+conf+"; calibrate")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var c calibration
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &c); err != nil || c.Entries == 0 {
		t.Fatalf("calibrate prints %s: %v", out, err)
	}
	return c
}

// TestCalibrateWithTheSettingsOfARealOpenSM compares the tables of OpenSM with tables computed from the same
// opensm.conf.
func TestCalibrateWithTheSettingsOfARealOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for _, spec := range []string{"fattree:3,4", "random:20,6,60"} {
		f, err := gen.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "net")
		w, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := gen.WriteNet(w, f); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		names := confFiles(t, f, r)
		for i, text := range confs {
			t.Run(fmt.Sprintf("%s/%d", spec, i), func(t *testing.T) {
				if strings.Contains(text, "%") {
					text = fmt.Sprintf(text+"#%[1]s%[2]s%[3]s%[4]s%[5]s\n", names...)
				}
				conf := write(t, text)
				t.Setenv("OSM_CACHE_DIR", t.TempDir())
				sim := ibsimtest.Start(t, file)
				ibsimtest.OpenSM(t, sim, "-F", conf)
				if c := calibrate(t, sim, conf); c.Differ != 0 {
					t.Errorf("%d of %d entries differ with %q", c.Differ, c.Entries, text)
				}
			})
		}
	}
}

// TestCalibrateFindsEveryChangedEntry changes 50 entries of a routed subnet.
func TestCalibrateFindsEveryChangedEntry(t *testing.T) {
	r := testenv.Rand(t)
	dir := t.TempDir()
	lfts := filepath.Join(dir, "lfts")
	ibconsole(t, "-s", "sim:fattree:3,4", "-c", "route; dump lfts "+lfts)
	text, err := os.ReadFile(lfts)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	changed := 0
	for changed < 50 {
		i := r.IntN(len(lines))
		var lid, port int
		if n, _ := fmt.Sscanf(lines[i], "0x%x %d # C", &lid, &port); n != 2 || strings.HasPrefix(lines[i], "!") {
			continue
		}
		lines[i] = "!" + strings.Replace(lines[i], fmt.Sprintf(" %03d # ", port), fmt.Sprintf(" %03d # ", port%4+1), 1)
		changed++
	}
	file := write(t, strings.ReplaceAll(strings.Join(lines, "\n"), "!", ""))
	out := ibconsole(t, "--json", "-s", "sim:fattree:3,4", "-c", "load lfts "+file+
		"; write on; commit yes force-unreachable force-loop; calibrate")
	if !strings.Contains(out, `"differ":50,`) {
		t.Errorf("calibrate does not find the 50 changed entries: %s", out)
	}
}
