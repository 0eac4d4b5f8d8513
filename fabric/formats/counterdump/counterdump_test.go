// SPDX-License-Identifier: Apache-2.0

package counterdump_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/formats/counterdump"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/formats/unread"
)

// The files of testdata are the output of infiniband-diags 44 over ibsim 0.10, except mlxlink.json. This file has the
// keys that mlxlink of github.com/Mellanox/mstflint prints for an InfiniBand port (mlxlink_commander.cpp, showBer and
// prepareBerInfo) in the layout of a capture of MFT 4.34.1 (github.com/yuuki/mlxlink_exporter,
// mft-4.34.1-400g-dr4.json), with other values.
func data(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func subnet(t testing.TB) *fabric.Fabric {
	t.Helper()
	file, err := ibnet.Read(context.Background(), bytes.NewReader(data(t, "subnet.topo")), "subnet",
		ibnet.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return file.Fabric
}

func read(t testing.TB, text []byte) (map[string]counters.Port, error) {
	t.Helper()
	f := subnet(t)
	ports, err := counterdump.Read(context.Background(), bytes.NewReader(text), "dump", f, time.Unix(1, 0), nil)
	of := map[string]counters.Port{}
	for _, p := range ports {
		of[f.PortName(p.Port)] = p
	}
	return of, err
}

// TestRead checks values that the files contain, and that counters that they do not contain are not read as 0.
func TestRead(t *testing.T) {
	perfquery, err := read(t, data(t, "perfquery.txt"))
	if err != nil {
		t.Fatal(err)
	}
	leaf, host := perfquery["leaf 1/2"], perfquery["host one HCA-1/1"]
	if len(perfquery) != 2 || leaf.Values[counters.RcvErrors] != 22 || leaf.Values[counters.XmitData] != 3816 ||
		!leaf.Has.Has(counters.SymbolErrors) || leaf.Wide != 0 || leaf.Stopped != 0 {
		t.Errorf("perfquery: %d ports, %+v", len(perfquery), leaf)
	}
	if host.Values[counters.RcvPackets] != 56 || !host.Wide.Has(counters.RcvPackets) ||
		host.Has.Has(counters.SymbolErrors) || !host.Has.Has(counters.MulticastRcvPackets) {
		t.Errorf("perfquery -x: %+v", host)
	}
	list, err := read(t, data(t, "ibqueryerrors.txt"))
	if err != nil {
		t.Fatal(err)
	}
	leaf = list["leaf 1/2"]
	if len(list) != 1 || leaf.Values[counters.RcvErrors] != 11 || leaf.Values[counters.RcvData] != 1584 ||
		leaf.Has.Has(counters.SymbolErrors) {
		t.Errorf("ibqueryerrors: %d ports, %+v", len(list), leaf)
	}
}

// TestGreatest checks that a counter at its maximum has stopped, and that a counter above it has 64 bits.
func TestGreatest(t *testing.T) {
	of, err := read(t, []byte("Errors for \"host one HCA-1\"\n   GUID 0x100001 port 1: [PortXmitWait == 4294967295] "+
		"[SymbolErrorCounter == 65536]\n"))
	p := of["host one HCA-1/1"]
	if err != nil || p.Stopped != counters.Of(counters.XmitWait) || p.Wide != counters.Of(counters.SymbolErrors) {
		t.Errorf("%+v, %v", of, err)
	}
}

// TestRefuses checks the errors for other text and for ports outside the subnet.
func TestRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"hello\n": "dump:1: expected a line",
		"# Port counters: Lid 9 port 1 (CapMask: 0x1300)\n":                  "dump:1: LID 9 has no port 1",
		"# Port counters: Lid 1 port 99 (CapMask: 0x1300)\n":                 "dump:1: LID 1 has no port 99",
		"   GUID 0x100001 port 2: [PortXmitWait == 4]\n":                     "dump:1: GUID 0x100001 has no port 2",
		"   GUID 0x100001 port 1: [PortXmitWait == 100000000000000000000]\n": "dump:1: ",
	} {
		if _, err := read(t, []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"perfquery.txt", "ibqueryerrors.txt"} {
		f.Add(data(f, name))
	}
	of := subnet(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		ports, err := counterdump.Read(context.Background(), bytes.NewReader(text), "dump", of, time.Time{},
			&unread.List{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range ports {
			if p.Has == 0 || p.Stopped&^p.Has != 0 || p.Wide&^p.Has != 0 {
				t.Fatalf("%+v", p)
			}
		}
	})
}

// TestTruncated checks that a number at the end of a cut file is not read, because digits may be missing.
func TestTruncated(t *testing.T) {
	text := data(t, "perfquery.txt")
	at := bytes.Index(text, []byte("22\n")) + 1
	if at < 1 {
		t.Fatal("the file has no counter of 22")
	}
	ports, err := read(t, text[:at])
	if err == nil || !strings.Contains(err.Error(), "truncated: the last line has no newline") {
		t.Errorf("a cut file: %v", err)
	}
	if leaf := ports["leaf 1/2"]; leaf.Has.Has(counters.RcvErrors) {
		t.Errorf("the cut counter is read as %d", leaf.Values[counters.RcvErrors])
	}
}

// TestMlxlink checks the counters of a port that mlxlink prints, and the errors for other documents.
func TestMlxlink(t *testing.T) {
	f := subnet(t)
	port := f.PortAt(f.NodesByDescription("leaf 1")[0], 2)
	text := string(data(t, "mlxlink.json"))
	read := func(text string) (counters.Port, error) {
		return counterdump.ReadMlxlink(strings.NewReader(text), "dump", f, port, time.Unix(1, 0))
	}
	got, err := read(text)
	if err != nil || got.Port != port || got.Values[counters.SymbolErrors] != 70000 ||
		got.Values[counters.LinkDowned] != 3 || got.Values[counters.LinkErrorRecovery] != 300 || got.Stopped != 0 ||
		got.Has != counters.Of(counters.SymbolErrors)|counters.Of(counters.LinkDowned)|
			counters.Of(counters.LinkErrorRecovery) {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = read(strings.Replace(text, `"70000"`, `"N/A"`, 1))
	if err != nil || got.Has.Has(counters.SymbolErrors) {
		t.Errorf("N/A: %+v, %v", got, err)
	}
	got, err = read(strings.Replace(text, `"3"`, `"255"`, 1))
	if err != nil || got.Stopped != counters.Of(counters.LinkDowned) {
		t.Errorf("an 8-bit counter at its maximum: %+v, %v", got, err)
	}
	for _, c := range []struct{ old, changed, want string }{
		{`"IB-NDR"`, `"400G"`, `speed "400G", expected an InfiniBand port`},
		{`"code" : 0`, `"code" : 1`, "dump: mlxlink failed with status 1: success"},
		{"Physical Counters and BER Info", "Module Info", "hint: run 'mlxlink --json -c'"},
		{`"3"`, `"-3"`, `"Link Down Counter": `},
		{`"Width"`, `Width`, "dump:12: JSON of mlxlink"},
	} {
		if _, err := read(strings.Replace(text, c.old, c.changed, 1)); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %s", c.changed, err, c.want)
		}
	}
}

func FuzzMlxlink(f *testing.F) {
	f.Add(data(f, "mlxlink.json"))
	of := subnet(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := counterdump.ReadMlxlink(bytes.NewReader(text), "dump", of, 1, time.Time{})
		if err == nil && (p.Has == 0 || p.Stopped&^p.Has != 0 || p.Wide&^p.Has != 0 || p.Port != 1) {
			t.Fatalf("%+v", p)
		}
	})
}
