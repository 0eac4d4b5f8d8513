// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

const pairDump = "Unicast lids [0-3] of switch Lid 3 guid 0x0000000000200000 ('sw'):\n0x0001 001 # Channel Adapter " +
	"portguid 0x0000000000100001: 'a'\n0x0002 002 # Router portguid 0x0000000000100003: 'b'\n0x0003 000 # Switch " +
	"portguid 0x0000000000200000: 'sw'\n3 lids dumped\n"

// The forms that OpenSM's loader accepts (osm_ucast_file.c): leading space, comments, any space between the numbers,
// nothing after them, no trailer.
func TestReadLFTsForms(t *testing.T) {
	f := pair(t)
	for what, text := range map[string]string{
		"a dump":        pairDump,
		"DOS lines":     strings.ReplaceAll(pairDump, "\n", "\r\n"),
		"comments":      "# made by hand\n\n  # too\n" + strings.ReplaceAll(pairDump, "\n0x", "\n#\n\n\t 0x"),
		"bare entries":  "Unicast lids guid 0x200000\n0x1 1\n0x2\t2 \n0X3 0\n0x3 0\n",
		"later wins":    "Unicast lids guid 0x200000\n0x1 2\n0x2 2\n0x3 0\n0x1 1\n",
		"capital GUID":  "Unicast lids guid 0x0200000\n0x1 1 portguid 0x0100001:\n0x2 2 portguid 0x100003 x\n0x3 0\n",
		"other section": "Unicast lids guid 0x9\n0x1 2\n0x2 1\n7 lids dumped\n" + pairDump,
		"multicast too": "Multicast mlids [0xc000-0xc3ff] of switch Lid 3 guid 0x0000000000200000 (sw):\n0xc001      " +
			"x x\n1 valid mlids dumped \n" + pairDump,
		"no last end": strings.TrimSuffix(pairDump, "\n"),
	} {
		tables, report := apply(t, []byte(text), f)
		if got := string(tables.LFT.Row(0)[:5]); got != "\xff\x01\x02\x00\xff" {
			t.Errorf("%s: row %x, report %q", what, got, report.Lines())
		}
		if !tables.Known[0] || tables.Top[0] != 3 || tables.Origin != "lfts" || report.Switches != 1 {
			t.Errorf("%s: %+v %+v", what, tables, report)
		}
	}
}

func TestReadLFTsErrors(t *testing.T) {
	header := "Unicast lids [0-3] of switch Lid 3 guid 0x0000000000200000 ('sw'):\n"
	for _, c := range []struct{ what, text, want string }{
		{"empty", "", "lfts:1: the file is empty"},
		{"other text", "hello\nworld\n", "lfts:2: no forwarding table"},
		{"binary", header + "\x7fELF\x02\x01\x01\x00", "lfts:2: a NUL byte"},
		{"long line", header + strings.Repeat("x", 2000) + "\n", "lfts:2: the line is longer than 1022 bytes"},
		{"longer line", header + strings.Repeat("x", 200000) + "\n", "lfts:2: the line is longer than 1022 bytes"},
		{
			"only multicast", "Multicast mlids [0xc000-0xc3ff] of switch Lid 3 guid 0x200000 (sw):\n",
			"lfts:1: only multicast tables",
		},
		{"no GUID", "Unicast lids of switch 3\n", "lfts:1: cannot parse switch definition"},
		{"bad GUID", "Unicast lids guid 0x20000g\n", "lfts:1: cannot parse switch GUID"},
		{"empty GUID", "Unicast lids guid 0x\n", "lfts:1: cannot parse switch GUID"},
		{"long GUID", "Unicast lids guid 0x12345678901234567\n", "lfts:1: cannot parse switch GUID"},
		{
			"LID 65335", header + "0xff37 001\n",
			"lfts:2: LID 65335 (0xff37) is not a unicast LID, expected at most 0xbfff",
		},
		{"LID 0x10001", header + "0x10001 001\n", "lfts:2: LID 65537"},
		{"huge LID", header + "0xfffffffffffffffff 001\n", "lfts:2: cannot parse LID"},
		{"no LID", header + "0x 001\n", "lfts:2: cannot parse LID"},
		{"bad LID", header + "0x00g1 001\n", "lfts:2: cannot parse LID"},
		{"LID alone", header + "0x0001\n", "lfts:2: cannot parse LID"},
		{"port 300", header + "0x0001 001\n0x0002 300\n", "lfts:3: port 300 is out of range"},
		{"huge port", header + "0x0001 99999999999999999999\n", "lfts:2: cannot parse port"},
		{"no port", header + "0x0001 # x\n", "lfts:2: cannot parse port"},
		{"negative port", header + "0x0001 -1\n", "lfts:2: cannot parse port"},
		{"hexadecimal port", header + "0x0001 0x1\n", "lfts:2: cannot parse port"},
		{"cut in an entry", pairDump + header + "0x0001 00", "lfts:7: the file is truncated: no newline"},
		{
			"cut in a header", pairDump + "Unicast lids [0-3] of switch Lid 3 guid 0x00000000002",
			"lfts:6: cannot parse switch GUID",
		},
		{
			"cut after a line", pairDump + header + "0x0001 001\n", "lfts:7: the file is truncated: the table of " +
				"switch 0x0000000000200000, which begins on line 6",
		},
	} {
		_, err := ReadLFTs(strings.NewReader(c.text), "lfts")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.want)
		}
	}
	_, err := ReadLFTs(io.MultiReader(strings.NewReader(header), iotest.ErrReader(errors.New("disk gone"))), "lfts")
	if err == nil || !strings.Contains(err.Error(), "disk gone") {
		t.Errorf("error %v, want the reader's", err)
	}
}

func TestApplyErrors(t *testing.T) {
	f := pair(t)
	file, err := ReadLFTs(strings.NewReader("# one\n\n"+strings.Replace(pairDump, "002 #", "003 #", 1)), "lfts")
	if err != nil {
		t.Fatal(err)
	}
	want := "lfts:5: an entry has port 3, but switch 0x0000000000200000 (sw) has ports 0 to 2"
	if _, _, err = file.Apply(f); err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
	none, err := f.WithLIDs(make([]uint16, len(f.EndPorts)))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = file.Apply(none); err == nil || !strings.Contains(err.Error(), "no LIDs") {
		t.Errorf("error %v on a subnet without LIDs", err)
	}
}

func TestApplyReport(t *testing.T) {
	f := pair(t)
	text := "0x0001 001\n" + // before the first table
		"Unicast lids guid 0x9 (\x1b[31mred):\n0x0001 001\n1 lids dumped\n" +
		"Unicast lids guid 0x8 (other):\n0x0001 001\n" + // not ended
		"Multicast mlids of switch\n0xc000 x\nUnicast lids [0x0-0x40] of switch Lid 3 guid 0x200000 (sw):\n0x0001 " +
		"002 # portguid 0x100001:\n0x0001 001 # portguid 0x100001:\n" + // collides
		"0x0007 002 # portguid 0x100003:\n" + // moves to 2
		"0x0003 000 # portguid 0x777777:\n" + // unknown
		"0x0009 000\n" + // beyond, no GUID
		"what?\n5 valid lids dumped \n"
	tables, r := apply(t, []byte(text), f)
	if got := string(tables.LFT.Row(0)[:5]); got != "\xff\x01\x02\x00\xff" {
		t.Errorf("row %x", got)
	}
	want := []string{
		`2 switches of the file are not in the subnet, skipped: ` +
			`0x0000000000000009 (\x1b[31mred); 0x0000000000000008 (other)`,
		"1 LID moved to where its port is now: LID 7 is now 2, b/1",
		"1 entry has no port GUID and stays at its LID: LID 9",
		"1 port GUID is not in the subnet, its entries stay at their LID: 0x0000000000777777 at LID 3",
		"1 entry is for a LID above the highest of the subnet, skipped: LID 9 on line 14",
		"1 entry replaced another one for the same LID: sw: LID 1 by port 2, on line 11 by port 1",
		"1 entry before the first table was skipped: line 1: 0x0001 001",
		"1 multicast table was skipped: line 7: Multicast mlids of switch",
		"1 last LID was not printed by ibroute or dump_fts, which omit multiples of 64: LID 64 of " +
			"0x0000000000200000 (sw)",
		"1 line was not recognized: line 15: what?",
	}
	if got := r.Lines(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if r.Switches != 1 || r.Entries != 4 {
		t.Errorf("%d switches and %d entries taken, want 1 and 4", r.Switches, r.Entries)
	}
}

func TestFindingKeepsAFewExamples(t *testing.T) {
	var f Finding
	for i := range 20 {
		f.add(func() string { return fmt.Sprint(i) })
	}
	lines := findingLines([]findingText{{&f, "{one|many}"}})
	if len(lines) != 1 || lines[0] != "20 many: 0; 1; 2; 3; 4; ..." {
		t.Errorf("%q", lines)
	}
}

// Tables that were read and applied are the same after they are written and read again.
func FuzzReadLFTs(f *testing.F) {
	f.Add([]byte(pairDump))
	f.Add([]byte(ibroutePair))
	f.Add([]byte("Multicast mlids\n0xc000\nUnicast lids guid 0x200000\n0x1 1\n"))
	f.Add([]byte("Unicast lids guid 0x200000\n0xff37 300"))
	f.Add([]byte("Unicast lids guid 0x200000 (x):\n0x0002 001 portguid 0x100001\n0x0009 002 portguid 0x100003:"))
	subnet := pair(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := ReadLFTs(bytes.NewReader(text), "lfts")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "lfts:") {
				t.Fatalf("error without file and line: %v", err)
			}
			return
		}
		tables, report, err := file.Apply(subnet)
		if err != nil {
			return
		}
		report.Lines()
		if !tables.Known[0] {
			return
		}
		again, _ := apply(t, lfts(t, tables), subnet)
		for lid := uint16(1); lid <= subnet.MaxLID; lid++ {
			if again.Port(0, lid) != tables.Port(0, lid) {
				t.Fatalf("LID %d by port %d, after writing and reading by %d", lid, tables.Port(0, lid),
					again.Port(0, lid))
			}
		}
	})
}
