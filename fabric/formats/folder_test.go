// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// made is a folder made by hand: two spines with LIDs 1 and 2, four leaves with 3 to 6, a host on port 1 of each leaf
// (LIDs 7 to 10), an aggregation node on port 4 of the first leaf (11). Ports 2 and 3 of leaf n lead to port n of the
// spines. The expectations were read from its lines.
const made = "testdata/ibdiagnet"

func TestFolder(t *testing.T) {
	s, err := Read(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	f := s.Fabric
	if len(f.Switches) != 6 || len(f.Nodes) != 11 || len(f.Links()) != 13 || f.MaxLID != 11 ||
		f.SMPort != f.PortByLID(7) {
		t.Errorf("%d switches, %d nodes, %d links, highest LID %d", len(f.Switches), len(f.Nodes),
			len(f.Links()), f.MaxLID)
	}
	if want := time.Date(2022, 8, 25, 17, 45, 38, 0, time.UTC); !s.When.Equal(want) || !s.Stated {
		t.Errorf("as of %v, expected %v", s.When, want)
	}
	spine, leaf := f.NodeByGUID(0x51), f.NodeByGUID(0x44)
	narrow, dark := f.Ports[f.Port(leaf, 3)], f.Ports[f.Port(leaf, 4)]
	if narrow.Width != 1 || narrow.Speed != fabric.NDR || dark.State != mad.PortDown || dark.Width != 0 ||
		dark.Peer != fabric.None {
		t.Errorf("%+v, %+v", narrow, dark)
	}
	if !f.Nodes[spine].EnhancedPort0 || f.Nodes[leaf].EnhancedPort0 || f.Nodes[leaf].Desc != "leaf, 4" {
		t.Errorf("%+v, %+v", f.Nodes[spine], f.Nodes[leaf])
	}
	if l := s.Limits[f.Port(leaf, 3)]; l != (fabric.LinkLimit{
		WidthEnabled: 4, WidthSupported: 4, SpeedEnabled: fabric.NDR, SpeedSupported: fabric.NDR,
	}) {
		t.Errorf("%+v", l)
	}
	if want := map[uint64][]mad.PKey{0x111: {0xffff}, 0x112: {0x7fff}}; !reflect.DeepEqual(s.PKeys, want) {
		t.Errorf("P_Keys %v, expected %v", s.PKeys, want)
	}
	if !slices.Equal(s.Managers, []ibdiagnet.Manager{{GUID: 0x111, Priority: 5, State: mad.SMMaster}}) {
		t.Errorf("managers %v", s.Managers)
	}
	if s.Unread.Count != 1 || !strings.Contains(s.Unread.Findings[0].Why, "port 9 of node 0x0000000000000051") {
		t.Errorf("not read: %v", s.Unread.Findings)
	}
	if w := strings.Join(s.Warnings, "\n"); strings.Count(w, "\n") != 1 ||
		!strings.Contains(w, "1 section was ignored: WEIRD") ||
		!strings.Contains(w, "private tables are not used: paths follow table 0 (1): table 1 of leaf, 1") {
		t.Errorf("warnings:\n%s", w)
	}
}

func TestFolderTables(t *testing.T) {
	s, err := Read(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	f := s.Fabric
	at := func(guid uint64, lid uint16) uint8 { return s.Tables.Port(f.SwitchByGUID(guid), lid) }
	if at(0x41, 7) != 1 || at(0x41, 8) != 3 || at(0x51, 10) != 4 || at(0x51, 2) != 1 || at(0x44, 11) != fabric.NoPath ||
		at(0x44, 6) != 0 {
		t.Error("the ports differ from those of fdbs")
	}
	if s.Tables.Unread != (fabric.Unread{SLs: true}) {
		t.Errorf("unread: %v", s.Tables.Unread)
	}
	if vls := s.Tables.SL2VL.VLs(f.NodeByGUID(0x51), 1, 2); vls != (fabric.VLs{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
		13, 14, 7}) {
		t.Errorf("VLs %v", vls)
	}
	if spine := f.SwitchByGUID(0x51); !slices.Equal(slices.Collect(s.Tables.MFT.Each(spine, 0xc000)), []int{1, 2}) {
		t.Error("the multicast table differs from that of mcfdbs")
	}
	sw := s.Far.Switches[2]
	ports := ibdiagnet.Ports{}
	ports.Add(2)
	ports.Add(3)
	if sw.GUID != 0x41 || sw.Word("en") != "1" || sw.Word("fr_en") != "0" || sw.Word("top") != "0x000b" ||
		sw.Word("by_sl_en") != "1" || sw.Word("none") != "" ||
		!reflect.DeepEqual(sw.Groups, []ibdiagnet.Group{
			{}, {Number: 1, Ports: ports}, {Number: 1, Sub: 1, Weight: 7, Ports: ibdiagnet.Ports{16}},
		}) {
		t.Errorf("%+v", sw)
	}
	table, private := sw.Table(0), sw.Table(1)
	for lid, want := range map[uint16]ibdiagnet.State{1: ibdiagnet.Free, 8: ibdiagnet.Free, 9: ibdiagnet.Bounded,
		10: ibdiagnet.Hash, 11: ibdiagnet.Static} {
		if c := table.Choice(lid); c.State() != want || lid != 1 && want != ibdiagnet.Static && c.Group() != 1 {
			t.Errorf("LID %d: %v of group %d, expected %v", lid, c.State(), c.Group(), want)
		}
	}
	if table.Top != 11 || private.Port(8) != 2 || private.Port(7) != fabric.NoPath ||
		private.Choice(8).State() != ibdiagnet.Free {
		t.Errorf("%+v", private)
	}
}

func TestFolderHealth(t *testing.T) {
	s, err := Read(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	f := s.Fabric
	port := func(guid uint64, num uint8) fabric.PortIndex { return f.Port(f.NodeByGUID(guid), num) }
	if h := s.Health.At(port(0x51, 1)); h.FEC != 2 || h.Retrans != 0 || h.Cable != nil {
		t.Errorf("%+v", h)
	}
	if c := s.Health.At(port(0x42, 2)).Cable; *c != (health.Cable{Vendor: "Acme, Inc", Part: "MCP7", Serial: "SN-1",
		Revision: "A2", Celsius: 76, Measured: true}) {
		t.Errorf("%+v", c)
	}
	if b := s.Health.At(port(0x43, 2)).BER; b != [3]health.Rate{
		{Value: 1e-6, Known: true}, {Value: 2e-13, Known: true}, {},
	} {
		t.Errorf("%v", b)
	}
	if h := s.Health.At(port(0x44, 4)); h != nil {
		t.Errorf("health of a port that is down: %+v", h)
	}
	c := s.Counters.Ports
	if len(c) != 2 || c[0].Values[counters.LinkDowned] != 11 || c[0].Has.Has(counters.SymbolErrors) ||
		c[0].Values[counters.XmitData] != 0x123456789a ||
		!c[0].Wide.Has(counters.XmitData) || c[1].Values[counters.LinkDowned] != 0x1ff ||
		c[1].Values[counters.XmitDiscards] != 101 || !c[1].Stopped.Has(counters.XmitData) {
		t.Errorf("%+v", c)
	}
	if d := s.Deltas; len(d) != 1 || d[0].Port != port(0x43, 3) || d[0].Increase[counters.LinkDowned] != 1 {
		t.Errorf("%+v", d)
	}
}

// packed returns the members of the made folder as an archive in this order, compressed individually if zip is set.
func packed(t testing.TB, zip bool, names ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(made, name))
		if err != nil {
			t.Fatal(err)
		}
		if zip {
			var g bytes.Buffer
			one := gzip.NewWriter(&g)
			_, werr := one.Write(b)
			name += ".gz"
			if err := errors.Join(werr, one.Close()); err != nil {
				t.Fatal(err)
			}
			b = g.Bytes()
		}
		if err := w.WriteHeader(&tar.Header{
			Name: "case/" + name, Mode: 0o644, Size: int64(len(b)), Typeflag: tar.TypeReg,
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func memberNames(t testing.TB) (names []string) {
	t.Helper()
	all, err := os.ReadDir(made)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// An archive has the same content as the folder, in any order of its members, compressed or not.
func TestArchive(t *testing.T) {
	folder, err := Read(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	names := memberNames(t)
	for _, zip := range []bool{false, true} {
		slices.Reverse(names)
		path := put(t, string(packed(t, zip, names...)))
		s, err := Read(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if !fabric.Same(folder.Fabric, s.Fabric) || !reflect.DeepEqual(folder.Tables.LFT, s.Tables.LFT) ||
			!reflect.DeepEqual(folder.Far, s.Far) || !s.When.Equal(folder.When) ||
			s.Tables.SL2VL == nil || s.Tables.MFT == nil || len(s.Warnings) != len(folder.Warnings) ||
			s.Unread.Count != 1 || !reflect.DeepEqual(folder.PKeys, s.PKeys) {
			t.Errorf("the archive has other content: %v %v", s.Warnings, s.Unread)
		}
		if kind := Kind(t.Context(), path); kind != "topology" {
			t.Errorf("kind %q", kind)
		}
	}
}

func TestFolderCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, path := range []string{made, put(t, string(packed(t, false, memberNames(t)...)))} {
		if _, err := Read(ctx, path); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Missing members are reported. Without fdbs the static ports of far are the tables. Without both there are no tables.
func TestFolderWithout(t *testing.T) {
	for _, c := range []struct {
		names   []string
		tables  bool
		warning string
	}{
		{
			[]string{"ibdiagnet2.db_csv", "ibdiagnet2.far"}, true, ".mcfdbs (multicast tables), .slvl (SL2VL " +
				"tables), .net_dump_ext (bit error rates)",
		},
		{
			[]string{"ibdiagnet2.db_csv", "ibdiagnet2.slvl"}, false,
			"no forwarding tables, expected a file whose name ends in .fdbs or .far",
		},
	} {
		s, err := Read(t.Context(), put(t, string(packed(t, false, c.names...))))
		if err != nil {
			t.Fatal(err)
		}
		if (s.Tables != nil) != c.tables || !strings.Contains(strings.Join(s.Warnings, "\n"), c.warning) {
			t.Errorf("%v: %v", c.names, s.Warnings)
		}
		if c.tables && s.Tables.Port(s.Fabric.SwitchByGUID(0x41), 8) != 3 {
			t.Error("the static port of far is not used")
		}
	}
	if _, err := Read(t.Context(), put(t, string(packed(t, false, "ibdiagnet2.far")))); err == nil ||
		!strings.Contains(err.Error(), "no file whose name ends in .db_csv or smdb.dump") {
		t.Error(err)
	}
}

// The database alone, compressed or not, is a topology.
func TestDatabaseAlone(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(made, "ibdiagnet2.db_csv"))
	if err != nil {
		t.Fatal(err)
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "ibdiagnet2.db_csv") // cut in the middle of a row, identified by its name
	if err := os.WriteFile(cut, b[bytes.Index(b, []byte("160,713")):], 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Read(t.Context(), cut); err != nil || len(s.Fabric.Links()) != 13 || s.Unread.Count < 2 {
		t.Errorf("%v: %v", err, s.Unread)
	}
	for _, text := range [][]byte{b, z.Bytes()} {
		if s, err := Read(t.Context(), put(t, string(text))); err != nil || len(s.Fabric.Links()) != 13 ||
			s.Tables != nil || s.Counters == nil {
			t.Errorf("%v: %+v", err, s)
		}
	}
}

// NVIDIA's OpenSM writes a database in the same form, with blanks around values, fewer columns and words for numbers.
func TestSMDB(t *testing.T) {
	const text = `START_SM
PortGUID, HostName, Version, RoutingEngine, StartTime
0x21, h1, 5.12, ar_updn, 1661449538
END_SM
START_SMS
PortGUID, LID, Priority, State
0x21, 7, 5, 3
END_SMS
START_SWITCHES
NodeGUID, Status, Rank
0x10, OK, 0
END_SWITCHES
START_PORTS
PortGUID, NodeGUID, PortNum, PortLabel, LID, PortState, LinkWidth, LinkSpeed, Status, Timestamp
0x10, 0x10, 0, N/A, 3, ACTIVE, N/A, N/A, OK, 0
0x10, 0x10, 1, sw1p1, 0, ACTIVE, 4x, NDR, OK, 0
0x21, 0x20, 1, , 7, 4, 2, 2052, OK, 0
END_PORTS
START_NODES
NodeGUID, NodeType, NodeDesc
0x10, 2, "leaf, left"
0x20, CA, host mlx5_0
END_NODES
START_LINKS
NodeGUID1, PortNum1, NodeGUID2, PortNum2
0x10, 1, 0x20, 1
END_LINKS
`
	s, err := Read(t.Context(), put(t, text))
	if err != nil {
		t.Fatal(err)
	}
	p := s.Fabric.Ports[s.Fabric.PortByLID(7)]
	if p.Speed != fabric.NDR || p.Width != 4 || p.State != mad.PortActive || s.Fabric.Nodes[0].Desc != "leaf, left" ||
		s.Fabric.Nodes[0].NumPorts != 1 ||
		len(s.Managers) != 1 || s.Managers[0].State != mad.SMMaster || s.Unread.Count != 0 {
		t.Errorf("%+v, %+v, %v", p, s.Managers, s.Unread)
	}
}

// TestExcerpts reads rows of a real fabric: the ports of an NDR switch, with the columns of that time.
func TestExcerpts(t *testing.T) {
	shared := filepath.Join(testenv.Shared(t), "fabrics", "ibdiagnet2-excerpts")
	var text []byte
	for _, section := range []string{"NODES", "PORTS", "LINKS"} {
		b, err := os.ReadFile(filepath.Join(shared, section+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		text = fmt.Appendf(text, "START_%s\n%s\nEND_%s\n", section, bytes.TrimSpace(b), section)
	}
	s, err := Read(t.Context(), put(t, string(text)))
	if err != nil {
		t.Fatal(err)
	}
	f := s.Fabric
	n := f.NodeByGUID(0x9a4280)
	p := f.Ports[f.Port(n, 1)]
	if len(f.Nodes) != 7 || f.Nodes[n].NumPorts != 65 || f.Nodes[n].DeviceID != 54002 || p.Speed != fabric.NDR ||
		p.Width != 4 || p.State != mad.PortActive || p.MTU != 5 ||
		f.Ports[f.Port(n, 0)].LID != 3589 || f.Ports[f.Port(n, 0)].SMLID != 3556 ||
		s.Health.At(f.Port(n, 3)).FEC != 14 || s.Unread.Count != 6 {
		t.Errorf("%+v, %+v, not read: %v", f.Nodes[n], p, s.Unread.Findings)
	}
}

// A member whose stated or uncompressed size is too large ends the reading.
func TestBomb(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{
		Name: "ibdiagnet2.db_csv", Size: files.Topology.Most + 1, Typeflag: tar.TypeReg,
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), put(t, b.String())); !errors.Is(err, files.ErrTooLarge) {
		t.Error(err)
	}
	if testing.Short() {
		return
	}
	b.Reset()
	z := gzip.NewWriter(&b)
	part := bytes.Repeat([]byte{'x'}, 1<<20)
	if _, err := fmt.Fprintln(z, "START_NODES"); err != nil {
		t.Fatal(err)
	}
	for range files.Topology.Most >> 20 {
		if _, err := z.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(t.Context(), put(t, b.String())); !errors.Is(err, files.ErrTooLarge) {
		t.Error(err)
	}
}

// The M_Keys of the made folder are all the same. A written database must not contain them.
func TestNoMKey(t *testing.T) {
	s, err := Read(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := ibdiagnet.WriteDB(&b, &ibdiagnet.DB{Fabric: s.Fabric, Limits: s.Limits, Health: s.Health,
		Counters: s.Counters}, s.Tables); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(bytes.ToLower(b.Bytes()), []byte("feedface")) {
		t.Error("an M_Key was written")
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(packed(f, false, memberNames(f)...))
	f.Add(packed(f, true, "ibdiagnet2.db_csv", "ibdiagnet2.far"))
	f.Fuzz(func(t *testing.T, file []byte) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = Read(t.Context(), path)
	})
}
