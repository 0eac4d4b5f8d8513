// SPDX-License-Identifier: Apache-2.0

package pathdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// checkZero returns an error unless the reserved bytes of a range are 0.
func checkZero(b []byte, from, to int) error {
	for i, x := range b[from:to] {
		if x != 0 {
			return fmt.Errorf("byte %d: %d, expected 0", from+i, x)
		}
	}
	return nil
}

// checkSegments checks the checksums of all segments after the head.
func checkSegments(b []byte) error {
	le := binary.LittleEndian
	for at := headSize; at < len(b); {
		rest := b[at:]
		if len(rest) < segmentHeader || !bytes.HasPrefix(rest, []byte(segmentMagic)) {
			return fmt.Errorf("byte %d: expected a segment", at)
		}
		size := le.Uint64(rest[8:])
		if size > uint64(len(rest)) || size%8 != 0 {
			return fmt.Errorf("byte %d: a segment of %d bytes, but the file has only %d more bytes", at, size,
				len(rest))
		}
		pages := (size + page - 1) / page
		whole := (segmentHeader + size + 4*pages + 4 + 7) &^ 7
		if whole > uint64(len(rest)) {
			return fmt.Errorf("byte %d: a segment of %d bytes, but the file has only %d more bytes", at, whole,
				len(rest))
		}
		sums := rest[segmentHeader+size : segmentHeader+size+4*pages]
		if checksum(rest[:segmentHeader])^checksum(sums) != le.Uint32(rest[segmentHeader+size+4*pages:]) {
			return fmt.Errorf("byte %d: the segment's head or its table of checksums is damaged", at)
		}
		i := 0
		for p := range slices.Chunk(rest[segmentHeader:segmentHeader+size], page) {
			if checksum(p) != le.Uint32(sums[4*i:]) {
				from := at + segmentHeader + i*page
				return fmt.Errorf("bytes %d to %d: damaged", from, from+len(p)-1)
			}
			i++
		}
		if err := checkZero(b, at+int(segmentHeader+size+4*pages+4), at+int(whole)); err != nil {
			return err
		}
		at += int(whole)
	}
	return nil
}

// check checks every reference in the data, so that no query reads beyond the data. O(rows x groups).
func (v *View) check() error {
	r := &v.root
	for _, t := range []struct {
		what     string
		at, n, s uint64
	}{
		{"ports", r.OffPorts, uint64(r.Ports), portSize},
		{"switches", r.OffSwitches, uint64(r.Switches), switchSize},
		{"LIDs", r.OffLIDs, uint64(r.LIDs), lidSize},
		{"groups", r.OffGroups, uint64(r.Groups), groupSize},
		{"classes", r.OffClasses, uint64(r.Classes), classSize},
		{"sets of P_Keys", r.OffPKeySets, uint64(r.PKeySets) + 1, setSize},
		{"P_Keys", r.OffPKeys, uint64(r.PKeys), pKeySize},
		{"origin", r.OffOrigin, uint64(r.OriginLen), 1},
		{"wires", r.OffWires, uint64(r.HasTrace) * uint64(r.Switches) * uint64(r.Width), wireSize},
		{"records", r.OffRecords, uint64(r.Rows), dirSize},
		{"traces", r.OffTrace, uint64(r.HasTrace) * uint64(r.Switches), dirSize},
	} {
		if !v.holds(t.at, t.n, t.s) {
			return fmt.Errorf("%s: %d items at byte %d exceed the end at byte %d", t.what, t.n, t.at, len(v.data))
		}
	}
	if r.HasTrace > 1 || r.SLMask > 15 || r.Zero != 0 || r.LifeTime > 63 || r.Width > 256 || r.LIDs > 1<<16 ||
		r.Groups > noGroup || r.Classes > 1<<16 {
		return fmt.Errorf("the root of state %d has impossible numbers", r.State)
	}
	if err := v.checkTables(); err != nil {
		return err
	}
	if err := v.checkMatrix("records", r.OffRecords, r.Rows, r.Classes); err != nil {
		return err
	}
	if r.HasTrace == 1 {
		return v.checkMatrix("traces", r.OffTrace, r.Switches, 1<<8)
	}
	return nil
}

func (v *View) holds(at, n, size uint64) bool {
	have := uint64(len(v.data))
	return n == 0 || at <= have && n <= (have-at)/size
}

func (v *View) checkTables() error {
	r := &v.root
	below := func(i, n uint32) bool { return i == none || i < n }
	last := uint64(0)
	for i := range r.Ports {
		p := v.port(i)
		if !below(p.row, r.Rows) || !below(p.sw, r.Switches) || !below(p.peer, r.Ports) ||
			!below(p.pKeys, r.PKeySets) || p.lmc > 7 ||
			uint32(p.lid)+1<<p.lmc > 1<<16 || p.rate > 63 || p.mtu > 63 || i > 0 && p.guid <= last || p.sw != none &&
			p.row == none {
			return fmt.Errorf("byte %d: port %d is invalid", r.OffPorts+uint64(i)*portSize, i)
		}
		last = p.guid
	}
	for i := range r.LIDs {
		l := v.lid(uint16(i))
		if !below(l.port, r.Ports) || l.group != noGroup &&
			(uint32(l.group) >= r.Groups || uint32(l.at) >= v.groupSize(uint32(l.group))) {
			return fmt.Errorf("byte %d: LID %d is invalid", r.OffLIDs+uint64(i)*lidSize, i)
		}
	}
	all := uint64(0)
	for i := range r.Groups {
		n := v.groupSize(i)
		if all += uint64(n); n == 0 || all > uint64(r.LIDs) {
			return fmt.Errorf("byte %d: a group of %d LIDs, but the database has only %d LIDs",
				r.OffGroups+uint64(i)*groupSize, n, r.LIDs)
		}
	}
	for i := range uint64(r.Classes) {
		at := r.OffClasses + i*classSize
		b := v.data[at : at+classSize]
		if b[1] > 63 || b[2] > 63 || b[3] > 15 || b[4] > 16-b[3] || b[5] > 1 || b[6] != 0 || b[7] != 0 {
			return fmt.Errorf("byte %d: class %d is invalid", at, i)
		}
	}
	for i := range uint64(r.PKeys) {
		at := r.OffPKeys + i*pKeySize
		if b := v.data[at : at+pKeySize]; b[2] > 15 || b[3] != 0 {
			return fmt.Errorf("byte %d: P_Key %d is invalid", at, i)
		}
	}
	end := uint32(0)
	for i := range r.PKeySets + 1 {
		e := word(v.data, r.OffPKeySets+uint64(i)*setSize)
		if e < end || e > r.PKeys {
			return fmt.Errorf("byte %d: a set of P_Keys with the invalid end %d", r.OffPKeySets+uint64(i)*setSize, e)
		}
		end = e
	}
	for i := range uint64(r.HasTrace) * uint64(r.Switches) * uint64(r.Width) {
		w := word(v.data, r.OffWires+i*wireSize)
		if w != none && (w < toPort && w >= r.Switches || w >= toPort && w-toPort >= r.Ports) {
			return fmt.Errorf("byte %d: a link to a switch or port that does not exist", r.OffWires+i*wireSize)
		}
	}
	for i := range r.Switches {
		if p := word(v.data, r.OffSwitches+uint64(i)*switchSize+8); !below(p, r.Ports) {
			return fmt.Errorf("byte %d: switch %d refers to port %d, expected a port below %d",
				r.OffSwitches+uint64(i)*switchSize, i, p, r.Ports)
		}
	}
	return nil
}

// checkMatrix checks the references of a matrix. It also checks that the values of the matrix are less than the
// argument below.
func (v *View) checkMatrix(what string, dir uint64, rows, below uint32) error {
	tiles := (v.root.Groups + TileGroups - 1) / TileGroups
	fits := func(at uint64, bits, n uint64) bool {
		// Function field reads eight bytes. The checksums after a payload leave space for them.
		return at >= headSize && at+4 <= uint64(len(v.data)) && at+4+(bits*n+7)/8+8 <= uint64(len(v.data))
	}
	for row := range rows {
		at := word64(v.data, dir+uint64(row)*dirSize)
		if !v.holds(at, uint64(tiles), refSize) {
			return fmt.Errorf("byte %d: row %d of the %s is at byte %d, but the file has %d bytes",
				dir+uint64(row)*dirSize, row,
				what, at, len(v.data))
		}
		for tile := range tiles {
			ref := word(v.data, at+uint64(tile)*refSize)
			block, bits := uint64(ref&refMask)*4, uint64(ref>>refBits)
			if bits > 32 || !fits(block, bits, TileGroups) {
				return fmt.Errorf("byte %d: a block of %d bits at byte %d exceeds the %d bytes of the file",
					at+uint64(tile)*refSize, bits, block,
					len(v.data))
			}
			for g := tile * TileGroups; g < min((tile+1)*TileGroups, v.root.Groups); g++ {
				sym := symbol(v.data, dir, row, g)
				if sym < constants {
					if sym >= below {
						return fmt.Errorf("byte %d: value %d in the %s, expected less than %d", block, sym, what, below)
					}
					continue
				}
				vector := uint64(sym-constants) * 4
				if width := uint64(word(v.data, vector) & 0xff); width > 16 ||
					!fits(vector, width, uint64(v.groupSize(g))) {
					return fmt.Errorf("byte %d: a vector of %d bits at byte %d exceeds the %d bytes of the file", block,
						width, vector,
						len(v.data))
				}
			}
		}
	}
	return nil
}
