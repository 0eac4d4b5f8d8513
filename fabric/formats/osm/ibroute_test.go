// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// ibroutePair has the form of ibroute's output (infiniband-diags, ibroute.c).
const ibroutePair = "Unicast lids [0x0-0x3] of switch Lid 3 guid 0x0000000000200000 (sw):\n  Lid  Out   " +
	"Destination\n       Port     Info \n0x0001 001 : (Channel Adapter portguid 0x0000000000100001: 'a')\n0x0002 002 " +
	": (Router portguid 0x0000000000100003: 'b')\n0x0003 000 : (Switch portguid 0x0000000000200000: 'sw')\n3 valid " +
	"lids dumped \n"

func TestReadIbroute(t *testing.T) {
	tables, report := apply(t, []byte(ibroutePair), pair(t))
	same(t, "ibroute", lfts(t, tables), []byte(pairDump))
	if lines := report.Lines(); len(lines) > 0 {
		t.Errorf("report %q", lines)
	}
}

// The output of dump_fts and ibroute for a routed subnet loads like OpenSM's own dump.
func TestIbrouteAndDumpFTSGiveOpenSMsTables(t *testing.T) {
	f, file := made(t, "torus:4x3,2") // highest LID 36
	sim := ibsimtest.Start(t, file)
	want := dump(t, ibsimtest.OpenSM(t, sim), "opensm-lfts.dump")
	var routes strings.Builder
	for s := range f.NumSwitches() {
		routes.WriteString(sim.Output("ibroute", fmt.Sprint(f.SwitchLID(s))))
	}
	for what, text := range map[string]string{"ibroute": routes.String(), "dump_fts": sim.Output("dump_fts")} {
		tables, report := apply(t, []byte(text), f)
		same(t, what, lfts(t, tables), want)
		if lines := report.Lines(); len(lines) > 0 {
			t.Errorf("%s: report %q", what, lines)
		}
	}
	text := sim.Output("ibroute", "-a", fmt.Sprint(f.SwitchLID(0)))
	all, err := ReadLFTs(strings.NewReader(text), "all")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := all.Apply(f); err == nil ||
		!strings.HasPrefix(err.Error(), "all:4: an entry has port 255, but switch 0x0000000000200000 (sw-0-0)") {
		t.Errorf("error %v for ibroute -a, whose LID 0 leads to port 255", err)
	}
	multicast, err := ReadLFTs(strings.NewReader(sim.Output("dump_fts", "-M")), "fts")
	if err == nil || !strings.HasPrefix(err.Error(), "fts:") ||
		!strings.Contains(err.Error(), "only multicast tables") {
		t.Errorf("%v, error %v for multicast tables", multicast, err)
	}
}

// The tools do not print a last LID that is a multiple of 64. The report counts it.
func TestLastLIDLost(t *testing.T) {
	f, file := made(t, "torus:4x4,hosts=3") // highest LID 64
	sim := ibsimtest.Start(t, file)
	ibsimtest.OpenSM(t, sim)
	tables, report := apply(t, []byte(sim.Output("dump_fts")), f)
	for s := range f.NumSwitches() {
		if tables.Port(s, 64) != fabric.NoPath || tables.Port(s, 63) == fabric.NoPath {
			t.Errorf("switch %d: LID 63 by port %d, LID 64 by port %d, want only 64 missing", s, tables.Port(s, 63),
				tables.Port(s, 64))
		}
	}
	if report.Lost.Count != 16 {
		t.Errorf("%d tables reported without their last LID, want 16", report.Lost.Count)
	}
}

// With an LMC dump_fts prints all LIDs of a port except the first without a GUID that OpenSM would read.
func TestDumpFTSWithLMC(t *testing.T) {
	f, file := made(t, "fattree:2,6")
	sim := ibsimtest.Start(t, file)
	dir := ibsimtest.OpenSM(t, sim, "-l", "1")
	f = withOpenSMsLIDs(t, f, dir)
	tables, report := apply(t, []byte(sim.Output("dump_fts")), f)
	same(t, "LMC 1", lfts(t, tables), dump(t, dir, "opensm-lfts.dump"))
	if want := 18 * len(f.Switches); report.NoPortGUID.Count != want {
		t.Errorf("%d entries without port GUID, want %d", report.NoPortGUID.Count, want)
	}
}

func TestSectionName(t *testing.T) {
	for in, want := range map[string]string{
		" ('leaf-01'):": "leaf-01", " (leaf-01):": "leaf-01", "": "", " (": "", " ()": "", " ('):": "'",
		" ('a (b)'):": "a (b)", " x": "",
	} {
		if got := sectionName([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzSectionName(f *testing.F) {
	f.Add([]byte(" ('leaf-01'):"))
	f.Fuzz(func(t *testing.T, rest []byte) {
		if name := sectionName(rest); !bytes.Contains(rest, []byte(name)) {
			t.Fatalf("%q of %q", name, rest)
		}
	})
}
