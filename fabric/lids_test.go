// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/mad"
)

// star returns a switch with a number of hosts whose ports have these LIDs.
func star(t testing.TB, hosts int, lids ...uint16) *Fabric {
	t.Helper()
	var b Builder
	sw, err := b.AddNode(Node{GUID: 0x200000, Type: mad.NodeSwitch, NumPorts: 254, Desc: "sw"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range hosts {
		h, err := b.AddNode(Node{GUID: 0x100000 + uint64(2*i), Type: mad.NodeCA, NumPorts: 1, Desc: fmt.Sprint("h", i)})
		if err != nil {
			t.Fatal(err)
		}
		p := b.Port(h, 1)
		p.GUID = 0x100001 + uint64(2*i)
		if i < len(lids) {
			p.LID = lids[i]
		}
		if err := b.Connect(sw, i+1, h, 1); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func lidsOf(f *Fabric) []uint16 {
	var lids []uint16
	for i := range f.Nodes {
		p := f.Nodes[i].FirstPort
		if !f.Nodes[i].IsSwitch() {
			p++
		}
		lids = append(lids, f.Ports[p].LID)
	}
	return lids
}

func TestAssignLIDs(t *testing.T) {
	f := star(t, 4, 0, 2, 0, 9)
	g, err := AssignLIDs(f)
	if err != nil {
		t.Fatal(err)
	}
	// Worked out by hand: the switch is the node of the SM and comes first. Hosts are sorted by GUID.
	if got, want := lidsOf(g), []uint16{1, 3, 2, 4, 9}; !slices.Equal(got, want) {
		t.Errorf("LIDs %v, expected %v", got, want)
	}
	if h, err := AssignLIDs(g); err != nil || h != g {
		t.Errorf("AssignLIDs does not return a fabric with all LIDs unchanged: %v", err)
	}
}

func TestAssignLIDsRefuses(t *testing.T) {
	f := star(t, 2)
	if _, err := AssignLIDsWith(f, LIDOptions{LMC: 8}); err == nil {
		t.Error("LMC 8 is accepted")
	}
	if _, err := AssignLIDsWith(f, LIDOptions{Claims: make([]LIDClaim, 2)}); err == nil {
		t.Error("two claims for three ports are accepted")
	}
}

// TestTooFewLIDs assigns all 383 ranges of 128 LIDs to absent ports.
func TestTooFewLIDs(t *testing.T) {
	table := &GUID2LID{}
	for i := range 383 {
		first := uint16(128 * (i + 1))
		table.Set(uint64(0x900000+i), LIDRange{first, first + 127})
	}
	f := star(t, 2)
	a, err := AssignLIDsWith(f, LIDOptions{LMC: 7, GUID2LID: table})
	if !errors.Is(err, ErrNoLIDs) {
		t.Fatalf("error %v, expected %v", err, ErrNoLIDs)
	}
	if got, want := lidsOf(a.Fabric), []uint16{1, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("LIDs %v, expected %v", got, want)
	}
	if n := len(a.Notes); n != 2 || a.Notes[0].Kind != NoLIDsLeft {
		t.Errorf("notes %v, expected two notes that no LIDs are left", a.Notes)
	}
	table.Delete(0x900005)
	a, err = AssignLIDsWith(star(t, 1), LIDOptions{LMC: 7, GUID2LID: table})
	if err != nil || a.LIDs[1] != (LIDRange{768, 895}) {
		t.Errorf("LIDs %v, error %v; expected the one range that is free, 768 to 895", a.LIDs, err)
	}
}

func TestLIDNotes(t *testing.T) {
	table := &GUID2LID{}
	add := func(guid uint64, low, high uint16) { table.Set(guid, LIDRange{low, high}) }
	add(0x100001, 5, 4)
	add(0x100003, 6, 9)
	add(0x900001, 16, 19)
	table.Add(GUIDRecord{Key: "0x900003", Value: "0x0020 0x0023", GUID: 0x900003, LIDs: LIDRange{32, 35},
		Readable: true})
	add(0x100005, 24, 24)
	a, err := AssignLIDsWith(star(t, 5), LIDOptions{
		LMC: 2, GUID2LID: table, Claims: []LIDClaim{{}, {7, 0}, {}, {50000, 0}, {17, 0}, {16, 0}},
	})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[LIDNoteKind]int{}
	for _, n := range a.Notes {
		kinds[n.Kind]++
		if n.String() == "" {
			t.Errorf("note %+v has no text", n)
		}
	}
	for _, k := range []LIDNoteKind{RecordIllegal, RecordMisaligned, RecordUnreadable, RecordUnfit, ClaimTooHigh,
		ClaimTaken} {
		if kinds[k] == 0 {
			t.Errorf("no note of kind %d in %v", k, a.Notes)
		}
	}
	if kinds[ClaimMisaligned] != 2 {
		t.Errorf("%d LIDs are misaligned, expected two, in %v", kinds[ClaimMisaligned], a.Notes)
	}
}

// TestGUID2LIDTable compares the table with a map under random changes.
func TestGUID2LIDTable(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	table, model := &GUID2LID{}, map[uint64]LIDRange{}
	for range 20000 {
		guid, r := uint64(rnd.IntN(900)), LIDRange{uint16(rnd.IntN(9)), uint16(rnd.IntN(9))}
		switch rnd.IntN(3) {
		case 0, 1:
			old, had := model[guid]
			if changed := table.Set(guid, r); changed != (!had || old != r) {
				t.Fatalf("Set returns %v", changed)
			}
			model[guid] = r
		case 2:
			_, had := model[guid]
			if table.Delete(guid) != had {
				t.Fatalf("Delete does not return %v", had)
			}
			delete(model, guid)
		}
	}
	copied := table.Clone()
	table.Set(5, LIDRange{100, 200})
	delete(model, 5)
	copied.Delete(5)
	if copied.Len() != len(model) {
		t.Errorf("%d records, expected %d", copied.Len(), len(model))
	}
	seen := 0
	for r := range copied.Records() {
		seen++
		if want, ok := model[r.GUID]; !ok || r.LIDs != want || !r.Readable {
			t.Errorf("record %+v, expected %v", r, want)
		}
		if got, ok := copied.Get(r.GUID); !ok || got != r.LIDs {
			t.Errorf("Get(%x) is %v, %v", r.GUID, got, ok)
		}
	}
	if seen != len(model) {
		t.Errorf("%d records seen, expected %d", seen, len(model))
	}
}

// FuzzAssignLIDs assigns LIDs with random records and claims. LIDs must be aligned and in range, and two assignments
// must be the same.
func FuzzAssignLIDs(f *testing.F) {
	f.Add(uint8(2), true, []byte{0, 0, 1, 0, 0, 8, 0, 0, 11, 1, 1, 2, 0, 0, 9, 3})
	f.Add(uint8(7), false, []byte{1, 0xbf, 0xff, 7, 0, 0, 0, 0, 2, 0xc0, 0x10, 3})
	f.Fuzz(func(t *testing.T, lmc uint8, esp0 bool, data []byte) {
		net := star(t, 6)
		o := LIDOptions{LMC: lmc % 8, LMCESP0: esp0, GUID2LID: &GUID2LID{}, Claims: make([]LIDClaim, 7)}
		for ; len(data) >= 4; data = data[4:] {
			lid := uint16(data[1])<<8 | uint16(data[2])
			switch at := int(data[0]) % 14; {
			case at < 7:
				o.Claims[at] = LIDClaim{lid, data[3]}
			default:
				o.GUID2LID.Set(net.Ports[net.EndPorts[at-7]].GUID,
					LIDRange{min(lid, MaxUnicastLID), min(lid+uint16(data[3]), MaxUnicastLID)})
			}
		}
		a, err := AssignLIDsWith(net, o)
		var twice *PortError
		if err != nil && !errors.As(err, &twice) {
			t.Fatal(err)
		}
		for i, r := range a.LIDs {
			width := uint16(1) << o.LMC
			if net.EndPorts[i] == net.EndPortOf(net.SMPort) {
				width = 1
			}
			if r.Min == 0 || r.Max > MaxUnicastLID || r.Max-r.Min+1 != width || !aligned(r.Min, width) {
				t.Errorf("LIDs %v at LMC %d", r, o.LMC)
			}
		}
		b, _ := AssignLIDsWith(net, o)
		if !slices.Equal(a.LIDs, b.LIDs) {
			t.Errorf("LIDs %v at first, then %v", a.LIDs, b.LIDs)
		}
	})
}

func BenchmarkAssignLIDs(b *testing.B) {
	var builder Builder
	prev := NodeIndex(-1)
	for i := range 2000 {
		sw, err := builder.AddNode(Node{GUID: 0x200000 + uint64(i), Type: mad.NodeSwitch, NumPorts: 40})
		if err != nil {
			b.Fatal(err)
		}
		if prev >= 0 {
			if err := builder.Connect(prev, 40, sw, 39); err != nil {
				b.Fatal(err)
			}
		}
		prev = sw
		for p := range 23 {
			h, err := builder.AddNode(Node{GUID: 0x10000000 + uint64(i*100+2*p), Type: mad.NodeCA, NumPorts: 1})
			if err != nil {
				b.Fatal(err)
			}
			builder.Port(h, 1).GUID = 0x10000001 + uint64(i*100+2*p)
			if err := builder.Connect(sw, p+1, h, 1); err != nil {
				b.Fatal(err)
			}
		}
	}
	f, err := builder.Build()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := AssignLIDs(f); err != nil {
			b.Fatal(err)
		}
	}
}
