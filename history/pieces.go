// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
)

const (
	// pieceLIDs is the number of forwarding table entries of a switch in one piece.
	pieceLIDs = 4096
	// maxManifest is the maximum size of a manifest in bytes. The manifest of the largest subnet is much smaller: 130
	// bytes for each switch even if no pieces are shared.
	maxManifest = 16 << 20
)

// manifest stores the pieces of forwarding tables and returns the list of pieces. The list has the origin, the highest
// LID and the number of switches. For each switch it has whether the switch is known, its LinearFDBTop, and the blobs
// of its row. A blob is encoded as the difference from the ID of the previous blob.
func (w *writer) manifest(t *fabric.Tables) ([]byte, error) {
	b := binary.AppendUvarint(nil, uint64(len(t.Origin)))
	b = append(b, t.Origin...)
	b = binary.AppendUvarint(b, uint64(t.LFT.MaxLID))
	b = binary.AppendUvarint(b, uint64(len(t.Fabric.Switches)))
	last := int64(0)
	for sw := range t.Fabric.NumSwitches() {
		known := uint64(0)
		if t.Known[sw] {
			known = 1
		}
		b = binary.AppendUvarint(b, known)
		b = binary.AppendUvarint(b, uint64(t.Top[sw]))
		row := t.LFT.Row(sw)[:int(t.LFT.MaxLID)+1]
		for len(row) > 0 {
			n := min(pieceLIDs, len(row))
			id, err := w.blob(row[:n])
			if err != nil {
				return nil, err
			}
			b = binary.AppendVarint(b, id-last)
			last = id
			row = row[n:]
		}
	}
	return b, nil
}

var errManifest = errors.New("damaged: the list of pieces is wrong")

// numbers decodes varints from a manifest.
type numbers struct {
	b   []byte
	bad bool
}

func (n *numbers) uint() uint64 { return take(n, binary.Uvarint) }

func (n *numbers) int() int64 { return take(n, binary.Varint) }

// take decodes a number with the function read. After the end of the data it returns 0.
func take[T uint64 | int64](n *numbers, read func([]byte) (T, int)) T {
	v, k := read(n.b)
	if k <= 0 {
		n.bad, n.b = true, nil
		return 0
	}
	n.b = n.b[k:]
	return v
}

type heading struct {
	origin   string
	most     uint16
	switches int
}

func (n *numbers) heading() (heading, error) {
	length := n.uint()
	if n.bad || length > uint64(len(n.b)) {
		return heading{}, errManifest
	}
	h := heading{origin: string(n.b[:length])}
	n.b = n.b[length:]
	most, switches := n.uint(), n.uint()
	if n.bad || most > fabric.MaxUnicastLID || switches > uint64(len(n.b)) {
		return heading{}, errManifest
	}
	h.most, h.switches = uint16(most), int(switches)
	return h, nil
}

func (s *Store) tables(ctx context.Context, f *fabric.Fabric, manifest []byte) (*fabric.Tables, error) {
	n := &numbers{b: manifest}
	h, err := n.heading()
	if err != nil {
		return nil, err
	}
	if h.switches != len(f.Switches) {
		return nil, fmt.Errorf("%w: the tables have %d switches, the fabric has %d", errManifest,
			h.switches, len(f.Switches))
	}
	t := &fabric.Tables{
		Fabric: f, Origin: h.origin, LFT: fabric.NewLFT(h.switches, h.most),
		Top: make([]uint16, h.switches), Known: make([]bool, h.switches),
	}
	known := map[int64][]byte{}
	last := int64(0)
	for sw := range f.NumSwitches() {
		t.Known[sw], t.Top[sw] = n.uint() == 1, uint16(n.uint())
		row := t.LFT.Row(sw)[:int(h.most)+1]
		for len(row) > 0 {
			last += n.int()
			if n.bad {
				return nil, errManifest
			}
			piece, ok := known[last]
			if !ok {
				var err error
				if piece, err = s.blob(ctx, s.db, last, pieceLIDs); err != nil {
					return nil, err
				}
				known[last] = piece
			}
			if want := min(pieceLIDs, len(row)); len(piece) != want {
				return nil, fmt.Errorf("%w: a piece has %d entries, expected %d", errManifest, len(piece), want)
			}
			copy(row, piece)
			row = row[len(piece):]
		}
	}
	return t, nil
}

// pieces returns the IDs of the blobs to which a manifest refers.
func pieces(manifest []byte) (ids []int64, err error) {
	n := &numbers{b: manifest}
	h, err := n.heading()
	if err != nil {
		return nil, err
	}
	last := int64(0)
	for range h.switches {
		n.uint()
		n.uint()
		for range int(h.most)/pieceLIDs + 1 {
			last += n.int()
			ids = append(ids, last)
		}
	}
	if n.bad {
		return nil, errManifest
	}
	return ids, nil
}
