// SPDX-License-Identifier: Apache-2.0

package ibdiagnet_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric/formats/ibdiagnet"
	"example.org/ibconsole/fabric/formats/unread"
)

// A database is unchanged after writing and reading.
func FuzzReadDB(f *testing.F) {
	f.Add(db)
	f.Add(db[60:])
	f.Add("START_CABLE_INFO\nNodeGuid,PortNum,Vendor\n")
	f.Fuzz(func(t *testing.T, text string) {
		var found unread.List
		one, err := ibdiagnet.ReadDB(t.Context(), strings.NewReader(text), "db", &found)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := ibdiagnet.WriteDB(&b, one, nil); err != nil {
			t.Fatal(err)
		}
		two, err := ibdiagnet.ReadDB(t.Context(), &b, "db", nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(one.Fabric.Ports) != len(two.Fabric.Ports) || len(one.Fabric.Links()) != len(two.Fabric.Links()) ||
			one.Fabric.MaxLID != two.Fabric.MaxLID {
			t.Errorf("%d ports, %d links, LIDs to %d became %d, %d, %d", len(one.Fabric.Ports), len(one.Fabric.Links()),
				one.Fabric.MaxLID,
				len(two.Fabric.Ports), len(two.Fabric.Links()), two.Fabric.MaxLID)
		}
	})
}

const far = `# made by hand
File version: 1
Switch 0x10 en: 1, fr_en: 0
by_sl_en=1
Groups Definition:
Group  Sub Group  WHBF  Ports
-----------------------------
0      0          0
1      0          0     1,2,3,
1      1          7     64, 65,
LFT Definition:
PLFT_NUM: 0, top: 0x2ebd
LID    Static Port  Lid State  Group
------------------------------------
0x0001 18           Free       12
0x0002 1            Static     0
PLFT_NUM: 1, top: 0x0004
0x0003 1            HBF        1
0x0004 2            Bounded    1
`

func FuzzReadFar(f *testing.F) {
	f.Add(far)
	f.Add(far[100:])
	f.Fuzz(func(t *testing.T, text string) {
		var found unread.List
		one, err := ibdiagnet.ReadFar(t.Context(), strings.NewReader(text), "far", &found)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := ibdiagnet.WriteFar(&b, one, time.Time{}); err != nil {
			t.Fatal(err)
		}
		two, err := ibdiagnet.ReadFar(t.Context(), &b, "far", nil)
		if err != nil {
			t.Fatal(err)
		}
		same(t, one, two)
	})
}

// same compares the content of two files without their line numbers.
func same(t *testing.T, one, two *ibdiagnet.Far) {
	t.Helper()
	if len(one.Switches) != len(two.Switches) {
		t.Fatalf("%d switches, then %d", len(one.Switches), len(two.Switches))
	}
	for i := range one.Switches {
		a, b := &one.Switches[i], &two.Switches[i]
		if a.GUID != b.GUID || len(a.Tables) != len(b.Tables) || len(a.Groups) != len(b.Groups) || len(a.Groups) > 0 &&
			!reflect.DeepEqual(a.Groups, b.Groups) {
			t.Fatalf("%+v, then %+v", a, b)
		}
		for k := range a.Tables {
			x, y := &a.Tables[k], &b.Tables[k]
			for lid := 1; lid < max(len(x.Ports), len(y.Ports)); lid++ {
				if x.Port(uint16(lid)) != y.Port(uint16(lid)) || x.Choice(uint16(lid)) != y.Choice(uint16(lid)) {
					t.Fatalf("LID %d of 0x%x: %d %v, then %d %v", lid, a.GUID, x.Port(uint16(lid)),
						x.Choice(uint16(lid)), y.Port(uint16(lid)), y.Choice(uint16(lid)))
				}
			}
		}
	}
}

func FuzzReadFDBs(f *testing.F) {
	f.Add("osm_ucast_mgr_dump_ucast_routes: Switch 0x10\nLID    : Port : Hops : Optimal\n0x0001 : " +
		"UNREACHABLE\n0x0002 : 003  : 00   : yes\n")
	f.Add("dump_ucast_routes: Switch 0x10\nPLFT_NUM: 0\n0x0001 : 255\nPLFT_NUM: 1\n0x0002 : 003  : 00   : yes\n")
	f.Fuzz(func(t *testing.T, text string) {
		var found unread.List
		one, err := ibdiagnet.ReadFDBs(t.Context(), strings.NewReader(text), "fdbs", &found)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := ibdiagnet.WriteFDBs(&b, one, time.Time{}); err != nil {
			t.Fatal(err)
		}
		two, err := ibdiagnet.ReadFDBs(t.Context(), &b, "fdbs", nil)
		if err != nil {
			t.Fatal(err)
		}
		same(t, one, two)
	})
}

func FuzzReadOthers(f *testing.F) {
	f.Add("0x0002c90000000201 5 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xe7\n")
	f.Add("Ty : # : #IB : GUID : Raw BER : Effective BER : Symbol BER : Node Desc\nSW : 1 : 1 : 0x10 : 1e-8 : 1e-12 " +
		": N/A : \"a : b\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		var found unread.List
		_, _ = ibdiagnet.ReadSLVL(t.Context(), strings.NewReader(text), "slvl", &found)
		_, _ = ibdiagnet.ReadBERs(t.Context(), strings.NewReader(text), "ext", &found)
	})
}
