// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// smp is a response to a subnet management request (IBA 1.2.1, 14.2.1).
type smp struct {
	attr, mod uint32
	path      string // the directed route
	data      []byte
}

// smps reads the directed-route responses of a capture: a file of the classic pcap format, of either byte order, with
// packets of type ERF (197), each with 16 bytes of ERF header, LRH, BTH and DETH (8, 12 and 8 bytes), and the MAD.
func smps(t *testing.T, file string) (all []smp) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if binary.BigEndian.Uint32(b)&^0xff == 0xa1b23c00 || binary.BigEndian.Uint32(b) == 0xa1b2c3d4 {
		order = binary.BigEndian
	}
	if kind := order.Uint32(b[20:]); kind != 197 {
		t.Fatalf("packets of type %d", kind)
	}
	for b = b[24:]; len(b) > 16; {
		n := order.Uint32(b[8:])
		packet := b[16 : 16+n]
		b = b[16+n:]
		m := packet[16+8+12+8:]
		if m[1] != 0x81 || m[3] != 0x81 || binary.BigEndian.Uint16(m[4:])&0x7fff != 0 {
			continue // not a directed-route response, or an error status
		}
		all = append(all, smp{uint32(binary.BigEndian.Uint16(m[16:])), binary.BigEndian.Uint32(m[20:]),
			string(m[128+1 : 128+1+int(m[7])]), m[64:128]})
	}
	return all
}

// TestAdaptiveOnTheWire compares, bit by bit, the responses of simulated switches with the published layout of their
// tables. In fattree:2,4 each leaf has hosts on ports 1 and 2 and spines on 3 and 4: the LIDs behind the spines (6
// hosts, 3 leaves) have the group of 3 and 4. The leaf's own LIDs and the spines are static. Spines have one path to
// all LIDs.
func TestAdaptiveOnTheWire(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cap.pcap")
	ibconsole(t, "-s", "sim:fattree:2,4 adaptive=yes", "-c", "capture "+file+"; sweep full adaptive; capture off")
	lft, free, static, groups := map[string][]byte{}, map[string]int{}, map[string]int{}, map[string]uint32{}
	all := smps(t, file)
	for _, m := range all {
		switch m.attr {
		case 0x19: // LinearForwardingTable; 14 LIDs are in one block
			lft[m.path] = m.data
		case 0xff20:
			if w := binary.BigEndian.Uint32(m.data); w&1 == 0 || binary.BigEndian.Uint32(m.data[4:])&0xfff == 0 {
				t.Errorf("%x: off, or no space for groups: %x", m.path, m.data)
			}
		}
	}
	for _, m := range all {
		switch m.attr {
		case 0xff21:
			if m.mod == 0 { // groups 0 and 1, of 32 bytes, the lowest ports last
				groups[m.path] = binary.BigEndian.Uint32(m.data[60:])
				if slices.ContainsFunc(m.data[:60], func(b byte) bool { return b != 0 }) {
					t.Errorf("%x: a port above 31, or in group 0: %x", m.path, m.data)
				}
			}
		case 0xff23:
			for i := range 16 {
				w, lid := binary.BigEndian.Uint32(m.data[4*i:]), int(m.mod)*16+i
				port := w >> 16 & 0xff
				switch state := w >> 30; {
				case lid == 0 || lid > 14:
					continue
				case state == 1 && w&0xfff == 1:
					free[m.path]++
				case state == 2 && w&0xfff == port:
					static[m.path]++
				default:
					t.Errorf("%x: LID %d: %08x", m.path, lid, w)
				}
				if want := lft[m.path][lid]; port != uint32(want) {
					t.Errorf("%x: LID %d goes by port %d, and by %d in the forwarding table", m.path, lid, port, want)
				}
			}
		}
	}
	leaves, spines := 0, 0
	for path := range lft {
		switch [2]int{free[path], static[path]} {
		case [2]int{9, 5}:
			if leaves++; groups[path] != 1<<3|1<<4 {
				t.Errorf("%x: group of ports %b", path, groups[path])
			}
		case [2]int{0, 14}:
			spines++
		default:
			t.Errorf("%x: %d LIDs free, %d static", path, free[path], static[path])
		}
	}
	if leaves != 4 || spines != 2 {
		t.Errorf("%d leaves and %d spines", leaves, spines)
	}
}
