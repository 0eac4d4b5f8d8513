// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// made returns a fabric with LIDs, and the name of an ibsim net file of it without LIDs.
func made(t testing.TB, spec string) (*fabric.Fabric, string) {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	file := netFile(t, f)
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	return f, file
}

func netFile(t testing.TB, f *fabric.Fabric) string {
	t.Helper()
	var b bytes.Buffer
	if err := gen.WriteNet(&b, f); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "made.net")
	writeFile(t, file, b.Bytes())
	return file
}

func writeFile(t testing.TB, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// shared reads one of the shared fabrics like a subnet manager on ibsim.
func shared(t testing.TB, name string) (*fabric.Fabric, string) {
	t.Helper()
	file := testenv.SharedFile(t, filepath.Join("fabrics", name))
	net, err := ibnet.ReadFile(context.Background(), file, ibnet.Options{Reading: ibnet.AsIbsim})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fabric.AssignLIDs(net.Fabric)
	if err != nil {
		t.Fatal(err)
	}
	return f, file
}

func dump(t testing.TB, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// apply reads a dump and applies it.
func apply(t testing.TB, text []byte, f *fabric.Fabric) (*fabric.Tables, Report) {
	t.Helper()
	file, err := ReadLFTs(bytes.NewReader(text), "lfts")
	if err != nil {
		t.Fatal(err)
	}
	tables, report, err := file.Apply(f)
	if err != nil {
		t.Fatal(err)
	}
	return tables, report
}

func lfts(t testing.TB, tables *fabric.Tables) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteLFTs(&b, tables); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// same reports the first line in which two dumps differ.
func same(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Errorf("%s: line %d is %q, want %q", what, i+1, g[i], w[i])
			return
		}
	}
	t.Errorf("%s: %d lines, want %d", what, len(g), len(w))
}

// OpenSM's dump is unchanged after it was read, applied and written.
func TestOpenSMDumpComesBack(t *testing.T) {
	for _, c := range []struct{ spec, engine string }{
		{"fattree:3,8", "ftree"}, {"fattree:2,12", "minhop"}, {"torus:6x5,2", "dor"},
		{"dragonfly:4,2,2", "updn"}, {"xgft:2,2,2,2,2", "minhop"}, {"random:20,4,60", "minhop"},
	} {
		f, file := made(t, c.spec)
		want := dump(t, ibsimtest.OpenSM(t, ibsimtest.Start(t, file), "-R", c.engine), "opensm-lfts.dump")
		tables, report := apply(t, want, f)
		same(t, c.spec, lfts(t, tables), want)
		if lines := report.Lines(); len(lines) > 0 || report.Switches != inSubnet(f) {
			t.Errorf("%s: report %q, %d switches", c.spec, lines, report.Switches)
		}
	}
}

func inSubnet(f *fabric.Fabric) int {
	n := 0
	for s := range f.NumSwitches() {
		if f.SwitchNode(s).InSubnet {
			n++
		}
	}
	return n
}

// The largest dump has 31 million entries and is read only in full runs.
func TestSharedFabricsComeBack(t *testing.T) {
	names := []string{"real-fdr10-8sw.topo", "real-qdr-11sw.topo", "real-ndr-rail-40sw.topo", "reindeer1100-116sw.net",
		"real-cs8500-hdr-192sw.net", "rhino10k-2520sw.net"}
	for _, name := range names[:testenv.Count(t, 4, len(names))] {
		t.Run(name, func(t *testing.T) {
			f, file := shared(t, name)
			name := filepath.Join(ibsimtest.OpenSM(t, ibsimtest.Start(t, file)), "opensm-lfts.dump")
			read, err := ReadLFTs(open(t, name), name)
			if err != nil {
				t.Fatal(err)
			}
			tables, report, err := read.Apply(f)
			if err != nil {
				t.Fatal(err)
			}
			c := comparer{r: bufio.NewReader(open(t, name))}
			if err := WriteLFTs(&c, tables); err != nil {
				t.Error(err)
			}
			if rest, err := c.r.Peek(1); err != io.EOF {
				t.Errorf("the written file is too short, expected %q, %v", rest, err)
			}
			if lines := report.Lines(); len(lines) > 0 {
				t.Errorf("report %q", lines)
			}
		})
	}
}

func open(t testing.TB, name string) *os.File {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// comparer is a writer that compares written bytes with those of a reader.
type comparer struct {
	r   *bufio.Reader
	buf []byte
	at  int
}

func (c *comparer) Write(b []byte) (int, error) {
	c.buf = append(c.buf[:0], b...)
	if _, err := io.ReadFull(c.r, c.buf); err != nil {
		return 0, fmt.Errorf("expected the end before byte %d: %w", c.at+len(b), err)
	}
	for i := range b {
		if b[i] != c.buf[i] {
			return 0, fmt.Errorf("byte %d: %q, want %q", c.at+i, shorten(b[max(0, i-20):]),
				shorten(c.buf[max(0, i-20):]))
		}
	}
	c.at += len(b)
	return len(b), nil
}

// renumbered returns a fabric with other LIDs in another order, with gaps. An SM that finds them keeps them.
func renumbered(t testing.TB, f *fabric.Fabric) *fabric.Fabric {
	t.Helper()
	lids := make([]uint16, len(f.EndPorts))
	for i, at := range testenv.Rand(t).Perm(len(lids)) {
		lids[i] = uint16(3*at + 5)
	}
	g, err := f.WithLIDs(lids)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// OpenSM's file engine moves entries as Apply does if the subnet has other LIDs.
func TestApplyMovesLIDsAsOpenSM(t *testing.T) {
	for _, spec := range []string{"fattree:3,6", "torus:4x4,2"} {
		f, file := made(t, spec)
		dir := ibsimtest.OpenSM(t, ibsimtest.Start(t, file))
		before := dump(t, dir, "opensm-lfts.dump")
		g := renumbered(t, f)
		after := ibsimtest.OpenSM(t, ibsimtest.Start(t, netFile(t, g)), "-R", "file", "-U",
			filepath.Join(dir, "opensm-lfts.dump"))
		tables, report := apply(t, before, g)
		same(t, spec, lfts(t, tables), dump(t, after, "opensm-lfts.dump"))
		if moved := report.Remapped.Count; moved == 0 || moved > len(f.EndPorts) || len(report.Remapped.Examples) == 0 {
			t.Errorf("%s: %d LIDs moved, examples %q", spec, moved, report.Remapped.Examples)
		}
	}
}

// OpenSM does the same as Apply with entries without port GUID, unknown switches and missing ones.
func TestApplySkipsAsOpenSM(t *testing.T) {
	f, file := made(t, "torus:4x4,2")
	dir := ibsimtest.OpenSM(t, ibsimtest.Start(t, file))
	text := string(dump(t, dir, "opensm-lfts.dump"))
	text = strings.Replace(text, "guid 0x0000000000200003 ", "guid 0x0000000000999999 ", 1)
	text = strings.Replace(text, "0x0001 001 # Channel Adapter portguid 0x0000000000100001", "0x0001 002 # ", 1)
	text = strings.ReplaceAll(text, "portguid 0x0000000000100003:", "portguid 0x0000000000777777:")
	text += "Unicast lids of switch guid 0x0000000000200005 again\n0x0005 004\n0x0006 2 portguid " +
		"0x0000000000100001\n0 lids dumped\n"
	changed := filepath.Join(t.TempDir(), "changed.dump")
	writeFile(t, changed, []byte(text))
	g := renumbered(t, f)
	after := ibsimtest.OpenSM(t, ibsimtest.Start(t, netFile(t, g)), "-R", "file", "-U", changed)
	tables, report := apply(t, []byte(text), g)
	lost := g.SwitchByGUID(0x200003)
	if tables.Known[lost] {
		t.Error("a switch without a table is known")
	}
	tables.Known[lost] = true // OpenSM writes an empty table for it
	same(t, "changed", lfts(t, tables), dump(t, after, "opensm-lfts.dump"))
	for what, f := range map[string]*Finding{
		"unknown switches": &report.UnknownSwitches, "missing switches": &report.MissingSwitches,
		"repeated tables": &report.Repeated, "unknown port GUIDs": &report.UnknownPortGUIDs,
	} {
		if f.Count != 1 || len(f.Examples) != 1 {
			t.Errorf("%s: %d, %q, want one", what, f.Count, f.Examples)
		}
	}
	if report.NoPortGUID.Count != 2 {
		t.Errorf("%d entries without port GUID, want 2", report.NoPortGUID.Count)
	}
}

// withOpenSMsLIDs returns the fabric with the LIDs and LMCs that OpenSM assigned.
func withOpenSMsLIDs(t testing.TB, f *fabric.Fabric, dir string) *fabric.Fabric {
	t.Helper()
	g := *f
	g.Ports = slices.Clone(f.Ports)
	for line := range strings.Lines(string(dump(t, dir, "guid2lid"))) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		w := strings.Fields(line)
		v := make([]uint64, 3)
		for i := range v {
			n, rest, ok := parseHex([]byte(strings.TrimPrefix(w[i], "0x")), 64)
			if !ok || len(rest) > 0 {
				t.Fatalf("guid2lid: %q", line)
			}
			v[i] = n
		}
		p := &g.Ports[f.PortByGUID(v[0])]
		p.LID, p.LMC = uint16(v[1]), uint8(bits.Len64(v[2]-v[1]))
	}
	net, err := ibnet.ReadFile(context.Background(), netFile(t, &g), ibnet.Options{Reading: ibnet.AsIbsim})
	if err != nil {
		t.Fatal(err)
	}
	return net.Fabric
}

func TestLMCDumpComesBack(t *testing.T) {
	f, file := made(t, "fattree:2,6")
	dir := ibsimtest.OpenSM(t, ibsimtest.Start(t, file), "-l", "2")
	f = withOpenSMsLIDs(t, f, dir)
	if p := f.Ports[f.SMPort]; p.LMC != 2 {
		t.Fatalf("the SM's port has LMC %d, want 2", p.LMC)
	}
	want := dump(t, dir, "opensm-lfts.dump")
	tables, report := apply(t, want, f)
	same(t, "LMC 2", lfts(t, tables), want)
	if lines := report.Lines(); len(lines) > 0 {
		t.Errorf("report %q", lines)
	}
}

func TestPrintDesc(t *testing.T) {
	long := strings.Repeat("x", 70)
	for in, want := range map[string]string{
		"sw1": "sw1", "a\x1b[31m\n\tb": "a [31m  b", "knöt": "kn  t", "up\x00down": "up", long: long[:63],
		"\x7f\xff": "  ", "": "",
	} {
		if got := printDesc(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

// OpenSM prints hostile descriptions like the writer.
func TestHostileDescriptionsAsOpenSM(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,2")
	if err != nil {
		t.Fatal(err)
	}
	g := *f
	g.Nodes = slices.Clone(f.Nodes)
	for i, desc := range []string{
		"kn\xc3\xb6t\xff '(x)':", strings.Repeat("long ", 12) + "end", "", "a ' portguid 0x0000000000100003: b",
		"# 0x0001 2",
	} {
		g.Nodes[i].Desc = desc
	}
	file := netFile(t, &g)
	net, err := ibnet.ReadFile(context.Background(), file, ibnet.Options{Reading: ibnet.AsIbsim})
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(net.Fabric); err != nil {
		t.Fatal(err)
	}
	want := dump(t, ibsimtest.OpenSM(t, ibsimtest.Start(t, file)), "opensm-lfts.dump")
	tables, report := apply(t, want, f)
	same(t, "hostile", lfts(t, tables), want)
	if lines := report.Lines(); len(lines) > 0 {
		t.Errorf("report %q", lines)
	}
}

// Worked out by hand: entries above the switch's ports and LID 0 are omitted, and LIDs without an owner are unknown.
func TestWriteLFTs(t *testing.T) {
	f := pair(t)
	lft := fabric.NewLFT(1, 9)
	copy(lft.Row(0), []byte{1, 1, 2, 0, 3, 1, 255, 254})
	tables := fabric.NewTables(f, lft, "test")
	tables.Top[0] = 8
	want := "Unicast lids [0-8] of switch Lid 3 guid 0x0000000000200000 ('sw'):\n0x0001 001 # Channel Adapter " +
		"portguid 0x0000000000100001: 'a'\n0x0002 002 # Router portguid 0x0000000000100003: 'b'\n0x0003 000 # Switch " +
		"portguid 0x0000000000200000: 'sw'\n0x0005 001 # unknown node and type\n8 lids dumped\n"
	same(t, "by hand", lfts(t, tables), []byte(want))
	tables.Known[0] = false
	same(t, "unknown", lfts(t, tables), nil)
}

// pair returns a switch of two ports with an adapter and a router: LIDs 3, 1 and 2.
func pair(t testing.TB) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	for i, n := range []fabric.Node{
		{GUID: 0x100000, Type: mad.NodeCA, NumPorts: 1, Desc: "a"},
		{GUID: 0x100002, Type: mad.NodeRouter, NumPorts: 1, Desc: "b"},
		{GUID: 0x200000, Type: mad.NodeSwitch, NumPorts: 2, Desc: "sw"},
	} {
		node, err := b.AddNode(n)
		if err != nil {
			t.Fatal(err)
		}
		if n.IsSwitch() {
			b.Port(node, 0).LID = 3
			continue
		}
		b.Port(node, 1).GUID, b.Port(node, 1).LID = n.GUID+1, uint16(i+1)
	}
	for port := range fabric.NodeIndex(2) {
		if err := b.Connect(port, 1, 2, int(port)+1); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// fullDisk accepts a number of bytes and then fails.
type fullDisk struct{ left int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if len(b) > d.left {
		return 0, errors.New("no space left")
	}
	d.left -= len(b)
	return len(b), nil
}

func TestWritersReportErrors(t *testing.T) {
	f, _ := made(t, "fattree:3,8")
	tables := fabric.NewTables(f, fabric.NewLFT(len(f.Switches), f.MaxLID), "test")
	for i := range f.NumSwitches() {
		clear(tables.LFT.Row(i))
	}
	for blocks := range 3 {
		for what, err := range map[string]error{
			"LFTs":   WriteLFTs(&fullDisk{blocks << 16}, tables),
			"fdbs":   WriteFDBs(&fullDisk{blocks << 16}, tables, NewPathHops(tables), nil),
			"matrix": WriteLIDMatrix(&fullDisk{blocks << 15}, f, allOne{}),
		} {
			if err == nil || !strings.Contains(err.Error(), "no space left") {
				t.Errorf("%s: error %v", what, err)
			}
		}
	}
}

type allOne struct{}

func (allOne) Least(_, _ fabric.SwitchIndex) uint8                               { return 1 }
func (allOne) Through(_ fabric.SwitchIndex, _ uint8, _ fabric.SwitchIndex) uint8 { return 1 }

func BenchmarkWriteLFTs11664(b *testing.B) {
	tables := large(b)
	b.ResetTimer()
	for b.Loop() {
		var n counter
		if err := WriteLFTs(&n, tables); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(n))
	}
}

func BenchmarkReadLFTs11664(b *testing.B) {
	text := lfts(b, large(b))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ReadLFTs(bytes.NewReader(text), "lfts"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApply11664(b *testing.B) {
	tables := large(b)
	file, err := ReadLFTs(bytes.NewReader(lfts(b, tables)), "lfts")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, _, err := file.Apply(tables.Fabric); err != nil {
			b.Fatal(err)
		}
	}
}

type counter int64

func (c *counter) Write(b []byte) (int, error) { *c += counter(len(b)); return len(b), nil }

// large returns tables of the fat-tree with 11,664 hosts, with an arbitrary port for every LID.
func large(b *testing.B) *fabric.Tables {
	b.Helper()
	f, _ := made(b, "fattree:3,36")
	tables := fabric.NewTables(f, fabric.NewLFT(len(f.Switches), f.MaxLID), "test")
	for s := range f.NumSwitches() {
		row := tables.LFT.Row(s)
		for lid := range row {
			row[lid] = byte((lid + int(s)) % 37)
		}
	}
	return tables
}
