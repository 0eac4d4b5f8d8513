// SPDX-License-Identifier: Apache-2.0

package snapshot_test

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/snapshot"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

type sumSLs struct{}

func (sumSLs) SL(src, dst uint16) uint8 { return uint8(src/5+dst) % 16 }

// whole returns a subnet with everything that a snapshot can hold.
func whole(t testing.TB, spec string) *fabric.Tables {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tb := res.Tables
	tb.Known[1] = false
	tb.SL2VL = fabric.NewSL2VL(f)
	tb.SL2VL.Set(f.Switches[0], 1, 2, fabric.VLs{0, 1, 2, 3, 4, 5, 6, 7, 15})
	tb.SLs = sumSLs{}
	tb.Unread = fabric.Unread{SL2VL: true}
	tb.MFT = fabric.NewMFT(f, 0xc002)
	tb.MFT.Add(2, 0xc001, 3)
	tb.Adaptive = adaptive(len(f.Switches))
	return tb
}

// adaptive returns adaptive routing that uses every feature on the second switch.
func adaptive(switches int) *fabric.Adaptive {
	a := &fabric.Adaptive{Switches: make([]fabric.AdaptiveSwitch, switches)}
	a.Switches[0] = fabric.AdaptiveSwitch{Groups: []fabric.PortGroup{{{1, 2}}}}
	a.Switches[1] = fabric.AdaptiveSwitch{
		Enabled: true, FastReroute: true, SLs: 0xfffe, HashSLs: 1,
		Groups: []fabric.PortGroup{nil, {{1, 2}}, {{3}, {1, 2, 255}}},
		Tables: []fabric.AdaptiveTable{
			{
				Top: 3, Entries: []fabric.AdaptiveEntry{0, fabric.NewAdaptiveEntry(fabric.StateFree, 1), 0,
					fabric.NewAdaptiveEntry(fabric.StateHash, fabric.MaxGroup)},
			},
			{
				Top: 2, Private: []fabric.PrivateEntry{
					{LID: 1, Port: 4, Entry: fabric.NewAdaptiveEntry(fabric.StateBounded, 2)}, {LID: 2, Port: 255},
				},
			},
		},
		Private: []uint8{0, 1, 1, 0},
	}
	return a
}

func TestRoundTrip(t *testing.T) {
	for _, spec := range []string{"fattree:2,8", "torus:3x3x3"} {
		in := whole(t, spec)
		f := in.Fabric
		f.Nodes[0].NoRevision, f.Nodes[1].NoRevision, f.Nodes[1].EnhancedPort0 = true, true, true
		routing := &snapshot.Routing{
			Engine: "updn", Chain: []string{"ftree", "updn", "no_fallback"},
			Options: []snapshot.Option{{Name: "lmc", Value: "1"}, {Name: "root_guid_file", Value: "a b"}},
			Roots:   []fabric.SwitchIndex{0, 3},
			MinHop: &snapshot.MinHop{Least: bytes.Repeat([]byte{1, 255, 3},
				len(f.Switches)*len(f.Switches))[:len(f.Switches)*len(f.Switches)],
				Ports: make([]uint64, 2*len(f.Switches)*len(f.Switches)), Words: 2},
		}
		routing.MinHop.Ports[5] = 1<<63 | 7
		var file bytes.Buffer
		if err := snapshot.Write(&file, snapshot.Snapshot{Fabric: f, Tables: in, Routing: routing}); err != nil {
			t.Fatal(err)
		}
		snap, err := snapshot.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		g, out := snap.Fabric, snap.Tables
		if d := cmp.Diff(routing, snap.Routing); d != "" {
			t.Errorf("routing: %s", d)
		}
		if d := cmp.Diff(f.Nodes, g.Nodes); d != "" {
			t.Errorf("nodes: %s", d)
		}
		if d := cmp.Diff(f.Ports, g.Ports); d != "" {
			t.Errorf("ports: %s", d)
		}
		if g.SMPort != f.SMPort || !fabric.Same(f, g) {
			t.Error("the fabric or the SM's port differs")
		}
		if d := cmp.Diff(in.Known, out.Known) + cmp.Diff(in.Top, out.Top); d != "" || out.Origin != in.Origin ||
			out.Unread != in.Unread {
			t.Errorf("known or top: %s, origin %q, unread %v", d, out.Origin, out.Unread)
		}
		for sw := range fabric.SwitchIndex(len(f.Switches)) {
			if !bytes.Equal(in.LFT.Row(sw), out.LFT.Row(sw)) {
				t.Fatalf("row of switch %d", sw)
			}
			for mlid := uint16(0xc000); mlid <= 0xc003; mlid++ {
				if in.MFT.Has(sw, mlid, 3) != out.MFT.Has(sw, mlid, 3) {
					t.Errorf("switch %d, multicast LID %#x", sw, mlid)
				}
			}
		}
		if d := cmp.Diff(in.Adaptive, out.Adaptive); d != "" {
			t.Errorf("adaptive: %s", d)
		}
		if got := out.SL2VL.VLs(f.Switches[0], 1, 2); got != in.SL2VL.VLs(f.Switches[0], 1, 2) {
			t.Errorf("VLs %v", got)
		}
		for src := range f.MaxLID + 1 {
			for dst := range f.MaxLID + 1 {
				if f.PortByLID(src) != fabric.None && f.PortByLID(dst) != fabric.None &&
					in.SLs.SL(src, dst) != out.SLs.SL(src, dst) {
					t.Fatalf("SL %d to %d", src, dst)
				}
			}
		}
	}
}

func TestWithoutTables(t *testing.T) {
	in := whole(t, "fattree:2,4")
	var file bytes.Buffer
	if err := snapshot.Write(&file, snapshot.Snapshot{Fabric: in.Fabric}); err != nil {
		t.Fatal(err)
	}
	if snap, err := snapshot.Read(&file); err != nil || snap.Tables != nil {
		t.Errorf("tables %v, error %v; expected neither", snap.Tables, err)
	}
}

// TestUnreachable checks that unreachable end ports are kept.
func TestUnreachable(t *testing.T) {
	whole := whole(t, "fattree:2,4").Fabric
	var links []fabric.Link
	for _, l := range whole.Links() {
		if whole.Nodes[whole.Ports[l.A].Node].Desc == "leaf-04" || whole.Nodes[whole.Ports[l.B].Node].Desc ==
			"leaf-04" {
			links = append(links, l)
		}
	}
	f := whole.Without(links)
	if len(f.Unreachable) != 3 {
		t.Fatalf("%d unreachable end ports, want the switch and its 2 hosts", len(f.Unreachable))
	}
	g, err := snapshot.DecodeFabric(snapshot.EncodeFabric(f))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.Unreachable, f.Unreachable) {
		t.Errorf("unreachable end ports %v, want %v", g.Unreachable, f.Unreachable)
	}
}

// TestDamaged changes bytes and truncates the file. Each case is an error, because zstd has a checksum, and none
// panics.
func TestDamaged(t *testing.T) {
	in := whole(t, "fattree:2,4")
	var file bytes.Buffer
	if err := snapshot.Write(&file, snapshot.Snapshot{Fabric: in.Fabric, Tables: in}); err != nil {
		t.Fatal(err)
	}
	good := file.Bytes()
	for i := 0; i < len(good); i += 7 {
		bad := bytes.Clone(good)
		bad[i] ^= 0x20
		snap, err := snapshot.Read(bytes.NewReader(bad))
		if err != nil {
			continue
		}
		var again bytes.Buffer
		if err := snapshot.Write(&again, snap); err != nil || !bytes.Equal(again.Bytes(), good) {
			t.Errorf("byte %d changed: no error, but other content", i)
		}
	}
	for _, n := range []int{0, 5, 8, len(good) / 2, len(good) - 1} {
		if _, err := snapshot.Read(bytes.NewReader(good[:n])); err == nil {
			t.Errorf("cut at %d: no error", n)
		}
	}
}

// TestFrames truncates a file before each frame except the first: the remaining file is never a valid snapshot. The
// same subnet has the same bytes on one processor, and a file with one frame, as of older versions, can be read.
func TestFrames(t *testing.T) {
	in := whole(t, "fattree:2,72")
	in.LFT = fabric.NewLFT(len(in.Fabric.Switches), fabric.MaxUnicastLID) // 5 MB
	for sw := range in.Fabric.NumSwitches() {
		in.LFT.Row(sw)[sw] = uint8(sw)
	}
	written := func() []byte {
		var file bytes.Buffer
		if err := snapshot.Write(&file, snapshot.Snapshot{Fabric: in.Fabric, Tables: in}); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	file := written()
	frames := bytes.Split(file, []byte("\x28\xb5\x2f\xfd")) // the magic number of a frame (RFC 8878, section 3.1.1)
	if len(frames) < 3 {
		t.Fatalf("%d frames, want several", len(frames)-1)
	}
	cut := len(frames[0])
	for _, frame := range frames[1 : len(frames)-1] {
		cut += 4 + len(frame)
		if _, err := snapshot.Read(bytes.NewReader(file[:cut])); err == nil {
			t.Errorf("cut at %d of %d: no error", cut, len(file))
		}
	}

	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if !bytes.Equal(file, written()) {
		t.Error("different bytes on one processor")
	}
	plain, err := zstd.NewReader(bytes.NewReader(file[len(snapshot.Magic):]))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	one := bytes.NewBufferString(snapshot.Magic)
	z, err := zstd.NewWriter(one)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(z, plain); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.Read(one)
	if err != nil || !slices.Equal(snap.Tables.LFT.Row(70), in.LFT.Row(70)) {
		t.Errorf("in one frame: %v, or the table differs", err)
	}
}

// TestLiveTablesOfOlderVersions reads live tables of versions that did not state which parts are unread. They have no
// SLs of paths, and mappings only if the section is present.
func TestLiveTablesOfOlderVersions(t *testing.T) {
	in := whole(t, "fattree:2,4")
	for _, tc := range []struct {
		origin string
		rest   []byte
		want   fabric.Unread
	}{
		{fabric.LiveOrigin, nil, fabric.Unread{SLs: true, SL2VL: true}},
		{"minhop", nil, fabric.Unread{}},
		{fabric.LiveOrigin, snapshot.EncodeRest(&fabric.Tables{Fabric: in.Fabric, SL2VL: in.SL2VL, Origin: "older"}),
			fabric.Unread{SLs: true}},
		{fabric.LiveOrigin, snapshot.EncodeRest(&fabric.Tables{Fabric: in.Fabric, Origin: fabric.LiveOrigin}),
			fabric.Unread{}},
	} {
		out := &fabric.Tables{Fabric: in.Fabric, LFT: in.LFT, Origin: tc.origin}
		if err := snapshot.DecodeRest(tc.rest, out); err != nil || out.Unread != tc.want {
			t.Errorf("%s: %+v, %v; want %+v", tc.origin, out.Unread, err, tc.want)
		}
	}
}

func FuzzDecodeFabric(f *testing.F) {
	f.Add(snapshot.EncodeFabric(whole(f, "fattree:2,4").Fabric))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := snapshot.DecodeFabric(b)
		if err != nil {
			return
		}
		again, err := snapshot.DecodeFabric(snapshot.EncodeFabric(g))
		if err != nil || !fabric.Same(g, again) {
			t.Errorf("different after encoding: %v", err)
		}
	})
}

// FuzzDecodeRest decodes sections for a small fabric.
func FuzzDecodeRest(f *testing.F) {
	in := whole(f, "fattree:2,4")
	f.Add(snapshot.EncodeRest(in))
	f.Add([]byte("\x07routing\x04\x04updn"))
	f.Add([]byte("\x07routing\x08\x04updn\x00\x00\x00\x05chain\x06\x01\x04updn"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_ = snapshot.DecodeRest(b, &fabric.Tables{Fabric: in.Fabric, LFT: in.LFT})
	})
}

func BenchmarkWrite(b *testing.B) {
	in := whole(b, "fattree:3,24")
	for b.Loop() {
		var file bytes.Buffer
		if err := snapshot.Write(&file, snapshot.Snapshot{Fabric: in.Fabric, Tables: in}); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(file.Len()))
	}
}

// TestLabels checks that a snapshot keeps the labels of ports.
func TestLabels(t *testing.T) {
	tables := whole(t, "fattree:2,4")
	labels := map[fabric.PortIndex]string{3: "1/2/1", fabric.PortIndex(len(tables.Fabric.Ports) - 1): "8/1"}
	in := *tables
	in.Fabric = tables.Fabric.WithLabels(labels)
	in.Fabric.GIDPrefix = 0xfec0<<48 | 1
	var file bytes.Buffer
	if err := snapshot.Write(&file, snapshot.Snapshot{Fabric: in.Fabric, Tables: &in}); err != nil {
		t.Fatal(err)
	}
	for n := range file.Len() { // no cut file is read with other labels
		if got, err := snapshot.Read(bytes.NewReader(file.Bytes()[:n])); err == nil {
			t.Fatalf("%d of %d bytes: read %d nodes", n, file.Len(), len(got.Fabric.Nodes))
		}
	}
	got, err := snapshot.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if got.Tables.Fabric != got.Fabric {
		t.Error("the tables are those of another fabric")
	}
	for port := range got.Fabric.NumPorts() {
		if got.Fabric.GIDPrefix != in.Fabric.GIDPrefix {
			t.Fatalf("GID prefix %x, want %x", got.Fabric.GIDPrefix, in.Fabric.GIDPrefix)
		}
		if got.Fabric.Label(port) != labels[port] {
			t.Errorf("port %d: label %q, want %q", port, got.Fabric.Label(port), labels[port])
		}
	}
}
