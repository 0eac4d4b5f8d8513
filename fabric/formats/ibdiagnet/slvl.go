// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/unread"
)

// SLVL holds the content of ibdiagnet2.slvl: the VL of each SL by switch, ingress port and egress port.
type SLVL struct {
	rows  []slvlRow
	known []fabric.VLs
}

type slvlRow struct {
	guid    uint64
	vls     uint16 // index into known
	in, out uint8
}

const (
	maxSLVLRows   = 1 << 26 // 3,000 switches with 146 ports; 16 bytes each
	maxSLVLTables = 1 << 15 // [fabric.SL2VL] holds some more
)

// ReadSLVL reads ibdiagnet2.slvl. Each line has a switch, the ingress port, the egress port and the VLs of SL 0 to 15,
// two VLs per byte. The order of the two ports is that in IBDM's own reader (Fabric.cpp). O(bytes).
func ReadSLVL(ctx context.Context, r io.Reader, name string, found *unread.List) (*SLVL, error) {
	p := &slvlReader{findings: findings{name: name, found: found}, index: map[fabric.VLs]uint16{}}
	_, err := unread.EachLine(ctx, r, name, func(line int, text []byte) error {
		p.line = line
		if text = bytes.TrimSpace(text); len(text) == 0 || text[0] == '#' {
			return nil
		}
		return p.row(text)
	})
	if err != nil {
		return nil, err
	}
	return &p.out, nil
}

type slvlReader struct {
	findings
	out   SLVL
	index map[fabric.VLs]uint16
}

func (p *slvlReader) row(text []byte) error {
	var row slvlRow
	guid, rest, ok := hexWord(text, 1<<64-1)
	in, rest, ok1 := word(rest, 254)
	out, rest, ok2 := word(rest, 254)
	if !ok || !ok1 || !ok2 {
		return p.refuse("cannot parse %s, expected a switch, two ports and eight bytes", quote(text))
	}
	row.guid, row.in, row.out = guid, uint8(in), uint8(out)
	var vls fabric.VLs
	for i := 0; i < len(vls); i += 2 {
		var both uint64
		if both, rest, ok = hexWord(rest, 255); !ok {
			return p.refuse("cannot parse the VLs of SLs %d and %d in %s, expected text like 0x01", i, i+1, quote(text))
		}
		vls[i], vls[i+1] = uint8(both>>4), uint8(both&15)
	}
	i, ok := p.index[vls]
	if !ok {
		if len(p.out.known) == maxSLVLTables {
			return fmt.Errorf("%s:%d: more than %d different tables", fabric.Escape(p.name), p.line, maxSLVLTables)
		}
		i = uint16(len(p.out.known))
		p.index[vls] = i
		p.out.known = append(p.out.known, vls)
	}
	if len(p.out.rows) == maxSLVLRows {
		return fmt.Errorf("%s:%d: too large: more than %d lines", fabric.Escape(p.name), p.line, maxSLVLRows)
	}
	row.vls = i
	p.out.rows = append(p.out.rows, row)
	return nil
}

// hexWord parses a number with the prefix 0x.
func hexWord(b []byte, most uint64) (v uint64, rest []byte, ok bool) {
	if b = skip(b); !bytes.HasPrefix(b, hexMark) {
		return 0, b, false
	}
	v, n, ok := hex(b[len(hexMark):], most)
	return v, b[len(hexMark)+n:], ok
}

// Tables returns the SL2VL tables of a fabric, and warnings. The tables are nil if the file has none for the fabric.
func (s *SLVL) Tables(f *fabric.Fabric, name string) (*fabric.SL2VL, []string) {
	if len(s.rows) == 0 {
		return nil, nil
	}
	t := fabric.NewSL2VL(f)
	var unknown, ports tally
	for _, r := range s.rows {
		n := f.NodeByGUID(r.guid)
		switch {
		case n == fabric.None:
			unknown.add(fmt.Sprintf("0x%016x", r.guid))
		case f.PortAt(n, int(r.in)) == fabric.None && r.in != 0 || f.PortAt(n, int(r.out)) == fabric.None:
			ports.add(fmt.Sprintf("ports %d and %d of %s", r.in, r.out, f.NodeName(n)))
		default:
			t.Set(n, r.in, r.out, s.known[r.vls])
		}
	}
	return t, append(unknown.lines(name, "tables of VLs of nodes that are not in the subnet were ignored"),
		ports.lines(name, "tables of VLs of ports that do not exist were ignored")...)
}
