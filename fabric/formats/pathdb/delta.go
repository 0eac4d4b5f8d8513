// SPDX-License-Identifier: Apache-2.0

package pathdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// DeltaMagic is the beginning of a difference. After it come the identity of the database, the number and the checksum
// of the initial state, a checksum of the rest, and the rest. The rest consists of varints in the order in which Delta
// writes them. It is compressed with zstd.
const DeltaMagic = "IBPATHD\x02"

const deltaHead = 8 + 8 + 8 + 4 + 4

// maxDelta is the maximum uncompressed size of a difference in bytes.
const maxDelta = 512 << 20

// ErrLayout reports that two databases have different ports, LIDs or rows. Between such databases there is no
// difference in the sense of [Delta].
var ErrLayout = errors.New("the two databases are of different subnets")

// Delta returns the difference that changes the paths of one database into those of another. Both databases must have
// the same ports and LIDs. Otherwise the error wraps [ErrLayout] and describes the first mismatch. O(rows x LIDs).
func Delta(from, to *View) ([]byte, error) {
	if err := sameLayout(from, to); err != nil {
		return nil, err
	}
	var e encoder
	e.uint(uint64(to.root.Built))
	e.uint(uint64(to.root.LifeTime))
	e.bytes([]byte(to.origin()))
	e.elements(from, to, from.root.OffPorts, to.root.OffPorts, from.root.Ports, portSize)
	e.elements(from, to, from.root.OffSwitches, to.root.OffSwitches, from.root.Switches, switchSize)
	rename := e.classes(from, to)
	e.matrix(from, to, from.root.OffRecords, to.root.OffRecords, from.root.Rows, rename)
	e.uint(uint64(from.root.HasTrace & to.root.HasTrace))
	if from.root.HasTrace&to.root.HasTrace == 1 {
		e.elements(from, to, from.root.OffWires, to.root.OffWires, from.root.Switches*from.root.Width, wireSize)
		e.matrix(from, to, from.root.OffTrace, to.root.OffTrace, from.root.Switches, func(v uint16) uint16 { return v })
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return nil, err
	}
	defer func() { _ = z.Close() }()
	rest := z.EncodeAll(e.b, nil)
	le := binary.LittleEndian
	out := append([]byte(nil), DeltaMagic...)
	out = le.AppendUint64(out, from.id)
	out = le.AppendUint64(out, from.root.State)
	out = le.AppendUint32(out, from.sum())
	out = le.AppendUint32(out, deltaSum(out, rest))
	return append(out, rest...), nil
}

// Same reports whether two databases have the same paths. It ignores the times at which they were built. O(rows x
// LIDs).
func Same(a, b *View) bool {
	now := *b
	now.root.Built = a.root.Built
	other, err := Delta(a, &now)
	if err != nil {
		return false
	}
	none, err := Delta(a, a)
	return err == nil && bytes.Equal(other, none)
}

// deltaSum returns the checksum of a difference. The checksum covers the part of the head before the checksum, and the
// rest.
func deltaSum(head, rest []byte) uint32 {
	return crc32.Update(checksum(head[:deltaHead-4]), castagnoli, rest)
}

// sum returns a checksum of the root. It distinguishes states that have the same number.
func (v *View) sum() uint32 { return checksum(v.root.append(nil)) }

func sameLayout(a, b *View) error {
	differ := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s; rebuild the database", ErrLayout, fmt.Sprintf(format, args...))
	}
	x, y := &a.root, &b.root
	switch {
	case x.Ports != y.Ports:
		return differ("%d ports and %d", x.Ports, y.Ports)
	case x.Switches != y.Switches || x.Groups != y.Groups || x.Width != y.Width && x.HasTrace == 1 && y.HasTrace == 1:
		return differ("%d switches and %d", x.Switches, y.Switches)
	case x.LIDs != y.LIDs:
		return differ("LIDs up to %d and to %d", x.LIDs-1, y.LIDs-1)
	case x.Rows != y.Rows:
		return differ("%d rows of records and %d", x.Rows, y.Rows)
	case x.Prefix != y.Prefix:
		return differ("prefix 0x%016x and 0x%016x", x.Prefix, y.Prefix)
	case x.SLMask != y.SLMask:
		return differ("partitions determine different bits of SLs")
	case x.HasTrace != y.HasTrace:
		return differ("only one has traces")
	case x.PKeys != y.PKeys || x.PKeySets != y.PKeySets || !bytes.Equal(a.section(x.OffPKeys, x.PKeys, pKeySize),
		b.section(y.OffPKeys, y.PKeys, pKeySize)) ||
		!bytes.Equal(a.section(x.OffPKeySets, x.PKeySets+1, setSize), b.section(y.OffPKeySets, y.PKeySets+1, setSize)):
		return differ("different P_Keys, or SLs of partitions")
	case !bytes.Equal(a.section(x.OffLIDs, x.LIDs, lidSize), b.section(y.OffLIDs, y.LIDs, lidSize)) ||
		!bytes.Equal(a.section(x.OffGroups, x.Groups, groupSize), b.section(y.OffGroups, y.Groups, groupSize)):
		return differ("LIDs have moved")
	case !slices.Equal(a.Switches(), b.Switches()):
		return differ("different switches")
	}
	for i := range x.Ports {
		if p, q := a.port(i), b.port(i); p.guid != q.guid || p.sw != q.sw || p.row != q.row {
			return differ("port 0x%016x instead of 0x%016x, or the port has moved", p.guid, q.guid)
		}
	}
	return nil
}

func (v *View) section(at uint64, n uint32, size uint64) []byte {
	return v.data[at : at+uint64(n)*size]
}

type encoder struct{ b []byte }

func (e *encoder) uint(v uint64)  { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) bytes(v []byte) { e.uint(uint64(len(v))); e.b = append(e.b, v...) }

// elements writes the number of elements that differ between two tables, then these elements. Before each element it
// writes the distance from the previous one.
func (e *encoder) elements(from, to *View, at, other uint64, n uint32, size uint64) {
	x, y := from.section(at, n, size), to.section(other, n, size)
	var changed []uint64
	for i := range uint64(n) {
		if !bytes.Equal(x[i*size:(i+1)*size], y[i*size:(i+1)*size]) {
			changed = append(changed, i)
		}
	}
	e.uint(uint64(len(changed)))
	last := uint64(0)
	for _, i := range changed {
		e.uint(i - last)
		e.b = append(e.b, y[i*size:(i+1)*size]...)
		last = i
	}
}

// classes writes the classes that only the new database has. Apply appends them to the classes of the old database. The
// returned function converts the number of a class in the new database into its number after that.
func (e *encoder) classes(from, to *View) func(uint16) uint16 {
	known := map[Class]uint16{}
	for i := range from.root.Classes {
		known[from.class(uint16(i))] = uint16(i)
	}
	name := make([]uint16, to.root.Classes)
	var fresh []Class
	for i := range name {
		c := to.class(uint16(i))
		n, ok := known[c]
		if !ok {
			n = uint16(from.root.Classes) + uint16(len(fresh))
			fresh = append(fresh, c)
		}
		name[i] = n
	}
	e.uint(uint64(len(fresh)))
	for _, c := range fresh {
		var b [classSize]byte
		c.put(b[:])
		e.b = append(e.b, b[:]...)
	}
	return func(v uint16) uint16 {
		if int(v) >= len(name) {
			return v
		}
		return name[v]
	}
}

// matrix writes the groups that differ between two matrices. For each row with such groups it writes the distance from
// the previous row and the number of groups. For each group it writes the distance, the number of values that differ (0
// if all values of the group have one new value), and each value with its distance.
func (e *encoder) matrix(from, to *View, at, other uint64, rows uint32, rename func(uint16) uint16) {
	type change struct {
		group uint32
		b     []byte
	}
	var changes []change
	last, wrote := uint32(0), 0
	out := e.b
	var body encoder
	for row := range rows {
		changes = changes[:0]
		for g := range from.root.Groups {
			if b := groupChange(from, to, symbol(from.data, at, row, g), symbol(to.data, other, row, g),
				from.groupSize(g), rename); b != nil {
				changes = append(changes, change{g, b})
			}
		}
		if len(changes) == 0 {
			continue
		}
		body.uint(uint64(row - last))
		body.uint(uint64(len(changes)))
		group := uint32(0)
		for _, c := range changes {
			body.uint(uint64(c.group - group))
			body.b = append(body.b, c.b...)
			group = c.group
		}
		last = row
		wrote++
	}
	e.b = binary.AppendUvarint(out, uint64(wrote))
	e.b = append(e.b, body.b...)
}

// groupChange returns the encoded changes of the values in a group, nil if there are none.
func groupChange(from, to *View, x, y uint32, n uint32, rename func(uint16) uint16) []byte {
	if x < constants && y < constants {
		if uint16(x) == rename(uint16(y)) {
			return nil
		}
		var e encoder
		e.uint(0)
		e.uint(uint64(rename(uint16(y))))
		return e.b
	}
	var body encoder
	last, changed := uint32(0), 0
	for i := range n {
		v := rename(value(to.data, y, uint16(i)))
		if v == value(from.data, x, uint16(i)) {
			continue
		}
		body.uint(uint64(i - last))
		body.uint(uint64(v))
		last = i
		changed++
	}
	if changed == 0 {
		return nil
	}
	return slices.Concat(binary.AppendUvarint(nil, uint64(changed)), body.b)
}
