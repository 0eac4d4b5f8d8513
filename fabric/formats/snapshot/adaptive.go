// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"example.org/ibconsole/fabric"
)

// The limits of the adaptive-routing tables in a file, over all switches. 3,000 switches with 48,000 LIDs have 144 M
// entries.
const (
	maxAdaptiveGroups  = 1 << 20 // different ones
	maxAdaptiveUses    = 1 << 24 // groups of switches
	maxAdaptiveEntries = 1 << 28
	maxPrivateEntries  = 1 << 26
	maxSubGroups       = 16
)

// encodeAdaptive encodes the adaptive routing of all switches. The different groups of ports come first, each once. The
// data of each switch follow and refer to the groups.
func encodeAdaptive(a *fabric.Adaptive) []byte {
	e := &encoder{}
	var each encoder
	seen := map[string]int{}
	groups := 0
	var distinct encoder
	each.uint(uint64(len(a.Switches)))
	for i := range a.Switches {
		s := &a.Switches[i]
		each.bool(s.Enabled)
		each.bool(s.FastReroute)
		each.uint(uint64(s.SLs))
		each.uint(uint64(s.HashSLs))
		each.uint(uint64(len(s.Groups)))
		for _, g := range s.Groups {
			b := encodeGroup(g)
			at, ok := seen[string(b)]
			if !ok {
				at, seen[string(b)] = groups, groups
				distinct.bytes(b)
				groups++
			}
			each.uint(uint64(at))
		}
		each.uint(uint64(len(s.Tables)))
		for t := range s.Tables {
			encodeAdaptiveTable(&each, &s.Tables[t])
		}
		each.uint(uint64(len(s.Private)))
		each.bytes(s.Private)
	}
	e.uint(uint64(groups))
	e.bytes(distinct.b)
	e.bytes(each.b)
	return e.b
}

func encodeGroup(g fabric.PortGroup) []byte {
	var e encoder
	e.uint(uint64(len(g)))
	for _, sub := range g {
		e.string(string(sub))
	}
	return e.b
}

func encodeAdaptiveTable(e *encoder, t *fabric.AdaptiveTable) {
	e.uint(uint64(t.Top))
	e.uint(uint64(len(t.Entries)))
	e.b = slices.Grow(e.b, 2*len(t.Entries))
	for _, entry := range t.Entries {
		e.entry(entry)
	}
	e.uint(uint64(len(t.Private)))
	for _, p := range t.Private {
		e.uint(uint64(p.LID))
		e.bytes([]byte{p.Port})
		e.entry(p.Entry)
	}
}

// entry encodes an entry with its state in the lowest bits. The most frequent entries then take a single byte.
func (e *encoder) entry(v fabric.AdaptiveEntry) { e.uint(uint64(bits.RotateLeft16(uint16(v), 2))) }

func (d *decoder) entry() fabric.AdaptiveEntry {
	return fabric.AdaptiveEntry(bits.RotateLeft16(uint16(d.uint(math.MaxUint16)), -2))
}

// adaptiveDecoder decodes adaptive routing. It counts the decoded entries.
type adaptiveDecoder struct {
	*decoder
	groups                 []fabric.PortGroup
	uses, entries, private int
}

func decodeAdaptive(f *fabric.Fabric, d *decoder) (*fabric.Adaptive, error) {
	a := &adaptiveDecoder{decoder: d}
	for range d.uint(maxAdaptiveGroups) {
		if d.err != nil {
			break
		}
		a.groups = append(a.groups, a.group())
	}
	if n := d.uint(uint64(len(f.Switches))); d.err == nil && n != uint64(len(f.Switches)) {
		d.fail(fmt.Errorf("%d switches, but the subnet has %d switches", n, len(f.Switches)))
	}
	out := &fabric.Adaptive{Switches: make([]fabric.AdaptiveSwitch, len(f.Switches))}
	for i := range out.Switches {
		if d.err != nil {
			break
		}
		a.adaptiveSwitch(&out.Switches[i])
	}
	if d.err != nil {
		return nil, fmt.Errorf("adaptive: %w", d.err)
	}
	return out, nil
}

func (a *adaptiveDecoder) group() (g fabric.PortGroup) {
	for range a.uint(maxSubGroups) {
		g = append(g, slices.Clone(a.bytes(int(a.uint(math.MaxUint8)))))
	}
	return g
}

func (a *adaptiveDecoder) adaptiveSwitch(s *fabric.AdaptiveSwitch) {
	s.Enabled, s.FastReroute = a.bool(), a.bool()
	s.SLs, s.HashSLs = uint16(a.uint(math.MaxUint16)), uint16(a.uint(math.MaxUint16))
	if n := a.count("groups", &a.uses, fabric.MaxGroup+1, maxAdaptiveUses); n > 0 {
		s.Groups = make([]fabric.PortGroup, n)
	}
	for i := range s.Groups {
		if at := a.uint(math.MaxInt32); at < uint64(len(a.groups)) {
			s.Groups[i] = a.groups[at]
		} else {
			a.fail(fmt.Errorf("group %d does not exist: the switch has %d groups", at, len(a.groups)))
		}
	}
	if n := a.uint(fabric.MaxTables); n > 0 {
		s.Tables = make([]fabric.AdaptiveTable, n)
	}
	for i := range s.Tables {
		a.table(&s.Tables[i])
	}
	s.Private = slices.Clone(a.bytes(int(a.uint(256 * 16))))
	if len(s.Private) == 0 {
		s.Private = nil
	}
}

func (a *adaptiveDecoder) table(t *fabric.AdaptiveTable) {
	t.Top = uint16(a.uint(math.MaxUint16))
	if n := a.count("entries", &a.entries, math.MaxUint16+1, maxAdaptiveEntries); n > 0 {
		t.Entries = make([]fabric.AdaptiveEntry, n)
	}
	for i := range t.Entries {
		t.Entries[i] = a.entry()
	}
	if n := a.count("private entries", &a.private, math.MaxUint16+1, maxPrivateEntries); n > 0 {
		t.Private = make([]fabric.PrivateEntry, n)
	}
	var port [1]byte
	for i := range t.Private {
		p := &t.Private[i]
		p.LID = uint16(a.uint(math.MaxUint16))
		a.into(port[:])
		p.Port, p.Entry = port[0], a.entry()
		if i > 0 && p.LID <= t.Private[i-1].LID {
			a.fail(fmt.Errorf("a private entry of LID %d follows the entry of LID %d, expected ascending LIDs", p.LID,
				t.Private[i-1].LID))
		}
	}
}

// count decodes the number of items that follow. Each item takes at least one byte. The number must not exceed the
// argument most. The sum over all switches must not exceed the argument all.
func (a *adaptiveDecoder) count(what string, sum *int, most, all int) int {
	n := int(a.uint(uint64(most)))
	switch *sum += n; {
	case int64(n) > a.size():
		a.fail(errShort)
	case *sum > all:
		a.fail(fmt.Errorf("more than %d %s", all, what))
	}
	if a.err != nil {
		return 0
	}
	return n
}
