// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestIbtracertAgainstTheTool compares with the output of the real ibtracert, over an ibsim that OpenSM routed.
func TestIbtracertAgainstTheTool(t *testing.T) {
	for _, spec := range []string{"fattree:3,4", "torus:4x3x3 hosts=2 links=2"} {
		t.Run(spec, func(t *testing.T) {
			net := generated(t, spec)
			compareRandom(t, net, 200)
		})
	}
	t.Run("hostile descriptions", func(t *testing.T) { compareRandom(t, "testdata/hostile.net", 60) })
	for _, name := range []string{"fabrics/real-qdr-11sw.topo", "fabrics/real-cs8500-hdr-192sw.net"} {
		t.Run(name, func(t *testing.T) { compareRandom(t, testenv.SharedFile(t, name), 200) })
	}
}

// TestIbtracertAgainstTheToolOnBrokenTables does the same with broken tables, which OpenSM loads from a file unchanged.
func TestIbtracertAgainstTheToolOnBrokenTables(t *testing.T) {
	const net = "testdata/hostile.net"
	sim := ibsimtest.Start(t, net)
	f := readNet(t, net)
	good := routed(t, f, ibsimtest.OpenSM(t, sim, "-R", "minhop"))
	f = good.Fabric
	sw2, dst := f.SwitchByGUID(0x200001), f.Ports[f.PortByGUID(0x100005)].LID
	for name, entry := range map[string]uint8{
		"no link": 7, "no entry": 255, "wrong host": 1, "wrong switch": 0, "loop": 4,
	} {
		t.Run(name, func(t *testing.T) {
			broken := changed(good, sw2, dst, entry)
			file := filepath.Join(t.TempDir(), "lfts")
			writeLFTs(t, file, broken)
			dir := ibsimtest.OpenSM(t, sim, "-R", "file", "-U", file)
			tables := routed(t, readNet(t, net), dir)
			if got := tables.Port(sw2, dst); got != entry {
				t.Fatalf("OpenSM loaded entry %d instead of %d", got, entry)
			}
			for _, src := range f.EndPorts {
				compare(t, sim, tables, f.Ports[src].LID, dst)
			}
		})
	}
}

func generated(t *testing.T, spec string) string {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "net")
	var text bytes.Buffer
	if err := gen.WriteNet(&text, f); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func readNet(t *testing.T, path string) *fabric.Fabric {
	t.Helper()
	file, err := ibnet.ReadFile(context.Background(), path, ibnet.Options{Reading: ibnet.AsIbsim})
	if err != nil {
		t.Fatal(err)
	}
	return file.Fabric
}

func writeLFTs(t *testing.T, path string, tables *fabric.Tables) {
	t.Helper()
	var text bytes.Buffer
	if err := osm.WriteLFTs(&text, tables); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

var (
	lftHead = regexp.MustCompile(`^Unicast lids \[\S+\] of switch Lid \d+ guid 0x(\w+) `)
	lftLine = regexp.MustCompile(`^0x(\w+) (\d+) # .*portguid 0x(\w+):`)
)

// routed returns f's LIDs and tables from the dumps of OpenSM in dir.
func routed(t *testing.T, f *fabric.Fabric, dir string) *fabric.Tables {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "opensm-lfts.dump"))
	if err != nil {
		t.Fatal(err)
	}
	hex := func(s string) uint64 {
		v, err := strconv.ParseUint(s, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	lidOf := map[uint64]uint16{}
	for line := range strings.Lines(string(text)) {
		if m := lftLine.FindStringSubmatch(line); m != nil {
			lidOf[hex(m[3])] = uint16(hex(m[1]))
		}
	}
	lids := make([]uint16, len(f.EndPorts))
	for i, e := range f.EndPorts {
		lids[i] = lidOf[f.Ports[e].GUID]
	}
	if f, err = f.WithLIDs(lids); err != nil {
		t.Fatal(err)
	}
	lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
	var row []byte
	for line := range strings.Lines(string(text)) {
		if m := lftHead.FindStringSubmatch(line); m != nil {
			row = lft.Row(f.SwitchByGUID(hex(m[1])))
		}
		if m := lftLine.FindStringSubmatch(line); m != nil {
			port, _ := strconv.Atoi(m[2])
			row[hex(m[1])] = uint8(port)
		}
	}
	return fabric.NewTables(f, lft, "opensm-lfts.dump")
}

// compareRandom compares n random pairs, a quarter of them as a sample, a port with itself, and all pairs of node
// types.
func compareRandom(t *testing.T, net string, n int) {
	t.Helper()
	sim := ibsimtest.Start(t, net)
	tables := routed(t, readNet(t, net), ibsimtest.OpenSM(t, sim, "-R", "minhop"))
	f := tables.Fabric
	rnd := testenv.Rand(t)
	lid := func(i int) uint16 { return f.Ports[f.EndPorts[i]].LID }
	first := func(isSwitch bool) uint16 {
		for i, e := range f.EndPorts {
			if (f.Nodes[f.Ports[e].Node].IsSwitch()) == isSwitch {
				return lid(i)
			}
		}
		return 0
	}
	sw, ca := first(true), first(false)
	for _, pair := range [][2]uint16{{sw, sw}, {ca, ca}, {sw, ca}, {ca, sw}} {
		compare(t, sim, tables, pair[0], pair[1])
	}
	for range testenv.Count(t, n/8, n) {
		compare(t, sim, tables, lid(rnd.IntN(len(f.EndPorts))), lid(rnd.IntN(len(f.EndPorts))))
		if t.Failed() {
			return
		}
	}
}

// lastWords is the line with which libibmad ends a program, on standard output.
var lastWords = regexp.MustCompile(`(?m)^\S*ibtracert: iberror: .*\n`)

var warningLine = regexp.MustCompile(`(?m)^ibwarn: \[\d+\] find_route: (.*)$`)

func compare(t *testing.T, sim *ibsimtest.Sim, tables *fabric.Tables, src, dst uint16) {
	t.Helper()
	cmd := sim.Command(context.Background(), "ibtracert", fmt.Sprint(src), fmt.Sprint(dst))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	runErr := cmd.Run()
	p := Trace(tables, tables.Fabric.PortByLID(src), dst)
	var got bytes.Buffer
	if err := Ibtracert(&got, tables, &p); err != nil {
		t.Fatal(err)
	}
	warning := ""
	if m := warningLine.FindStringSubmatch(stderr.String()); m != nil {
		warning = m[1]
	}
	if strings.HasPrefix(warning, "can't reach to/from ports") {
		// The tool queries the destination first, through the tables that it then follows.
		if sm := Trace(tables, tables.Fabric.SMPort, dst); sm.Verdict == Delivered {
			t.Errorf("ibtracert %d %d: %s, but the SM's port reaches it", src, dst, warning)
		}
		return
	}
	want := lastWords.ReplaceAllString(stdout.String(), "")
	if got.String() != want {
		t.Errorf("ibtracert %d %d prints\n%s%sinstead of\n%s", src, dst, want, stderr.String(), got.String())
	}
	if got := newReport(tables, &p).warning; got != warning {
		t.Errorf("ibtracert %d %d warns %q instead of %q", src, dst, warning, got)
	}
	if (runErr == nil) != (warning == "") {
		t.Errorf("ibtracert %d %d: %v with warning %q", src, dst, runErr, warning)
	}
}

// TestCleanDesc follows the rules of clean_nodedesc in infiniband-diags: 64 bytes, up to the first NUL, with a space
// for bytes that are not printable in the C locale.
func TestCleanDesc(t *testing.T) {
	for in, want := range map[string]string{
		"sw-1 \\ \"x\"~":            "sw-1 \\ \"x\"~",
		"a\x1b[2J\x07\n\tb\x7f\xe9": "a [2J   b  ",
		"\u202eevil":                "   evil",
		"short\x00hidden":           "short",
		strings.Repeat("y", 100):    strings.Repeat("y", 64),
	} {
		if got := cleanDesc(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// TestIbtracertUnread has a switch that does not respond. ibsim cannot simulate that, so the sentence is ours.
func TestIbtracertUnread(t *testing.T) {
	tables := *clockwise(square(t))
	tables.Known = []bool{true, false, true, true}
	p := Trace(&tables, tables.Fabric.PortByLID(11), 13)
	var got strings.Builder
	if err := Ibtracert(&got, &tables, &p); err != nil {
		t.Fatal(err)
	}
	const want = "From ca {0x0000000000001000} portnum 1 lid 11-11 \"n1\"\n[1] -> switch port " +
		"{0x0000000000002001}[1] lid 1-1 \"sw1\"\n[2] -> switch port {0x0000000000002002}[3] lid 2-2 \"sw2\"\n"
	if got.String() != want {
		t.Errorf("printed\n%s, want\n%s", got.String(), want)
	}
	if got, want := newReport(&tables, &p).warning, `the forwarding table of "sw2" was not read`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestIbtracertOfLongPaths checks the limit of 62 links of ibtracert's directed route. It finds a path of 62 links from
// the SM's own port too late to print it as found (ibtracert.c, find_route).
func TestIbtracertOfLongPaths(t *testing.T) {
	for switches, want := range map[int]struct {
		lines   int
		warning string
	}{
		60: {61, ""}, 61: {62, "no route found after 63 hops"}, 62: {62, "Direct path too long!"},
		100: {62, "Direct path too long!"},
	} {
		tables := row(t, switches)
		p := Trace(tables, tables.Fabric.SMPort, 2)
		var got strings.Builder
		if err := Ibtracert(&got, tables, &p); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(got.String(), "] -> "); n != want.lines || newReport(tables, &p).warning != want.warning {
			t.Errorf("%d switches: %d lines, %q; want %d, %q", switches, n, newReport(tables, &p).warning, want.lines,
				want.warning)
		}
	}
}
